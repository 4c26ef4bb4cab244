import type { ApiKeyRecord } from '../storage.ts'

/** An API key as callers see it: the record without the digest; members that are not set are absent. */
export interface ApiKey {
  /** `key_` and 26 characters. */
  id: string
  name: string
  scopes: string[]
  /** The text's first characters, safe to show and to log. */
  start: string
  createdAt: string
  expiresAt?: string
  revokedAt?: string
  /** Written at most once a minute. */
  lastUsedAt?: string
  rotatedFrom?: string
}

/** The public view of a record. */
export function toApiKey (record: ApiKeyRecord): ApiKey {
  const { id, name, scopes, start, createdAt, expiresAt, revokedAt, lastUsedAt, rotatedFrom } = record
  return {
    id,
    name,
    scopes,
    start,
    createdAt,
    ...(expiresAt !== null && { expiresAt }),
    ...(revokedAt !== null && { revokedAt }),
    ...(lastUsedAt !== null && { lastUsedAt }),
    ...(rotatedFrom !== null && { rotatedFrom })
  }
}

/** The one place that decides how long a key is good: until before this moment, in epoch milliseconds. */
export function endOf ({ revokedAt = null, expiresAt = null }: { revokedAt?: string | null, expiresAt?: string | null }): number {
  if (revokedAt !== null) return -Infinity
  return expiresAt === null ? Infinity : Date.parse(expiresAt)
}
