// The shares of callers in the limits on concurrent work.
import { test } from 'tap'
import { advancing } from '../helpers/advancing.ts'
import { createLimit, crowd, pending, percentile, refusal, storageOf } from '../helpers/limited-work.ts'

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

test('the work of one caller that does not end refuses no work of another', async (t) => {
  const { advance } = advancing(t)
  const limited = createLimit({ places: 4 })
  await limited(async () => {}, 'b')
  const hanging = Array.from({ length: 100 }, () => sent(limited, 'a'))
  t.equal(countStarted(hanging), 3)
  await advance(300)
  await t.rejects(limited(async () => {}, 'a'), refusal, 'immediately')
  t.equal(await limited(async () => 'b', 'b'), 'b')
  await advance(1200)
  t.equal(await limited(async () => 'b', 'b'), 'b')
  for (const { end } of hanging) end()
})

test('an overload by one caller refuses nothing of another', async (t) => {
  const time = advancing(t)
  const { work, isQueueing } = storageOf(10, () => time.after(200))
  const limited = createLimit({ places: 40, isQueueing })
  const loud = crowd(time, 300, 12, () => limited(work, 'loud'))
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
