import { UsersError, type UsersErrorDetails } from '../errors.ts'

const REALM = 'Bearer realm="users"'

/** Refuses a request without credentials: the challenge names no error (RFC 6750 section 3.1). */
export function unauthorized (): UsersError {
  return new UsersError('unauthorized', { headers: { 'www-authenticate': REALM } })
}

/** Refuses a key that is malformed, unknown, expired or revoked: the same words for all four. */
export function invalidKey (): UsersError {
  return new UsersError('invalid_api_key', { headers: { 'www-authenticate': `${REALM}, error="invalid_token"` } })
}

/** Refuses a key that is good, but not for this; `scopes` are those that would do, where scopes would. */
export function insufficientScope (scopes: readonly string[], details: Pick<UsersErrorDetails, 'errors' | 'detail'> = {}): UsersError {
  const scope = scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`
  return new UsersError('insufficient_scope', { ...details, headers: { 'www-authenticate': `${REALM}, error="insufficient_scope"${scope}` } })
}
