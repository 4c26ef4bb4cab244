import { endOf } from './api-keys/record.ts'
import { StorageError } from './errors.ts'
import type { ApiKeyRecord, Idempotency, Storage, UserRecord, VersionGuard } from './storage.ts'

/** Every method of the interface. */
export const METHODS = ['within', 'check', 'migrate', 'close', 'createUser', 'pruneIdempotency', 'findUser', 'listUsers', 'updateUser', 'deleteUser', 'createApiKey', 'findApiKey',
  'findApiKeyByStart', 'listApiKeys', 'rotateApiKey', 'revokeApiKey', 'touchApiKey'] as const satisfies ReadonlyArray<keyof Storage>

/** The members of the interface that something lacks: none, if it is a storage. */
export function missingFrom (candidate: unknown): string[] {
  const members: Record<string, unknown> = Object(candidate)
  return [
    ...typeof members['name'] === 'string' ? [] : ['name'],
    ...typeof members['supports'] === 'object' && members['supports'] !== null ? [] : ['supports'],
    ...METHODS.filter((name) => typeof members[name] !== 'function')
  ]
}

/** The names of fields that lists can be narrowed by: they become parts of SQL text and of the names of indexes. */
export const FILTERABLE = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

/** Whether lists can be narrowed by a field of this name. */
export function isFilterable (name: string): boolean {
  return FILTERABLE.test(name)
}

// What a store decides in JavaScript, where its own means don't decide it: for adapters, so that each rule stands once.

/** @throws StorageError `version_mismatch` where the guard does not let the user's version pass */
export function requireVersion ({ ifVersion, unlessVersion }: VersionGuard, { version }: UserRecord): void {
  const holds = (ifVersion === null || ifVersion.includes(version)) && !unlessVersion.includes(version)
  if (!holds) throw new StorageError('version_mismatch', 'the user has another version')
}

/** @throws StorageError `idempotency_key_reused` where the key is known from another request */
export function requireSameRequest (fingerprint: unknown, idempotency: Idempotency): void {
  if (fingerprint !== idempotency.fingerprint) throw new StorageError('idempotency_key_reused', 'the key came with another request before')
}

function isActiveAt (key: ApiKeyRecord, now: string): boolean {
  return Date.parse(now) < endOf(key)
}

/** @throws StorageError `api_key_inactive` where the key is revoked, or expired at this moment */
export function requireActive (key: ApiKeyRecord, now: string): void {
  if (!isActiveAt(key, now)) throw new StorageError('api_key_inactive', 'the key is not active')
}

function isActiveWith (key: ApiKeyRecord, scope: string, now: string): boolean {
  return isActiveAt(key, now) && key.scopes.includes(scope)
}

/** @throws StorageError `last_admin_key` where a key is to be revoked that is the last of these which is active and has the scope; null: no scope needs one */
export function requireOther (key: ApiKeyRecord, keys: Iterable<ApiKeyRecord>, scope: string | null, now: string): void {
  if (scope === null || !isActiveWith(key, scope, now)) return
  for (const other of keys) {
    if (other.id !== key.id && isActiveWith(other, scope, now)) return
  }
  throw new StorageError('last_admin_key', 'no other active key has the scope')
}
