// How webhooks and their deliveries are written on rows, for every store.

import type { DeliveryRecord, EventRecord, Page, TenantPageRequest, WebhookRecord } from './records.ts'
import type { Outcome, Row, RowsQuery, RowWrite, Storage, Unit } from './storage.ts'
import { belongsTo } from './storage-rules.ts'
import { StorageError } from './storage-error.ts'
import { pauseBefore } from './attempts.ts'
import { createKeyedQueue } from '../core/keyed-queue.ts'

/** What one step writes. Absent: it stays as it is. */
export interface WebhookChange {
  webhook?: WebhookRecord
  /** Written over the one with the same id; else added, unless a pending one of the endpoint has the same event. */
  deliveries?: readonly DeliveryRecord[]
  /** Recorded in the event log in the same step. */
  event?: EventRecord
}

/**
 * Decides what a step writes, from copies of what is there; null: nothing. It has no effects, and may be called more
 * than once.
 */
export type DecideChange = (webhook: WebhookRecord, delivery: DeliveryRecord | null) => WebhookChange | null

/** Which deliveries are claimed. */
export interface ClaimRequest {
  now: string
  /** When the claim ends: the delivery is due again then, unless it was finished. */
  until: string
  /** At most this many. */
  limit: number
}

export type WebhookStore = ReturnType<typeof createWebhookStore>

type WebhookRow = Row<'webhooks'>
type DeliveryRow = Row<'deliveries'>

const TOGETHER_MAX = 1000
// The longest due of all, which say who has some.
const DUE_MAX = 100
const EVENTS_TOGETHER = 100

const webhookIn = ({ record: { version, ...webhook } }: WebhookRow): WebhookRecord => webhook
const deliveryIn = ({ record: { version, ...delivery } }: DeliveryRow): DeliveryRecord => delivery

const putWebhook = (webhook: WebhookRecord, was: WebhookRow | null): RowWrite => ({
  in: 'webhooks',
  put: { record: { ...webhook, version: (was?.record.version ?? 0) + 1 }, keys: null, of: null },
  was
})

const putDelivery = (delivery: DeliveryRecord, was: DeliveryRow | null): RowWrite => ({
  in: 'deliveries',
  put: { record: { ...delivery, version: (was?.record.version ?? 0) + 1 }, keys: null, of: delivery.webhook },
  was
})

const single = (write: RowWrite): Unit => ({ writes: [write], events: [], rewrites: [] })
const first = (limit: number) => ({ order: 'asc', limit, from: { offset: 0 } } as const)

/**
 * Makes the endpoints and deliveries of webhooks of a store. Many processes may use them concurrently. `tenant`: the
 * caller's, who does not see endpoints of other tenants.
 */
export function createWebhookStore (store: Storage) {
  const inTurn = createKeyedQueue()

  async function commit (unit: Omit<Unit, 'rewrites'>): Promise<Outcome> {
    const [outcome] = await store.commit([{ ...unit, rewrites: [] }])
    if (outcome === undefined) throw new StorageError('fault', 'a unit has no outcome')
    return outcome
  }

  /** Makes what is decided on the row of an endpoint; null: there is none. */
  function onWebhook<Value> (
    id: string,
    tenant: string | undefined,
    decide: (was: WebhookRow) => Promise<{ value: Value, unit: Omit<Unit, 'rewrites'> }>
  ): Promise<Value | null> {
    return inTurn(id, async () => {
      const since = performance.now()
      for (let attempt = 0; ; attempt++) {
        await pauseBefore(attempt, since)
        const [was] = await store.find('webhooks', [{ id }])
        if (was == null || !belongsTo(was.record, tenant)) return null
        const { value, unit } = await decide(was)
        if (unit.writes.length === 0 && unit.events.length === 0) return value
        if ((await commit(unit)).code === 'ok') return value
      }
    })
  }

  async function allOf (query: Omit<RowsQuery, 'page'>): Promise<DeliveryRow[]> {
    const all: DeliveryRow[] = []
    while (true) {
      const page = { order: 'asc', limit: TOGETHER_MAX, from: { offset: all.length } } as const
      const { items, total } = await store.list('deliveries', { ...query, page })
      all.push(...items)
      if (items.length === 0 || all.length >= total) return all
    }
  }

  /**
   * The writes of deliveries: each replaces the row with its id, or else is added, unless a pending one has its event.
   * `seen`: the row that was decided on, which must still be there.
   */
  async function writesOf (
    webhook: string, given: readonly DeliveryRecord[], seen: DeliveryRow | null
  ): Promise<RowWrite[]> {
    const others = given.filter(({ id }) => id !== seen?.record.id).map(({ id }) => ({ id }))
    const rows = others.length === 0 ? [] : await store.find('deliveries', others)
    const there = new Map([...rows, seen].flatMap((row) => row === null ? [] : [[row.record.id, row]]))
    const found = given.map(({ id }) => there.get(id) ?? null)
    const fresh = given.filter((_, i) => found[i] === null)
    const pending = new Set<string>()
    for (let at = 0; at < fresh.length; at += EVENTS_TOGETHER) {
      const values = fresh.slice(at, at + EVENTS_TOGETHER).map(({ event }) => event)
      for (const { record } of await allOf({ of: webhook, where: { member: 'event', values } })) {
        if (record.status === 'pending') pending.add(record.event)
      }
    }
    return given.flatMap((delivery, i) => {
      const was = found[i] ?? null
      return was === null && pending.has(delivery.event) ? [] : [putDelivery(delivery, was)]
    })
  }

  const page = (rows: Page<WebhookRow>): Page<WebhookRecord> => ({ ...rows, items: rows.items.map(webhookIn) })
  const deliveries = (rows: ReadonlyArray<DeliveryRow | null>): DeliveryRecord[] =>
    rows.flatMap((row) => row === null ? [] : [deliveryIn(row)])

  /** Deliveries that are due, the longest first. */
  const due = async (value: string, limit: number, of: { of?: string } = {}): Promise<DeliveryRow[]> =>
    (await store.list('deliveries', { ...of, upTo: { member: 'dueAt', value }, by: 'dueAt', page: first(limit) })).items

  async function find (id: string, tenant?: string): Promise<WebhookRecord | null> {
    const [row] = await store.find('webhooks', [{ id }])
    return row == null || !belongsTo(row.record, tenant) ? null : webhookIn(row)
  }

  return {
    /** Adds an endpoint. */
    async insert (webhook: WebhookRecord): Promise<void> {
      const { code } = await commit({ writes: [putWebhook(structuredClone(webhook), null)], events: [] })
      if (code !== 'ok') throw new StorageError('fault', 'another webhook has the id')
    },

    /** The endpoint with this id, or `null`. */
    find,

    /** A page of the endpoints, ordered by id, with their exact number. */
    list: async ({ tenant, ...asked }: TenantPageRequest): Promise<Page<WebhookRecord>> =>
      page(await store.list('webhooks', { page: asked, ...(tenant !== undefined && { tenant }) })),

    /**
     * Changes an endpoint and deliveries of it in one step, apart from all other changes of this endpoint. `delivery`:
     * the id of one that the decision depends on. Returns the changed endpoint; `null`: there is no such endpoint,
     * or no such delivery.
     */
    change: (
      id: string, deliveryId: string | null, decide: DecideChange, tenant?: string
    ): Promise<WebhookRecord | null> => onWebhook<WebhookRecord | null>(id, tenant, async (was) => {
      const webhook = webhookIn(was)
      const nothing = { value: webhook, unit: { writes: [], events: [] } }
      const [seen = null] = deliveryId === null ? [] : await store.find('deliveries', [{ id: deliveryId }])
      if (deliveryId !== null && seen?.of !== id) return { ...nothing, value: null }
      // Copies: who decides may change them.
      const change = decide(structuredClone(webhook), seen && structuredClone(deliveryIn(seen)))
      if (change === null) return nothing
      const writes = await writesOf(id, structuredClone(change.deliveries ?? []), seen)
      // Who adds deliveries moves the endpoint, so that no other adds the same.
      const adds = writes.some((each) => each.was === null)
      const made = structuredClone(change.webhook ?? webhook)
      const unit = {
        writes: [...change.webhook !== undefined || adds ? [putWebhook(made, was)] : [], ...writes],
        events: change.event === undefined ? [] : [structuredClone(change.event)]
      }
      return { value: structuredClone(made), unit }
    }),

    /** Deletes an endpoint with its deliveries. False: there was none. */
    remove: async (id: string, tenant?: string): Promise<boolean> => await onWebhook(id, tenant, async (was) =>
      ({ value: true, unit: { writes: [{ in: 'webhooks', put: null, was }], events: [] } })) ?? false,

    /**
     * The ids of endpoints that have due deliveries. If `isWhole` is false, long backlogs may hide other endpoints:
     * then `hasDue` finds out whether one of those has any.
     */
    async due (now: string): Promise<{ ids: Set<string>, isWhole: boolean }> {
      const items = await due(now, DUE_MAX)
      return { ids: new Set(items.map(({ record: { webhook } }) => webhook)), isWhole: items.length < DUE_MAX }
    },

    /** Whether an endpoint has a due delivery. */
    hasDue: async (id: string, now: string): Promise<boolean> => (await due(now, 1, { of: id })).length > 0,

    /**
     * Takes deliveries of an endpoint that are due, the longest first: adds 1 to `claims` and sets `dueAt` to the end
     * of the claim. Of many processes that ask concurrently, one gets each.
     */
    async claim (id: string, { now, until, limit }: ClaimRequest): Promise<DeliveryRecord[]> {
      if (limit === 0) return []
      const items = await due(now, limit, { of: id })
      const claimed = items.map((was) =>
        ({ was, delivery: { ...deliveryIn(was), claims: was.record.claims + 1, dueAt: until } }))
      const made = await store.commit(claimed.map(({ was, delivery }) => single(putDelivery(delivery, was))))
      return claimed.filter((_, i) => made[i]?.code === 'ok').map(({ delivery }) => structuredClone(delivery))
    },

    /** The delivery with this id, or `null`. */
    async findDelivery (id: string): Promise<DeliveryRecord | null> {
      const [row] = await store.find('deliveries', [{ id }])
      return row == null ? null : deliveryIn(row)
    },

    /** Deliveries of an endpoint, newest first, with their exact number. `status`: only those with it. */
    async listDeliveries (
      id: string, { offset, limit, status }: { offset: number, limit: number, status?: string }
    ): Promise<Page<DeliveryRecord>> {
      const { items, total } = await store.list('deliveries', {
        of: id,
        ...(status !== undefined && { where: { member: 'status', values: [status] } }),
        page: { order: 'desc', limit, from: { offset } }
      })
      return { items: deliveries(items), total }
    },

    /** The deliveries of these events to every endpoint, at most 100 events, ordered by id. */
    async deliveriesOf (events: readonly string[], tenant?: string): Promise<DeliveryRecord[]> {
      const found = deliveries(events.length === 0 ? [] : await allOf({ where: { member: 'event', values: events } }))
      if (tenant === undefined) return found
      const ids = [...new Set(found.map(({ webhook }) => webhook))]
      const owners = await Promise.all(ids.map((id) => find(id, tenant)))
      const own = new Set(owners.map((owner) => owner?.id))
      return found.filter(({ webhook }) => own.has(webhook))
    },

    /** Deletes deliveries that are not pending and were made before this time, at most `limit`; returns how many. */
    async prune (moment: string, limit: number): Promise<number> {
      const { items } = await store.list('deliveries', {
        without: 'dueAt',
        upTo: { member: 'createdAt', value: moment, isBelow: true },
        page: first(limit)
      })
      const made = await store.commit(items.map((was) => single({ in: 'deliveries', put: null, was })))
      return made.filter(({ code }) => code === 'ok').length
    }
  }
}
