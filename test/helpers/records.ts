// Records and their parts, with the same members each time unless some are given.
import { apiKeyOf, everyone, idOf, keysOf, timeOf, userOf, wordsOf } from '../../adapters/testing/values.ts'
import type {
  DeliveryRecord, Idempotency, NewEvent, UserFilter, VersionGuard, WebhookRecord
} from '../../lib/storage/storage.ts'

export { apiKeyOf, everyone, idOf, keysOf, timeOf, userOf, wordsOf }

/** The change to a new name. */
export const rename = (value: string) => ({ name: { value, key: value.toLowerCase(), words: wordsOf(value) } })

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
export function idempotencyOf (n: number, members: Partial<Idempotency> = {}): Idempotency {
  const times = { now: timeOf(0), expiresAt: timeOf(100_000) }
  return { key: `k${n}`.padEnd(43, '_'), fingerprint: 'f'.repeat(43), ...times, note: null, ...members }
}

export const anyVersion: VersionGuard = { ifVersion: null, unlessVersion: [] }

/** A filter that matches users with these words. */
export const having = (...words: string[]): UserFilter => ({ ...everyone, words: [words] })

export const firstPage = (limit = 1000) => ({ order: 'asc', limit, from: { offset: 0 } } as const)
