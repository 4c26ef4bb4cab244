import type { ApiKeyRecord } from '../storage/storage.ts'
import { boundsOf } from './bounds.ts'

/** An API key as callers see it: the record without the digest. Members that are not set are absent. */
export interface ApiKey {
  /** `key_` and 26 characters. */
  id: string
  name: string
  scopes: string[]
  /** The first characters of the key's text, safe to show and to log. */
  start: string
  createdAt: string
  expiresAt?: string
  revokedAt?: string
  /** Written at most once a minute. */
  lastUsedAt?: string
  rotatedFrom?: string
  /** The tenant that the key is bound to. Absent: it is the platform's. */
  tenant?: string
  /** Who is responsible for the key: a text for people. */
  owner?: string
  /** The networks that the key works from, in CIDR form. Absent: from any. */
  addresses?: string[]
  /** The key's own limit, where the option `limits.requests` is on: `max` requests in `window` seconds. */
  rateLimit?: { max: number, window: number }
}

/** The kinds of change of an API key. */
export type KeyEventType = 'api_key.created' | 'api_key.rotated' | 'api_key.revoked'

/** The public view of a record. */
export function toApiKey (record: ApiKeyRecord): ApiKey {
  const { id, name, scopes, start, createdAt, expiresAt, revokedAt, lastUsedAt, rotatedFrom, tenant } = record
  return {
    id,
    name,
    scopes,
    start,
    createdAt,
    ...(expiresAt !== null && { expiresAt }),
    ...(revokedAt !== null && { revokedAt }),
    ...(lastUsedAt !== null && { lastUsedAt }),
    ...(rotatedFrom !== null && { rotatedFrom }),
    ...(tenant !== undefined && { tenant }),
    ...boundsOf(record)
  }
}

/** A key as the one who rotated it sees it without the scope to read keys. */
export type MinimalNewKey = Pick<ApiKey, 'id' | 'start' | 'createdAt' | 'expiresAt'> & { key: string }

export function minimalNewKey ({ id, start, createdAt, expiresAt, key }: ApiKey & { key: string }): MinimalNewKey {
  return { id, start, createdAt, ...(expiresAt !== undefined && { expiresAt }), key }
}
