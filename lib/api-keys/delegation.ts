import { insufficientScope } from './challenge.ts'
import type { Caller } from './authenticator.ts'
import type { Scope } from './scopes.ts'

/** The most that a caller can give to a key: its own scopes, and its own expiry (null: never). */
export interface Delegation {
  scopes: readonly string[]
  expiresAt: string | null
}

/** What the caller of a request can give. */
export function delegationOf ({ principal, expiresAt }: Caller): Delegation {
  return { scopes: principal.scopes, expiresAt }
}

/** The earlier of two expiries; null is never. */
export function earlier (a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  // ISO text of the same length sorts by time.
  return a < b ? a : b
}

/** @throws UsersError `insufficient_scope` that names, by its pointer, each scope that the caller lacks */
export function requireOwnScopes (
  { scopes: own }: Delegation,
  scopes: readonly string[],
  pointerOf: (i: number) => string
): void {
  const beyond = scopes.flatMap((scope, i) => own.includes(scope) ? [] : [i])
  if (beyond.length === 0) return
  const detail = 'must be a scope of the API key that asks'
  throw insufficientScope(scopes, {
    detail: 'An API key can only give scopes that it has itself.',
    errors: beyond.map((i) => ({ pointer: pointerOf(i), code: 'beyond_caller', detail }))
  })
}

/** @throws UsersError `insufficient_scope` if a key that is to be revoked has a scope that the caller lacks */
export function requireNoStronger ({ scopes: own }: Delegation, scopes: readonly string[]): void {
  if (scopes.every((scope) => own.includes(scope))) return
  throw insufficientScope([], {
    detail: 'An API key can only revoke keys whose scopes it has itself.',
    errors: [{ pointer: '', code: 'beyond_caller', detail: 'must have no scope that the API key that asks lacks' }]
  })
}

/** @throws UsersError `insufficient_scope` if a key would outlive the caller's */
export function requireOwnExpiry ({ expiresAt: own }: Delegation, expiresAt: string | null, pointer: string): void {
  if (earlier(own, expiresAt) === expiresAt) return
  const detail = 'must not be later than the expiry of the API key that asks'
  throw insufficientScope([], {
    detail: 'An API key can not give a longer life than its own.',
    errors: [{ pointer, code: 'beyond_caller', detail }]
  })
}

/** The scopes of a list that the caller can give. */
export function ownScopesOf ({ scopes: own }: Delegation, scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => own.includes(scope))
}
