import type {
  ClaimRequest, DecideChange, DeliveryRecord, Page, PageRequest, WebhookChange, WebhookRecord, WebhookStore
} from '../../../lib/storage/storage.ts'
import { BatchStore, plantBatch } from './batch-store.ts'
import type { Mistake } from './plant.ts'
import type { State } from './state.ts'

/** A correct store with webhooks, batches and an event log. */
export class HookStore extends BatchStore {
  get webhooks (): WebhookStore {
    return {
      insert: async (webhook) => {
        const given = this.keepWebhook(structuredClone(webhook))
        await this.write('insert', () => null, (state) => { state.webhooks.set(given.id, given) })
      },
      find: async (id) => this.read((state) => this.giveWebhook(this.find(state.webhooks, id))),
      list: async (page) => this.read((state) => this.webhooksOn(state, page)),
      change: async (id, delivery, decide) => this.write(
        'change', (state) => this.decided(state, id, delivery, decide), (state, change) => this.put(state, id, change)
      ),
      remove: async (id) => this.write('remove', () => null, (state) => this.removeWebhook(state, id)),
      due: async (now) => this.read((state) => this.dueWebhooks(state, now)),
      claim: async (id, request) => {
        const given: ClaimRequest = structuredClone(request)
        const taken = (state: State) => this.claimable(state, id, given)
        return this.write('claim', taken, (state, deliveries) => this.take(state, deliveries, given))
      },
      findDelivery: async (id) => this.read((state) => this.giveDelivery(this.find(state.deliveries, id))),
      listDeliveries: async (id, page) => {
        const given: PageRequest = { order: 'desc', limit: page.limit, from: { offset: page.offset } }
        return this.read((state) => this.deliveriesOn(state, id, given))
      },
      deliveriesOf: async (events) => this.read((state) => this.deliveriesOf(state, events)),
      eventBefore: async (id) => this.read((state) => this.eventBefore(state, id)),
      prune: async (before, limit) => this.write('prune', () => null, (state) => {
        const old = [...state.deliveries.values()].filter((each) => this.isOld(each, before)).slice(0, limit)
        for (const { id } of old) state.deliveries.delete(id)
        return old.length
      })
    }
  }

  deliveriesOf (state: State, events: readonly string[]): DeliveryRecord[] {
    const found = [...state.deliveries.values()].filter(({ event }) => events.includes(event))
    return structuredClone(found.sort((a, b) => a.id < b.id ? -1 : 1))
  }

  keepWebhook (webhook: WebhookRecord): WebhookRecord {
    return webhook
  }

  keepDelivery (delivery: DeliveryRecord): DeliveryRecord {
    return delivery
  }

  giveWebhook (webhook: WebhookRecord | null): WebhookRecord | null {
    return structuredClone(webhook)
  }

  giveDelivery (delivery: DeliveryRecord | null): DeliveryRecord | null {
    return structuredClone(delivery)
  }

  webhooksOn (state: State, page: PageRequest): Page<WebhookRecord> {
    return structuredClone(this.pageOf([...state.webhooks.values()], page))
  }

  deliveriesOn (state: State, id: string, page: PageRequest): Page<DeliveryRecord> {
    return structuredClone(this.pageOf(this.deliveriesFor(state, id), page))
  }

  deliveriesFor (state: State, id: string): DeliveryRecord[] {
    return [...state.deliveries.values()].filter(({ webhook }) => webhook === id)
  }

  /** What a change writes; undefined: there is none to change. */
  decided (state: State, id: string, deliveryId: string | null, decide: DecideChange): WebhookChange | undefined {
    const webhook = state.webhooks.get(id)
    const delivery = deliveryId === null ? null : this.deliveryOf(state, id, deliveryId)
    if (webhook === undefined || delivery === undefined) return undefined
    return structuredClone(decide(structuredClone(webhook), structuredClone(delivery))) ?? {}
  }

  deliveryOf (state: State, webhook: string, id: string): DeliveryRecord | undefined {
    const delivery = state.deliveries.get(id)
    return delivery?.webhook === webhook ? delivery : undefined
  }

  put (state: State, id: string, change: WebhookChange | undefined): WebhookRecord | null {
    if (change === undefined) return null
    const { webhook, deliveries = [], event } = change
    if (webhook !== undefined) state.webhooks.set(id, this.keepWebhook(webhook))
    const written = deliveries.filter((each) => state.deliveries.has(each.id) || !this.isPending(state, each))
    for (const each of written) this.putDelivery(state, each)
    if (event !== undefined) this.recordAll(state, [event])
    return structuredClone(this.find(state.webhooks, id))
  }

  /** True if the event of a delivery has a pending one to the same endpoint. */
  isPending (state: State, { webhook, event }: DeliveryRecord): boolean {
    return this.deliveriesFor(state, webhook).some((each) => each.event === event && each.dueAt !== null)
  }

  putDelivery (state: State, delivery: DeliveryRecord): void {
    state.deliveries.set(delivery.id, this.keepDelivery(delivery))
  }

  removeWebhook (state: State, id: string): boolean {
    for (const { id: delivery } of this.deliveriesFor(state, id)) state.deliveries.delete(delivery)
    return state.webhooks.delete(id)
  }

  isDue ({ dueAt }: DeliveryRecord, now: string): boolean {
    return dueAt !== null && dueAt <= now
  }

  isOld ({ dueAt, createdAt }: DeliveryRecord, before: string): boolean {
    return dueAt === null && createdAt < before
  }

  dueWebhooks (state: State, now: string): string[] {
    const due = [...state.deliveries.values()].filter((each) => this.isDue(each, now))
    return [...new Set(due.map(({ webhook }) => webhook))]
  }

  claimable (state: State, id: string, { now, limit }: ClaimRequest): DeliveryRecord[] {
    const due = this.deliveriesFor(state, id).filter((each) => this.isDue(each, now))
    return this.longestDue(due).slice(0, limit)
  }

  longestDue (due: DeliveryRecord[]): DeliveryRecord[] {
    return due.toSorted((a, b) => String(a.dueAt) < String(b.dueAt) ? -1 : 1)
  }

  take (state: State, deliveries: readonly DeliveryRecord[], { until }: ClaimRequest): DeliveryRecord[] {
    const claimed = deliveries.map((each) => this.claimed(each, until))
    for (const each of claimed) state.deliveries.set(each.id, each)
    return structuredClone(claimed)
  }

  claimed (delivery: DeliveryRecord, until: string): DeliveryRecord {
    return { ...delivery, claims: delivery.claims + 1, dueAt: until }
  }

  eventBefore (state: State, id: string): string | null {
    const first = state.events.findIndex((event) => event.id >= id)
    return (first === -1 ? state.events.at(-1) : state.events[first - 1])?.id ?? null
  }
}

/** A named mistake of a store with webhooks, and without transactions. */
export const plantHooks: (title: string, Store: new () => HookStore) => Mistake = plantBatch

/** A mistake in the methods, made around those that are right. */
export function plantHookMethods (
  title: string, change: (right: WebhookStore, store: HookStore) => Partial<WebhookStore>
): Mistake {
  return plantHooks(title, class extends HookStore {
    override get webhooks (): WebhookStore {
      const right = super.webhooks
      return { ...right, ...change(right, this) }
    }
  })
}

/** A store that lets turns of the event loop pass between what a method decides and its write. */
export function plantHookGap (title: string, method: string): Mistake {
  return plantHooks(title, class extends HookStore {
    override async write<C, T> (name: string, check: (state: State) => C, apply: (state: State, checked: C) => T) {
      if (name !== method) return await super.write(name, check, apply)
      const checked = await super.write(name, check, (_state, result) => result)
      await this.turn()
      return apply(this.session.state, checked)
    }
  })
}

/** A mistake in what is kept of an endpoint. */
export function plantKeptHook (title: string, change: (webhook: WebhookRecord) => WebhookRecord): Mistake {
  return plantHooks(title, class extends HookStore {
    override keepWebhook (webhook: WebhookRecord): WebhookRecord {
      return change(webhook)
    }
  })
}

/** A mistake in what is kept of a delivery. */
export function plantKeptDelivery (title: string, change: (delivery: DeliveryRecord) => DeliveryRecord): Mistake {
  return plantHooks(title, class extends HookStore {
    override keepDelivery (delivery: DeliveryRecord): DeliveryRecord {
      return change(delivery)
    }
  })
}
