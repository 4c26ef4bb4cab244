import assert from 'node:assert/strict'
import type { DeliveryRecord, WebhookRecord, WebhookStore } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { idOf, timeOf } from './values.ts'

/** The nth endpoint, with the same members each time unless some are given. */
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

/** The nth delivery, of the first endpoint and due at `timeOf(n)` unless other members are given. */
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

/** The members of a delivery that has succeeded. */
export const SUCCEEDED = { status: 'succeeded', dueAt: null } as const

/** The webhooks of a store that has them. */
export function webhooksOf ({ webhooks }: KitStorage): WebhookStore {
  assert.ok(webhooks !== undefined, 'the duties of webhooks are for stores with `webhooks`')
  return webhooks
}

/** Adds the endpoints with these numbers. */
export async function addWebhooks (storage: KitStorage, ...numbers: number[]): Promise<WebhookStore> {
  const store = webhooksOf(storage)
  for (const n of numbers) await store.insert(webhookOf(n))
  return store
}

/** Adds deliveries of the first endpoint, or of the one with this number. */
export async function addDeliveries (
  store: WebhookStore, deliveries: readonly DeliveryRecord[], webhook = 1
): Promise<void> {
  const changed = await store.change(idOf('whk', webhook), null, () => ({ deliveries }))
  assert.notEqual(changed, null, 'webhooks.change: the endpoint is there')
}

/** Every delivery of the first endpoint, or of the one with this number; the oldest first. */
export async function deliveriesOf (store: WebhookStore, webhook = 1): Promise<DeliveryRecord[]> {
  const { items } = await store.listDeliveries(idOf('whk', webhook), { offset: 0, limit: 1000 })
  return items.toReversed()
}

/** The ids of records, sorted. */
export const sortedIds = (records: ReadonlyArray<{ id: string }>): string[] => records.map(({ id }) => id).toSorted()
