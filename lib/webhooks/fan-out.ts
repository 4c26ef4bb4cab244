import type { FastifyBaseLogger } from 'fastify'
import { newId } from '../core/ids.ts'
import type { DeliveryRecord, EventLog, EventRecord, WebhookRecord, WebhookStore } from '../storage/storage.ts'
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

/** Groups webhooks by their position in the log. */
function byPosition (webhooks: readonly WebhookRecord[]): Map<string | null, WebhookRecord[]> {
  const groups = new Map<string | null, WebhookRecord[]>()
  for (const webhook of webhooks) {
    const group = groups.get(webhook.after)
    if (group === undefined) groups.set(webhook.after, [webhook])
    else group.push(webhook)
  }
  return groups
}

/**
 * Makes the function that makes deliveries of the next events for each webhook, and says whether there are more. The
 * deliveries and the place in the log are written in one step, so that of many processes one makes each.
 */
export function createFanOut (store: WebhookStore, log: EventLog, logger: FastifyBaseLogger) {
  async function advance (id: string, from: string | null, to: string | null, events: readonly EventRecord[]) {
    await store.change(id, null, (webhook) => {
      // Another process was first, or it was told to deliver again.
      if (webhook.after !== from || !webhook.enabled) return null
      const now = new Date().toISOString()
      const { types } = webhook
      const wanted = events.filter(({ type }) => types.length === 0 || types.some((filter) => isOfType(filter, type)))
      return { webhook: { ...webhook, after: to }, deliveries: wanted.map((event) => deliveryOf(event, id, now)) }
    })
  }

  async function fanOut (after: string | null, webhooks: readonly WebhookRecord[]): Promise<boolean> {
    const page = await log.read({ after, limit: EVENTS_TOGETHER, types: null })
    if (page === null) {
      const pruned = await log.pruned()
      const missed = webhooks.filter(({ types }) => standingOf(String(after), typesOf(types), pruned) !== 'complete')
        .map(({ id }) => id)
      if (missed.length > 0) logger.warn({ webhooks: missed }, 'events were pruned before these webhooks got them')
      for (const { id } of webhooks) await advance(id, after, null, [])
      return true
    }
    const last = page.events.at(-1)
    if (last === undefined) return false
    for (const { id } of webhooks) await advance(id, after, last.id, page.events)
    return page.more
  }

  return async (webhooks: readonly WebhookRecord[]): Promise<boolean> => {
    let more = false
    for (const [after, group] of byPosition(webhooks)) more = await fanOut(after, group) || more
    return more
  }
}
