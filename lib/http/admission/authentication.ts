import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Identify } from '../../api-keys/authenticator.ts'
import { insufficientScope, invalidKey, unauthorized } from '../../api-keys/challenge.ts'
import type { Scope } from '../../api-keys/scopes.ts'
import { callerOf } from '../caller.ts'
import { headerLines } from '../header-fields.ts'
import type { SecurityLog } from '../logging/security-log.ts'

// RFC 9110 section 11.4: the scheme in any case, and one token.
const CREDENTIALS = /^bearer +([\x21-\x7e]+)$/i
const BEARER = /^bearer +[^ ]/i

function requireCaller (caller: Caller | null): Caller {
  if (caller === null) throw invalidKey()
  return caller
}

/**
 * The caller of a request, from its Authorization header alone.
 * @throws UsersError `unauthorized` or `invalid_api_key` with a challenge (RFC 6750 section 3), `storage_unavailable`
 */
export function authenticateRequest (
  request: FastifyRequest,
  identify: Identify<FastifyRequest>,
  log: SecurityLog
): Caller | Promise<Caller> {
  const lines = headerLines(request, 'authorization')
  const [credentials = ''] = lines
  if (lines.length < 2 && !BEARER.test(credentials)) throw unauthorized()
  const token = lines.length === 1 ? CREDENTIALS.exec(credentials)?.[1] : undefined
  if (token === undefined) log.refused(request, { reason: 'malformed', keyId: null, start: null })
  const caller = token === undefined ? null : identify(token, request)
  return caller instanceof Promise ? caller.then(requireCaller) : requireCaller(caller)
}

/** @throws UsersError `insufficient_scope` with its challenge (RFC 6750 section 3.1) if the caller lacks a scope */
export function requireScopes (
  request: FastifyRequest,
  caller: Caller,
  scopes: readonly Scope[],
  log: Pick<SecurityLog, 'denied'>
): void {
  for (const scope of scopes) {
    if (caller.principal.scopes.includes(scope)) continue
    log.denied(request, caller, scope)
    throw insufficientScope(scopes)
  }
}

/** Sets the headers of every response: users are personal data. */
export function protect (reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
  reply.header('x-content-type-options', 'nosniff')
}

/** Makes the checks whether the caller of a request that takes long still may: they throw once it may not. */
export function rechecks (identify: Identify<FastifyRequest>, securityLog: SecurityLog) {
  return (required: Scope) => async (request: FastifyRequest): Promise<void> => {
    const caller = await authenticateRequest(request, identify, securityLog)
    // The request goes on with what it began with, which is another tenant's by now.
    if (caller.principal.tenant !== callerOf(request).principal.tenant) throw invalidKey()
    requireScopes(request, caller, [required], securityLog)
  }
}
