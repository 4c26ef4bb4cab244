// What a host can limit besides the requests of a key: bad keys from one address, deletions by one key, and concurrent
// requests.
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { generateKey } from '../../lib/api-keys/key-text.ts'
import { ALL_SCOPES, inject, testApp } from '../helpers/app.ts'
import { aroundFind } from '../helpers/around.ts'
import { steadyClock } from '../helpers/steady-clock.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { captureLog } from '../helpers/log.ts'
import { until } from '../helpers/until.ts'

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const statuses = (answers: ReadonlyArray<{ statusCode: number }>) => answers.map(({ statusCode }) => statusCode).sort()

/** A memory store whose lists of users wait to be released. */
function holdingLists () {
  const storage = memory()
  const held: Array<() => void> = []
  const state = { running: 0, most: 0, holds: true }
  const list = storage.users.list.bind(storage.users)
  storage.users.list = async (...args) => {
    state.most = Math.max(state.most, ++state.running)
    if (state.holds) await new Promise<void>((resolve) => held.push(resolve))
    state.running--
    return list(...args)
  }
  const release = () => {
    state.holds = false
    for (const each of held) each()
  }
  return { storage, held, state, release }
}

test('an address that has sent `max` bad keys gets 429 for every key, and other addresses do not', async (t) => {
  const advance = steadyClock(t)
  const storage = memory()
  let lookUps = 0
  aroundFind(storage, 'apiKeys', async (call) => {
    lookUps++
    return call()
  })
  const { app, key } = await testApp(t, { storage, limits: { failures: { max: 4, window: 60 } } })
  const from = (remoteAddress: string, token: string) =>
    inject(app, 'GET', '/v1/users', { ...bearer(token), remoteAddress })
  // Four spellings and four addresses of one network.
  for (const address of ['2001:db8::1', '2001:0db8:0:0:0:0:0:1', '2001:db8:0:0:ffff::9', '2001:DB8::FFFF']) {
    t.equal((await from(address, generateKey('uk').text)).statusCode, 401, address)
  }
  lookUps = 0
  const refused = await from('2001:db8::2', generateKey('uk').text)
  t.strictSame(
    [refused.statusCode, refused.json().code, refused.headers['retry-after']],
    [429, 'rate_limited', '60']
  )
  t.equal((await from('2001:db8::3', key)).statusCode, 429, 'a good key too: an answer would reveal that it is good')
  t.equal(lookUps, 0, 'without a look-up')
  t.equal((await from('2001:db8:0:1::1', key)).statusCode, 200, 'the next network')
  t.equal((await from('192.0.2.1', key)).statusCode, 200)
  for (let i = 0; i < 4; i++) await from('192.0.2.1', 'nonsense')
  const { key: other } = await app.users.apiKeys.create({ name: 'other' })
  t.equal((await from('::ffff:192.0.2.1', other)).statusCode, 429, 'an IPv4 address in any spelling')
  t.equal((await from('192.0.2.1', key)).statusCode, 200, 'a key that is in use is not locked out by a stranger')
  // A request without a key does not count.
  for (let i = 0; i < 10; i++) await inject(app, 'GET', '/v1/users', { remoteAddress: '192.0.2.9' })
  const guesses = await Promise.all(Array.from({ length: 20 }, () => from('192.0.2.9', generateKey('uk').text)))
  t.strictSame(statuses(guesses), [...Array(4).fill(401), ...Array(16).fill(429)], 'concurrently')
  const forwarded = await inject(app, 'GET', '/v1/users', {
    headers: { authorization: `Bearer ${generateKey('uk').text}`, 'x-forwarded-for': '192.0.2.77' },
    remoteAddress: '192.0.2.1'
  })
  t.equal(forwarded.statusCode, 429, 'X-Forwarded-For is not trusted')
  advance(60_000)
  t.equal((await from('2001:db8::3', key)).statusCode, 200, 'the next window')
})

test('a key that was revoked is no longer familiar', async (t) => {
  const { app } = await testApp(t, { limits: { failures: { max: 1, window: 60 } } })
  const { key, id } = await app.users.apiKeys.create({ name: 'used' })
  const status = async (token: string) => (await inject(app, 'GET', '/v1/users', bearer(token))).statusCode
  t.strictSame([await status(key), await status('x'), await status('x'), await status(key)], [200, 401, 429, 200])
  await app.users.apiKeys.revoke(id)
  t.strictSame([await status(key), await status(key)], [429, 429], 'it is checked once more, and counts')
})

test('bad keys over a Unix socket do not count, because they have no address', async (t) => {
  const { app, key } = await testApp(t, { limits: { failures: { max: 1, window: 60 } } })
  const path = join(await temporaryDirectory(t), 'socket')
  await app.listen({ path })
  const status = async (token: string) => {
    const sent = request({ socketPath: path, path: '/v1/users', ...bearer(token) }).end()
    const [response] = await once(sent, 'response', { signal: AbortSignal.timeout(10_000) })
    response.resume()
    return response.statusCode
  }
  t.strictSame([await status('x'), await status('x'), await status('x'), await status(key)], [401, 401, 401, 200])
})

test('a key deletes at most `max` users, concurrently or one after the other', async (t) => {
  const advance = steadyClock(t)
  const { app, call } = await testApp(t, { limits: { deletions: { max: 3, window: 3600 } }, apiKeys: { cache: 0 } })
  const users = await Promise.all(
    Array.from({ length: 10 }, (_, i) => app.users.create({ name: 'A', email: `${i}@example.org` })))
  const ids = users.map(({ id }) => id)
  const answers = await Promise.all(ids.slice(0, 8).map((id) => call('DELETE', `/users/${id}`)))
  t.strictSame(statuses(answers), [204, 204, 204, 429, 429, 429, 429, 429])
  const refused = answers.find(({ statusCode }) => statusCode === 429)
  t.strictSame([refused?.headers['retry-after'], refused?.json().code], ['3600', 'rate_limited'])
  t.equal((await app.users.list()).meta.total, 7)
  t.equal((await call('GET', '/users')).statusCode, 200, 'other requests go on')
  const other = await app.users.apiKeys.create({ name: 'other', scopes: ALL_SCOPES })
  const ofOther = await inject(app, 'DELETE', `/v1/users/${ids[9]}`, bearer(other.key))
  t.equal(ofOther.statusCode, 204, 'another key has a counter of its own')
  await app.users.delete(String(ids[8]))
  advance(3_600_000)
  const [left] = (await app.users.list()).data
  t.equal((await call('DELETE', `/users/${left?.id}`)).statusCode, 204, 'the next hour')
})

test('requests above limits.inFlight wait for a while, then get 503, and do not reach the storage', async (t) => {
  const { storage, held, state, release } = holdingLists()
  const log = captureLog()
  const { call } = await testApp(t, { storage, limits: { inFlight: 4 }, server: { logger: { stream: log.stream } } })
  const answers = Array.from({ length: 20 }, () => call('GET', '/users'))
  const refused = await Promise.race(answers)
  let ended = 0
  for (const answer of answers) answer.then(() => { ended++ })
  await until('the end of all that waited', () => ended === 16)
  t.strictSame(
    [refused.statusCode, refused.json().code, refused.json().detail, refused.headers['retry-after']],
    [503, 'storage_unavailable', 'Too many requests are running at the moment. Try again later.', '1']
  )
  await until('a start of four queries', () => held.length >= 4)
  release()
  t.strictSame(statuses(await Promise.all(answers)), [...Array(4).fill(200), ...Array(16).fill(503)])
  t.equal(state.most, 4)
  const lines = log.text().split('\n').filter((line) => line.includes('were refused, because more arrive'))
  t.ok(lines.length < 3, 'they are counted, and not logged one by one')
  t.match(lines[0], '"level":40')
  t.notMatch(log.text(), '"level":50')
  t.equal((await call('GET', '/users')).statusCode, 200, 'later requests succeed')
})

test('without limits.inFlight the storage says how many requests it serves at a time', async (t) => {
  const { storage, held, release } = holdingLists()
  const { call } = await testApp(t, { storage: { ...storage, server: { concurrency: 2 } } })
  const answers = Array.from({ length: 3 }, () => call('GET', '/users'))
  t.equal((await Promise.race(answers)).statusCode, 503)
  t.equal(held.length, 2)
  release()
  t.strictSame(statuses(await Promise.all(answers)), [200, 200, 503])
})

test('a key can revoke itself above its rate limit and above limits.inFlight', async (t) => {
  const { storage, held, release } = holdingLists()
  const { app } = await testApp(t, {
    storage,
    apiKeys: { routes: true },
    limits: { requests: { max: 1, window: 60 }, inFlight: 1 }
  })
  const { key } = await app.users.apiKeys.create({ name: 'leaked' })
  const running = inject(app, 'GET', '/v1/users', bearer(key))
  await until('the start of a query', () => held.length > 0)
  t.equal((await inject(app, 'GET', '/v1/users', bearer(key))).statusCode, 429)
  t.equal((await inject(app, 'DELETE', '/v1/api-keys/current', bearer(key))).statusCode, 204)
  release()
  t.equal((await running).statusCode, 200)
})
