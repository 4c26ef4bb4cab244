// The endpoints and deliveries of the tests of our rules.
import type { Repository } from '../../../lib/storage/repository.ts'
import type { DeliveryRecord, WebhookRecord } from '../../../lib/storage/storage.ts'
import { idOf, timeOf } from './values.ts'

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

export const SUCCEEDED = { status: 'succeeded', dueAt: null } as const

export async function addWebhooks ({ webhooks }: Repository, ...numbers: number[]): Promise<void> {
  for (const n of numbers) await webhooks.insert(webhookOf(n))
}

/** Adds or overwrites deliveries of an endpoint. */
export async function deliver ({ webhooks }: Repository, deliveries: DeliveryRecord[], webhook = 1): Promise<void> {
  if (await webhooks.change(idOf('whk', webhook), null, () => ({ deliveries })) === null) throw new Error('no endpoint')
}

/** The deliveries of an endpoint, oldest first. */
export async function deliveriesIn ({ webhooks }: Repository, webhook = 1): Promise<DeliveryRecord[]> {
  return (await webhooks.listDeliveries(idOf('whk', webhook), { offset: 0, limit: 1000 })).items.toReversed()
}
