import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import type { Fault } from '../core/fault.ts'
import type { PageSize } from '../core/paging.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import type { ParsedQuery } from '../http/query.ts'
import type { BodyParts } from '../http/streams/streamed-bodies.ts'
import type { Describe } from '../openapi/hidden.ts'
import type { OperationDescription } from '../openapi/operation-description.ts'

export type OperationRequest = FastifyRequest<{ Params: { id: string } }>

/** A request of an operation, as its handler gets it. */
export interface OperationCall {
  request: OperationRequest
  reply: FastifyReply
  /** The parameters of the query, each in its declared type. */
  query: Record<string, unknown>
  /** The same parameters as text, in the order in which they were sent. */
  pairs: ParsedQuery['pairs']
  /**
   * The faults of the query that the service does not find itself. A handler throws them, or hands them to the
   * service, which reports them with its own.
   */
  faults: Fault[]
  /** The tenant that it is about: the caller's, or one that the platform's caller has named. */
  tenant: string | undefined
  /** The path of the collection that the operation's path begins with, such as `/v1/users`. */
  collection: string
  /** The body of an operation that streams it. */
  parts: () => BodyParts | []
}

/** An operation: its route, what guards it, its description and its handler. */
export interface Operation extends OperationDescription {
  /** Its path below the prefix of the mount. */
  path: string
  /** The scope that a caller needs; `null` if any valid key will do. */
  scope: Scope | null
  /** The most bytes that a body may have. Default: the limit for one user. */
  bodyLimit?: number
  /** True if it needs no key. */
  open?: boolean
  /** True if no description names it. */
  undescribed?: boolean
  /** True if the handler reads the body itself, by `parts`. */
  streamsBody?: boolean
  /** True if no rate limit counts it: a caller who revokes a leaked key must not be asked to come back later. */
  endsOwnKey?: boolean
  /** True if the handler applies the limits of concurrent requests itself, or needs none. */
  limitsItself?: boolean
  /** True if its body has the tenant of what it changes, which never changes: the service judges it. */
  keepsTenant?: boolean
  /** True if it is the platform's: for a caller that is bound to a tenant it is not there. */
  platformOnly?: boolean
  /** Of a change of a record: finds its tenant, which a body may only confirm; undefined: it belongs to none. */
  findTenant?: (id: string) => Promise<string | undefined>
  handler: (call: OperationCall) => Promise<FastifyReply>
}

/** What operations need to know about their mount. */
export interface OperationSettings {
  /** True if the host's router treats `;` as the beginning of the query. */
  useSemicolonDelimiter: boolean
  limits: ConcurrencyLimits
  pageSize: PageSize
  describe: Describe
  /** The option: requests are about a tenant. */
  tenants: boolean
}
