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
import { ADMITTED_BY, CALLER, callerOf } from '../caller.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import type { SecurityLog } from '../logging/security-log.ts'
import { createErrorHandler, type ErrorFormat } from '../responses/problem.ts'
import { authenticateRequest, protect, requireScopes } from './authentication.ts'

/**
 * What a route requires before the body is read: scopes (none: any valid key) and media types; or how it refuses every
 * caller. `endsOwnKey`: no rate limit counts it, since who revokes a leaked key must not be told to come back later.
 * `platformOnly`: for a caller that is bound to a tenant it is not there. `isOpen`: it needs no key, and has no caller.
 */
export type RouteAccess =
  | { scopes: readonly Scope[], accepts: readonly string[], endsOwnKey?: boolean, platformOnly?: boolean }
  | { refuse: () => never }
  | { isOpen: true }

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

/** Decides which requests are let in: to the routes of a mount, and to routes of the host that it guards. */
export interface Admission extends AdmissionOptions {
  /**
   * Authentication, rate limits, scopes and media type, in this order. Who was let in already is not asked again. Gives
   * no promise where the key is cached and nothing is counted: it would cost a tenth of a look-up.
   * @throws UsersError
   */
  admit: (request: FastifyRequest, reply: Pick<FastifyReply, 'headers'>, access: AccessOf) => void | Promise<void>
  /** True for a request that was let in. */
  isAdmitted: (request: FastifyRequest) => boolean
  /** Checks the key of a request that was let in again, if it may have been revoked meanwhile. @throws UsersError */
  recheck: (request: FastifyRequest) => void | Promise<void>
}

/** Says what a request requires, when its caller is known. */
export type AccessOf = (request: FastifyRequest) => RouteAccess

// The limit of deletions counts the requests with DELETE that need one of these: lists and restorations need them too.
const DELETIONS = new Set<Scope>(['users:delete', 'tenants:delete', 'scim:users'])

export function notFound (): never {
  throw new UsersError('not_found')
}

/** The access rules of a route of ours. */
function ownAccess (request: FastifyRequest): RouteAccess {
  const access = request.routeOptions.config.fastifyUsers
  // A hook of the host's that replaced the route's config causes this: it must not open the route.
  if (access === undefined) throw new Error('this route has lost its access rules')
  return access
}

/** Makes what admits the requests of a mount. */
export function createAdmission (options: AdmissionOptions): Admission {
  const { identify, stillWorks, rateLimits, securityLog, onCaller } = options

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

  const isAdmitted = (request: FastifyRequest): boolean => request[ADMITTED_BY] === options

  function note (request: FastifyRequest, caller: Caller): void {
    request[CALLER] = caller
    request[ADMITTED_BY] = options
    onCaller(caller, request)
  }

  function requireAccess (request: FastifyRequest, caller: Caller, access: RouteAccess): void {
    if ('refuse' in access) return access.refuse()
    if ('isOpen' in access) return
    // Whatever its scopes: they would tell that there is something.
    if (access.platformOnly === true && caller.principal.tenant !== undefined) notFound()
    requireScopes(request, caller, access.scopes, securityLog)
  }

  function requireMediaType (request: FastifyRequest, access: RouteAccess): void {
    if ('accepts' in access && access.accepts.length > 0) checkMediaType(request, access.accepts)
  }

  function requireAll (request: FastifyRequest, accessOf: AccessOf): void {
    const access = accessOf(request)
    requireAccess(request, callerOf(request), access)
    requireMediaType(request, access)
  }

  async function admitLimited (
    request: FastifyRequest, reply: Pick<FastifyReply, 'headers'>, accessOf: AccessOf, limits: RateLimits
  ): Promise<void> {
    const isCounted = isAdmitted(request)
    const caller = isCounted ? callerOf(request) : await authenticateLimited(request, limits)
    if (!isCounted) note(request, caller)
    const access = accessOf(request)
    const endsOwnKey = 'endsOwnKey' in access && access.endsOwnKey
    if (!isCounted && !endsOwnKey) await limits.countRequest(request, reply)
    requireAccess(request, caller, access)
    const isDeletion = request.method === 'DELETE' && 'scopes' in access &&
      access.scopes.some((scope) => DELETIONS.has(scope))
    if (isDeletion) await limits.countDeletion(request)
    requireMediaType(request, access)
  }

  function admitNow (request: FastifyRequest, caller: Caller, accessOf: AccessOf): void {
    note(request, caller)
    requireAll(request, accessOf)
  }

  return {
    ...options,
    isAdmitted,
    recheck (request) {
      const { record } = callerOf(request)
      // What the cache tells needs no second proof of the secret, which took a tenth of the time of a change.
      if (record === null || stillWorks(record)) return undefined
      const caller = authenticateRequest(request, identify, securityLog)
      if (caller instanceof Promise) return caller.then((found) => { request[CALLER] = found })
      request[CALLER] = caller
      return undefined
    },
    admit (request, reply, accessOf) {
      if (rateLimits !== null) return admitLimited(request, reply, accessOf, rateLimits)
      if (isAdmitted(request)) return requireAll(request, accessOf)
      const caller = authenticateRequest(request, identify, securityLog)
      return caller instanceof Promise
        ? caller.then((found) => admitNow(request, found, accessOf))
        : admitNow(request, caller, accessOf)
    }
  }
}

/** Calls back when work has ended: immediately if it is not a promise. */
export function settle (done: (error?: Error) => void, work: () => void | Promise<void>): void {
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
function admitRequests (scope: FastifyInstance, { admit, recheck }: Admission): void {
  scope.decorateRequest(CALLER, null)
  scope.decorateRequest(ADMITTED_BY, null)

  // In onRequest, so that a stranger can't make the server parse anything.
  scope.addHook('onRequest', (request, reply, done) => {
    protect(reply)
    settle(done, () => {
      if (request.is404) notFound()
      return 'isOpen' in ownAccess(request) ? undefined : admit(request, reply, ownAccess)
    })
  })

  // The body, even an empty one, may have taken long, and the key may have been revoked meanwhile.
  scope.addHook('preHandler', (request, _reply, done) => settle(done, () => {
    if (request.method === 'GET' || request.method === 'HEAD') return undefined
    requireWhole(request)
    return recheck(request)
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

export interface IsolateOptions {
  errorFormat: ErrorFormat
  /** The media type of errors that a function makes. */
  errorType?: string | undefined
  /** True if unknown paths of this scope are ours to answer. */
  ownsNotFound: boolean
}

/**
 * Isolates a scope from the host: authentication first, then our parser and error handler. The services check every
 * value, and responses are sent as finished text, so routes have no schemas for the host's compilers.
 */
export function isolate (
  scope: FastifyInstance, admission: Admission, { errorFormat, errorType, ownsNotFound }: IsolateOptions
): void {
  admitRequests(scope, admission)
  endConnectionsOnClose(scope)
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_MAX }, parseBody)
  scope.setErrorHandler(createErrorHandler(errorFormat, admission.securityLog.answered, errorType))
  if (ownsNotFound) scope.setNotFoundHandler(notFound)
}
