import { UsersError, type UsersErrorDetails } from '../core/errors.ts'

const REALM = 'Bearer realm="users"'

/** Refuses a request without credentials. The challenge then names no error (RFC 6750 section 3.1). */
export function unauthorized (): UsersError {
  return new UsersError('unauthorized', { headers: { 'www-authenticate': REALM } })
}

/** Refuses a key that is malformed, unknown, expired, revoked or used from elsewhere, with the same answer for all. */
export function invalidKey (): UsersError {
  return new UsersError('invalid_api_key', { headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } })
}

/** Refuses a valid key without the scope. `scopes`: those that would suffice; empty: none would. */
export function insufficientScope (
  scopes: readonly string[],
  details: Pick<UsersErrorDetails, 'errors' | 'detail'> = {}
): UsersError {
  const scope = scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`
  const challenge = `${REALM}, error="insufficient_scope"${scope}`
  const which = scopes.length === 1 ? 'the scope' : 'a scope'
  const named = scopes.length > 0 && {
    detail: `The API key lacks ${which} that this operation needs: ${scopes.join(', ')}.`
  }
  return new UsersError('insufficient_scope', { ...named, ...details, headers: { 'www-authenticate': challenge } })
}

/** Other credentials might do, which the challenge says (RFC 9110 section 11.6.1). */
export function tenantForbidden (): UsersError {
  return new UsersError('tenant_forbidden', { headers: { 'www-authenticate': REALM } })
}
