import { setMaxListeners } from 'node:events'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { IN_PROCESS } from '../core/context.ts'
import { newEvent, webhookEvent } from '../storage/recorded-events.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { DeliveryRecord, EventLog, NewEvent, WebhookRecord } from '../storage/storage.ts'
import type { WebhookStore } from '../storage/webhook-loop.ts'
import { toWebhook, type Webhook } from '../storage/webhook.ts'
import { createApart } from './apart.ts'
import { type Bound, createCounts, receiverOf, type Shares } from './bounds.ts'
import { type Deliver, EXPIRED } from './deliver.ts'
import { createFanOut } from './fan-out.ts'
import { outcomeOf } from './schedule.ts'
import { type Answer, ATTEMPT_MS, NOT_TRIED } from './send.ts'
import { allWebhooks } from './writes.ts'

// Poll once a second for events that other processes recorded and for deliveries that are due again.
const POLL_MS = 1000
// Attempts to one endpoint at a time.
const ATTEMPTS_TOGETHER = 5
// A receiver that answered within this time is quick.
const QUICK_MS = 2000
const RECEIVERS_MAX = 10_000
// Endpoints that a round asks for deliveries that backlogs hide.
const HIDDEN_MAX = 100
// These say nothing about the receiver.
const UNTRIED: ReadonlyArray<string | null> = ['closed', NOT_TRIED]
// A process that died leaves its claims to the others after this time: longer than an attempt takes.
const CLAIM_MS = 2 * ATTEMPT_MS
// At shutdown, give running attempts up to five seconds to finish.
const CLOSE_MS = 5000

export interface WorkerOptions {
  store: WebhookStore
  log: EventLog
  logger: FastifyBaseLogger
  deliver: Deliver
  shares: Shares
  /** Calls the listeners in process for a webhook that was disabled. */
  publish: (webhook: Webhook, recorded: NewEvent) => void
}

/** Makes deliveries of new events, and attempts those that are due, until it is closed. */
export interface Worker {
  start (): void
  /** Says that there may be something to do. */
  wake (): void
  /** Ends the attempts that are under way, or leaves them to the next process. */
  close (): Promise<void>
}

/** Endpoints, in the order of their ids, from the one behind an id. */
function behind (last: string, webhooks: readonly WebhookRecord[]): WebhookRecord[] {
  return [...webhooks.filter(({ id }) => id > last), ...webhooks.filter(({ id }) => id <= last)]
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** Makes the worker of a process. Every process has one; they share the work through the store. */
export function createWorker ({ store, log, logger, deliver, shares, publish }: WorkerOptions): Worker {
  const apart = createApart(logger)
  /** Endpoints that have due deliveries, as far as is known. */
  const owed = new Set<string>()
  const fanOut = createFanOut(store, log, logger, { apart, onMade: (id) => owed.add(id) })
  const attempts = new Set<Promise<void>>()
  const counts = createCounts()
  /** Those that were quick last time. They need not wait for places that others hold. */
  const quick = new LRUCache<string, true>({ max: RECEIVERS_MAX })
  /** The endpoint that was served last: the next one begins the next round. */
  let served = ''
  /** The same of those that backlogs hide. */
  let asked = ''
  const aborting = new AbortController()
  // Each attempt listens to it.
  setMaxListeners(0, aborting.signal)
  const closing = new AbortController()
  let isRung = false
  let isFailing = false
  let ring = (): void => {}

  function wake (): void {
    isRung = true
    ring()
  }

  async function settle ({ id, url }: WebhookRecord, { id: delivery, claims }: DeliveryRecord, answer: Answer) {
    const now = Date.now()
    const event = newEvent('webhook.disabled', IN_PROCESS)
    let disabled: Webhook | null = null
    await store.change(id, delivery, (webhook, claimed) => {
      disabled = null
      // The claim has ended and another process has it, or another attempt was asked for.
      if (claimed === null || claimed.claims !== claims || claimed.status !== 'pending') return null
      if (UNTRIED.includes(answer.error)) return { deliveries: [{ ...claimed, dueAt: iso(now) }] }
      const outcome = outcomeOf(webhook, claimed, answer, now, Math.random())
      // The URL changed during the attempt, so the outcome says nothing about the current one.
      if (webhook.url !== url) return { deliveries: [outcome.delivery] }
      const deliveries = [outcome.delivery]
      // Most attempts change nothing about the endpoint, whose row all of them lock.
      const change = outcome.webhook === webhook ? { deliveries } : { webhook: outcome.webhook, deliveries }
      if (!outcome.disabled) return change
      disabled = toWebhook(outcome.webhook)
      return { ...change, event: webhookEvent(event, disabled) }
    })
    if (disabled === null) return
    logger.warn({ webhook: id }, 'a webhook was disabled: its receiver is gone, or has failed for days')
    publish(disabled, event)
  }

  /** What an attempt counts under. */
  function boundsOf ({ id, url }: WebhookRecord): Bound[] {
    const receiver = receiverOf(url)
    return [
      ['attempts', shares.attempts], [`to ${receiver}`, shares.receiver], [`of ${id}`, ATTEMPTS_TOGETHER],
      ...quick.has(receiver) ? [] : [['unproven', shares.unproven] as const]
    ]
  }

  function noteSpeed ({ url }: WebhookRecord, { status, error, milliseconds }: Answer): void {
    if (status !== null && milliseconds < QUICK_MS) quick.set(receiverOf(url), true)
    else if (error !== EXPIRED && !UNTRIED.includes(error)) quick.delete(receiverOf(url))
  }

  async function deliverOne (webhook: WebhookRecord, delivery: DeliveryRecord): Promise<void> {
    const answer = await deliver(webhook, delivery, aborting.signal)
    noteSpeed(webhook, answer)
    await settle(webhook, delivery, answer)
  }

  function attempt (webhook: WebhookRecord, delivery: DeliveryRecord, bounds: readonly Bound[]): void {
    const { id } = webhook
    counts.enter(bounds)
    const work = fromStorage(() => deliverOne(webhook, delivery))
      // The claim ends by itself, and the delivery is due again then.
      .catch((err) => logger.warn({ err, webhook: id, delivery: delivery.id },
        'could not store the outcome of a webhook delivery; it is retried when its claim expires'))
      .finally(() => {
        counts.leave(bounds)
        attempts.delete(work)
        wake()
      })
    attempts.add(work)
  }

  const isPaused = ({ pausedUntil }: WebhookRecord): boolean => String(pausedUntil ?? '') > iso(Date.now())
  const canServe = (known: WebhookRecord): boolean =>
    !closing.signal.aborted && !apart.isResting(known.id) && !isPaused(known) && counts.room(boundsOf(known)) > 0

  /** Attempts what an endpoint has due, as far as there is room, and says how many. */
  async function attemptOf (id: string): Promise<number> {
    // As it is now: it may have been changed since the round began.
    const webhook = await store.find(id)
    if (webhook === null || !webhook.enabled || isPaused(webhook)) return 0
    const now = Date.now()
    const bounds = boundsOf(webhook)
    // None, if it has another receiver now whose places are taken.
    const limit = Math.max(0, counts.room(bounds))
    const claimed = await store.claim(id, { now: iso(now), until: iso(now + CLAIM_MS), limit })
    for (const delivery of claimed) attempt(webhook, delivery, bounds)
    if (claimed.length < limit) owed.delete(id)
    return claimed.length
  }

  /** Attempts what is due. True: some may be left whose endpoints were not asked yet. */
  async function attemptDue (webhooks: readonly WebhookRecord[]): Promise<boolean> {
    const { ids, isWhole } = await store.due(iso(Date.now()))
    const open = new Set(webhooks.map(({ id }) => id))
    for (const id of owed) if (isWhole || !open.has(id)) owed.delete(id)
    for (const id of ids) owed.add(id)
    let attempted = 0
    const serve = (id: string) => apart.done(id, async () => { attempted += await attemptOf(id) })
    for (const known of behind(served, webhooks.filter(({ id }) => owed.has(id)))) {
      if (!canServe(known)) continue
      served = known.id
      await serve(known.id)
    }
    if (isWhole) return false
    const hidden = behind(asked, webhooks.filter((known) => !owed.has(known.id) && canServe(known)))
    for (const { id } of hidden.slice(0, HIDDEN_MAX)) {
      asked = id
      if (await store.hasDue(id, iso(Date.now()))) await serve(id)
    }
    return hidden.length > HIDDEN_MAX && attempted > 0
  }

  async function rest (): Promise<void> {
    if (!isRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS).unref()
        ring = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    isRung = false
  }

  /** One round. True: there is more to do. */
  async function work (): Promise<boolean> {
    const webhooks = (await allWebhooks(store)).filter(({ enabled }) => enabled)
    if (webhooks.length === 0) return false
    apart.startRound()
    // What is due is attempted also where no new deliveries can be made.
    const [made] = await Promise.allSettled([fanOut(webhooks)])
    const isLeft = await attemptDue(webhooks)
    if (made.status === 'rejected') throw made.reason
    return made.value || isLeft
  }

  async function round (): Promise<boolean> {
    try {
      const more = await fromStorage(work)
      if (isFailing) logger.info('webhooks are delivered again')
      isFailing = false
      return more
    } catch (err) {
      // Once for each outage: there is a round every second.
      if (!isFailing) logger.warn({ err }, 'could not deliver webhooks; trying again')
      isFailing = true
      isRung = false
      return false
    }
  }

  async function run (): Promise<void> {
    while (!closing.signal.aborted) {
      const more = await round()
      if (!more && !closing.signal.aborted) await rest()
    }
  }

  let running = Promise.resolve()
  return {
    start () {
      running = run()
    },
    wake,
    async close () {
      closing.abort()
      wake()
      const timer = setTimeout(() => aborting.abort(), CLOSE_MS)
      await running
      await Promise.all(attempts)
      clearTimeout(timer)
    }
  }
}
