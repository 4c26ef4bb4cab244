import { isStorageError, StorageError } from './storage-error.ts'
import type { ApiKeyOutcome } from './api-key-writes.ts'
import type { ApiKeyRecord, Idempotency, Storage, UserChanges, UserKeys, UserRecord, VersionGuard } from './storage.ts'
import type { UserWrite, WriteOutcome, WritesOptions } from './user-writes.ts'

const METHODS = ['open', 'close', 'commit', 'find', 'list', 'listTenants'] satisfies Array<keyof Storage>
const PARTS = {
  users: ['find', 'list', 'walk'],
  log: ['read', 'history', 'find', 'before', 'rewrite', 'prune', 'pruned']
} as const

/** The members of the interface that a value lacks: none, if it is a storage. */
export function missingFrom (candidate: unknown): string[] {
  const members: Record<string, unknown> = Object(candidate)
  const { name } = members
  return [
    ...typeof name === 'string' && name !== '' ? [] : ['name'],
    ...METHODS.filter((each) => typeof members[each] !== 'function'),
    ...Object.entries(PARTS).flatMap(([part, methods]) => {
      const own: Record<string, unknown> = Object(members[part])
      return methods.filter((each) => typeof own[each] !== 'function').map((each) => `${part}.${each}`)
    })
  ]
}

/** The names that a filterable field may have: they become parts of SQL text and of index names. */
export const FILTERABLE = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

/** True if lists can be filtered by a field of this name. */
export function isFilterable (name: string): boolean {
  return FILTERABLE.test(name)
}

/** The moment from which a key no longer works, in epoch milliseconds. The one place that decides how long it does. */
export function endOf (key: { revokedAt?: string | null, expiresAt?: string | null }): number {
  const { revokedAt = null, expiresAt = null } = key
  if (revokedAt !== null) return -Infinity
  return expiresAt === null ? Infinity : Date.parse(expiresAt)
}

// Rules that a store may decide in JavaScript. Adapters share them, so that each rule is written once.

/** Whether the guard accepts the version of a record. */
export function accepts ({ ifVersion, unlessVersion }: VersionGuard, { version }: { version: number }): boolean {
  return (ifVersion === null || ifVersion.includes(version)) && !unlessVersion.includes(version)
}

/** The keys and words of a user after changes. */
export function changedKeys<Keys extends Partial<UserKeys>> (
  keys: Keys, { name, email, fields, fieldWords }: UserChanges
): Keys {
  return {
    ...keys,
    ...(name !== undefined && { nameKey: name.key, nameWords: name.words ?? [] }),
    ...(email !== undefined && { emailKey: email.key, emailWords: email.words ?? [] }),
    ...(fields !== undefined && { fieldWords: fieldWords ?? [] })
  }
}

/** All words of a user, each once. */
export function wordsOfUser ({ nameWords = [], emailWords = [], fieldWords = [] }: UserKeys): string[] {
  return [...new Set([...nameWords, ...emailWords, ...fieldWords])]
}

/** True if a call for this tenant may see a record. Without a tenant it may see every record. */
export function belongsTo (record: { tenant?: string }, tenant: string | undefined): boolean {
  return tenant === undefined || record.tenant === tenant
}

/** @throws StorageError `idempotency_key_reused` if the key is known from another request */
export function requireSameRequest (fingerprint: unknown, idempotency: Idempotency): void {
  if (fingerprint === idempotency.fingerprint) return
  throw new StorageError('idempotency_key_reused', 'the key is known from another request')
}

/**
 * Turns an error that refuses a write of an API key into its outcome.
 * @throws any other error
 */
export function apiKeyRefusalOf (error: unknown): ApiKeyOutcome {
  if (!isStorageError(error)) throw error
  const { code } = error
  if (code === 'api_key_inactive' || code === 'last_admin_key') return { code }
  throw error
}

/**
 * The creation that is all of a call, if its idempotency key goes with the user: null for every other call. Without
 * `idempotency` there is none to keep.
 */
export function creationAlone (
  writes: readonly UserWrite[],
  { idempotency }: Pick<WritesOptions, 'idempotency'>
): UserWrite & { type: 'create' } | null {
  const [only] = writes
  if (writes.length !== 1 || only?.type !== 'create') return null
  return idempotency === null || idempotency.note === null ? only : null
}

/** The outcome as a repetition gives it. */
export function withUser (
  { changed }: WriteOutcome & { code: 'done' },
  user: UserRecord | null
): WriteOutcome & { code: 'done' } {
  return { code: 'done', changed, user }
}

/** The outcomes as an idempotency key keeps them: without the users, who may be deleted later. */
export function withoutUsers (outcomes: readonly WriteOutcome[]): WriteOutcome[] {
  return outcomes.map((outcome) => outcome.code === 'done' ? withUser(outcome, null) : structuredClone(outcome))
}

function isActiveAt (key: ApiKeyRecord, now: string): boolean {
  return Date.parse(now) < endOf(key)
}

/**
 * Guards a rotation. The clock of the one before may be ahead of `now`, so that its moment counts too.
 * @throws StorageError `api_key_inactive` if the key is revoked, or expired at `now` or at its latest rotation
 */
export function requireActive (key: ApiKeyRecord, now: string): void {
  if (isActiveAt(key, now) && isActiveAt(key, key.rotatedAt ?? now)) return
  throw new StorageError('api_key_inactive', 'the key is not active')
}

function isActiveWith (key: ApiKeyRecord, scopes: readonly string[], now: string): boolean {
  return isActiveAt(key, now) && scopes.every((scope) => key.scopes.includes(scope))
}

/** A key, and of `keys` all that came from it by rotation, directly or not. */
export function withSuccessors (key: ApiKeyRecord, keys: Iterable<ApiKeyRecord>): ApiKeyRecord[] {
  const all = [...keys]
  // By id: plain SQL can write a circle, which must not be followed for ever.
  const found = new Map([[key.id, key]])
  for (const id of found.keys()) {
    for (const each of all) {
      if (each.rotatedFrom === id && !found.has(each.id)) found.set(each.id, each)
    }
  }
  return [...found.values()]
}

/**
 * Guards a revocation: of the active keys with all of `scopes` one must stay. Without scopes any key may go.
 * @throws StorageError `last_admin_key` if the last active keys with all of the scopes are among those that go
 */
export function requireAnotherKey (
  going: readonly ApiKeyRecord[],
  keys: Iterable<ApiKeyRecord>,
  scopes: readonly string[],
  now: string
): void {
  if (scopes.length === 0 || !going.some((key) => isActiveWith(key, scopes, now))) return
  const ids = new Set(going.map(({ id }) => id))
  const tenant = going[0]?.tenant
  for (const other of keys) {
    if (!ids.has(other.id) && other.tenant === tenant && isActiveWith(other, scopes, now)) return
  }
  throw new StorageError('last_admin_key', 'no other active key has the scopes')
}
