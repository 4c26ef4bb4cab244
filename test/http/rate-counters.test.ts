import * as rateLimit from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import { mock } from 'node:test'
import { test } from 'tap'
import type { RateLimitPackage } from '../../lib/http/fastify-internals.ts'
import { createCounters } from '../../lib/http/limits/rate-counters.ts'

type Options = Parameters<typeof createCounters>[1]
const rateLimitPackage: RateLimitPackage = Object(rateLimit)
const quota = { max: 2, ms: 60_000 }
const from = (ip: string): FastifyRequest => Object({ ip, routeOptions: { config: {} } })

/** A counter per address, of these options. */
async function counter (options: Options = {}) {
  const create = await createCounters(rateLimitPackage, options)
  return create('name', quota, ({ ip }) => ip)
}

/** Counters of the host's own, which call back by `answer`. */
function storeOf (answer: (key: string, callback: (error: Error | null, result?: object) => void) => void) {
  return class Store {
    incr (key: string, callback: (error: Error | null, result?: object) => void) { answer(key, callback) }
    child () { return this }
  }
}

test('counts each key by itself, and says when its quota is exceeded', async (t) => {
  const count = await counter()
  const a = from('a')
  t.strictSame(await count(a), { remaining: 1, seconds: 60, exceeded: false })
  t.strictSame(await count(a), { remaining: 0, seconds: 60, exceeded: false })
  t.strictSame(await count(a), { remaining: 0, seconds: 60, exceeded: true })
  t.strictSame(await count(from('b')), { remaining: 1, seconds: 60, exceeded: false })
})

test('reads a counter without incrementing it', async (t) => {
  const count = await counter()
  const a = from('a')
  await count(a)
  t.equal((await count(a, false)).remaining, 1)
  t.equal((await count(a, false)).remaining, 1)
  t.equal((await count(a)).remaining, 0)
})

test('counters of different names do not share keys', async (t) => {
  const create = await createCounters(rateLimitPackage, {})
  const [first, second] = ['first', 'second'].map((name) => create(name, quota, () => 'same'))
  await first?.(from('a'))
  t.equal((await second?.(from('a')))?.remaining, 1)
})

test('cache is the number of callers that are counted in the process', async (t) => {
  const count = await counter({ cache: 1 })
  await count(from('a'))
  await count(from('b'))
  t.equal((await count(from('a'))).remaining, 1, 'the second caller replaced the first')
})

test('keys have the name of the counter before them in the store of the host', async (t) => {
  const keys: string[] = []
  const count = await counter(Object({
    store: storeOf((key, callback) => {
      keys.push(key)
      callback(null, { current: 1, ttl: 1000 })
    })
  }))
  t.strictSame(await count(from('a')), { remaining: 1, seconds: 1, exceeded: false })
  t.strictSame(keys, ['name:a'])
})

const unavailable = {
  code: 'storage_unavailable',
  message: 'The rate limit cannot be checked at the moment. Try again later.',
  headers: { 'retry-after': '5' }
}

test('a store that fails is 503, or accepts the request with skipOnError', async (t) => {
  const store = storeOf((_key, callback) => callback(new Error('no connection')))
  const failing = await counter(Object({ store }))
  await t.rejects(failing(from('a')), { ...unavailable, cause: { message: 'no connection' } })
  const lenient = await counter(Object({ store, skipOnError: true }))
  t.strictSame(await lenient(from('a')), { remaining: 2, seconds: 0, exceeded: false })
})

test('a store that does not answer is 503 after two seconds', async (t) => {
  const silent = await counter(Object({ store: storeOf(() => {}) }))
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let settled = false
  const answer = t.rejects(silent(from('a')), { ...unavailable, cause: { message: 'the counters do not answer' } })
    .then(() => { settled = true })
  mock.timers.tick(1999)
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(settled)
  mock.timers.tick(1)
  await answer
})
