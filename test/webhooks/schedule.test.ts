// When attempts are made, and what they make of an endpoint: Standard Webhooks 1.0.0.
import { test } from 'tap'
import { DELAYS, FAILING_MAX, outcomeOf, retryAfterOf } from '../../lib/webhooks/schedule.ts'
import type { Answer } from '../../lib/webhooks/send.ts'
import { deliveryOf, webhookOf } from '../helpers/records.ts'

const NOW = Date.parse('2026-01-31T09:30:00.000Z')
const iso = (ms: number) => new Date(ms).toISOString()

const webhook = webhookOf(1)
const delivery = deliveryOf(1, { dueAt: iso(NOW), claims: 1 })
const answer = (status: number | null, more: Partial<Answer> = {}): Answer =>
  ({ status, error: null, milliseconds: 0, retryAfter: null, ...more })

test('ten attempts, at the times of the specification', async (t) => {
  const times = [0]
  let [now, each, endpoint] = [NOW, delivery, webhook]
  while (each.status === 'pending') {
    const outcome = outcomeOf(endpoint, each, answer(500), now, 0)
    each = outcome.delivery
    endpoint = outcome.webhook
    if (each.dueAt === null) break
    now = Date.parse(each.dueAt)
    times.push((now - NOW) / 1000)
  }
  const [minute, hour] = [60, 3600]
  const waits = [0, 5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]
  t.strictSame(times, waits.map((_, i) => waits.slice(0, i + 1).reduce((sum, wait) => sum + wait, 0)))
  t.match([each.status, each.dueAt, each.attempts.length], ['failed', null, 10])
  t.equal(endpoint.enabled, true, 'three days are not five')
})

test('at most a tenth is added to each wait', async (t) => {
  for (const [failures, delay] of DELAYS.entries()) {
    const { dueAt } = outcomeOf(webhook, { ...delivery, failures }, answer(500), NOW, 1).delivery
    t.equal(Date.parse(String(dueAt)) - NOW, Math.floor(delay * 1.1))
  }
})

test('what is a success, and what a failure', async (t) => {
  for (const status of [200, 204, 299]) {
    const outcome = outcomeOf({ ...webhook, failingSince: iso(NOW - 1) }, delivery, answer(status), NOW, 0)
    t.match(outcome, { delivery: { status: 'succeeded', dueAt: null }, webhook: { failingSince: null } })
  }
  for (const status of [199, 300, 308, 400, 404, 500, null]) {
    const outcome = outcomeOf(webhook, delivery, answer(status), NOW, 0)
    t.match(outcome.delivery, { status: 'pending', failures: 1 })
    t.match(outcome.webhook, { failingSince: iso(NOW), enabled: true })
  }
})

test('410 disables, once, and the delivery waits for that to end', async (t) => {
  const outcome = outcomeOf(webhook, delivery, answer(410), NOW, 0)
  t.match(outcome, {
    disabled: true,
    delivery: { status: 'pending', dueAt: iso(NOW + 5000) },
    webhook: { enabled: false, disabledReason: 'gone' }
  })
  t.equal(outcomeOf(outcome.webhook, delivery, answer(410), NOW, 0).disabled, false)
  const byOwner = outcomeOf({ ...webhook, enabled: false }, delivery, answer(410), NOW, 0)
  t.match(byOwner, { disabled: false, webhook: { enabled: false, disabledReason: null } })
})

test('five days of failures disable', async (t) => {
  const since = (ms: number) => ({ ...webhook, failingSince: iso(NOW - ms) })
  t.equal(outcomeOf(since(FAILING_MAX - 1), delivery, answer(500), NOW, 0).webhook.enabled, true)
  t.match(outcomeOf(since(FAILING_MAX), delivery, answer(500), NOW, 0), {
    disabled: true, webhook: { enabled: false, disabledReason: 'failing' }, delivery: { status: 'pending' }
  })
})

test('429 and 503 slow the endpoint down, for as long as Retry-After says', async (t) => {
  for (const status of [429, 503]) {
    const outcome = outcomeOf(webhook, delivery, answer(status, { retryAfter: '120' }), NOW, 0)
    t.match(outcome, {
      webhook: { pausedUntil: iso(NOW + 120_000) }, delivery: { dueAt: iso(NOW + 120_000), failures: 1 }
    })
    t.match(outcomeOf(webhook, delivery, answer(status), NOW, 0).webhook, { pausedUntil: iso(NOW + 5000) })
    const late = outcomeOf(webhook, { ...delivery, failures: 8 }, answer(status), NOW, 0)
    t.match(late, { webhook: { pausedUntil: iso(NOW + 300_000) }, delivery: { dueAt: iso(NOW + 86_400_000) } })
  }
  t.equal(outcomeOf(webhook, delivery, answer(500, { retryAfter: '120' }), NOW, 0).webhook.pausedUntil, null)
  // Attempts run side by side: another one neither ends nor shortens the pause.
  const paused = { ...webhook, pausedUntil: iso(NOW + 3_600_000) }
  for (const other of [answer(200), answer(503), answer(500)]) {
    t.equal(outcomeOf(paused, delivery, other, NOW, 0).webhook.pausedUntil, paused.pausedUntil)
  }
})

test('Retry-After in seconds, and in each form of a date', async (t) => {
  const cases: Array<[string | null, number | null]> = [
    [null, null], ['0', 0], ['120', 120_000], ['999999999', 86_400_000], ['x', null], ['-5', null], ['1.5', null],
    ['1'.repeat(400), 86_400_000], ['Sat, 31 Jan 2026 09:31:00 GMT', 60_000], ['Sat, 31 Jan 2026 09:29:00 GMT', 0],
    ['Saturday, 31-Jan-26 09:31:00 GMT', 60_000], ['Sat Jan 31 09:31:00 2026', 60_000],
    ['Sun Feb  1 09:30:00 2026', 86_400_000], ['31 Jan 2026', null], ['2026-01-31T09:31:00Z', null]
  ]
  for (const [text, expected] of cases) t.equal(retryAfterOf(text, NOW), expected, String(text))
})

test('an event that is no longer kept ends the delivery and says nothing about the receiver', async (t) => {
  const outcome = outcomeOf(webhook, delivery, answer(null, { error: 'event_expired' }), NOW, 0)
  t.match(outcome, { disabled: false, delivery: { status: 'failed', dueAt: null } })
  t.strictSame(outcome.webhook, webhook)
})

test('the latest attempts are kept, with their word for an error', async (t) => {
  let each = delivery
  for (let n = 0; n < 30; n++) {
    each = outcomeOf(webhook, each, answer(null, { error: 'timeout', milliseconds: n }), NOW, 0).delivery
  }
  t.equal(each.attempts.length, 20)
  t.strictSame(each.attempts.at(-1), { at: iso(NOW - 29), status: null, milliseconds: 29, error: 'timeout' })
})
