// The rate limit of each key, and the stores that its counters can be in.
import { join } from 'node:path'
import { test } from 'tap'
import rateLimit from '@fastify/rate-limit'
import { Redis } from 'ioredis'
import type { CounterStore } from '../../lib/index.ts'
import { inject, testApp } from '../helpers/app.ts'
import { redisProgram, startRedis } from '../helpers/redis.ts'
import { steadyClock } from '../helpers/steady-clock.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const JSON_BODY = { 'content-type': 'application/json' }
const STATIC_KEY = 's'.repeat(32)

/** The statuses of answers that come one after the other. */
async function statuses (...calls: Array<() => ReturnType<typeof inject>>) {
  const all: number[] = []
  for (const call of calls) all.push((await call()).statusCode)
  return all
}

/** How many of concurrent answers have this status. */
const count = (answers: ReadonlyArray<{ statusCode: number }>, status: number) =>
  answers.filter(({ statusCode }) => statusCode === status).length

test('a key gets 429 after `max` requests in a window, and each answer says how many are left', async (t) => {
  const advance = steadyClock(t)
  const counters = Object({ store: undefined, redis: undefined, cache: undefined })
  const { app, call } = await testApp(t, { limits: { requests: { max: 3, window: 60 }, counters } })
  const other = await app.users.apiKeys.create({ name: 'other' })
  for (const left of [2, 1, 0]) {
    const { statusCode, headers } = await call('GET', '/users')
    t.strictSame(
      [statusCode, headers['ratelimit-policy'], headers['ratelimit']],
      [200, '"key";q=3;w=60', `"key";r=${left};t=60`]
    )
  }
  advance(20_500)
  const refused = await call('POST', '/users', { headers: JSON_BODY, payload: '{' })
  t.equal(refused.statusCode, 429, 'before the body is read')
  t.strictSame([refused.headers['retry-after'], refused.headers['ratelimit']], ['40', '"key";r=0;t=40'])
  t.match(refused.json(), {
    code: 'rate_limited', detail: 'The API key has sent too many requests; Retry-After says when to try again.'
  })
  const ofOther = await inject(app, 'GET', '/v1/users', bearer(other.key))
  t.equal(ofOther.statusCode, 200, 'another key has a counter of its own')
  const withoutKey = await inject(app, 'GET', '/v1/users')
  t.equal(withoutKey.headers['ratelimit'], undefined, 'a request without a key has no counter')
  advance(39_500)
  t.equal((await call('GET', '/users')).statusCode, 200, 'the next window')
})

test('a rate limit of the host counts apart from ours', async (t) => {
  const { app, call } = await testApp(t, {
    limits: { requests: { max: 2, window: 60 } },
    before: async (host) => {
      await host.register(rateLimit, { global: false, max: 1, timeWindow: 1000, keyGenerator: () => 'everybody' })
      host.get('/host', { config: { rateLimit: { max: 1 } } }, async () => 'hello')
    }
  })
  const [host, ours] = [() => app.inject('/host'), () => call('GET', '/users')]
  t.strictSame(await statuses(host, host), [200, 429])
  t.strictSame(await statuses(ours, ours, ours), [200, 200, 429])
})

test('the counters can be in a store of the host: if it fails, requests get 503, with skipOnError 200', async (t) => {
  const counts = new Map<string, number>()
  let broken = false
  class Counts implements CounterStore {
    incr (key: string, callback: (error: Error | null, result?: { current: number; ttl: number }) => void): void {
      if (broken) return callback(new Error('the counters are away'))
      counts.set(key, (counts.get(key) ?? 0) + 1)
      callback(null, { current: counts.get(key) ?? 0, ttl: 1000 })
    }

    child (): Counts {
      return this
    }
  }
  const requests = { max: 1, window: 1 }
  const { app, call } = await testApp(t, { limits: { requests, counters: { store: Counts } } })
  const { call: lenient } = await testApp(t, { limits: { requests, counters: { store: Counts, skipOnError: true } } })
  const [{ id = '' } = {}] = (await app.users.apiKeys.list()).data
  const list = () => call('GET', '/users')
  t.strictSame(await statuses(list, list), [200, 429])
  t.strictSame([...counts], [[`requests:api_key:${id}`, 2]])
  broken = true
  const response = await list()
  t.match(response, { statusCode: 503, headers: { 'retry-after': '5' } })
  t.match(response.json(), {
    code: 'storage_unavailable', detail: 'The rate limit cannot be checked at the moment. Try again later.'
  })
  t.notMatch(response.body, 'away')
  t.equal((await lenient('GET', '/users')).statusCode, 200)
})

const skip =
  redisProgram === undefined &&
  process.env['REQUIRE_REDIS'] === undefined &&
  'this machine has no Redis: apt-get install redis-server'

test('instances with clients of their own share their counters in Redis, in a namespace', { skip }, async (t) => {
  const socket = join(await temporaryDirectory(t), 'redis')
  const server = await startRedis(socket)
  t.teardown(server.stop)
  const clients = [0, 1].map(() => new Redis({ path: socket, maxRetriesPerRequest: 0 }))
  t.teardown(() => {
    for (const client of clients) client.disconnect()
  })
  const apps = await Promise.all(clients.map((redis) => testApp(t, {
    limits: {
      requests: { max: 10, window: 60 }, failures: { max: 2, window: 60 }, counters: { redis, nameSpace: 'ours:' }
    },
    apiKeys: { static: [STATIC_KEY] }
  })))
  const send = (key = STATIC_KEY) => apps.map(({ app }) => inject(app, 'GET', '/v1/users', bearer(key)))
  const answers = await Promise.all(Array.from({ length: 10 }, () => send()).flat())
  t.strictSame([count(answers, 200), count(answers, 429)], [10, 10],
    'of concurrent requests to both exactly `max` succeed')
  const guesses = await Promise.all([...send('x'), ...send('x')])
  t.strictSame([count(guesses, 401), count(guesses, 429)], [2, 2])
  const counted = /^ours:.*(?:requests:static:static-[0-9a-f]{12}|failures:127\.0\.0\.1)$/
  for (const key of await clients[0]?.keys('*') ?? []) t.match(key, counted)
  await server.stop()
  t.equal(count(await Promise.all(send()), 503), 2, 'without Redis no request passes uncounted')
})
