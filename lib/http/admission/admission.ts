import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Identify } from '../../api-keys/authenticator.ts'
import type { Scope } from '../../api-keys/scopes.ts'
import type { Verifier } from '../../api-keys/verifier.ts'
import { UsersError } from '../../core/errors.ts'
import { BODY_MAX } from '../../core/limits.ts'
import { parseJsonBytes } from '../../core/strict-json.ts'
import { toUsersError } from '../../storage/storage-errors.ts'
import { checkMediaType } from '../body.ts'
import { endConnectionsOnClose, requireWhole } from '../break-off.ts'
import { CALLER, callerOf } from '../caller.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import type { SecurityLog } from '../logging/security-log.ts'
import { createErrorHandler, type ErrorFormat } from '../responses/problem.ts'
import { authenticateRequest, protect, requireScope } from './authentication.ts'

/**
 * What a route requires before the body is read: a scope (null: any valid key) and media types; or how it refuses every
 * caller. `endsOwnKey`: no rate limit counts it, since who revokes a leaked key must not be told to come back later.
 * `platformOnly`: for a caller that is bound to a tenant it is not there.
 */
export type RouteAccess =
  | { scope: Scope | null, accepts: readonly string[], endsOwnKey?: boolean, platformOnly?: boolean }
  | { refuse: () => never }

declare module 'fastify' {
  interface FastifyContextConfig {
    fastifyUsers?: RouteAccess
  }
}

export interface AdmissionOptions {
  identify: Identify<FastifyRequest>
  stillWorks: Verifier['stillWorks']
  rateLimits: RateLimits | null
  securityLog: SecurityLog
  /** Called with the authenticated caller of each request. */
  onCaller: (caller: Caller, request: FastifyRequest) => void
}

// The limit of deletions counts the requests with DELETE that need one of these: lists and restorations need them too.
const DELETIONS = new Set<Scope | null>(['users:delete', 'tenants:delete'])

export function notFound (): never {
  throw new UsersError('not_found')
}

/** Makes the function that admits a request: authentication, rate limits, scope and media type, in this order. */
function createAdmission ({ identify, rateLimits, securityLog, onCaller }: AdmissionOptions) {
  async function authenticateLimited (request: FastifyRequest, limits: RateLimits): Promise<Caller> {
    await limits.refuseGuesser(request)
    try {
      const caller = await authenticateRequest(request, identify, securityLog)
      limits.noteSuccess(request)
      return caller
    } catch (error) {
      if (error instanceof UsersError && error.code === 'invalid_api_key') await limits.countFailure(request)
      throw error
    }
  }

  /** The access rules of a request whose caller is known. */
  function accessFor (request: FastifyRequest, caller: Caller): RouteAccess {
    request[CALLER] = caller
    onCaller(caller, request)
    const access = request.routeOptions.config.fastifyUsers
    // A hook of the host's that replaced the route's config causes this: it must not open the route.
    if (access === undefined) throw new Error('this route has lost its access rules')
    return access
  }

  function requireAccess (request: FastifyRequest, caller: Caller, access: RouteAccess): void {
    if ('refuse' in access) return access.refuse()
    // Whatever its scopes: they would tell that there is something.
    if (access.platformOnly === true && caller.principal.tenant !== undefined) notFound()
    if (access.scope !== null) requireScope(request, caller, access.scope, securityLog)
  }

  function requireMediaType (request: FastifyRequest, access: RouteAccess): void {
    if ('accepts' in access && access.accepts.length > 0) checkMediaType(request, access.accepts)
  }

  function admitNow (request: FastifyRequest, caller: Caller): void {
    const access = accessFor(request, caller)
    requireAccess(request, caller, access)
    requireMediaType(request, access)
  }

  async function admitLimited (request: FastifyRequest, reply: FastifyReply, limits: RateLimits): Promise<void> {
    const caller = await authenticateLimited(request, limits)
    const access = accessFor(request, caller)
    const endsOwnKey = 'endsOwnKey' in access && access.endsOwnKey
    if (!endsOwnKey) await limits.countRequest(request, reply)
    requireAccess(request, caller, access)
    const isDeletion = request.method === 'DELETE' && 'scope' in access && DELETIONS.has(access.scope)
    if (isDeletion) await limits.countDeletion(request)
    requireMediaType(request, access)
  }

  /** Gives no promise where the key is cached and nothing is counted: it would cost a tenth of a look-up. */
  return (request: FastifyRequest, reply: FastifyReply): void | Promise<void> => {
    if (rateLimits !== null) return admitLimited(request, reply, rateLimits)
    const caller = authenticateRequest(request, identify, securityLog)
    return caller instanceof Promise ? caller.then((found) => admitNow(request, found)) : admitNow(request, caller)
  }
}

/** Calls back when work has ended: immediately if it is not a promise. */
function settle (done: (error?: Error) => void, work: () => void | Promise<void>): void {
  let later: void | Promise<void>
  try {
    later = work()
  } catch (error) {
    return done(toUsersError(error))
  }
  if (later === undefined) done()
  else later.then(() => done(), (error) => done(toUsersError(error)))
}

/**
 * Has the scope admit each request before its body is read. After a body it checks that this was not broken off, and
 * the key again.
 */
export function admitRequests (scope: FastifyInstance, options: AdmissionOptions): void {
  const { identify, stillWorks, securityLog } = options
  const admit = createAdmission(options)
  scope.decorateRequest(CALLER, null)

  // In onRequest, so that a stranger can't make the server parse anything.
  scope.addHook('onRequest', (request, reply, done) => {
    protect(reply)
    settle(done, () => {
      if (request.is404) notFound()
      return admit(request, reply)
    })
  })

  // The body, even an empty one, may have taken long, and the key may have been revoked meanwhile. What the cache tells
  // needs no second proof of the secret, which took a tenth of the time of a change.
  scope.addHook('preHandler', (request, _reply, done) => settle(done, () => {
    if (request.method === 'GET' || request.method === 'HEAD') return undefined
    requireWhole(request)
    const { record } = callerOf(request)
    if (record === null || stillWorks(record)) return undefined
    const caller = authenticateRequest(request, identify, securityLog)
    if (caller instanceof Promise) return caller.then((found) => { request[CALLER] = found })
    request[CALLER] = caller
    return undefined
  }))
}

type Parsed = (error: Error | null, value?: unknown) => void

function parseBody (_request: FastifyRequest, body: Buffer, done: Parsed): void {
  let value: unknown
  try {
    value = parseJsonBytes(body)
  } catch (error) {
    return done(toUsersError(error))
  }
  done(null, value)
}

export interface IsolateOptions extends AdmissionOptions {
  errorFormat: ErrorFormat
  /** True if unknown paths of this scope are ours to answer. */
  ownsNotFound: boolean
}

/**
 * Isolates a scope from the host: authentication first, then our parser and error handler. The services check every
 * value, and responses are sent as finished text, so routes have no schemas for the host's compilers.
 */
export function isolate (scope: FastifyInstance, { errorFormat, ownsNotFound, ...admission }: IsolateOptions): void {
  admitRequests(scope, admission)
  endConnectionsOnClose(scope)
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_MAX }, parseBody)
  scope.setErrorHandler(createErrorHandler(errorFormat, admission.securityLog.answered))
  if (ownsNotFound) scope.setNotFoundHandler(notFound)
}
