import { randomUUID } from 'node:crypto'
import { unclaimed } from '../core/claim.ts'
import type { ReadCall } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import { DELIVERY_ID, firstIdAt, greatestId, newId, timeOfId, WEBHOOK_ID } from '../core/ids.ts'
import { type ListedPage, type PageSize, readPage } from '../core/paging.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import { belongsTo } from '../storage/storage-rules.ts'
import type { DeliveryRecord, EventLog, JsonObject, WebhookRecord, WebhookSecret } from '../storage/storage.ts'
import { type Delivery, toDelivery, toWebhook, type Webhook } from '../storage/webhook.ts'
import type { Gate } from './bounds.ts'
import { FROM_PROCESS, type WebhookCall } from './call.ts'
import type { Deliver } from './deliver.ts'
import { grantTypes, requireReadable } from './grants.ts'
import {
  checkReplay, checkSecretRotation, checkWebhookInput, checkWebhookPatch, type ReplayStart, webhookQueryChecks
} from './rules.ts'
import { attemptOf, isSuccess } from './schedule.ts'
import { NOT_TRIED } from './send.ts'
import { currentSecrets, newSecret } from './signature.ts'
import { type Targets, tooManyNames } from './targets.ts'
import { createWrites, notFound, type WritesOptions } from './writes.ts'

/** A new webhook, or one with a new secret, which is shown only here. */
export type NewWebhook = Webhook & { secret: string }

/** `isFirst`: the webhook has this secret. False: a request with the same idempotency key made it, and has shown it. */
export interface MadeWebhook {
  webhook: Webhook
  secret: string
  isFirst: boolean
}

export interface WebhooksServiceOptions extends WritesOptions {
  log: Pick<EventLog, 'before' | 'find'>
  targets: Targets
  pageSize: PageSize
  deliver: Deliver
  /** Runs work that waits for a receiver, or for a name to be resolved. */
  gate: Gate
  /** Aborted when the server closes, which ends running tests. */
  closing?: AbortSignal
}

type Query = Readonly<Record<string, unknown>>

export type WebhooksService = ReturnType<typeof createWebhooksService>

const iso = (): string => new Date().toISOString()

// How many previous secrets are kept: each makes the signature longer.
const OLD_SECRETS_MAX = 3

/** Reset when a webhook gets another URL or is enabled again, so that it starts with a clean slate. */
const UNTRIED = { failingSince: null, pausedUntil: null } as const
const ENABLED = { ...UNTRIED, enabled: true, disabledReason: null } as const

/** The delivery, due now and with its failures reset, so that it gets all attempts again. */
function again (delivery: DeliveryRecord): DeliveryRecord {
  return { ...delivery, status: 'pending', dueAt: iso(), failures: 0, claims: delivery.claims + 1 }
}

/** The operations on webhooks, without HTTP. They take unchecked input and throw only UsersError. */
export function createWebhooksService (options: WebhooksServiceOptions) {
  const { store, log, targets, pageSize, deliver, gate, closing } = options
  const { find, change, write, insert } = createWrites(options)
  const check = webhookQueryChecks(pageSize)

  const checkTarget = (url: string, { caller }: WebhookCall): Promise<void> =>
    gate(caller, () => targets.check(url, caller))

  /** The event after which a replay starts: one that its endpoint may get. */
  async function replayAfter (start: ReplayStart, { tenant }: WebhookRecord): Promise<string | null> {
    if ('since' in start) {
      return fromStorage(() => log.before(firstIdAt('evt', Date.parse(start.since)), tenant))
    }
    const event = await fromStorage(() => log.find(start.after))
    if (event !== null && belongsTo(event, tenant)) return start.after
    const oldest = await fromStorage(() => log.before(start.after, tenant))
    // All kept events come after this id: the event is older than any of them.
    if (oldest === null && timeOfId(start.after) <= Date.now()) throw new UsersError('events_expired')
    const errors = [{ pointer: '/after', code: 'unknown', detail: 'is not the id of an event' } as const]
    throw new UsersError('position_unknown', { errors })
  }

  return {
    async create (input: unknown, call = FROM_PROCESS): Promise<MadeWebhook> {
      const given = checkWebhookInput(input, call.priorFaults)
      const values = { ...given, types: grantTypes(call.scopes, given.types) }
      await checkTarget(values.url, call)
      const secret = newSecret()
      const { note: id } = await call.limited(() => call.claim(['webhook', input], newId('whk')))
      // Start after the newest event: skip earlier ones, and miss none that is recorded during this write.
      const { tenant } = call
      const after = await call.limited(() => fromStorage(() => log.before(greatestId('evt'), tenant)))
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
        updatedAt: now,
        ...(tenant !== undefined && { tenant })
      }
      const kept = await insert(record, call)
      return { webhook: toWebhook(kept), secret, isFirst: kept.secrets.some(({ text }) => text === secret) }
    },

    get: async (id: string, tenant?: string): Promise<Webhook> => toWebhook(await find(id, { tenant })),

    async list (query: Query, { priorFaults = [], tenant }: ReadCall = {}): Promise<ListedPage<Webhook>> {
      const of = tenant === undefined ? {} : { tenant }
      const page = await readPage(check.list(query, priorFaults), (request) =>
        fromStorage(() => store.list({ ...request, ...of })))
      return { ...page, items: page.items.map(toWebhook) }
    },

    async update (id: string, patch: unknown, call = FROM_PROCESS): Promise<Webhook> {
      const { url, types: asked, description, enabled } = checkWebhookPatch(patch, call.priorFaults)
      const types = asked && grantTypes(call.scopes, asked)
      // An update that only disables the webhook or changes its description sends nothing.
      const sends = url !== undefined || types !== undefined || enabled === true
      const judge = (before: WebhookRecord): void => { if (sends) requireReadable(call.scopes, types ?? before.types) }
      judge(await find(id, call))
      if (url !== undefined) await checkTarget(url, call)
      return toWebhook(await write(id, (before) => {
        judge(before)
        return {
          ...before,
          ...(url !== undefined && url !== before.url && { url, ...UNTRIED }),
          ...(types !== undefined && { types }),
          ...(description !== undefined && { description }),
          ...(enabled === true && !before.enabled && ENABLED),
          ...(enabled === false && { enabled }),
          updatedAt: iso()
        }
      }, call))
    },

    async remove (id: string, tenant?: string): Promise<void> {
      if (!WEBHOOK_ID.test(id) || !await fromStorage(() => store.remove(id, tenant))) throw notFound()
    },

    async rotateSecret (id: string, options: unknown = {}, call = FROM_PROCESS): Promise<MadeWebhook> {
      const overlap = checkSecretRotation(options, call.priorFaults)
      const text = newSecret()
      requireReadable(call.scopes, (await find(id, { tenant: call.tenant })).types)
      const { note: rotation } = await call.claim(['rotate-secret', id, options], randomUUID())
      const record = await write(id, (before) => {
        requireReadable(call.scopes, before.types)
        if (before.secrets.some((each) => each.rotation === rotation)) return before
        const now = Date.now()
        const end = new Date(now + overlap * 1000).toISOString()
        const endOf = ({ expiresAt }: WebhookSecret) => expiresAt !== null && expiresAt < end ? expiresAt : end
        const old = before.secrets.map((each) => ({ ...each, expiresAt: endOf(each) }))
        const kept = currentSecrets(old, new Date(now).toISOString()).slice(0, OLD_SECRETS_MAX)
        const secret = { text, expiresAt: null, ...(call.claim !== unclaimed && { rotation }) }
        return { ...before, secrets: [secret, ...kept], updatedAt: iso() }
      }, call)
      return { webhook: toWebhook(record), secret: text, isFirst: record.secrets.some((each) => each.text === text) }
    },

    /** Sends a test event now, even to a disabled webhook, and returns the delivery with its one attempt. */
    async test (id: string, call = FROM_PROCESS): Promise<Delivery> {
      const webhook = await find(id, call)
      requireReadable(call.scopes, [TEST_TYPE])
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
      const answer = await gate(call.caller, () => deliver(webhook, delivery, closing))
      if (answer.error === NOT_TRIED) throw tooManyNames()
      const done: DeliveryRecord = {
        ...delivery,
        status: isSuccess(answer.status) ? 'succeeded' : 'failed',
        attempts: [attemptOf(answer, delivery.createdAt)]
      }
      if (await change(id, null, () => ({ deliveries: [done] }), call) === null) throw notFound()
      return toDelivery(done)
    },

    /** Delivers events again from a point in the log. The events after them follow in order. */
    async replay (id: string, options: unknown, call = FROM_PROCESS): Promise<Webhook> {
      const start = checkReplay(options, call.priorFaults)
      const after = await replayAfter(start, await find(id, { tenant: call.tenant }))
      return toWebhook(await write(id, (before) => {
        requireReadable(call.scopes, before.types)
        return { ...before, after }
      }, call))
    },

    async deliveries (
      id: string, query: Query, { priorFaults = [], tenant }: ReadCall = {}
    ): Promise<ListedPage<Delivery>> {
      const checked = check.deliveries(query, priorFaults)
      await find(id, { tenant })
      const { status } = checked
      const page = await readPage(checked, ({ from, limit }) => fromStorage(() => store.listDeliveries(
        id, { offset: 'offset' in from ? from.offset : 0, limit, ...(status !== undefined && { status }) })))
      return { ...page, items: page.items.map(toDelivery) }
    },

    /** Makes a delivery due now, or once its webhook is enabled and not paused. It gets all attempts again. */
    async retry (id: string, deliveryId: string, call = FROM_PROCESS): Promise<Delivery> {
      const { scopes, tenant } = call
      await find(id, { tenant })
      const missing = new UsersError('delivery_not_found')
      if (!DELIVERY_ID.test(deliveryId)) throw missing
      let retried: DeliveryRecord | null = null
      const changed = await change(id, deliveryId, (_webhook, delivery) => {
        if (delivery !== null) requireReadable(scopes, [delivery.type])
        retried = delivery === null ? null : again(delivery)
        return retried === null ? null : { deliveries: [retried] }
      }, call)
      if (changed === null || retried === null) throw missing
      return toDelivery(retried)
    }
  }
}

/** The type of test events, which are not in the log. */
export const TEST_TYPE = 'webhook.test'

/** A test event for an endpoint, in the same form as all other events. */
export function testEvent (webhook: WebhookRecord): JsonObject {
  const { tenant, ...data } = toWebhook(webhook)
  return {
    id: newId('evt'),
    type: TEST_TYPE,
    timestamp: new Date().toISOString(),
    data: Object(data),
    actor: null,
    requestId: null,
    ...(tenant !== undefined && { tenant })
  }
}
