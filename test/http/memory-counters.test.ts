import { test, type Test } from 'tap'
import { MemoryCounters } from '../../lib/http/limits/memory-counters.ts'
import { steadyClock } from '../helpers/steady-clock.ts'

type Result = { current: number, ttl: number }

/** The results of a call for each of these keys, in order. */
function results (method: (key: string, callback: (error: null, result: Result) => void) => void, keys: string[]) {
  const all: Result[] = []
  for (const key of keys) method(key, (_error, result) => all.push(result))
  return all
}

/** Counters at a clock that the test moves. */
function counters (t: Test, max?: number) {
  const advance = steadyClock(t, 50_000)
  const store = new MemoryCounters(max)
  return {
    store,
    advance,
    increment: (...keys: string[]) => results((key, callback) => store.incr(key, callback, 1000), keys),
    read: (...keys: string[]) => results((key, callback) => store.read(key, callback), keys)
  }
}

test('concurrent requests of one caller get one number each, which later requests do not change', async (t) => {
  const { increment } = counters(t)
  t.strictSame(increment('a', 'a', 'a').map(({ current }) => current), [1, 2, 3])
})

test('callers have counters of their own', async (t) => {
  const { increment } = counters(t)
  t.strictSame(increment('a', 'b', 'a').map(({ current }) => current), [1, 1, 2])
})

test('a window begins with its first request, and later requests do not extend it', async (t) => {
  const { increment, advance } = counters(t)
  t.strictSame(increment('a'), [{ current: 1, ttl: 1000 }])
  advance(600)
  t.strictSame(increment('a'), [{ current: 2, ttl: 400 }])
  advance(399)
  t.strictSame(increment('a'), [{ current: 3, ttl: 1 }])
  advance(1)
  t.strictSame(increment('a'), [{ current: 1, ttl: 1000 }], 'the next window begins at the end of this one')
})

test('a new window has its whole length, whatever fraction of a millisecond the clock shows', async (t) => {
  const { increment, advance } = counters(t)
  const lengths = new Set<number | undefined>()
  for (let n = 0; n < 1000; n++) {
    advance(1000.123456789)
    lengths.add(increment('a')[0]?.ttl)
  }
  t.strictSame([...lengths], [1000])
})

test('reading gives the count without incrementing it, and zero outside of a window', async (t) => {
  const { increment, read, advance } = counters(t)
  t.strictSame(read('a'), [{ current: 0, ttl: 0 }])
  increment('a', 'a')
  advance(250)
  t.strictSame(read('a', 'a'), [{ current: 2, ttl: 750 }, { current: 2, ttl: 750 }])
  advance(750)
  t.strictSame(read('a'), [{ current: 0, ttl: 0 }])
})

test('a clock that is set neither ends a window nor keeps it open', async (t) => {
  const { increment, advance } = counters(t)
  increment('a')
  for (const offset of [86_400_000, -86_400_000]) {
    t.intercept(Date, 'now', { value: () => 1_700_000_000_000 + offset })
    t.match(increment('a'), [{ ttl: 1000 }])
  }
  advance(1000)
  t.strictSame(increment('a'), [{ current: 1, ttl: 1000 }])
})

test('above its maximum it drops the caller that came least recently', async (t) => {
  const { increment, read } = counters(t, 2)
  increment('a', 'b', 'a', 'c')
  t.strictSame(read('a', 'b', 'c').map(({ current }) => current), [2, 0, 1])
})

test('a child has the same maximum, and counts by itself', async (t) => {
  const { store, increment } = counters(t, 1)
  increment('a')
  const child = store.child()
  const counts: number[] = []
  const note = (_error: null, { current }: Result) => counts.push(current)
  child.incr('a', note, 1000)
  child.incr('b', note, 1000)
  child.incr('a', note, 1000)
  t.strictSame(counts, [1, 1, 1], 'the second caller replaces the first')
})
