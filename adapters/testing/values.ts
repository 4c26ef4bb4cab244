import type { IdPrefix } from '../../lib/core/ids.ts'
import type { ApiKeyRecord, UserFilter, UserRecord } from '../../lib/storage/storage.ts'

export { keysOf, wordsOf } from './user-keys.ts'

// Ids of the form that the plugin makes, which sort by their number.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** The nth id of its kind: ids sort by n. */
export function idOf (prefix: IdPrefix, n: number): string {
  let digits = ''
  for (let rest = n; digits.length < 6; rest = Math.floor(rest / 32)) digits = ALPHABET.charAt(rest % 32) + digits
  return `${prefix}_01h455vb4pex5vsknk08${digits}`
}

/** The nth millisecond, in the form in which a store gets it. */
export function timeOf (n: number): string {
  return new Date(Date.UTC(2026, 0, 31, 9, 30, 0, n)).toISOString()
}

/** The nth user, with the same members each time unless some are given. */
export function userOf (n: number, members: Partial<UserRecord> = {}): UserRecord {
  return {
    id: idOf('usr', n),
    name: `User ${n}`,
    email: `User${n}@Example.org`,
    fields: {},
    status: 'active',
    statusReason: null,
    version: 1,
    createdAt: timeOf(n),
    updatedAt: timeOf(n),
    ...members
  }
}

/** The nth API key, with the same members each time unless some are given. */
export function apiKeyOf (n: number, members: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    id: idOf('key', n),
    name: `Key ${n}`,
    scopes: ['users:read', 'users:write'],
    start: `uk_${String(n).padStart(12, '0')}`,
    digest: String(n).padStart(43, 'x'),
    createdAt: timeOf(n),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    rotatedFrom: null,
    rotatedAt: null,
    lifetime: null,
    ...members
  }
}

/** A filter that matches every user. */
export const everyone: UserFilter = { emailKey: null, words: null, fields: {} }

/** Texts that a careless store changes. */
export const TEXTS = [
  'Zoë',
  '李雷 🦊',
  'a\u0301 ﬁ Å',
  'O\'Brien "x" \\ %_ ?',
  'مريم',
  '\u{10ffff}',
  'İ ı ſ K',
  ' inner  spaces '
]

/** Ids that no user has: unknown, one character too long, the id of a key, and texts with a meaning in SQL. */
export const UNKNOWN_IDS = [
  idOf('usr', 99),
  `${idOf('usr', 1)}0`,
  idOf('key', 1),
  'x',
  "'; DROP TABLE users; --",
  'usr_%'
]
