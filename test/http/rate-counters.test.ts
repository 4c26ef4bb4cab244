// The counters of rate limits. What they do to requests: test/http/rate-limit.test.ts.
import { mock } from 'node:test'
import * as rateLimit from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import { test, type Test } from 'tap'
import type { RateLimitPackage } from '../../lib/http/fastify-internals.ts'
import { MemoryCounters } from '../../lib/http/limits/memory-counters.ts'
import { createCounters } from '../../lib/http/limits/rate-counters.ts'
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

const numbers = (all: Result[]) => all.map(({ current }) => current)

test('a window begins with its first request, and later ones or reading do not extend it', async (t) => {
  const { increment, read, advance } = counters(t)
  t.strictSame(read('a'), [{ current: 0, ttl: 0 }])
  t.strictSame(increment('a'), [{ current: 1, ttl: 1000 }])
  advance(600)
  t.strictSame(increment('a'), [{ current: 2, ttl: 400 }])
  t.strictSame(read('a', 'a'), [{ current: 2, ttl: 400 }, { current: 2, ttl: 400 }])
  advance(399)
  t.strictSame(increment('a'), [{ current: 3, ttl: 1 }])
  advance(1)
  t.strictSame(read('a'), [{ current: 0, ttl: 0 }])
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

test('above its maximum it drops the caller that came least recently, and so does a child', async (t) => {
  const { store, increment, read } = counters(t, 2)
  increment('a', 'b', 'a', 'c')
  t.strictSame(numbers(read('a', 'b', 'c')), [2, 0, 1])
  const child = store.child()
  t.strictSame(numbers(results((key, callback) => child.incr(key, callback, 1000), ['a', 'b', 'c', 'a'])), [1, 1, 1, 1])
})

const from = (ip: string): FastifyRequest => Object({ ip, routeOptions: { config: {} } })

/** A counter per address, of these options. */
async function counter (options: object) {
  const rateLimitPackage: RateLimitPackage = Object(rateLimit)
  const create = await createCounters(rateLimitPackage, options)
  return create('name', { max: 2, ms: 60_000 }, ({ ip }) => ip)
}

test('cache is the number of callers that are counted in the process', async (t) => {
  const count = await counter({ cache: 1 })
  for (const address of ['a', 'b']) await count(from(address))
  t.equal((await count(from('a'))).remaining, 1, 'the second caller replaced the first')
})

test('a store that does not answer is 503 after two seconds', async (t) => {
  class Silent {
    incr () {}
    child () { return this }
  }
  const silent = await counter({ store: Silent })
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let settled = false
  const answer = t.rejects(silent(from('a')), {
    code: 'storage_unavailable',
    message: 'The rate limit cannot be checked at the moment. Try again later.',
    headers: { 'retry-after': '5' },
    cause: { message: 'the counters do not answer' }
  }).then(() => { settled = true })
  mock.timers.tick(1999)
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(settled)
  mock.timers.tick(1)
  await answer
})
