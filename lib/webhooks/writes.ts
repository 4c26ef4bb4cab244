import { UsersError } from '../core/errors.ts'
import { WEBHOOK_ID } from '../core/ids.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { DecideChange, WebhookRecord, WebhookStore } from '../storage/storage.ts'
import { FROM_PROCESS, type WebhookCall } from './call.ts'

export interface WritesOptions {
  store: WebhookStore
  /** Webhooks that there may be. */
  maxWebhooks: number
  /** Called when there may be something to deliver. */
  wake: () => void
}

export const notFound = (): UsersError => new UsersError('webhook_not_found')

/** The reads and writes that the operations on webhooks share. They throw UsersError alone. */
export function createWrites ({ store, maxWebhooks, wake }: WritesOptions) {
  async function find (id: string, { limited } = FROM_PROCESS): Promise<WebhookRecord> {
    const record = WEBHOOK_ID.test(id) ? await limited(() => fromStorage(() => store.find(id))) : null
    if (record === null) throw notFound()
    return record
  }

  /** Writes what is decided; what the decision throws is thrown, and nothing is written. */
  async function change (
    id: string,
    delivery: string | null,
    decide: DecideChange,
    { limited } = FROM_PROCESS
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
    })))
    if (refused !== null) throw Object(refused).error
    if (changed !== null) wake()
    return changed
  }

  async function write (
    id: string,
    decide: (record: WebhookRecord) => WebhookRecord,
    call?: WebhookCall
  ): Promise<WebhookRecord> {
    if (!WEBHOOK_ID.test(id)) throw notFound()
    const changed = await change(id, null, (webhook) => ({ webhook: decide(webhook) }), call)
    if (changed === null) throw notFound()
    return changed
  }

  let lastInsertion: Promise<unknown> = Promise.resolve()

  /** Adds a webhook, if there may be one more. In turn, since the number is read before. */
  function insert (record: WebhookRecord, { limited }: WebhookCall): Promise<void> {
    const insertion = lastInsertion.catch(() => {}).then(() => limited(() => fromStorage(async () => {
      const { total } = await store.list({ order: 'asc', limit: 1, from: { offset: 0 } })
      if (total >= maxWebhooks) throw new UsersError('too_many_webhooks')
      await store.insert(record)
      wake()
    })))
    lastInsertion = insertion
    return insertion
  }

  return { find, change, write, insert }
}
