import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import { UsersError } from '../core/errors.ts'
import { type Fault, unknownParameters } from '../core/fault.ts'
import { BODY_MAX } from '../core/limits.ts'
import type { PageSize } from '../core/paging.ts'
import { type Parameters, parseParameter } from '../core/parameters.ts'
import { toUsersError } from '../core/storage-errors.ts'
import { channels, traced } from '../core/tracing.ts'
import { endOfTurn } from '../core/turn.ts'
import { type Describe, hidden } from '../openapi/describe.ts'
import type { Operation } from '../openapi/operation.ts'
import type { RouteAccess } from './admission.ts'
import type { ConcurrencyLimits } from './concurrency-limit.ts'
import { tellClosed } from './fastify-internals.ts'
import { type ParsedQuery, parseQuery, queryOf } from './query.ts'

/** What routes need to know: the host's router, the limits that work runs under, and what describes them. */
export interface RouteSettings {
  useSemicolonDelimiter: boolean
  limits: ConcurrencyLimits
  pageSize: PageSize
  describe: Describe
}

export type Handler = (
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply
) => Promise<FastifyReply>

/**
 * Makes handlers run under the limit of their class and throw UsersError alone, so that the error handler recognises
 * our errors. GET and HEAD read, and all others write.
 */
export const handlersUnder = ({ reads, writes }: ConcurrencyLimits) => (handler: Handler): Handler => {
  const handle: Handler = async (request, reply) => {
    tellClosed(reply)
    try {
      await endOfTurn()
      const limited = request.method === 'GET' || request.method === 'HEAD' ? reads : writes
      return await limited(() => handler(request, reply))
    } catch (error) {
      throw toUsersError(error)
    }
  }
  return (request, reply) => traced(channels.operation, () => ({
    operation: request.routeOptions.config.fastifyUsersOperation ?? '',
    requestId: request.id
  }), async (trace) => {
    const answer = await handle(request, reply)
    if (trace !== null) trace.status = reply.statusCode
    return answer
  })
}

/** The options of a route that may have a body. */
export function writeRoute (describe: Describe, operation: Operation, access: RouteAccess) {
  return { bodyLimit: BODY_MAX, config: { fastifyUsers: access, ...describe(operation) } }
}

/**
 * Routes GET, and HEAD by the same handler: Fastify's own HEAD gives a 304 a Content-Length of 0 (RFC 9110 section
 * 8.6). Descriptions mention HEAD in words.
 */
export function routeReads (
  scope: FastifyInstance,
  url: string,
  required: Scope | null,
  description: ReturnType<Describe>,
  handler: Handler
): void {
  const fastifyUsers = { scope: required, accepts: [] }
  scope.route({ method: 'GET', url, exposeHeadRoute: false, config: { fastifyUsers, ...description }, handler })
  const { fastifyUsersOperation = '' } = description
  scope.route({ method: 'HEAD', url, config: { fastifyUsers, ...hidden, fastifyUsersOperation }, handler })
}

/** Answers 405 with Allow for every other method that the scope routes. Called after the path's routes. */
export function refuseOtherMethods (scope: FastifyInstance, url: string, methods: readonly HTTPMethods[]): void {
  const headers = { allow: methods.join(', ') }
  const others = scope.supportedMethods.filter((method) => !methods.includes(method))
  const refuse = (): never => { throw new UsersError('method_not_allowed', { headers }) }
  scope.route({ method: others, url, config: { fastifyUsers: { refuse }, ...hidden }, handler: refuse })
}

/** The faults of the query of an operation without parameters. */
export function strayParameters ({ pairs, faults }: ParsedQuery): Fault[] {
  return [...faults, ...unknownParameters(pairs.map(([parameter]) => parameter))]
}

/** Query parameters as services take them, each in its declared type. */
export function typedParameters ({ pairs }: ParsedQuery, declared: Parameters): Record<string, unknown> {
  return Object.fromEntries(pairs.map(([name, text]) =>
    [name, parseParameter(text, Object.hasOwn(declared, name) ? declared[name] : undefined)]))
}

/** The parsed query of a request. */
export function parsedQuery (
  request: FastifyRequest,
  { useSemicolonDelimiter }: Pick<RouteSettings, 'useSemicolonDelimiter'>
): ParsedQuery {
  return parseQuery(queryOf(request.url, useSemicolonDelimiter))
}

// Characters that a URI path has without escapes (RFC 3986 section 3.3), and the escapes themselves.
const NOT_IN_PATHS = /[^A-Za-z0-9._~!$&'()*+,;=:@/%-]/gu

/**
 * Makes a function that gives the path of a collection of the scope, such as `/v1/users`. If the prefix has parameters,
 * the path is taken from the request's URL, without its last `below` segments. It is then normalised: characters that a
 * path may not have are escaped, and slashes are single, since browsers read a leading `//` (or `/\`) as a host.
 */
export function collectionPaths (
  scope: FastifyInstance,
  name: string,
  { useSemicolonDelimiter }: Pick<RouteSettings, 'useSemicolonDelimiter'>
): (request: FastifyRequest, below?: number) => string {
  const collection = `${scope.prefix}/${name}`
  if (!/[:*]/.test(scope.prefix)) return () => collection
  return (request, below = 0) => {
    const path = request.url.replace(useSemicolonDelimiter ? /[?;].*/ : /\?.*/, '')
    const escaped = path.toWellFormed().replace(NOT_IN_PATHS, encodeURIComponent)
    const whole = escaped.replace(/\/{2,}/g, '/').replace(/\/$/, '')
    return below === 0 ? whole : whole.split('/').slice(0, -below).join('/')
  }
}
