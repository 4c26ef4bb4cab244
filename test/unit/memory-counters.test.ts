import { mock } from 'node:test'
import { test, type Test } from 'tap'
import { MemoryCounters } from '../../lib/http/memory-counters.ts'

type Result = { current: number, ttl: number }

/** The results of a call for each of these keys, in order. */
function results (method: (key: string, callback: (error: null, result: Result) => void) => void, keys: string[]) {
  const all: Result[] = []
  for (const key of keys) method(key, (_error, result) => all.push(result))
  return all
}

/** Counters at a clock that the test moves. */
function counters (t: Test, max?: number) {
  mock.timers.enable({ apis: ['Date'], now: 50_000 })
  t.teardown(() => mock.timers.reset())
  const store = new MemoryCounters(max)
  return {
    store,
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
  const { increment } = counters(t)
  t.strictSame(increment('a'), [{ current: 1, ttl: 1000 }])
  mock.timers.setTime(50_600)
  t.strictSame(increment('a'), [{ current: 2, ttl: 400 }])
  mock.timers.setTime(50_999)
  t.strictSame(increment('a'), [{ current: 3, ttl: 1 }])
  mock.timers.setTime(51_000)
  t.strictSame(increment('a'), [{ current: 1, ttl: 1000 }], 'the next window begins at the end of this one')
})

test('reading gives the count without incrementing it, and zero outside of a window', async (t) => {
  const { increment, read } = counters(t)
  t.strictSame(read('a'), [{ current: 0, ttl: 0 }])
  increment('a', 'a')
  mock.timers.setTime(50_250)
  t.strictSame(read('a', 'a'), [{ current: 2, ttl: 750 }, { current: 2, ttl: 750 }])
  mock.timers.setTime(51_000)
  t.strictSame(read('a'), [{ current: 0, ttl: 0 }])
})

test('no window lasts longer than it may, though the clock is set back', async (t) => {
  const { increment, read } = counters(t)
  increment('a', 'a')
  mock.timers.setTime(49_999)
  t.strictSame(read('a'), [{ current: 0, ttl: 0 }])
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
