// How webhooks and their deliveries are written on rows, for every store.

import type { Page } from './records.ts'
import type { Outcome, Row, RowsQuery, RowStore, RowWrite, Unit } from './rows.ts'
import { StorageError } from './storage-error.ts'
import { pauseBefore } from './user-loop.ts'
import { createKeyedQueue } from '../core/keyed-queue.ts'
import type { DeliveryRecord, WebhookRecord, WebhookStore } from './webhook-store.ts'

type WebhookRow = Row<'webhooks'>
type DeliveryRow = Row<'deliveries'>

// Endpoints of these deliveries, the longest due, are served in one round.
const DUE_MAX = 1000
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

const first = (limit: number) => ({ order: 'asc', limit, from: { offset: 0 } } as const)

/** Makes the webhooks of a store of rows. */
export function createWebhookStore (store: RowStore): WebhookStore {
  const inTurn = createKeyedQueue()

  async function commit (unit: Omit<Unit, 'rewrites'>): Promise<Outcome> {
    const [outcome] = await store.commit([{ ...unit, rewrites: [] }])
    if (outcome === undefined) throw new StorageError('fault', 'a unit has no outcome')
    return outcome
  }

  /** Makes what is decided on the row of an endpoint; null: there is none. */
  function onWebhook<Value> (
    id: string, decide: (was: WebhookRow) => Promise<{ value: Value, unit: Omit<Unit, 'rewrites'> }>
  ): Promise<Value | null> {
    return inTurn(id, async () => {
      const since = performance.now()
      for (let attempt = 0; ; attempt++) {
        await pauseBefore(attempt, since)
        const [was] = await store.find('webhooks', [{ id }])
        if (was == null) return null
        const { value, unit } = await decide(was)
        if (unit.writes.length === 0 && unit.events.length === 0) return value
        if ((await commit(unit)).code === 'ok') return value
      }
    })
  }

  async function allOf (query: Omit<RowsQuery, 'page'>): Promise<DeliveryRow[]> {
    const all: DeliveryRow[] = []
    while (true) {
      const page = { order: 'asc', limit: DUE_MAX, from: { offset: all.length } } as const
      const { items, total } = await store.list('deliveries', { ...query, page })
      all.push(...items)
      if (items.length === 0 || all.length >= total) return all
    }
  }

  /** The rows of those that are there, and whether a pending one has the event of one that is not. */
  async function writesOf (webhook: string, given: readonly DeliveryRecord[]): Promise<RowWrite[]> {
    if (given.length === 0) return []
    const found = await store.find('deliveries', given.map(({ id }) => ({ id })))
    const fresh = given.filter((_, i) => found[i] == null)
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

  return {
    async insert (webhook) {
      const { code } = await commit({ writes: [putWebhook(structuredClone(webhook), null)], events: [] })
      if (code !== 'ok') throw new StorageError('fault', 'another webhook has the id')
    },

    async find (id) {
      const [row] = await store.find('webhooks', [{ id }])
      return row == null ? null : webhookIn(row)
    },

    list: async ({ tenant, ...asked }) =>
      page(await store.list('webhooks', { page: asked, ...(tenant !== undefined && { tenant }) })),

    change: (id, deliveryId, decide) => onWebhook(id, async (was) => {
      const webhook = webhookIn(was)
      const nothing = { value: webhook, unit: { writes: [], events: [] } }
      let delivery: DeliveryRecord | null = null
      if (deliveryId !== null) {
        const [row] = await store.find('deliveries', [{ id: deliveryId }])
        if (row == null || row.of !== id) return { ...nothing, value: null }
        delivery = deliveryIn(row)
      }
      // Copies: who decides may change them.
      const change = decide(structuredClone(webhook), structuredClone(delivery))
      if (change === null) return nothing
      const writes = await writesOf(id, structuredClone(change.deliveries ?? []))
      // Who adds deliveries moves the endpoint, so that no other adds the same.
      const adds = writes.some((each) => each.was === null)
      const made = structuredClone(change.webhook ?? webhook)
      const unit = {
        writes: [...change.webhook !== undefined || adds ? [putWebhook(made, was)] : [], ...writes],
        events: change.event === undefined ? [] : [structuredClone(change.event)]
      }
      return { value: structuredClone(made), unit }
    }),

    remove: async (id) => await onWebhook(id, async (was) =>
      ({ value: true, unit: { writes: [{ in: 'webhooks', put: null, was }], events: [] } })) ?? false,

    async due (now) {
      const { items } = await store.list('deliveries', {
        upTo: { member: 'dueAt', value: now }, by: 'dueAt', page: first(DUE_MAX)
      })
      return [...new Set(items.map(({ record: { webhook } }) => webhook))]
    },

    async claim (id, { now, until, limit }) {
      if (limit === 0) return []
      const { items } = await store.list('deliveries', {
        of: id, upTo: { member: 'dueAt', value: now }, by: 'dueAt', page: first(limit)
      })
      const claimed = items.map((was) =>
        ({ was, delivery: { ...deliveryIn(was), claims: was.record.claims + 1, dueAt: until } }))
      const made = await store.commit(claimed.map(({ was, delivery }) =>
        ({ writes: [putDelivery(delivery, was)], events: [], rewrites: [] })))
      return claimed.filter((_, i) => made[i]?.code === 'ok').map(({ delivery }) => structuredClone(delivery))
    },

    async findDelivery (id) {
      const [row] = await store.find('deliveries', [{ id }])
      return row == null ? null : deliveryIn(row)
    },

    async listDeliveries (id, { offset, limit }) {
      const { items, total } = await store.list('deliveries', {
        of: id, page: { order: 'desc', limit, from: { offset } }
      })
      return { items: deliveries(items), total }
    },

    async deliveriesOf (events) {
      return deliveries(events.length === 0 ? [] : await allOf({ where: { member: 'event', values: events } }))
    },

    eventBefore: (id, tenant) => store.log.before(id, tenant),

    async prune (moment, limit) {
      const { items } = await store.list('deliveries', {
        without: 'dueAt',
        upTo: { member: 'createdAt', value: moment, isBelow: true },
        page: first(limit)
      })
      const made = await store.commit(items.map((was) =>
        ({ writes: [{ in: 'deliveries', put: null, was }], events: [], rewrites: [] })))
      return made.filter(({ code }) => code === 'ok').length
    }
  }
}
