import { type Call, FROM_PROCESS } from '../core/context.ts'
import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { DELIVERY_ID, firstIdAt, greatestId, newId, timeOfId, WEBHOOK_ID } from '../core/ids.ts'
import { type ListedPage, type PageSize, readPage } from '../core/paging.ts'
import { fromStorage } from '../core/storage-errors.ts'
import type { DeliveryRecord, WebhookRecord, WebhookSecret, WebhookStore } from '../core/storage.ts'
import { type Delivery, toDelivery, toWebhook, type Webhook } from '../core/webhook.ts'
import type { Deliver } from './deliver.ts'
import {
  checkReplay, checkSecretRotation, checkWebhookInput, checkWebhookPatch, webhookQueryChecks
} from './rules.ts'
import { isSuccess } from './schedule.ts'
import { currentSecrets, newSecret } from './signature.ts'
import type { Targets } from './targets.ts'
import { testEvent } from './test-event.ts'

/** A new webhook, or one with a new secret, which is shown only here. */
export type NewWebhook = Webhook & { secret: string }

export interface WebhooksServiceOptions {
  store: WebhookStore
  targets: Targets
  pageSize: PageSize
  deliver: Deliver
  /** Aborted when the server closes: tests end then. */
  closing?: AbortSignal
  /** Called when there may be something to deliver. */
  wake: () => void
}

type Query = Readonly<Record<string, unknown>>

export type WebhooksService = ReturnType<typeof createWebhooksService>

const notFound = (): UsersError => new UsersError('webhook_not_found')
const iso = (): string => new Date().toISOString()

// Secrets before the current one: each makes the signature longer.
const OLD_SECRETS_MAX = 3

/** What is set when a webhook gets another URL, or is enabled again: it starts with a clean sheet. */
const UNTRIED = { failingSince: null, pausedUntil: null } as const
const ENABLED = { ...UNTRIED, enabled: true, disabledReason: null } as const

/** A delivery that is due now, with all attempts before it. */
function again (delivery: DeliveryRecord): DeliveryRecord {
  return { ...delivery, status: 'pending', dueAt: iso(), failures: 0, claims: delivery.claims + 1 }
}

/** The operations on webhooks, without HTTP. They take unchecked input and throw UsersError alone. */
export function createWebhooksService (options: WebhooksServiceOptions) {
  const { store, targets, pageSize, deliver, closing, wake } = options
  const check = webhookQueryChecks(pageSize)

  async function find (id: string): Promise<WebhookRecord> {
    const record = WEBHOOK_ID.test(id) ? await fromStorage(() => store.find(id)) : null
    if (record === null) throw notFound()
    return record
  }

  async function write (id: string, decide: (record: WebhookRecord) => WebhookRecord): Promise<WebhookRecord> {
    if (!WEBHOOK_ID.test(id)) throw notFound()
    const changed = await fromStorage(() => store.change(id, null, (webhook) => ({ webhook: decide(webhook) })))
    if (changed === null) throw notFound()
    wake()
    return changed
  }

  /** The event after which the events begin that are delivered again. */
  async function replayAfter (options: unknown, priorFaults: readonly Fault[]): Promise<string | null> {
    const start = checkReplay(options, priorFaults)
    if ('since' in start) {
      return fromStorage(() => store.eventBefore(firstIdAt('evt', Date.parse(start.since))))
    }
    if (await fromStorage(() => store.findEvent(start.after)) !== null) return start.after
    const oldest = await fromStorage(() => store.eventBefore(start.after))
    // It is older than all that are kept: then they are all after it.
    if (oldest === null && timeOfId(start.after) <= Date.now()) throw new UsersError('events_expired')
    throw validationFailed([{ pointer: '/after', code: 'unknown', detail: 'is the id of no event' }])
  }

  return {
    async create (input: unknown, { priorFaults }: Call = FROM_PROCESS): Promise<NewWebhook> {
      const values = checkWebhookInput(input, priorFaults)
      await targets.check(values.url)
      const secret = newSecret()
      const id = newId('whk')
      // Not what happened before, and all that happens while this is written.
      const after = await fromStorage(() => store.eventBefore(greatestId('evt')))
      const now = iso()
      const record: WebhookRecord = {
        id,
        ...values,
        disabledReason: null,
        secrets: [{ text: secret, expiresAt: null }],
        after,
        failingSince: null,
        pausedUntil: null,
        createdAt: now,
        updatedAt: now
      }
      await fromStorage(() => store.insert(record))
      wake()
      return { ...toWebhook(record), secret }
    },

    get: async (id: string): Promise<Webhook> => toWebhook(await find(id)),

    async list (query: Query, priorFaults: readonly Fault[] = []): Promise<ListedPage<Webhook>> {
      const page = await readPage(check.list(query, priorFaults), (request) => fromStorage(() => store.list(request)))
      return { ...page, items: page.items.map(toWebhook) }
    },

    async update (id: string, patch: unknown, { priorFaults }: Call = FROM_PROCESS): Promise<Webhook> {
      const { url, types, description, enabled } = checkWebhookPatch(patch, priorFaults)
      await find(id)
      if (url !== undefined) await targets.check(url)
      return toWebhook(await write(id, (before) => ({
        ...before,
        ...(url !== undefined && url !== before.url && { url, ...UNTRIED }),
        ...(types !== undefined && { types }),
        ...(description !== undefined && { description }),
        ...(enabled === true && !before.enabled && ENABLED),
        ...(enabled === false && { enabled }),
        updatedAt: iso()
      })))
    },

    async remove (id: string): Promise<void> {
      if (!WEBHOOK_ID.test(id) || !await fromStorage(() => store.remove(id))) throw notFound()
    },

    async rotateSecret (id: string, options: unknown = {}, { priorFaults }: Call = FROM_PROCESS): Promise<NewWebhook> {
      const overlap = checkSecretRotation(options, priorFaults)
      const text = newSecret()
      const record = await write(id, (before) => {
        const now = Date.now()
        const end = new Date(now + overlap * 1000).toISOString()
        const endOf = ({ expiresAt }: WebhookSecret) => expiresAt !== null && expiresAt < end ? expiresAt : end
        const old = before.secrets.map((each) => ({ ...each, expiresAt: endOf(each) }))
        const kept = currentSecrets(old, new Date(now).toISOString()).slice(0, OLD_SECRETS_MAX)
        return { ...before, secrets: [{ text, expiresAt: null }, ...kept], updatedAt: iso() }
      })
      return { ...toWebhook(record), secret: text }
    },

    /** Sends a test event now, also to a webhook that is disabled, and returns its delivery with the one attempt. */
    async test (id: string): Promise<Delivery> {
      const webhook = await find(id)
      const event = testEvent(webhook)
      const delivery: DeliveryRecord = {
        id: newId('dlv'),
        webhook: id,
        event: String(event['id']),
        type: String(event['type']),
        status: 'pending',
        dueAt: null,
        claims: 0,
        failures: 0,
        attempts: [],
        testEvent: event,
        createdAt: iso()
      }
      const { status, error, milliseconds } = await deliver(webhook, delivery, closing)
      const done: DeliveryRecord = {
        ...delivery,
        status: isSuccess(status) ? 'succeeded' : 'failed',
        attempts: [{ at: delivery.createdAt, status, milliseconds, error }]
      }
      const kept = await fromStorage(() => store.change(id, null, () => ({ deliveries: [done] })))
      if (kept === null) throw notFound()
      return toDelivery(done)
    },

    /** Delivers events again. What follows them comes after them. */
    async replay (id: string, options: unknown, { priorFaults }: Call = FROM_PROCESS): Promise<Webhook> {
      const after = await replayAfter(options, priorFaults)
      return toWebhook(await write(id, (before) => ({ ...before, after })))
    },

    async deliveries (id: string, query: Query, priorFaults: readonly Fault[] = []): Promise<ListedPage<Delivery>> {
      const checked = check.deliveries(query, priorFaults)
      await find(id)
      const page = await readPage(checked, ({ from, limit }) => fromStorage(() =>
        store.listDeliveries(id, { offset: 'offset' in from ? from.offset : 0, limit })))
      return { ...page, items: page.items.map(toDelivery) }
    },

    /** Makes a delivery due now, or as soon as its webhook is enabled and not paused, with all attempts before it. */
    async retry (id: string, deliveryId: string): Promise<Delivery> {
      await find(id)
      const missing = new UsersError('delivery_not_found')
      if (!DELIVERY_ID.test(deliveryId)) throw missing
      let retried: DeliveryRecord | null = null
      const changed = await fromStorage(() => store.change(id, deliveryId, (_webhook, delivery) => {
        retried = delivery === null ? null : again(delivery)
        return retried === null ? null : { deliveries: [retried] }
      }))
      if (changed === null || retried === null) throw missing
      wake()
      return toDelivery(retried)
    }
  }
}
