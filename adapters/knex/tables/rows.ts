import { cloneFields } from '../../../lib/core/json.ts'
import type {
  ApiKeyRecord, EventRecord, JsonObject, UserKeys, UserRecord, UserStatus, Words
} from '../../../lib/storage/storage.ts'
import type { Column } from './columns.ts'

/** A row as a driver gives it. */
export type Row = Record<string, unknown>

/**
 * A moment as ISO text. PostgreSQL writes `2026-01-31T09:30:00.5`, in quotes where it is read alone; SQLite keeps the
 * ISO text itself.
 */
function iso (text: unknown): string {
  const value = String(text)
  if (value.endsWith('Z')) return value
  const bare = value.startsWith('"') ? value.slice(1, -1) : value
  return bare.length === 23 ? `${bare}Z` : `${bare.slice(0, 19)}.${bare.slice(20).padEnd(3, '0')}Z`
}

/** The same, of a column that may be null. */
export function isoOrNull (text: unknown): string | null {
  return text === null ? null : iso(text)
}

/** The rows of a query that was read as one JSON text (`Dialect.packed`): a list of lists of values, or null. */
export function unpacked (columns: readonly Column[], text: unknown): Row[] {
  const lists: unknown[][] | null = JSON.parse(String(text))
  return (lists ?? []).map((values) => {
    const row: Row = {}
    // Without an array for each value.
    let i = 0
    for (const { name } of columns) row[name] = values[i++]
    return row
  })
}

/** Fields come as text from a row, and as a value from a packed page, which several callers may share. */
function toFields (value: unknown): JsonObject {
  // Most hosts declare none: nothing to parse.
  if (value === null || value === '{}') return {}
  return typeof value === 'string' ? JSON.parse(value) : cloneFields(Object(value))
}

/** The member of a record that belongs to a tenant. */
function tenantOf ({ tenant }: Row): { tenant?: string } {
  return tenant === '' ? {} : { tenant: String(tenant) }
}

function toStatus (value: unknown): UserStatus {
  return value === 'suspended' ? value : 'active'
}

export function toUser (row: Row): UserRecord {
  const { id, name, email, fields, status, statusReason, version, createdAt, updatedAt, tenant } = row
  // In one literal: adding the member to a copy costs more than the rest of the row.
  return {
    id: String(id),
    name: String(name),
    email: String(email),
    fields: toFields(fields),
    status: toStatus(status),
    statusReason: statusReason === '' ? null : String(statusReason),
    version: Number(version),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
    ...(tenant !== '' && { tenant: String(tenant) })
  }
}

/** Words, as a column has them. */
export function wordsText (words: Words = []): string {
  return words.join(' ')
}

const wordsIn = (text: unknown): string[] => text === '' ? [] : String(text).split(' ')

export function toKeys ({ nameKey, emailKey, nameWords, emailWords, fieldWords }: Row): UserKeys {
  return {
    nameKey: String(nameKey),
    emailKey: String(emailKey),
    nameWords: wordsIn(nameWords),
    emailWords: wordsIn(emailWords),
    fieldWords: wordsIn(fieldWords)
  }
}

/** JSON comes as text from a row, and as a value from a packed page. */
export function toJson (value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value
}

/** Null comes as the text of JSON too. */
const beforeIn = (value: unknown): JsonObject | null => value === null ? null : Object(value)

export function toEvent (row: Row): EventRecord {
  const { id, type, subject, timestamp, context, data, before } = row
  const { actor, requestId, reverts } = Object(toJson(context))
  return {
    id: String(id),
    type: String(type),
    subject: String(subject),
    timestamp: iso(timestamp),
    data: Object(toJson(data)),
    before: beforeIn(toJson(before)),
    actor,
    requestId,
    ...(reverts !== undefined && { reverts }),
    ...tenantOf(row)
  }
}

/** The members of a key that bind it, and whose it is. */
function keyBoundsOf ({ owner, addresses, rateLimitMax: max, rateLimitWindow: window }: Row): Partial<ApiKeyRecord> {
  return {
    ...(owner !== null && { owner: String(owner) }),
    ...(addresses !== null && { addresses: String(addresses).split(' ') }),
    ...(max !== null && { rateLimit: { max: Number(max), window: Number(window) } })
  }
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
    rotatedAt: isoOrNull(row['rotatedAt']),
    lifetime: row['lifetime'] === null ? null : Number(row['lifetime']),
    ...tenantOf(row),
    ...keyBoundsOf(row)
  }
}
