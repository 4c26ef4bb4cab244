import { insufficientScope } from './challenge.ts'
import type { KeyRateLimit } from '../storage/storage.ts'
import { liesWithin } from './addresses.ts'
import type { Caller } from './authenticator.ts'
import type { AskedBounds, KeyBounds } from './bounds.ts'
import { ADMIN_SCOPE, type Scope } from './scopes.ts'

/** The most that a caller can give to a key: its own scopes, expiry (null: never), addresses and limit of requests. */
export interface Delegation {
  scopes: readonly string[]
  expiresAt: string | null
  /** Absent: any. */
  addresses?: readonly string[]
  /** The limit of the caller's key itself. Absent: it has none, and `usualLimit` is what it may send. */
  rateLimit?: KeyRateLimit
  /** The limit of every key without one of its own. Absent: there is none. */
  usualLimit?: KeyRateLimit
}

/** What the caller of a request can give. `usualLimit`: that of keys without a limit of their own. */
export function delegationOf (
  { principal, expiresAt, addresses, rateLimit }: Caller,
  usualLimit: KeyRateLimit | undefined
): Delegation {
  return {
    scopes: principal.scopes,
    expiresAt,
    ...(addresses && { addresses }),
    ...(rateLimit && { rateLimit }),
    ...(usualLimit && { usualLimit })
  }
}

/** The bounds that are asked for, and for absent ones those of the caller. */
export function withOwnBounds ({ addresses, rateLimit }: Delegation, asked: AskedBounds): AskedBounds {
  return { ...(addresses && { addresses }), ...(rateLimit && { rateLimit }), ...asked }
}

/** True if a limit allows no more than the other one: neither in a burst nor in the long run. */
function allowsNoMore (limit: KeyRateLimit, most: KeyRateLimit): boolean {
  return limit.max <= most.max && limit.max * most.window <= most.max * limit.window
}

function hasOwnAddresses ({ addresses: own }: Delegation, { addresses }: KeyBounds): boolean {
  if (own === undefined) return true
  return addresses !== undefined && addresses.every((network) => liesWithin(network, own))
}

function hasOwnLimit ({ rateLimit: own, usualLimit }: Delegation, { rateLimit }: KeyBounds): boolean {
  if (rateLimit === undefined) return own === undefined
  const most = own ?? usualLimit
  return most === undefined || allowsNoMore(rateLimit, most)
}

/**
 * `isInput`: the bounds come from the body of the request, which the pointers lead into.
 * @throws UsersError `insufficient_scope` if a key would work from other addresses, or send more, than the caller's
 */
export function requireOwnBounds (delegation: Delegation, bounds: KeyBounds, isInput: boolean): void {
  const faults = [
    { member: 'addresses', isOwn: hasOwnAddresses, detail: 'must lie within the addresses of the caller’s API key' },
    { member: 'rateLimit', isOwn: hasOwnLimit, detail: 'must allow no more than the limit of the caller’s API key' }
  ].filter(({ isOwn }) => !isOwn(delegation, bounds))
  if (faults.length === 0) return
  throw insufficientScope([], {
    detail: 'An API key can only grant addresses and a limit within its own.',
    errors: faults.map(({ member, detail }) => ({
      pointer: isInput ? `/${member}` : '', code: 'beyond_caller', detail
    }))
  })
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
  const detail = 'must be a scope that the caller has'
  throw insufficientScope(scopes, {
    detail: 'An API key can only grant scopes that it has itself.',
    errors: beyond.map((i) => ({ pointer: pointerOf(i), code: 'beyond_caller', detail }))
  })
}

/** @throws UsersError `insufficient_scope` if a key that is to be revoked has a scope that the caller lacks */
export function requireNoStronger ({ scopes: own }: Delegation, scopes: readonly string[]): void {
  if (scopes.every((scope) => own.includes(scope))) return
  throw insufficientScope([], {
    detail: 'An API key can only revoke keys whose scopes it has itself.',
    errors: [{ pointer: '', code: 'beyond_caller', detail: 'must have no scope that the caller lacks' }]
  })
}

/** @throws UsersError `insufficient_scope` if a key would outlive the caller's */
export function requireOwnExpiry ({ expiresAt: own }: Delegation, expiresAt: string | null, pointer: string): void {
  if (earlier(own, expiresAt) === expiresAt) return
  const detail = 'must not be later than the expiry of the caller’s API key'
  throw insufficientScope([], {
    detail: 'A key cannot outlive the key or session that creates it.',
    errors: [{ pointer, code: 'beyond_caller', detail }]
  })
}

/** The scopes of a list that the caller can give. */
export function ownScopesOf ({ scopes: own }: Delegation, scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => own.includes(scope))
}

/**
 * The scopes that another active key must have before a key with these scopes is revoked. Otherwise nobody
 * could grant them any more.
 */
export function scopesToKeep (
  scopes: readonly string[], staticScopes: ReadonlyArray<readonly string[]>
): readonly string[] {
  const isCovered = staticScopes.some((own) => scopes.every((scope) => own.includes(scope)))
  return scopes.includes(ADMIN_SCOPE) && !isCovered ? scopes : []
}
