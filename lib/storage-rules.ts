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

/** @throws StorageError `api_key_inactive` where the key is revoked, or expired at this moment */
export function requireActive ({ revokedAt, expiresAt }: ApiKeyRecord, now: string): void {
  // Times are ISO text of one length, which sorts as time does.
  if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) throw new StorageError('api_key_inactive', 'the key is not active')
}
