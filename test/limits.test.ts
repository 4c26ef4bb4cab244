// The bounds that a host can set: requests and deletions of a key, keys that are not good from an address, requests at work at once.
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { mock } from 'node:test'
import { test } from 'tap'
import rateLimit from '@fastify/rate-limit'
import { Redis } from 'ioredis'
import { memory } from '../adapters/memory/index.ts'
import { generateKey } from '../lib/api-keys/key-text.ts'
import type { CounterStore } from '../lib/index.ts'
import { callerOf } from '../lib/http/caller.ts'
import { ALL_SCOPES, inject, testApp } from './helpers/app.ts'
import { redisProgram, startRedis } from './helpers/redis.ts'
import { temporaryDirectory } from './helpers/stores.ts'

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const JSON_BODY = { 'content-type': 'application/json' }

test('a key has so many requests in a window, and each is told how many are left', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  const { app, call } = await testApp(t, { rateLimit: { max: 3, window: 60 } })
  const other = await app.users.apiKeys.create({ name: 'other' })
  for (const left of [2, 1, 0]) {
    const { statusCode, headers } = await call('GET', '/users')
    t.strictSame([statusCode, headers['ratelimit-policy'], headers['ratelimit']], [200, '"key";q=3;w=60', `"key";r=${left};t=60`])
  }
  mock.timers.setTime(Date.now() + 20_500)
  const refused = await call('POST', '/users', { headers: JSON_BODY, payload: '{' })
  t.equal(refused.statusCode, 429, 'before the body is read')
  t.equal(refused.headers['content-type'], 'application/problem+json; charset=utf-8')
  t.strictSame([refused.headers['retry-after'], refused.headers['ratelimit']], ['40', '"key";r=0;t=40'])
  t.match(refused.json(), { type: 'urn:problem:fastify-users:rate_limited', title: 'Too many requests', status: 429, code: 'rate_limited', detail: 'The API key has sent too many requests; Retry-After says when to try again.' })
  t.equal((await inject(app, 'GET', '/v1/users', bearer(other.key))).statusCode, 200, 'another key has its own')
  t.equal((await inject(app, 'GET', '/v1/users')).headers['ratelimit'], undefined, 'a stranger has none')
  mock.timers.setTime(Date.now() + 39_500)
  t.equal((await call('GET', '/users')).statusCode, 200, 'the next window')
})

test('of many requests at once exactly as many pass as may', async (t) => {
  const { call } = await testApp(t, { rateLimit: { max: 7, window: 60 } })
  const answers = await Promise.all(Array.from({ length: 30 }, () => call('GET', '/users')))
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 7)
  t.equal(answers.filter(({ statusCode }) => statusCode === 429).length, 23)
})

test('a host that limits its own requests keeps its counters, and we ours', async (t) => {
  const { app, call } = await testApp(t, {
    rateLimit: { max: 2, window: 60 },
    before: async (host) => {
      await host.register(rateLimit, { global: false, max: 1, timeWindow: 1000, keyGenerator: () => 'everybody' })
      host.get('/host', { config: { rateLimit: { max: 1 } } }, async () => 'hello')
    }
  })
  t.strictSame([(await app.inject('/host')).statusCode, (await app.inject('/host')).statusCode], [200, 429])
  t.strictSame([(await call('GET', '/users')).statusCode, (await call('GET', '/users')).statusCode, (await call('GET', '/users')).statusCode], [200, 200, 429])
})

test('the counters can be the host’s own, and what happens without them is said', async (t) => {
  const counts = new Map<string, number>()
  let broken = false
  class Counts implements CounterStore {
    incr (key: string, callback: (error: Error | null, result?: { current: number, ttl: number }) => void): void {
      if (broken) return callback(new Error('the counters are away'))
      counts.set(key, (counts.get(key) ?? 0) + 1)
      callback(null, { current: counts.get(key) ?? 0, ttl: 1000 })
    }

    child (): Counts { return this }
  }
  const [{ app, call }, { call: lenient }] = [await testApp(t, { rateLimit: { max: 1, window: 1, store: Counts } }), await testApp(t, { rateLimit: { max: 1, window: 1, store: Counts, skipOnError: true } })]
  const [{ id = '' } = {}] = (await app.users.apiKeys.list()).data
  t.strictSame([(await call('GET', '/users')).statusCode, (await call('GET', '/users')).statusCode], [200, 429])
  t.strictSame([...counts], [[`requests:api_key:${id}`, 2]])
  broken = true
  const response = await call('GET', '/users')
  t.strictSame([response.statusCode, response.json().code, response.headers['retry-after']], [503, 'storage_unavailable', '5'])
  t.notMatch(response.body, 'away')
  t.equal((await lenient('GET', '/users')).statusCode, 200)
})

test('an address that sends bad keys is refused, whatever it sends next, and no other is', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  const storage = memory()
  let lookUps = 0
  const { findApiKeyByStart } = storage
  storage.findApiKeyByStart = async (start) => { lookUps++; return findApiKeyByStart(start) }
  const { app, key } = await testApp(t, { storage, authFailures: { max: 4, window: 60 } })
  const from = (remoteAddress: string, token: string) => inject(app, 'GET', '/v1/users', { ...bearer(token), remoteAddress })
  // Four spellings and four addresses of one network.
  for (const address of ['2001:db8::1', '2001:0db8:0:0:0:0:0:1', '2001:db8:0:0:ffff::9', '2001:DB8::FFFF']) t.equal((await from(address, generateKey('uk').text)).statusCode, 401, address)
  lookUps = 0
  const refused = await from('2001:db8::2', generateKey('uk').text)
  t.strictSame([refused.statusCode, refused.json().code, refused.headers['retry-after']], [429, 'rate_limited', '60'])
  t.equal((await from('2001:db8::3', key)).statusCode, 429, 'a good one too: it would tell that it is good')
  t.equal(lookUps, 0, 'and nothing is looked up')
  t.equal((await from('2001:db8:0:1::1', key)).statusCode, 200, 'the next network')
  t.equal((await from('192.0.2.1', key)).statusCode, 200)
  for (let i = 0; i < 4; i++) await from('192.0.2.1', 'nonsense')
  t.equal((await from('::ffff:192.0.2.1', key)).statusCode, 429, 'an IPv4 address in any spelling')
  for (let i = 0; i < 10; i++) t.equal((await inject(app, 'GET', '/v1/users', { remoteAddress: '192.0.2.9' })).statusCode, 401, 'who has no key has not guessed')
  t.equal((await from('192.0.2.9', key)).statusCode, 200)
  t.equal((await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': '192.0.2.77' }, remoteAddress: '192.0.2.1' })).statusCode, 429, 'a header is not believed')
  mock.timers.setTime(Date.now() + 60_000)
  t.equal((await from('2001:db8::3', key)).statusCode, 200, 'the next window')
})

test('of many bad keys at once no more are told so than may be wrong', async (t) => {
  const { app } = await testApp(t, { authFailures: { max: 5, window: 60 } })
  const answers = await Promise.all(Array.from({ length: 40 }, () => inject(app, 'GET', '/v1/users', bearer(generateKey('uk').text))))
  t.equal(answers.filter(({ statusCode }) => statusCode === 401).length, 5)
  t.equal(answers.filter(({ statusCode }) => statusCode === 429).length, 35)
})

test('a key deletes so many users in an hour and no more, at once or one after the other', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  const { app, call } = await testApp(t, { maxDeletesPerHour: 3, keyCache: 0 })
  const ids = await Promise.all(Array.from({ length: 10 }, async (_, i) => (await app.users.create({ name: 'A', email: `${i}@example.org` })).id))
  const answers = await Promise.all(ids.slice(0, 8).map((id) => call('DELETE', `/users/${id}`)))
  t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [204, 204, 204, 429, 429, 429, 429, 429])
  const refused = answers.find(({ statusCode }) => statusCode === 429)
  t.strictSame([refused?.headers['retry-after'], refused?.json().code], ['3600', 'rate_limited'])
  t.equal((await app.users.list()).meta.total, 7)
  t.equal((await call('GET', '/users')).statusCode, 200, 'everything else goes on')
  const other = await app.users.apiKeys.create({ name: 'other', scopes: ALL_SCOPES })
  t.equal((await inject(app, 'DELETE', `/v1/users/${ids[9]}`, bearer(other.key))).statusCode, 204, 'another key has its own')
  await app.users.delete(String(ids[8]))
  mock.timers.setTime(Date.now() + 3_600_000)
  const [left] = (await app.users.list()).data
  t.equal((await call('DELETE', `/users/${left?.id}`)).statusCode, 204, 'the next hour')
})

test('more requests than may be at work are refused at once, and none of them reaches the storage', async (t) => {
  const storage = memory()
  let [atWork, most, hold] = [0, 0, true]
  const held: Array<() => void> = []
  const { listUsers } = storage
  storage.listUsers = async (...given) => {
    most = Math.max(most, ++atWork)
    if (hold) await new Promise<void>((resolve) => held.push(resolve))
    atWork--
    return listUsers(...given)
  }
  const { call } = await testApp(t, { storage, maxInFlight: 4 })
  const answers = Array.from({ length: 20 }, () => call('GET', '/users'))
  const refused = (await Promise.race([Promise.any(answers), ...answers]))
  t.strictSame([refused.statusCode, refused.json().code, refused.json().detail, refused.headers['retry-after']], [503, 'storage_unavailable', 'Too many requests are running at the moment. Try again later.', '1'])
  while (held.length < 4) await new Promise((resolve) => setImmediate(resolve))
  hold = false
  for (const release of held) release()
  const codes = (await Promise.all(answers)).map(({ statusCode }) => statusCode).sort()
  t.strictSame(codes, [...Array.from({ length: 4 }, () => 200), ...Array.from({ length: 16 }, () => 503)])
  t.equal(most, 4)
  t.equal((await call('GET', '/users')).statusCode, 200, 'and it goes on')
})

/** What ioredis makes of the commands that @fastify/rate-limit defines, on a map. */
function commands () {
  const counts = new Map<string, number>()
  type Done = (error: null, result: [number, number]) => void
  return {
    counts,
    defineCommand () {},
    rateLimit (key: string, window: number, _max: number, _continued: boolean, _backoff: boolean, done: Done) {
      counts.set(key, (counts.get(key) ?? 0) + 1)
      done(null, [counts.get(key) ?? 0, window])
    },
    rateLimitRead (key: string, done: Done) { done(null, [counts.get(key) ?? 0, 1000]) }
  }
}

test('the counters of processes that share a client are one, under a name of their own', async (t) => {
  const redis = commands()
  const options = { rateLimit: { max: 2, window: 60, redis, nameSpace: 'ours:' }, staticKeys: ['s'.repeat(32)], authFailures: { max: 2, window: 60 } }
  const [{ app: a }, { app: b }] = [await testApp(t, options), await testApp(t, options)]
  const send = (app: typeof a, token: string) => inject(app, 'GET', '/v1/users', bearer(token))
  t.strictSame([(await send(a, 's'.repeat(32))).statusCode, (await send(b, 's'.repeat(32))).statusCode, (await send(a, 's'.repeat(32))).statusCode], [200, 200, 429])
  t.strictSame([(await send(a, 'x')).statusCode, (await send(b, 'x')).statusCode, (await send(b, 'x')).statusCode], [401, 401, 429])
  for (const key of redis.counts.keys()) t.match(key, /^ours:.*(?:requests:static:static-1|failures:127\.0\.0\.1)$/)
})

const skip = redisProgram === undefined && process.env['REQUIRE_REDIS'] === undefined && 'this machine has no Redis: apt-get install redis-server'

test('the counters of two processes in a real Redis', { skip }, async (t) => {
  const socket = join(await temporaryDirectory(t), 'redis')
  const server = await startRedis(socket)
  t.teardown(server.stop)
  const clients = [0, 1].map(() => new Redis({ path: socket, maxRetriesPerRequest: 0 }))
  t.teardown(() => { for (const client of clients) client.disconnect() })
  const apps = await Promise.all(clients.map(async (redis) => (await testApp(t, { rateLimit: { max: 10, window: 60, redis }, staticKeys: ['s'.repeat(32)] })).app))
  const answers = await Promise.all(apps.flatMap((app) => Array.from({ length: 10 }, () => inject(app, 'GET', '/v1/users', bearer('s'.repeat(32))))))
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 10, 'of many at once in both exactly as many as may')
  t.equal(answers.filter(({ statusCode }) => statusCode === 429).length, 10)
  const [app] = apps
  await server.stop()
  t.equal(app === undefined ? 0 : (await inject(app, 'GET', '/v1/users', bearer('s'.repeat(32)))).statusCode, 503, 'without them nobody is let through uncounted')
})

test('a silent Redis keeps nobody waiting', async (t) => {
  const silent = { ...commands(), rateLimit () {} }
  for (const [skipOnError, status] of [[false, 503], [true, 200]] as const) {
    const { app } = await testApp(t, { rateLimit: { max: 1, window: 60, redis: silent, skipOnError }, staticKeys: ['s'.repeat(32)] })
    t.equal((await inject(app, 'GET', '/v1/users', bearer('s'.repeat(32)))).statusCode, status)
  }
})

test('a store that is undefined is none', async (t) => {
  const { call } = await testApp(t, { rateLimit: { max: 7, window: 60, ...Object({ store: undefined, redis: undefined, cache: undefined }) } })
  const answers = await Promise.all(Array.from({ length: 30 }, () => call('GET', '/users')))
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 7)
})

test('a request without an address is nobody’s guess', async (t) => {
  const { app, key } = await testApp(t, { authFailures: { max: 1, window: 60 } })
  const path = join(await temporaryDirectory(t), 'socket')
  await app.listen({ path })
  const status = async (token: string) => {
    const sent = request({ socketPath: path, path: '/v1/users', headers: { authorization: `Bearer ${token}` } }).end()
    const [response] = await once(sent, 'response')
    response.resume()
    return response.statusCode
  }
  t.strictSame([await status('x'), await status('x'), await status('x'), await status(key)], [401, 401, 401, 200])
})

test('a key is ended by its holder whatever its limits', async (t) => {
  const storage = memory()
  const { listUsers } = storage
  const held: Array<() => void> = []
  storage.listUsers = async (...given) => {
    await new Promise<void>((resolve) => held.push(resolve))
    return listUsers(...given)
  }
  const { app } = await testApp(t, { storage, apiKeyRoutes: true, rateLimit: { max: 1, window: 60 }, maxInFlight: 1 })
  const { key } = await app.users.apiKeys.create({ name: 'leaked' })
  const abuse = inject(app, 'GET', '/v1/users', bearer(key))
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
  t.equal((await inject(app, 'GET', '/v1/users', bearer(key))).statusCode, 429)
  t.equal((await inject(app, 'DELETE', '/v1/api-keys/current', bearer(key))).statusCode, 204)
  for (const release of held) release()
  t.equal((await abuse).statusCode, 200)
})

test('a request without a caller has nothing to give', (t) => {
  t.throws(() => callerOf(Object({})), /lost its caller/)
  t.end()
})
