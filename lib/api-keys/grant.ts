import type { Caller } from './authenticator.ts'
import { insufficientScope } from './challenge.ts'
import type { Scope } from './scopes.ts'

/** The most that a caller can give a key: no scope that it lacks itself, and no moment behind its own end (null: it has none). */
export interface Grant {
  scopes: readonly string[]
  expiresAt: string | null
}

/** What the caller of a request can give. */
export function grantOf ({ principal, expiresAt }: Caller): Grant {
  return { scopes: principal.scopes, expiresAt }
}

/** The earlier of two ends, where null is none. */
export function earlier (a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  // ISO text of one length sorts as time does.
  return a < b ? a : b
}

/** @throws UsersError `insufficient_scope` that names each scope which the caller lacks, by its pointer */
export function requireScopes ({ scopes: own }: Grant, scopes: readonly string[], pointerOf: (i: number) => string): void {
  const beyond = scopes.flatMap((scope, i) => own.includes(scope) ? [] : [i])
  if (beyond.length === 0) return
  throw insufficientScope(scopes, {
    detail: 'An API key can only give scopes that it has itself.',
    errors: beyond.map((i) => ({ pointer: pointerOf(i), code: 'beyond_caller', detail: 'must be a scope of the API key that asks' }))
  })
}

/** @throws UsersError `insufficient_scope` where a key would outlive the caller's */
export function requireExpiry ({ expiresAt: own }: Grant, expiresAt: string | null, pointer: string): void {
  if (earlier(own, expiresAt) === expiresAt) return
  throw insufficientScope([], {
    detail: 'An API key can give no life that is longer than its own.',
    errors: [{ pointer, code: 'beyond_caller', detail: 'must not lie behind the expiry of the API key that asks' }]
  })
}

/** Which of these scopes the caller can give. */
export function within ({ scopes: own }: Grant, scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => own.includes(scope))
}
