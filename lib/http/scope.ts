import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Caller, Identify } from '../api-keys/authenticator.ts'
import type { Scope } from '../api-keys/scopes.ts'
import { UsersError } from '../errors.ts'
import { hide } from '../openapi/describe.ts'
import { toUsersError } from '../storage-errors.ts'
import { authenticateRequest, protect, requireScope } from './authentication.ts'
import { BODY_LIMIT, checkMediaType, parseBody } from './body.ts'
import { CALLER, callerOf } from './callers.ts'
import type { Limiter } from './limiter.ts'
import { createErrorHandler, type ErrorFormat } from './problem.ts'
import type { SecurityLog } from './security-log.ts'

/** What a route of ours asks of a request before its body is read: a scope (null: any good key will do) and media types; or how it is refused, whoever sends it. */
export type RouteAccess =
  | { scope: Scope | null, accepts: readonly string[] }
  | { refuse: () => never }

declare module 'fastify' {
  interface FastifyContextConfig {
    fastifyUsers?: RouteAccess
  }
}

export interface ScopeOptions {
  identify: Identify
  limiter: Limiter | null
  securityLog: SecurityLog
  errorFormat: ErrorFormat
  /** Whether unknown paths of this scope are ours to answer. */
  ownsNotFound: boolean
  /** Called once the caller of a request is known. */
  onCaller: (caller: Caller, request: FastifyRequest) => void
}

function notFound (): never {
  throw new UsersError('not_found')
}

/**
 * Makes a scope our own: authentication first, our parser, validation, serialisation and error handler. What the host has set for itself stays outside,
 * and what we set stays inside.
 */
export function pinScope (scope: FastifyInstance, { identify, limiter, securityLog, errorFormat, ownsNotFound, onCaller }: ScopeOptions): void {
  scope.decorateRequest(CALLER, null)

  async function authenticate (request: FastifyRequest): Promise<Caller> {
    if (limiter !== null) await limiter.refuseGuesser(request)
    try {
      return await authenticateRequest(request, identify, securityLog)
    } catch (error) {
      if (limiter !== null && error instanceof UsersError && error.code === 'invalid_api_key') await limiter.countFailure(request)
      throw error
    }
  }

  async function admit (request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const access = request.routeOptions.config.fastifyUsers
    const caller = await authenticate(request)
    request[CALLER] = caller
    onCaller(caller, request)
    // Only a hook of the host that rewrote the route can cause this: never open.
    if (access === undefined) throw new Error('this route has lost its access rules')
    // Whoever ends a key must not be told to come again.
    if (limiter !== null && !('scope' in access && access.scope === null)) await limiter.countRequest(request, reply)
    if ('refuse' in access) return access.refuse()
    if (access.scope !== null) requireScope(request, caller, access.scope, securityLog)
    if (limiter !== null && access.scope === 'users:delete') await limiter.countDeletion(request)
    if (access.accepts.length > 0) checkMediaType(request, access.accepts)
  }

  // Before the body is read (Fastify's onRequest), so that a stranger can't make us parse anything.
  scope.addHook('onRequest', async (request, reply) => {
    protect(reply)
    if (request.is404) notFound()
    try {
      await admit(request, reply)
    } catch (error) {
      throw toUsersError(error)
    }
  })
  // The body may have taken its time, and the key may have ended meanwhile.
  scope.addHook('preHandler', async (request) => {
    // One of no bytes may be on its way for as long.
    if (request.method === 'GET' || request.method === 'HEAD') return
    try {
      if (callerOf(request).record === null) return
      request[CALLER] = await authenticateRequest(request, identify, securityLog)
    } catch (error) {
      throw toUsersError(error)
    }
  })
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, async (_request: FastifyRequest, body: Buffer) => parseBody(body))
  // The services judge every value by rules of their own, and answers are sent as finished text: routes have no schemas for the host's compilers.
  scope.setErrorHandler(createErrorHandler(errorFormat, securityLog.answered))
  if (ownsNotFound) scope.setNotFoundHandler(notFound)
}

/** Answers every method that Fastify routes and this path doesn't have: 405 with Allow. Called after the path's routes. */
export function refuseOtherMethods (scope: FastifyInstance, url: string, methods: readonly HTTPMethods[]): void {
  const headers = { allow: methods.join(', ') }
  const others = scope.supportedMethods.filter((method) => !methods.includes(method))
  const refuse = (): never => { throw new UsersError('method_not_allowed', { headers }) }
  scope.route({ method: others, url, config: { fastifyUsers: { refuse }, ...hide }, handler: refuse })
}
