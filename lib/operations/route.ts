import type { FastifyInstance, FastifyReply, HTTPMethods } from 'fastify'
import { UsersError } from '../core/errors.ts'
import { type Fault, unknownParameters } from '../core/fault.ts'
import { BODY_MAX } from '../core/limits.ts'
import { type Parameters, parseParameter } from '../core/parameters.ts'
import { endOfTurn } from '../core/turn.ts'
import type { RouteAccess } from '../http/admission/admission.ts'
import { JSON_TYPE } from '../http/body.ts'
import { requestIdOf, shareOf } from '../http/caller.ts'
import { tellClosed } from '../http/fastify-internals.ts'
import { NO_LIMITS } from '../http/limits/concurrency-limit.ts'
import { type ParsedQuery, parseQuery, queryOf } from '../http/query.ts'
import { type BodyOf, streamBodies } from '../http/streams/streamed-bodies.ts'
import { hidden } from '../openapi/hidden.ts'
import { toUsersError } from '../storage/storage-errors.ts'
import { channels, traced } from '../storage/tracing.ts'
import type { Operation, OperationRequest, OperationSettings } from './operation.ts'
import { tenantOf, tenantParameter, withoutTenant } from './tenancy.ts'

type Handler = (request: OperationRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Query parameters as services take them, each in its declared type. */
export function typedParameters ({ pairs }: ParsedQuery, declared: Parameters): Record<string, unknown> {
  return Object.fromEntries(pairs.map(([name, text]) =>
    [name, parseParameter(text, Object.hasOwn(declared, name) ? declared[name] : undefined)]))
}

/** The faults of a query, as far as the service does not judge it: of an operation without parameters all. */
export function queryFaults ({ pairs, faults }: ParsedQuery, declared: Parameters | undefined): Fault[] {
  return declared !== undefined ? [...faults] : [...faults, ...unknownParameters(pairs.map(([name]) => name))]
}

/**
 * Makes the handler of a route: it runs the operation's under the limit of its class and throws UsersError alone, so
 * that the error handler recognises our errors. GET and HEAD read, and all others write.
 */
export function handlerOf (
  operation: Operation,
  collectionOf: (request: OperationRequest) => string,
  settings: Pick<OperationSettings, 'useSemicolonDelimiter' | 'limits' | 'tenants'>,
  bodyOf: BodyOf = () => []
): Handler {
  const { method, query: declared, operationId, handler } = operation
  const { useSemicolonDelimiter, limits } = settings
  const { open: isOpen = false } = operation
  const tenants = settings.tenants && !isOpen
  const own = operation.limitsItself === true ? NO_LIMITS : limits
  const limited = method === 'GET' ? own.reads : own.writes

  function run (request: OperationRequest, reply: FastifyReply): Promise<FastifyReply> {
    const sent = parseQuery(queryOf(request.url, useSemicolonDelimiter))
    const { tenant, faults = null } = tenants ? tenantOf(request, operation, sent) : {}
    const parsed = tenants ? withoutTenant(sent) : sent
    const handleWith = (more: readonly Fault[]): Promise<FastifyReply> => handler({
      request,
      reply,
      query: declared === undefined ? {} : typedParameters(parsed, declared),
      pairs: sent.pairs,
      tenant,
      faults: [...queryFaults(parsed, declared), ...more],
      collection: collectionOf(request),
      parts: () => bodyOf(request)
    })
    return faults === null ? handleWith([]) : faults().then(handleWith)
  }

  async function handle (request: OperationRequest, reply: FastifyReply): Promise<FastifyReply> {
    tellClosed(reply)
    try {
      await endOfTurn()
      return await limited(() => run(request, reply), isOpen ? '' : shareOf(request))
    } catch (error) {
      throw toUsersError(error)
    }
  }

  const tell = (request: OperationRequest, reply: FastifyReply): Promise<FastifyReply> =>
    traced(channels.operation, () => ({ operation: operationId, requestId: requestIdOf(request) }), async (trace) => {
      const answer = await handle(request, reply)
      if (trace !== null) trace.status = reply.statusCode
      return answer
    })

  return (request, reply) => channels.operation.hasSubscribers ? tell(request, reply) : handle(request, reply)
}

/** What guards the route of an operation. A write without a body takes the content that some clients send anyway. */
function accessOf (
  { method, scope, body, open = false, endsOwnKey = false, platformOnly = false }: Operation
): RouteAccess {
  if (open) return { isOpen: true }
  const scopes = scope === null ? [] : [scope]
  return { scopes, accepts: method === 'GET' ? [] : body?.types ?? [JSON_TYPE], endsOwnKey, platformOnly }
}

/** Answers 405 with Allow for every other method that the scope routes. */
function refuseOtherMethods (scope: FastifyInstance, url: string, methods: readonly HTTPMethods[]): void {
  const headers = { allow: methods.join(', ') }
  const others = scope.supportedMethods.filter((method) => !methods.includes(method))
  const refuse = (): never => { throw new UsersError('method_not_allowed', { headers }) }
  scope.route({ method: others, url, config: { fastifyUsers: { refuse }, ...hidden }, handler: refuse })
}

function routeOne (scope: FastifyInstance, operation: Operation, settings: OperationSettings): void {
  const { method, path: url, bodyLimit = BODY_MAX, operationId } = operation
  const access = { fastifyUsers: accessOf(operation), fastifyUsersOperation: operationId }
  const query = { ...operation.query, tenant: tenantParameter }
  const described = settings.tenants ? { ...operation, query } : operation
  const config = { ...access, ...operation.undescribed === true ? hidden : settings.describe(described) }
  const collectionOf = collectionPath(scope.prefix, url, settings.useSemicolonDelimiter)
  if (operation.streamsBody === true) {
    scope.register(async function fastifyUsersStream (inner) {
      const handler = handlerOf(operation, collectionOf, settings, streamBodies(inner))
      inner.route({ method, url, config, handler })
    })
    return
  }
  const handler = handlerOf(operation, collectionOf, settings)
  if (method !== 'GET') {
    scope.route({ method, url, bodyLimit, config, handler })
    return
  }
  // HEAD by the same handler: Fastify's own gives a 304 a Content-Length of 0 (RFC 9110 section 8.6). Descriptions
  // mention it in words.
  scope.route({ method, url, exposeHeadRoute: false, config, handler })
  scope.route({ method: 'HEAD', url, config: { ...access, ...hidden }, handler })
}

/** Adds the routes of operations, and for each path the answer to every other method. */
export function routeOperations (
  scope: FastifyInstance,
  operations: readonly Operation[],
  settings: OperationSettings
): void {
  for (const operation of operations) routeOne(scope, operation, settings)
  for (const path of new Set(operations.map(({ path }) => path))) {
    const methods = operations.filter((each) => each.path === path).map(({ method }) => method)
    refuseOtherMethods(scope, path, methods.flatMap((method) => method === 'GET' ? ['GET', 'HEAD'] : [method]))
  }
}

// Characters that a URI path has without escapes (RFC 3986 section 3.3), and the escapes themselves.
const NOT_IN_PATHS = /[^A-Za-z0-9._~!$&'()*+,;=:@/%-]/gu

/**
 * Makes a function that gives the path of the collection that an operation's path begins with, such as `/v1/users` for
 * `/users/:id/events`. If the prefix has parameters, it is taken from the request's URL. It is then normalised:
 * characters that a path may not have are escaped, and slashes are single, since browsers read a leading `//` (or `/\`)
 * as a host.
 */
export function collectionPath (
  prefix: string,
  operationPath: string,
  useSemicolonDelimiter: boolean
): (request: { url: string }) => string {
  const [, name = '', ...below] = operationPath.split('/')
  const collection = `${prefix}/${name}`
  if (!/[:*]/.test(prefix)) return () => collection
  return ({ url }) => {
    const path = url.replace(useSemicolonDelimiter ? /[?;].*/ : /\?.*/, '')
    const escaped = path.toWellFormed().replace(NOT_IN_PATHS, encodeURIComponent)
    const whole = escaped.replace(/\/{2,}/g, '/').replace(/\/$/, '')
    return below.length === 0 ? whole : whole.split('/').slice(0, -below.length).join('/')
  }
}
