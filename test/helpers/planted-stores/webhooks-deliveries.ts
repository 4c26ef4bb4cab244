import type { DeliveryRecord, PageRequest, WebhookChange } from '../../../lib/storage/storage.ts'
import { type Mistake, untyped } from './plant.ts'
import type { State } from './state.ts'
import { HookStore, plantHookMethods, plantHooks, plantKeptDelivery } from './webhook-store.ts'

const kept: Mistake[] = [
  plantKeptDelivery('attempts are in the order of their times', (delivery) =>
    ({ ...delivery, attempts: delivery.attempts.toSorted((a, b) => a.at < b.at ? -1 : 1) })),
  plantKeptDelivery('the last attempt alone is kept', (delivery) =>
    ({ ...delivery, attempts: delivery.attempts.slice(-1) })),
  plantKeptDelivery('an attempt without an answer has the status 0', (delivery) =>
    ({ ...delivery, attempts: delivery.attempts.map((each) => ({ ...each, status: each.status ?? 0 })) })),
  plantKeptDelivery('the error of an attempt is lost', (delivery) =>
    ({ ...delivery, attempts: delivery.attempts.map((each) => ({ ...each, error: null })) })),
  plantKeptDelivery('the error of an attempt is cut to 3 characters', (delivery) => ({
    ...delivery,
    attempts: delivery.attempts.map((each) => ({ ...each, error: each.error && each.error.slice(0, 3) }))
  })),
  plantKeptDelivery('the time of an attempt is cut to seconds', (delivery) => ({
    ...delivery,
    attempts: delivery.attempts.map((each) => ({ ...each, at: `${each.at.slice(0, 19)}.000Z` }))
  })),
  plantKeptDelivery('the duration of an attempt is rounded', (delivery) => ({
    ...delivery,
    attempts: delivery.attempts.map((each) => ({ ...each, milliseconds: Math.round(each.milliseconds) }))
  })),
  plantKeptDelivery('the event of a test is lost', (delivery) => ({ ...delivery, testEvent: null })),
  plantKeptDelivery('the event of a test loses empty members', (delivery) => ({
    ...delivery,
    testEvent: delivery.testEvent &&
      Object.fromEntries(Object.entries(delivery.testEvent).filter(([, value]) => value !== null && value !== ''))
  })),
  plantKeptDelivery('claims begin at 0', (delivery) => ({ ...delivery, claims: 0 })),
  plantKeptDelivery('claims have 16 bits', (delivery) => ({ ...delivery, claims: delivery.claims % 2 ** 16 })),
  plantKeptDelivery('failures are lost', (delivery) => ({ ...delivery, failures: 0 })),
  plantKeptDelivery('what has failed has succeeded', (delivery) =>
    ({ ...delivery, status: delivery.status === 'failed' ? 'succeeded' : delivery.status })),
  plantKeptDelivery('no time when a delivery is due is an empty text', (delivery) =>
    ({ ...delivery, dueAt: delivery.dueAt ?? '' })),
  plantKeptDelivery('a delivery is due at a whole second', (delivery) =>
    ({ ...delivery, dueAt: delivery.dueAt && `${delivery.dueAt.slice(0, 19)}.000Z` })),
  plantKeptDelivery('the time of a delivery has 32 bits', (delivery) => ({
    ...delivery,
    createdAt: new Date(Date.parse(delivery.createdAt) % (2 ** 31 * 1000)).toISOString()
  })),
  plantKeptDelivery('milliseconds are texts', (delivery) => ({
    ...delivery,
    attempts: delivery.attempts.map((each) => ({ ...each, milliseconds: untyped(String(each.milliseconds)) }))
  }))
]

const written: Mistake[] = [
  plantHooks('findDelivery gives the stored delivery', class extends HookStore {
    override giveDelivery (delivery: DeliveryRecord | null) { return delivery }
  }),
  plantHookMethods('no delivery is undefined', (right) => ({
    findDelivery: async (id) => await right.findDelivery(id) ?? untyped(undefined)
  })),
  plantHooks('a delivery that is known is not written over', class extends HookStore {
    override putDelivery (state: State, delivery: DeliveryRecord) {
      if (!state.deliveries.has(delivery.id)) super.putDelivery(state, delivery)
    }
  }),
  plantHooks('only the status of a delivery is written over', class extends HookStore {
    override putDelivery (state: State, delivery: DeliveryRecord) {
      const before = state.deliveries.get(delivery.id)
      const { status, dueAt } = delivery
      super.putDelivery(state, before === undefined ? delivery : { ...before, status, dueAt })
    }
  }),
  plantHooks('a delivery that has ended is never written over', class extends HookStore {
    override putDelivery (state: State, delivery: DeliveryRecord) {
      if (state.deliveries.get(delivery.id)?.dueAt !== null) super.putDelivery(state, delivery)
    }
  }),
  plantHooks('claims are never less than they were', class extends HookStore {
    override putDelivery (state: State, delivery: DeliveryRecord) {
      const claims = Math.max(delivery.claims, state.deliveries.get(delivery.id)?.claims ?? 0)
      super.putDelivery(state, { ...delivery, claims: delivery.status === 'pending' ? delivery.claims : claims + 1 })
    }
  }),
  plantHooks('an endpoint has one delivery of an event', class extends HookStore {
    override putDelivery (state: State, delivery: DeliveryRecord) {
      const { id, webhook, event } = delivery
      const same = this.deliveriesFor(state, webhook).find((each) => each.event === event && each.id !== id)
      if (same === undefined) super.putDelivery(state, delivery)
    }
  }),
  plantHooks('there is one delivery of an event', class extends HookStore {
    override putDelivery (state: State, delivery: DeliveryRecord) {
      for (const { id, event, webhook } of [...state.deliveries.values()]) {
        if (event === delivery.event && webhook !== delivery.webhook) state.deliveries.delete(id)
      }
      super.putDelivery(state, delivery)
    }
  }),
  plantHooks('an event may have many pending deliveries', class extends HookStore {
    override isPending () { return false }
  }),
  plantHooks('a claimed delivery is not taken for pending', class extends HookStore {
    override isPending (state: State, { webhook, event }: DeliveryRecord) {
      return this.deliveriesFor(state, webhook).some((each) => each.event === event && each.claims === 0)
    }
  }),
  plantHooks('a pending delivery keeps other endpoints from theirs', class extends HookStore {
    override isPending (state: State, { event }: DeliveryRecord) {
      return [...state.deliveries.values()].some((each) => each.event === event && each.dueAt !== null)
    }
  }),
  plantHooks('nothing of a change is written if an event has a pending delivery', class extends HookStore {
    override put (state: State, id: string, change: WebhookChange | undefined) {
      const isKept = change?.deliveries?.some((each) => !state.deliveries.has(each.id) && this.isPending(state, each))
      return super.put(state, id, isKept === true ? {} : change)
    }
  }),
  plantHooks('a change writes one delivery', class extends HookStore {
    override put (...[state, id, change]: Parameters<HookStore['put']>) {
      const deliveries = change?.deliveries?.slice(0, 1)
      return super.put(state, id, change && (deliveries === undefined ? change : { ...change, deliveries }))
    }
  }),
  plantHooks('a delivery that is written over is made anew', class extends HookStore {
    override putDelivery (state: State, delivery: DeliveryRecord) {
      state.deliveries.delete(delivery.id)
      super.putDelivery(state, delivery)
    }

    override deliveriesOn (state: State, id: string, { limit, from }: PageRequest) {
      const items = this.deliveriesFor(state, id).reverse()
      const first = 'offset' in from ? from.offset : 0
      return structuredClone({ items: items.slice(first, first + limit), total: items.length })
    }
  })
]

/** A mistake in the list of deliveries: another order of them. */
function ordered (title: string, keyOf: (delivery: DeliveryRecord) => string): Mistake {
  return plantHooks(title, class extends HookStore {
    override deliveriesOn (state: State, id: string, { limit, from }: PageRequest) {
      const items = this.deliveriesFor(state, id).toSorted((a, b) => keyOf(a) > keyOf(b) ? -1 : 1)
      const first = 'offset' in from ? from.offset : 0
      return structuredClone({ items: items.slice(first, first + limit), total: items.length })
    }
  })
}

const listed: Mistake[] = [
  ordered('deliveries are listed by the time when they are due', ({ dueAt }) => String(dueAt)),
  ordered('deliveries are listed by their times', ({ createdAt }) => createdAt),
  plantHooks('deliveries are listed oldest first', class extends HookStore {
    override deliveriesOn (state: State, id: string, page: PageRequest) {
      return super.deliveriesOn(state, id, { ...page, order: 'asc' })
    }
  }),
  plantHooks('deliveries that are pending alone are listed', class extends HookStore {
    override deliveriesOn (state: State, id: string, page: PageRequest) {
      const pending = this.deliveriesFor(state, id).filter(({ dueAt }) => dueAt !== null)
      return structuredClone(this.pageOf(pending, page))
    }
  }),
  plantHooks('an unknown endpoint lists the deliveries of all', class extends HookStore {
    override deliveriesOn (state: State, id: string, page: PageRequest) {
      if (state.webhooks.has(id)) return super.deliveriesOn(state, id, page)
      return structuredClone(this.pageOf([...state.deliveries.values()], page))
    }
  }),
  plantHookMethods('the number of deliveries is that of all endpoints', (right, { database }) => ({
    listDeliveries: async (id, page) =>
      ({ ...await right.listDeliveries(id, page), total: database.state.deliveries.size })
  })),
  plantHookMethods('the number of deliveries is that of the page', (right) => ({
    listDeliveries: async (id, page) => {
      const { items } = await right.listDeliveries(id, page)
      return { items, total: items.length }
    }
  })),
  plantHookMethods('deliveries are counted a turn before they are listed', (right, store) => ({
    listDeliveries: async (id, page) => {
      const { total } = await right.listDeliveries(id, page)
      await store.turn()
      return { ...await right.listDeliveries(id, page), total }
    }
  })),
  plantHookMethods('pages of deliveries begin at a multiple of their length', (right) => ({
    listDeliveries: (id, { offset, limit }) =>
      right.listDeliveries(id, { offset: Math.floor(offset / limit) * limit, limit })
  })),
  plantHooks('deliveries of a page are the stored ones', class extends HookStore {
    override deliveriesOn (state: State, id: string, page: PageRequest) {
      return this.pageOf(this.deliveriesFor(state, id), page)
    }
  })
]

export const webhooksDeliveries: Mistake[] = [...kept, ...written, ...listed,
  plantHooks('the deliveries of an event are those of one endpoint', class extends HookStore {
    override deliveriesOf (...given: Parameters<HookStore['deliveriesOf']>) {
      const found = super.deliveriesOf(...given)
      return found.filter(({ webhook }) => webhook === found[0]?.webhook)
    }
  }),
  plantHooks('the deliveries of events have no order', class extends HookStore {
    override deliveriesOf (...given: Parameters<HookStore['deliveriesOf']>) {
      return super.deliveriesOf(...given).reverse()
    }
  }),
  plantHooks('one delivery of an event is given', class extends HookStore {
    override deliveriesOf (...given: Parameters<HookStore['deliveriesOf']>) {
      const found = super.deliveriesOf(...given)
      return found.filter(({ event }, i) => found.findIndex((other) => other.event === event) === i)
    }
  })
]
