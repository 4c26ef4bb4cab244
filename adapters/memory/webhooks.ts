import type { DeliveryRecord, WebhookRecord, WebhookStore } from '../../lib/storage/storage.ts'
import type { MemoryEvents } from './event-log.ts'
import { Groups } from './groups.ts'
import { pageOf } from './positions.ts'
import { SortedMap } from './sorted-map.ts'

function isDue ({ dueAt }: DeliveryRecord, now: string): boolean {
  return dueAt !== null && dueAt <= now
}

/** Endpoints and deliveries of webhooks in memory. No method waits for anything, so each is atomic by itself. */
export function memoryWebhooks (events: MemoryEvents): WebhookStore & { drop: (tenant: string) => number } {
  const webhooks = new SortedMap<WebhookRecord>()
  const ofTenants = new Groups<WebhookRecord>()
  const deliveries = new Map<string, DeliveryRecord>()
  const endpoints = new Map<string, WebhookRecord>()
  const ofEndpoints = new Groups<DeliveryRecord>()
  // By endpoint: those that are pending are few, and looked at often.
  const pending = new Map<string, Map<string, DeliveryRecord>>()

  function leaveTenant (id: string): void {
    const webhook = endpoints.get(id)
    if (webhook?.tenant !== undefined) ofTenants.delete(webhook.tenant, webhook)
  }

  function keep (webhook: WebhookRecord): void {
    leaveTenant(webhook.id)
    webhooks.set(webhook.id, webhook)
    endpoints.set(webhook.id, webhook)
    if (webhook.tenant !== undefined) ofTenants.add(webhook.tenant, webhook)
  }

  function keepDelivery (delivery: DeliveryRecord): void {
    const { id, webhook, dueAt } = delivery
    deliveries.set(id, delivery)
    ofEndpoints.add(webhook, delivery)
    const ofWebhook = pending.get(webhook) ?? new Map<string, DeliveryRecord>()
    pending.set(webhook, ofWebhook)
    if (dueAt === null) ofWebhook.delete(id)
    else ofWebhook.set(id, delivery)
  }

  function removeDelivery (delivery: DeliveryRecord): void {
    deliveries.delete(delivery.id)
    ofEndpoints.delete(delivery.webhook, delivery)
  }

  /** Those that are known, or whose event has no pending delivery to the endpoint. */
  function writable (webhook: string, given: readonly DeliveryRecord[]): readonly DeliveryRecord[] {
    if (given.every(({ id }) => deliveries.has(id))) return given
    const events = new Set([...pending.get(webhook)?.values() ?? []].map(({ event }) => event))
    return given.filter(({ id, event }) => deliveries.has(id) || !events.has(event))
  }

  function dueOf (webhook: string, now: string): DeliveryRecord[] {
    return [...pending.get(webhook)?.values() ?? []].filter((each) => isDue(each, now))
  }

  function removeEndpoint (id: string): boolean {
    leaveTenant(id)
    const all = ofEndpoints.get(id)
    for (const delivery of all.range(0, all.size)) removeDelivery(delivery)
    webhooks.delete(id)
    pending.delete(id)
    return endpoints.delete(id)
  }

  return {
    async insert (webhook) {
      keep(structuredClone(webhook))
    },

    async find (id) {
      return structuredClone(endpoints.get(id) ?? null)
    },

    async list (page) {
      const found = page.tenant === undefined ? webhooks : ofTenants.get(page.tenant)
      return { items: structuredClone(pageOf(found, page)), total: found.size }
    },

    async change (id, deliveryId, decide) {
      const webhook = endpoints.get(id)
      const delivery = deliveryId === null ? null : deliveries.get(deliveryId)
      if (webhook === undefined || delivery === undefined) return null
      if (delivery !== null && delivery.webhook !== id) return null
      const change = structuredClone(decide(structuredClone(webhook), structuredClone(delivery)))
      for (const each of writable(id, change?.deliveries ?? [])) keepDelivery(each)
      if (change?.webhook !== undefined) keep(change.webhook)
      if (change?.event !== undefined) events.add(change.event)
      return structuredClone(change?.webhook ?? webhook)
    },

    remove: async (id) => removeEndpoint(id),

    /** Deletes the endpoints of a tenant, and returns how many. */
    drop (tenant) {
      const all = ofTenants.get(tenant)
      return all.range(0, all.size).filter(({ id }) => removeEndpoint(id)).length
    },

    async due (now) {
      return [...pending.keys()].filter((id) => dueOf(id, now).length > 0)
    },

    async claim (id, { now, until, limit }) {
      const order = ({ dueAt, id: delivery }: DeliveryRecord): string => `${dueAt} ${delivery}`
      const first = dueOf(id, now).sort((a, b) => order(a) < order(b) ? -1 : 1).slice(0, limit)
      for (const each of first) Object.assign(each, { claims: each.claims + 1, dueAt: until })
      return structuredClone(first)
    },

    async findDelivery (id) {
      return structuredClone(deliveries.get(id) ?? null)
    },

    async listDeliveries (id, { offset, limit }) {
      const all = ofEndpoints.get(id)
      const page = pageOf(all, { order: 'desc', limit, from: { offset } })
      return { items: structuredClone(page), total: all.size }
    },

    async deliveriesOf (events) {
      const found = [...deliveries.values()].filter(({ event }) => events.includes(event))
      return structuredClone(found.sort((a, b) => a.id < b.id ? -1 : 1))
    },

    eventBefore: async (id, tenant) => events.before(id, tenant),

    async prune (before, limit) {
      const isOld = ({ dueAt, createdAt }: DeliveryRecord): boolean => dueAt === null && createdAt < before
      const old = [...deliveries.values()].filter(isOld).slice(0, limit)
      for (const each of old) removeDelivery(each)
      return old.length
    }
  }
}
