import { unclaimed } from '../core/claim.ts'
import { UsersError } from '../core/errors.ts'
import { WEBHOOK_ID } from '../core/ids.ts'
import { createKeyedQueue } from '../core/keyed-queue.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { WebhookRecord } from '../storage/storage.ts'
import type { DecideChange, WebhookStore } from '../storage/webhook-loop.ts'
import type { WebhookCall } from './call.ts'

export interface WritesOptions {
  store: WebhookStore
  /** Webhooks that a tenant may have, and as many that belong to none. */
  maxWebhooks: number
  /** Called when there may be something to deliver. */
  wake: () => void
}

/** A call that finds a webhook. */
type FindCall = Partial<Pick<WebhookCall, 'limited' | 'tenant'>>

const now: WebhookCall['limited'] = (work) => work()

// Endpoints that are read together.
const PAGE = 100

/** Every endpoint of a store. */
export async function allWebhooks (store: WebhookStore): Promise<WebhookRecord[]> {
  const all: WebhookRecord[] = []
  while (true) {
    const { items, total } = await store.list({ order: 'asc', limit: PAGE, from: { offset: all.length } })
    all.push(...items)
    if (items.length === 0 || all.length >= total) return all
  }
}

export const notFound = (): UsersError => new UsersError('webhook_not_found')

/** The reads and writes that the operations on webhooks share. They throw UsersError alone. */
export function createWrites ({ store, maxWebhooks, wake }: WritesOptions) {
  const inTurn = createKeyedQueue()

  async function find (id: string, { limited = now, tenant }: FindCall = {}): Promise<WebhookRecord> {
    const record = WEBHOOK_ID.test(id) ? await limited(() => fromStorage(() => store.find(id, tenant))) : null
    if (record === null) throw notFound()
    return record
  }

  /** Writes what is decided; what the decision throws is thrown, and nothing is written. */
  async function change (
    id: string,
    delivery: string | null,
    decide: DecideChange,
    { limited, tenant }: WebhookCall
  ): Promise<WebhookRecord | null> {
    let refused: { error: unknown } | null = null
    const changed = await limited(() => fromStorage(() => store.change(id, delivery, (...before) => {
      refused = null
      try {
        return decide(...before)
      } catch (error) {
        refused = { error }
        return null
      }
    }, tenant)))
    if (refused !== null) throw Object(refused).error
    if (changed !== null) wake()
    return changed
  }

  async function write (
    id: string,
    decide: (record: WebhookRecord) => WebhookRecord,
    call: WebhookCall
  ): Promise<WebhookRecord> {
    if (!WEBHOOK_ID.test(id)) throw notFound()
    const changed = await change(id, null, (webhook) => ({ webhook: decide(webhook) }), call)
    if (changed === null) throw notFound()
    return changed
  }

  /** True if there may be no more webhooks of the tenant, or of none. */
  async function isFull (tenant: string | undefined): Promise<boolean> {
    const of = tenant === undefined ? {} : { tenant }
    const { total } = await store.list({ order: 'asc', limit: 1, from: { offset: 0 }, ...of })
    if (total < maxWebhooks || tenant !== undefined) return total >= maxWebhooks
    // Those of tenants leave the others their places.
    const own = (await allWebhooks(store)).filter((each) => each.tenant === undefined)
    return own.length >= maxWebhooks
  }

  /**
   * Adds a webhook, if there may be one more, and returns it, or the one that a request with the same idempotency key
   * has added. In turn, since what is there is read before.
   */
  function insert (record: WebhookRecord, { limited, claim, tenant }: WebhookCall): Promise<WebhookRecord> {
    const first = async () => claim === unclaimed ? null : store.find(record.id, tenant)
    return inTurn(tenant ?? '', () => limited(() => fromStorage(async () => {
      const known = await first()
      if (known !== null) return known
      if (await isFull(tenant)) throw new UsersError('too_many_webhooks')
      try {
        await store.insert(record)
      } catch (error) {
        // Another process may have added it, or the answer of the storage was lost.
        const added = await first()
        if (added === null) throw error
        return added
      }
      wake()
      return record
    })))
  }

  return { find, change, write, insert }
}
