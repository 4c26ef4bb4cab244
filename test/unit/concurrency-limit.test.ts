// The limit on concurrent work: bursts wait, and most of an overload is refused immediately.
import { test } from 'tap'
import { createConcurrencyLimit } from '../../lib/http/concurrency-limit.ts'
import { advancing } from '../helpers/advancing.ts'

/** Work that runs until it is ended. */
function pending () {
  let resolve: (value: string) => void = () => {}
  let started = false
  const promise = new Promise<string>((_resolve) => { resolve = _resolve })
  const work = () => {
    started = true
    return promise
  }
  return { work, started: () => started, resolve: (value: string) => resolve(value) }
}

const refusal = {
  code: 'storage_unavailable',
  statusCode: 503,
  message: 'Too many requests are running at the moment. Try again later.',
  headers: { 'retry-after': '1' }
}

test('work above the maximum waits, in the order in which it came', async (t) => {
  const limited = createConcurrencyLimit(2)
  const all = Array.from({ length: 4 }, pending)
  const results = all.map(({ work }) => limited(work))
  const started = () => all.map((each) => each.started())
  t.strictSame(started(), [true, true, false, false])
  all[1]?.resolve('b')
  t.equal(await results[1], 'b')
  t.strictSame(started(), [true, true, true, false])
  for (const each of all) each.resolve('done')
  t.strictSame(await Promise.all(results), ['done', 'b', 'done', 'done'])
})

test('a place is free again after work has ended, however it ended', async (t) => {
  const limited = createConcurrencyLimit(1)
  t.equal(await limited(async () => 'result'), 'result')
  await t.rejects(limited(async () => { throw new Error('rejected') }), { message: 'rejected' })
  await t.rejects(limited(() => { throw new Error('thrown') }), { message: 'thrown' })
  const failing = limited(async () => { throw new Error('rejected') })
  const next = limited(async () => 'next')
  await t.rejects(failing, { message: 'rejected' })
  t.equal(await next, 'next')
})

test('work that has waited 400 ms is refused, without being started', async (t) => {
  const { advance } = advancing(t)
  const limited = createConcurrencyLimit(2)
  const all = Array.from({ length: 3 }, pending)
  const results = all.map(({ work }) => limited(work))
  const refused = t.rejects(Promise.resolve(results[2]), refusal)
  await advance(399)
  t.notOk(all[2]?.started())
  await advance(1)
  await refused
  for (const each of all) each.resolve('done')
  t.strictSame(await Promise.all(results.slice(0, 2)), ['done', 'done'])
  t.notOk(all[2]?.started())
  t.equal(await limited(async () => 'next'), 'next', 'a refusal takes no place')
})

test('a burst on a fast storage is served', async (t) => {
  const { advance, after } = advancing(t)
  const limited = createConcurrencyLimit(80)
  for (let burst = 0; burst < 5; burst++) {
    const results = Array.from({ length: 500 }, () =>
      limited(() => after(20)))
    for (let i = 0; i < 30; i++) await advance(20)
    const refused = (await Promise.allSettled(results)).filter(({ status }) => status === 'rejected')
    t.strictSame(refused, [], `burst ${burst}`)
    await advance(700)
  }
})

test('an overload is refused immediately, and what is served is served within 1.5 seconds', async (t) => {
  const { advance, after, now } = advancing(t)
  const limited = createConcurrencyLimit(80)
  // Ten connections, each of which needs 200 ms: 50 in a second.
  let [served, free] = [0, 10]
  const queue: Array<() => void> = []
  const work = async () => {
    if (free === 0) await new Promise<void>((resolve) => queue.push(resolve))
    else free--
    await after(200)
    const next = queue.shift()
    if (next === undefined) free++
    else next()
  }
  const times = { served: [0], refused: [0] }
  const end = now() + 30_000
  const client = async () => {
    while (now() < end) {
      const begun = now()
      const kind = await limited(work).then(() => 'served' as const, () => 'refused' as const)
      times[kind].push(now() - begun)
      if (kind === 'served') served++
      // Impatient: Retry-After says a second.
      else await after(100)
    }
  }
  const clients = Array.from({ length: 500 }, client)
  for (let i = 0; i < 1500; i++) await advance(20)
  for (let i = 0; i < 200; i++) await advance(20)
  await Promise.all(clients)
  const percentile = (values: number[], share: number) =>
    values.sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0
  t.ok(served > 1350, `the storage is kept busy: ${served} of 1500`)
  t.ok(percentile(times.served, 0.99) <= 1500, `served: p99 ${percentile(times.served, 0.99)} ms`)
  t.equal(percentile(times.refused, 0.9), 0, 'refused: p90')
})

test('while work does not end at all, few begin, and the rest is refused immediately', async (t) => {
  const { advance } = advancing(t)
  const limited = createConcurrencyLimit(80)
  // While nothing is known, three eighths of the places are used.
  const hanging = Array.from({ length: 30 }, pending)
  const results = hanging.map(({ work }) => limited(work))
  const waiting = Array.from({ length: 100 }, () => t.rejects(limited(async () => {}), refusal))
  await advance(300)
  await t.rejects(limited(async () => {}), refusal, 'immediately')
  await advance(300)
  await Promise.all(waiting)
  for (const { resolve } of hanging) resolve('done')
  t.equal((await Promise.all(results)).length, 30)
  t.equal(await limited(async () => 'next'), 'next')
})

test('without a maximum all work runs', async (t) => {
  const limited = createConcurrencyLimit(Infinity)
  const all = Array.from({ length: 1000 }, pending)
  const running = all.map(({ work }) => limited(work))
  for (const { resolve } of all) resolve('done')
  t.equal((await Promise.all(running)).length, 1000)
})
