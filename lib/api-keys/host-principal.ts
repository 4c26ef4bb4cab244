import { UsersError } from '../core/errors.ts'
import { NAME_MAX } from '../core/limits.ts'
import { isTenant } from '../core/tenant.ts'
import { hasAtMost, isStorable } from '../core/text.ts'

/** What the host's own `authenticate` returns for a valid token. */
export interface HostPrincipal {
  id: string
  /** What people call the caller: 1 to 200 characters. Events show it. Absent or null: only its id is known. */
  name?: string | null
  scopes: readonly string[]
  /**
   * When the token expires, as text that Date parses. With `apiKeys.routes` the token can create no key that lives
   * longer. A moment that is past refuses the token. Absent or null: the token never expires.
   */
  expiresAt?: string | null
  /**
   * With the option `tenants`, which requires it: the tenant that the caller is bound to; null: the platform's, which
   * sees all tenants.
   */
  tenant?: string | null
}

/** True for what a caller can have as its id. */
export function isCallerId (value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isStorable(value)
}

/** True for what a caller can have as its name; null: it has none. */
export function isCallerName (value: unknown): value is string | null | undefined {
  if (value === undefined || value === null) return true
  return typeof value === 'string' && value !== '' && hasAtMost(value, NAME_MAX) && isStorable(value)
}

// A claim that is missing must not make the caller more powerful, so neither bound may be undefined.
function problemOf (answer: unknown, tenants: boolean): string | null {
  if (typeof answer !== 'object' || answer === null) return 'is neither an object nor null'
  const { id, name, scopes, expiresAt = null, tenant }: Record<keyof HostPrincipal, unknown> = Object(answer)
  if (!isCallerId(id)) return 'has no id: it must be a non-empty string'
  if (!isCallerName(name)) return `has an invalid name: it must be a string of 1 to ${NAME_MAX} characters, or null`
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string')) {
    return 'has no scopes: they must be an array of strings'
  }
  if ('expiresAt' in answer && answer.expiresAt === undefined) {
    return 'has an undefined expiresAt: it must be a date string, or null for a token that never expires'
  }
  if (expiresAt !== null && (typeof expiresAt !== 'string' || Number.isNaN(Date.parse(expiresAt)))) {
    return 'has an invalid expiresAt: it must be a date string, or null'
  }
  if (!tenants) return tenant === undefined || tenant === null ? null : 'has a tenant: set the option tenants'
  if (tenant === undefined) return "has no tenant: it must be the name of a tenant, or null for the platform's callers"
  return tenant === null || isTenant(tenant) ? null : 'has a tenant that is not a valid name'
}

export function cannotBeChecked (cause: Error): UsersError {
  const detail = 'The API key cannot be checked at the moment. Try again later.'
  return new UsersError('storage_unavailable', { cause, detail, headers: { 'retry-after': '5' } })
}

/** @throws UsersError `storage_unavailable` for any other answer; the log says what is wrong with it */
export function requireHostPrincipal (answer: unknown, tenants: boolean): asserts answer is HostPrincipal {
  const problem = problemOf(answer, tenants)
  if (problem !== null) throw cannotBeChecked(new TypeError(`the result of authenticate ${problem}`))
}
