// Records and their parts, with the same members each time unless some are given.
import type { IdPrefix } from '../../lib/core/ids.ts'
import type {
  ApiKeyRecord, DeliveryRecord, Idempotency, NewEvent, UserFilter, UserKeys, UserRecord, VersionGuard, WebhookRecord
} from '../../lib/storage/storage.ts'

/** The nth id of its kind: ids sort by n. */
export const idOf = (prefix: IdPrefix, n: number): string =>
  `${prefix}_01h455vb4pex5vsknk08${String(n).padStart(6, '0')}`

/** The nth millisecond. */
export const timeOf = (n: number): string => new Date(Date.UTC(2026, 0, 31, 9, 30, 0, n)).toISOString()

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

const wordsOf = (text: string): string[] => [...new Set(text.toLowerCase().match(/[a-z0-9]+/g) ?? [])]

export const keysOf = ({ name, email }: UserRecord): UserKeys => ({
  nameKey: name.toLowerCase(), nameWords: wordsOf(name), emailKey: email.toLowerCase(), emailWords: wordsOf(email)
})

/** The change to a new name. */
export const rename = (value: string) => ({ name: { value, key: value.toLowerCase(), words: wordsOf(value) } })

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

export function eventOf (n: number, type: string, members: Partial<NewEvent> = {}): NewEvent {
  const actor = { type: 'api_key', id: idOf('key', 7), name: 'Key 7' }
  return { id: idOf('evt', n), type, timestamp: timeOf(n), actor, requestId: `req-${n}`, ...members }
}

export function webhookOf (n: number, members: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    id: idOf('whk', n),
    url: `https://example.org/hooks/${n}`,
    types: ['user.*', 'api_key.created'],
    description: `Webhook ${n}`,
    enabled: true,
    disabledReason: null,
    secrets: [{ text: `whsec_${n}`, expiresAt: null }],
    after: null,
    failingSince: null,
    pausedUntil: null,
    createdAt: timeOf(n),
    updatedAt: timeOf(n),
    ...members
  }
}

/** The nth delivery: of the nth event to the first endpoint, due at the nth moment. */
export function deliveryOf (n: number, members: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return {
    id: idOf('dlv', n),
    webhook: idOf('whk', 1),
    event: idOf('evt', n),
    type: 'user.created',
    status: 'pending',
    dueAt: timeOf(n),
    claims: 0,
    failures: 0,
    attempts: [],
    testEvent: null,
    createdAt: timeOf(n),
    ...members
  }
}

/** The nth idempotency key: it is new at `timeOf(0)`. */
export function idempotencyOf (n: number): Idempotency {
  const times = { now: timeOf(0), expiresAt: timeOf(100_000) }
  return { key: `k${n}`.padEnd(43, '_'), fingerprint: 'f'.repeat(43), ...times, note: null }
}

export const anyVersion: VersionGuard = { ifVersion: null, unlessVersion: [] }

/** A filter that matches every user. */
export const everyone: UserFilter = { emailKey: null, words: null, fields: {} }

/** A filter that matches users with these words. */
export const having = (...words: string[]): UserFilter => ({ ...everyone, words: [words] })

export const firstPage = (limit = 1000) => ({ order: 'asc', limit, from: { offset: 0 } } as const)
