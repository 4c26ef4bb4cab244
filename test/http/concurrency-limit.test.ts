// The limits on concurrent work: a slow storage is used in full, bursts wait, and most of an overload is refused
// immediately.
import { test } from 'tap'
import { advancing } from '../helpers/advancing.ts'
import { createLimit, crowd, pending, percentile, refusal, storageOf } from '../helpers/limited-work.ts'

test('a place is free again after work has ended, however it ended', async (t) => {
  const limited = createLimit({ places: 1 })
  t.equal(await limited(async () => 'result'), 'result')
  await t.rejects(limited(async () => { throw new Error('rejected') }), { message: 'rejected' })
  await t.rejects(limited(() => { throw new Error('thrown') }), { message: 'thrown' })
  const failing = limited(async () => { throw new Error('rejected') })
  const next = limited(async () => 'next')
  await t.rejects(failing, { message: 'rejected' })
  t.equal(await next, 'next')
})

test('work of a first burst that has waited 1.2 seconds is refused, without being started', async (t) => {
  const { advance } = advancing(t)
  const limited = createLimit({ places: 2 })
  const all = Array.from({ length: 3 }, pending)
  const results = all.map(({ work }) => limited(work))
  let isRefused = false
  const refused = t.rejects(Promise.resolve(results[2]).finally(() => { isRefused = true }), refusal)
  await advance(1199)
  t.strictSame([all[2]?.started(), isRefused], [false, false])
  await advance(1)
  await refused
  for (const each of all) each.resolve('done')
  t.strictSame(await Promise.all(results.slice(0, 2)), ['done', 'done'])
  t.notOk(all[2]?.started())
  t.equal(await limited(async () => 'next'), 'next', 'a refusal takes no place')
})

test('a storage that takes long for each of 32 clients refuses none of them', async (t) => {
  const time = advancing(t)
  for (const ms of [50, 1600]) {
    const limited = createLimit({ places: 40 })
    const { served, refused } = await crowd(time, 32, 4, () => limited(() => time.after(ms)))
    t.strictSame(refused, [])
    t.ok(served.length >= 32 * Math.floor(4000 / (ms + 20)), `served: ${served.length}`)
  }
})

test('a burst after a rest does not take every place before it shows that it queues', async (t) => {
  const time = advancing(t)
  const { work, isQueueing } = storageOf(10, () => time.after(3000))
  const limited = createLimit({ places: 40, isQueueing })
  let started = 0
  const counted = async () => {
    started++
    return work()
  }
  for (const burst of [1, 2]) {
    started = 0
    const results = Promise.allSettled(Array.from({ length: 500 }, () => limited(counted)))
    await time.advance(100)
    t.equal(started, 15, `burst ${burst}`)
    for (let i = 0; i < 200; i++) await time.advance(50)
    await results
  }
})

test('a quarter of the places is served, however long work waits inside the storage', async (t) => {
  const time = advancing(t)
  const { work, isQueueing } = storageOf(1, () => time.after(1000))
  const limited = createLimit({ places: 40, isQueueing })
  const { refused } = await crowd(time, 10, 12, () => limited(work))
  t.strictSame(refused, [])
})

test('an overload is refused immediately, and what is served is served within 1.5 seconds', async (t) => {
  const time = advancing(t)
  for (const places of [20, 80]) {
    // 200 ms each, on ten connections: 50 in a second.
    const { work, isQueueing } = storageOf(10, () => time.after(200))
    const limited = createLimit({ places, isQueueing })
    const { served, refused } = await crowd(time, 100, 12, () => limited(work))
    t.ok(served.length > 540, `the storage is kept busy: ${served.length} of 600`)
    t.ok(percentile(served, 0.99) <= 1500, `served: p99 ${percentile(served, 0.99)} ms`)
    t.equal(percentile(refused, 0.9), 0, 'refused: p90')
  }
})

test('while work does not end at all, the places are taken, and the rest is refused immediately', async (t) => {
  const { advance } = advancing(t)
  const limited = createLimit({ places: 30 })
  const hanging = Array.from({ length: 30 }, pending)
  const results = hanging.map(({ work }) => limited(work))
  const waiting = Array.from({ length: 100 }, () => t.rejects(limited(async () => {}), refusal))
  await advance(300)
  await t.rejects(limited(async () => {}), refusal, 'immediately')
  await advance(1200)
  await Promise.all(waiting)
  for (const { resolve } of hanging) resolve('done')
  t.equal((await Promise.all(results)).length, 30)
  t.equal(await limited(async () => 'next'), 'next')
})

// The shares of callers.

/** Work of a caller, and whether it has started. */
function sent (limited: ReturnType<typeof createLimit>, caller: string) {
  const { work, started, resolve } = pending()
  const result = limited(work, caller)
  result.catch(() => {})
  return { result, started, end: () => resolve('done') }
}

const countStarted = (all: ReadonlyArray<{ started: () => boolean }>) => all.filter((each) => each.started()).length

test('callers take turns, whatever one of them has waiting', async (t) => {
  const limited = createLimit({ places: 1 })
  const order: string[] = []
  const send = (caller: string, count: number) => Array.from({ length: count }, () =>
    limited(async () => { order.push(caller) }, caller))
  await Promise.all([...send('a', 4), ...send('b', 2), ...send('c', 1)])
  t.equal(order.join(''), 'aabcaba')
})

test('a caller has all places until another one comes, and then three quarters of them', async (t) => {
  const { advance } = advancing(t)
  const limited = createLimit({ places: 8 })
  const all = Array.from({ length: 20 }, () => sent(limited, 'a'))
  t.equal(countStarted(all), 8)
  const first = sent(limited, 'b')
  all[0]?.end()
  await advance(0)
  t.ok(first.started(), 'the next place is for the other')
  for (const each of all.slice(1, 3)) each.end()
  await advance(0)
  t.equal(countStarted(all), 9, 'six are held')
  const second = sent(limited, 'b')
  await advance(0)
  t.ok(second.started())
  await advance(700)
  await advance(700)
  t.equal(countStarted(all), 9)
  await t.rejects(Promise.resolve(all[19]?.result), refusal)
  const later = sent(limited, 'b')
  t.notOk(later.started(), 'all eight are taken')
  for (const each of [...all, first, second, later]) each.end()
  await advance(60_000)
  const others = Array.from({ length: 8 }, () => sent(limited, 'b'))
  t.equal(countStarted(others), 8, 'a minute after the last work of another one')
  for (const each of others) each.end()
})

test('an overload by one caller refuses nothing of another', async (t) => {
  const time = advancing(t)
  const { work, isQueueing } = storageOf(10, () => time.after(200))
  const limited = createLimit({ places: 40, isQueueing })
  const loud = crowd(time, 100, 12, () => limited(work, 'loud'))
  const end = time.now() + 12_000
  const times: number[] = []
  while (time.now() < end) {
    const begun = time.now()
    await limited(work, 'quiet')
    times.push(time.now() - begun)
    await time.after(100)
  }
  const { served, refused } = await loud
  t.ok(refused.length > 1000, `refused: ${refused.length}`)
  t.ok(served.length > 480, `the storage is kept busy: ${served.length}`)
  t.ok(percentile(times, 1) <= 650, `the slowest of ${times.length}: ${percentile(times, 1)} ms`)
})
