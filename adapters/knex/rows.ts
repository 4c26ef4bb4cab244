import type { ApiKeyRecord, UserRecord } from '../../lib/storage.ts'
import type { Dialect } from './dialect.ts'
import type { Row } from './drivers.ts'

/** A moment as ISO text. PostgreSQL writes `"2026-01-31T09:30:00.5"`, quotes included, SQLite keeps the ISO text itself. */
function iso (text: unknown): string {
  const value = String(text)
  if (value.endsWith('Z')) return value
  const bare = value.slice(1, -1)
  return bare.length === 23 ? `${bare}Z` : `${bare.slice(0, 19)}.${bare.slice(20).padEnd(3, '0')}Z`
}

function isoOrNull (text: unknown): string | null {
  return text === null ? null : iso(text)
}

/** The columns of a user, for SELECT and RETURNING. */
export function userColumns ({ time }: Dialect): string {
  return `id, name, email, version, ${time('created_at', 'createdAt')}, ${time('updated_at', 'updatedAt')}`
}

export function toUser ({ id, name, email, version, createdAt, updatedAt }: Row): UserRecord {
  return { id: String(id), name: String(name), email: String(email), version: Number(version), createdAt: iso(createdAt), updatedAt: iso(updatedAt) }
}

/** A user as an answer was made of it, from the JSON text that keeps it. */
export function toSnapshot (text: unknown): UserRecord {
  const { id, name, email, version, createdAt, updatedAt } = JSON.parse(String(text))
  return { id, name, email, version, createdAt, updatedAt }
}

/** The columns of an API key, for SELECT and RETURNING. */
export function apiKeyColumns ({ time }: Dialect): string {
  return `id, name, scopes, start, digest, ${time('created_at', 'createdAt')}, ${time('expires_at', 'expiresAt')}, ` +
    `${time('revoked_at', 'revokedAt')}, ${time('last_used_at', 'lastUsedAt')}, rotated_from AS "rotatedFrom", lifetime`
}

export function toApiKeyRecord (row: Row): ApiKeyRecord {
  return {
    id: String(row['id']),
    name: String(row['name']),
    scopes: String(row['scopes']).split(' '),
    start: String(row['start']),
    digest: String(row['digest']),
    createdAt: iso(row['createdAt']),
    expiresAt: isoOrNull(row['expiresAt']),
    revokedAt: isoOrNull(row['revokedAt']),
    lastUsedAt: isoOrNull(row['lastUsedAt']),
    rotatedFrom: row['rotatedFrom'] === null ? null : String(row['rotatedFrom']),
    lifetime: row['lifetime'] === null ? null : Number(row['lifetime'])
  }
}
