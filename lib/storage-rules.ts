import { StorageError } from './errors.ts'
import type { ApiKeyRecord, Idempotency, UserRecord, VersionGuard } from './storage.ts'

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
