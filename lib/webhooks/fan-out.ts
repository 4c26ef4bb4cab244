import type { FastifyBaseLogger } from 'fastify'
import { newId } from '../core/ids.ts'
import type { DeliveryRecord, EventLog, EventRecord, EventsPage, WebhookRecord } from '../storage/storage.ts'
import type { WebhookStore } from '../storage/webhook-loop.ts'
import { createApart } from './apart.ts'
import { standingOf } from '../events/missed.ts'
import { isOfType, typesOf } from '../events/rules.ts'

// Events that become deliveries in one step.
const EVENTS_TOGETHER = 100

function deliveryOf ({ id: event, type }: EventRecord, webhook: string, now: string): DeliveryRecord {
  return {
    id: newId('dlv'),
    webhook,
    event,
    type,
    status: 'pending',
    dueAt: now,
    claims: 0,
    failures: 0,
    attempts: [],
    testEvent: null,
    createdAt: now
  }
}

/** Webhooks that get the same events next: those after a position in the log, of all or of one tenant. */
interface Group {
  after: string | null
  tenant: string | undefined
  webhooks: WebhookRecord[]
}

function groupsOf (webhooks: readonly WebhookRecord[]): Group[] {
  const groups = new Map<string, Group>()
  for (const webhook of webhooks) {
    const { after, tenant } = webhook
    const name = `${tenant} ${after}`
    const group = groups.get(name)
    if (group === undefined) groups.set(name, { after, tenant, webhooks: [webhook] })
    else group.webhooks.push(webhook)
  }
  return [...groups.values()]
}

/** Makes the function that finds the tenants with events since its last call; null: any may have some. */
function createNews (log: EventLog): () => Promise<Set<string> | null> {
  let passed: string | null = null
  return async () => {
    const tenants = new Set<string>()
    let after = passed
    while (after !== null) {
      const page: EventsPage | null = await log.read({ after, limit: EVENTS_TOGETHER, types: null })
      for (const { tenant } of page?.events ?? []) if (tenant !== undefined) tenants.add(tenant)
      after = page?.position ?? null
      if (page?.more === false) break
    }
    const isKnown = after !== null
    passed = after ?? (await log.read({ after: null, limit: 1, types: [] }))?.position ?? null
    return isKnown ? tenants : null
  }
}

/**
 * Makes the function that makes deliveries of the next events for each webhook, and says whether there are more. The
 * deliveries and the place in the log are written in one step, so that of many processes one makes each. `onMade`:
 * called with the id of each webhook that has new ones.
 */
export function createFanOut (
  store: WebhookStore,
  log: EventLog,
  logger: FastifyBaseLogger,
  { apart = createApart(logger), onMade = () => {} }:
  { apart?: ReturnType<typeof createApart>, onMade?: (id: string) => void } = {}
) {
  async function advance (id: string, from: string | null, to: string | null, events: readonly EventRecord[]) {
    await store.change(id, null, (webhook) => {
      // Another process was first, or it was told to deliver again.
      if (webhook.after !== from || !webhook.enabled) return null
      const now = new Date().toISOString()
      const { types } = webhook
      const wanted = events.filter(({ type }) => types.length === 0 || types.some((filter) => isOfType(filter, type)))
      if (wanted.length > 0) onMade(id)
      return { webhook: { ...webhook, after: to }, deliveries: wanted.map((event) => deliveryOf(event, id, now)) }
    })
  }

  const findNews = createNews(log)
  // By endpoint of a tenant: the position behind which the tenant has no event. Those of tenants without news are not
  // read again, so a round does not cost more with each tenant.
  const ends = new Map<string, string | null>()
  const isAtEnd = ({ id, after }: WebhookRecord): boolean => ends.has(id) && ends.get(id) === after

  async function forgetEnds (webhooks: readonly WebhookRecord[]): Promise<void> {
    if (webhooks.every(({ tenant }) => tenant === undefined)) return ends.clear()
    const news = await findNews()
    const tenants = new Map(webhooks.map(({ id, tenant }) => [id, String(tenant)]))
    for (const id of ends.keys()) {
      const tenant = tenants.get(id)
      if (news === null || tenant === undefined || news.has(tenant)) ends.delete(id)
    }
  }

  async function fanOut ({ after, tenant, webhooks }: Group): Promise<boolean> {
    const of = tenant === undefined ? {} : { tenant }
    const page = await log.read({ after, limit: EVENTS_TOGETHER, types: null, ...of })
    if (page === null) {
      // Not pruned, but no longer the tenant's, which is being deleted.
      const isForgotten = tenant !== undefined && await log.find(String(after)) !== null
      const pruned = await log.pruned()
      const missed = webhooks.filter(({ types }) =>
        !isForgotten && standingOf(String(after), typesOf(types), pruned) !== 'complete').map(({ id }) => id)
      if (missed.length > 0) logger.warn({ webhooks: missed }, 'events were pruned before these webhooks got them')
      for (const { id } of webhooks) await apart.done(id, () => advance(id, after, null, []))
      return true
    }
    const last = page.events.at(-1)
    for (const { id } of webhooks) {
      const isDone = last === undefined || await apart.done(id, () => advance(id, after, last.id, page.events))
      if (isDone && tenant !== undefined && !page.more) ends.set(id, last?.id ?? after)
    }
    return page.more
  }

  return async (webhooks: readonly WebhookRecord[]): Promise<boolean> => {
    // Before the events are read: what comes between is news of the next round.
    await forgetEnds(webhooks)
    let more = false
    const open = webhooks.filter((each) => !isAtEnd(each) && !apart.isResting(each.id))
    for (const group of groupsOf(open)) more = await fanOut(group) || more
    return more
  }
}
