// The endpoints and deliveries of the tests of our rules.
import type { Repository } from '../../../lib/storage/repository.ts'
import type { DeliveryRecord } from '../../../lib/storage/storage.ts'
import { deliveryOf, idOf, webhookOf } from '../../helpers/records.ts'

export { deliveryOf, webhookOf }

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
