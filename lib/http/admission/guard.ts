import type { FastifyBaseLogger, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Caller } from '../../api-keys/authenticator.ts'
import { invalidKey } from '../../api-keys/challenge.ts'
import { type Scope, scopeIn } from '../../api-keys/scopes.ts'
import { isTenant } from '../../core/tenant.ts'
import { toUsersError } from '../../storage/storage-errors.ts'
import { callerOf } from '../caller.ts'
import { createErrorHandler, type ErrorFormat } from '../responses/problem.ts'
import { type AccessOf, type Admission, notFound, settle } from './admission.ts'
import { protect } from './authentication.ts'

/** Who a request of the host's comes from. */
export interface RequestCaller {
  /** The key's id, the static key's name, or the id that `authenticate` returned. */
  readonly id: string
  /** What it is called; null: only its id is known. */
  readonly name: string | null
  /** Those that the mount knows. */
  readonly scopes: readonly Scope[]
  /** The tenant that it is bound to; null: none. */
  readonly tenant: string | null
  readonly type: 'api_key' | 'static' | 'host'
}

/** An `onRequest` hook that lets in who has the scopes. */
export interface Guard {
  (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void
  /** For the `schema` of a route that `@fastify/swagger` describes, in OpenAPI 3.1. */
  readonly schema: { readonly security: ReadonlyArray<Readonly<Record<string, readonly string[]>>> }
}

/** Options of `apiKeys.verify`. */
export interface VerifyOptions {
  /** The scopes that the caller must have, all of them. Default: none. */
  scopes?: readonly Scope[]
  /**
   * Of a text: the address that it came from. Without it a key that works from some networks alone is refused, and
   * `limits.failures` counts nothing.
   */
  address?: string
}

/** Lets in requests to routes of the host, by the rules of the mount's own routes. */
export interface Guards {
  guard: (scopes: readonly Scope[]) => Guard
  /** `tenant`: only callers that are bound to it are somebody. @throws UsersError */
  verify: (
    given: string | FastifyRequest, options: VerifyOptions, tenant: string | undefined
  ) => Promise<RequestCaller>
  /** The tenant that a request is about that was let in. @throws TypeError for another request */
  scopeOf: (request: FastifyRequest) => { tenant: string | undefined }
}

export interface GuardParts {
  admission: Admission
  /** As `admission`, for a text of its own: static and stored keys alone. */
  textAdmission: Admission
  errorFormat: ErrorFormat
  log: FastifyBaseLogger
  callerName: string
  /** The scopes that the mount knows. */
  scopes: readonly Scope[]
  tenants: boolean
  /** The name of the security scheme in descriptions. */
  securityScheme: string
  /** Makes the member of requests known to Fastify, for a host that is not started yet. */
  decorate: (name: string) => void
}

/** A request that has a key alone, as far as admission reads one. */
function requestOf (text: string, address: string, log: FastifyBaseLogger): FastifyRequest {
  return Object({
    id: '',
    ip: address,
    log,
    method: 'GET',
    params: {},
    raw: { rawHeaders: ['authorization', `Bearer ${text}`] },
    routeOptions: { config: {} }
  })
}

/** What a verification does not answer. */
const UNANSWERED: Pick<FastifyReply, 'headers'> = { headers: Object }

/** Makes the guards of a mount. */
export function createGuards (parts: GuardParts): Guards {
  const {
    admission, textAdmission, errorFormat, log, callerName, scopes: known, tenants, securityScheme, decorate
  } = parts
  const answer = createErrorHandler(errorFormat, admission.securityLog.answered)
  const seen = new WeakMap<Caller, RequestCaller>()

  /** What the host sees of a caller: of its scopes those that the mount knows. */
  function seenBy (caller: Caller): RequestCaller {
    const before = seen.get(caller)
    if (before !== undefined) return before
    const { principal: { id, name, scopes, tenant, type } } = caller
    const own = Object.freeze(scopes.flatMap((scope) => scopeIn(known, scope) ?? []))
    const made = Object.freeze({ id, name, scopes: own, tenant: tenant ?? null, type })
    seen.set(caller, made)
    return made
  }

  /**
   * The tenant that the path of a request names. Without the option `tenants` none does.
   * @throws UsersError `not_found` for what is no name of a tenant: it would bound nothing
   */
  function namedTenant ({ params }: FastifyRequest): string | undefined {
    const { tenant }: { tenant?: unknown } = Object(params)
    if (!tenants || tenant === undefined) return undefined
    return isTenant(tenant) ? tenant : notFound()
  }

  /** `usage`: how names of scopes are given, for what is none, such as the request of a hook. */
  function accessOf (scopes: readonly Scope[] | undefined, usage: string): AccessOf {
    if (scopes === undefined || !Array.isArray(scopes) || scopes.some((scope) => typeof scope !== 'string')) {
      throw new TypeError(`fastify-users: ${usage}`)
    }
    for (const scope of scopes) {
      if (known.includes(scope)) continue
      throw new TypeError(`fastify-users: ${JSON.stringify(scope)} is not a scope that keys of this mount can have: ` +
        `they can have ${known.join(', ')}; name yours in the option apiKeys.scopes`)
    }
    const access = { scopes, accepts: [] }
    return (request) => {
      const { principal: { tenant } } = callerOf(request)
      const named = namedTenant(request)
      // As on routes of ours: what is named only confirms what the key is bound to.
      if (tenant !== undefined && named !== undefined && named !== tenant) notFound()
      return access
    }
  }

  function refuse (error: Error, request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    protect(reply)
    try {
      Promise.resolve(answer(Object(error), request, reply)).catch(done)
    } catch (thrown) {
      done(Object(thrown))
    }
  }

  return {
    guard (scopes) {
      const access = accessOf(scopes, "guard() takes names of scopes: write app.users.guard('orders:read')")
      decorate(callerName)
      const hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => settle(
        (error) => {
          if (error !== undefined) return refuse(error, request, reply, done)
          Object.assign(request, { [callerName]: seenBy(callerOf(request)) })
          done()
        },
        () => admission.admit(request, reply, access)
      )
      return Object.assign(hook, { schema: { security: [{ [securityScheme]: scopes }] } })
    },

    async verify (given, options, tenant) {
      const { address = '' } = options
      // Scopes that are undefined, such as those of a route that a table lacks, would let in any key.
      const scopes = 'scopes' in options ? options.scopes : []
      const access = accessOf(scopes, "verify() takes names of scopes: write { scopes: ['orders:read'] }")
      const isRequest = typeof given === 'object' && given !== null
      // What is neither, such as the undefined of a header that was not sent, is no key.
      const request = isRequest ? given : requestOf(typeof given === 'string' ? given : '', address, log)
      const { admit, isAdmitted, recheck, securityLog } = isRequest ? admission : textAdmission
      try {
        if (isAdmitted(request)) await recheck(request)
        await admit(request, UNANSWERED, access)
      } catch (thrown) {
        const error = toUsersError(thrown)
        securityLog.answered(error, request)
        throw error
      }
      const caller = callerOf(request)
      if (tenant !== undefined && caller.principal.tenant !== tenant) throw invalidKey()
      return seenBy(caller)
    },

    scopeOf (request) {
      if (!admission.isAdmitted(request)) {
        throw new TypeError('fastify-users: no route, guard or verification of this mount has admitted this request')
      }
      return { tenant: callerOf(request).principal.tenant ?? namedTenant(request) }
    }
  }
}
