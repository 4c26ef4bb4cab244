import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import type { Fault } from '../core/fault.ts'
import type { PageSize } from '../core/paging.ts'
import type { ConcurrencyLimits } from '../http/limits/concurrency-limit.ts'
import type { ParsedQuery } from '../http/query.ts'
import type { BodyParts } from '../http/streams/streamed-bodies.ts'
import type { Describe } from '../openapi/describe.ts'
import type { OperationDescription } from '../openapi/operation-description.ts'

export type OperationRequest = FastifyRequest<{ Params: { id: string } }>

/** A request of an operation, as its handler gets it. */
export interface OperationCall {
  request: OperationRequest
  reply: FastifyReply
  /** The parameters of the query, each in its declared type. */
  query: Record<string, unknown>
  /** They as text, in the order they were sent. */
  pairs: ParsedQuery['pairs']
  /**
   * What is wrong with the query, as far as its service does not judge it. A handler throws it or hands it to the
   * service, which reports it with its own.
   */
  faults: Fault[]
  /** The path of the collection that the operation's path begins with, such as `/v1/users`. */
  collection: string
  /** The body of an operation that streams it. */
  parts: () => BodyParts | []
}

/** An operation: its route, what guards it, its description and its handler. */
export interface Operation extends OperationDescription {
  /** GET is routed with HEAD. */
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Its path below the prefix of the mount. */
  path: string
  /** The scope that a caller needs; null: any valid key. */
  scope: Scope | null
  /** Bytes that a body may have. Default: those of a user. */
  bodyLimit?: number
  /** True if the handler reads the body itself, by `parts`. */
  streamsBody?: boolean
  /** True if no rate limit counts it, since who revokes a leaked key must not be told to come back later. */
  endsOwnKey?: boolean
  /** True if the handler takes its places under the limits of concurrent requests itself, or needs none. */
  limitsItself?: boolean
  handler: (call: OperationCall) => Promise<FastifyReply>
}

/** What operations need to know of their mount. */
export interface OperationSettings {
  /** The host's router takes `;` for the beginning of the query. */
  useSemicolonDelimiter: boolean
  limits: ConcurrencyLimits
  pageSize: PageSize
  describe: Describe
}
