// Whose a key is, the addresses that it works from, and a limit of its own.
import { request } from 'node:http'
import { test, type Test } from 'tap'
import { keyText } from '../../lib/api-keys/key-text.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'
import { keyApp } from '../helpers/key-app.ts'
import { captureLog } from '../helpers/log.ts'
import { steadyClock } from '../helpers/steady-clock.ts'

const LIMITS = { requests: { max: 600, window: 60 } }
const UNKNOWN_KEY = keyText({ start: 'uk_000000000000', secret: '0'.repeat(43) })

interface Answer { status: number, headers: Record<string, unknown>, body: Record<string, unknown> }

/** A server that trusts one proxy, and a function that sends it a request over a socket, forwarded for an address. */
async function server (t: Test, options: object = {}) {
  const made = await testApp(t, { server: { trustProxy: '127.0.0.1' }, apiKeys: { routes: true }, ...options })
  const { port } = new URL(await made.app.listen({ port: 0, host: '127.0.0.1' }))
  const send = (key: string, from: string, method = 'GET', path = '/users'): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': from }
      request({ port, method, path: `/v1${path}`, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => { text += part }).on('end', () => {
          const kept = Object.entries(response.headers).filter(([name]) => name !== 'date')
          const { requestId, ...body } = text === '' ? {} : JSON.parse(text)
          resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(kept), body })
        })
      }).on('error', reject).end()
    })
  return { ...made, send }
}

for (const cache of [0, 5]) {
  test(`a key works from its addresses alone, with a cache of ${cache} seconds`, async (t) => {
    const { app, send } = await server(t, { apiKeys: { routes: true, cache } })
    const addresses = ['203.0.113.0/24', '2001:db8::/32']
    const { key, id } = await app.users.apiKeys.create({ name: 'bound', scopes: ALL_SCOPES, addresses })
    const other = await app.users.apiKeys.create({ name: 'other' })
    const unknown = await send(UNKNOWN_KEY, '198.51.100.1')
    t.strictSame([unknown.status, unknown.body['code']], [401, 'invalid_api_key'])
    for (let round = 0; round < 2; round++) {
      const others = ['198.51.100.1', '::ffff:198.51.100.1', '2001:db9::1', 'unknown', '203.0.113.7, 198.51.100.1']
      for (const from of others) t.strictSame(await send(key, from), unknown, from)
      for (const from of ['203.0.113.7', '::ffff:203.0.113.7', '2001:db8:1::1', '198.51.100.1, 203.0.113.7']) {
        t.equal((await send(key, from)).status, 200, from)
      }
    }
    t.equal((await send(other.key, '198.51.100.1')).status, 200)
    t.strictSame(await send(key, '198.51.100.1', 'DELETE', '/api-keys/current'),
      await send(UNKNOWN_KEY, '198.51.100.1', 'DELETE', '/api-keys/current'), 'nor does it end itself from elsewhere')
    t.notHas(await app.users.apiKeys.get(id), { revokedAt: String })
    const { key: next } = await app.users.apiKeys.rotate(id)
    t.strictSame([(await send(next, '198.51.100.1')).status, (await send(next, '203.0.113.7')).status], [401, 200])
  })
}

test('a client has one address, however its proxy writes it', async (t) => {
  const { app, send } = await server(t, { limits: { failures: { max: 4, window: 60 } } })
  const { key } = await app.users.apiKeys.create({ name: 'bound', addresses: ['203.0.113.7/32', '2001:db8::/32'] })
  const statuses = async (token: string, addresses: string[]) => {
    const all = []
    for (const address of addresses) all.push((await send(token, address)).status)
    return all
  }
  const addresses = ['203.0.113.7:50001', '203.0.113.7', '::ffff:203.0.113.7', '[::ffff:203.0.113.7]:50002']
  t.strictSame(await statuses(key, [...addresses, '[2001:db8::1]:443', '[2001:db8::1%eth0]']), Array(6).fill(200))
  const limited = [401, 401, 401, 401, 429]
  t.strictSame(await statuses(UNKNOWN_KEY, [...addresses, '203.0.113.7:50003']), limited)
  t.strictSame(await statuses(UNKNOWN_KEY, ['unknown', '_hidden', '203.0.113', 'unknown:1', '1.2.3.4:x']), limited)
  t.strictSame(await statuses(UNKNOWN_KEY, ['198.51.100.1:50001']), [401])
})

test('without trustProxy what a client says of its address does not count', async (t) => {
  const { app, send } = await server(t, { server: {} })
  const local = await app.users.apiKeys.create({ name: 'local', addresses: ['127.0.0.1/32'] })
  const remote = await app.users.apiKeys.create({ name: 'remote', addresses: ['203.0.113.0/24'] })
  t.equal((await send(local.key, '203.0.113.7')).status, 200)
  t.equal((await send(remote.key, '203.0.113.7')).status, 401)
})

test('a refusal for the address counts as a guess', async (t) => {
  const { app, send } = await server(t, { limits: { failures: { max: 2, window: 60 } } })
  const { key } = await app.users.apiKeys.create({ name: 'bound', addresses: ['203.0.113.0/24'] })
  t.equal((await send(key, '203.0.113.7')).status, 200)
  const answers: unknown[] = []
  for (const [token, from] of [[key, '198.51.100.1'], [UNKNOWN_KEY, '198.51.100.2']] as const) {
    const all = [await send(token, from), await send(token, from), await send(token, from)]
    answers.push(all)
    t.strictSame(all.map(({ status }) => status), [401, 401, 429])
  }
  t.strictSame(answers[0], answers[1], 'nothing tells that there is such a key')
})

test('the log says that a key was refused for the address, and names no address', async (t) => {
  const log = captureLog()
  const { app, send } = await server(t, { server: { trustProxy: '127.0.0.1', logger: { stream: log.stream } } })
  const { id, start, key } = await app.users.apiKeys.create({ name: 'bound', addresses: ['203.0.113.0/24'] })
  t.equal((await send(key, '198.51.100.1')).status, 401)
  await app.close()
  // Fastify's own line of a request has the address of its client.
  const ours = log.entries().filter(({ msg }) => msg !== 'incoming request')
  const [{ level, time, pid, hostname, prefix, reqId, ...line } = {}, ...more] =
    ours.filter(({ msg }) => msg === 'an API key was refused')
  t.strictSame(line, { event: 'api_key.refused', reason: 'address', keyId: id, start, msg: 'an API key was refused' })
  t.match(reqId, /^req-/)
  t.strictSame(more, [])
  t.notMatch(JSON.stringify(ours), /198\.51\.100|203\.0\.113/)
})

test('a static key has addresses and a limit too', async (t) => {
  const key = 'a-static-key-of-at-least-32-characters'
  const bounds = { addresses: ['203.0.113.0/24'], rateLimit: { max: 2, window: 30 } }
  const { send } = await server(t, { limits: LIMITS, apiKeys: { static: [{ key, name: 'static', ...bounds }] } })
  t.strictSame(await send(key, '198.51.100.1'), await send(UNKNOWN_KEY, '198.51.100.1'))
  const statuses = [1, 2, 3].map(async () => (await send(key, '203.0.113.7')).status)
  t.strictSame((await Promise.all(statuses)).sort(), [200, 200, 429])
  await t.rejects(testApp(t, { apiKeys: { static: [{ key, addresses: ['203.0.113.7'] }] } }), {
    message: /apiKeys\.static must have addresses in CIDR form/
  })
})

test('a key has the limit of its own in place of that of every key', async (t) => {
  const advance = steadyClock(t)
  const { app, as } = await keyApp(t, { limits: { requests: { max: 2, window: 60 } } })
  const { apiKeys } = app.users
  const much = await apiKeys.create({ name: 'much', rateLimit: { max: 4, window: 10 } })
  const same = await apiKeys.create({ name: 'same', rateLimit: { max: 4, window: 10 } })
  const usual = await apiKeys.create({ name: 'usual' })
  for (const left of [3, 2, 1, 0]) {
    const { statusCode, headers } = await as(much.key)('GET', '/users')
    t.strictSame([statusCode, headers['ratelimit-policy'], headers['ratelimit']],
      [200, '"key";q=4;w=10', `"key";r=${left};t=10`])
  }
  const refused = await as(much.key)('GET', '/users')
  t.match(refused, { statusCode: 429, headers: { 'retry-after': '10', ratelimit: '"key";r=0;t=10' } })
  t.match(refused.json(), { code: 'rate_limited', detail: /^The API key has sent too many requests/ })
  t.equal((await as(same.key)('GET', '/users')).headers['ratelimit'], '"key";r=3;t=10', 'it counts for one key alone')
  t.equal((await as(usual.key)('GET', '/users')).headers['ratelimit-policy'], '"key";q=2;w=60')
  advance(10_000)
  t.equal((await as(much.key)('GET', '/users')).statusCode, 200, 'the next window')
  const successor = await apiKeys.rotate(much.id)
  t.equal((await as(successor.key)('GET', '/users')).headers['ratelimit-policy'], '"key";q=4;w=10')
})

test('without limits.requests the limit of a key is kept and has no effect', async (t) => {
  const { app, as } = await keyApp(t)
  const { key } = await app.users.apiKeys.create({ name: 'x', rateLimit: { max: 1, window: 10 } })
  for (let i = 0; i < 3; i++) t.equal((await as(key)('GET', '/users')).statusCode, 200)
})

test('what binds a key is shown in its one form, and a successor keeps it', async (t) => {
  const { app, post, call } = await keyApp(t)
  const addresses = ['10.1.2.3/8', '10.0.0.0/8', '2001:DB8:0::5/32', '::ffff:203.0.113.7/128']
  const bounds = { owner: ' Team Zoë ', addresses, rateLimit: { max: 10, window: 1 } }
  const shown = {
    owner: 'Team Zoë', addresses: ['10.0.0.0/8', '2001:db8::/32', '203.0.113.7/32'], rateLimit: { max: 10, window: 1 }
  }
  const made = await post('/api-keys', { name: 'x', ...bounds })
  t.equal(made.statusCode, 201)
  const { id } = made.json()
  t.has(made.json(), shown)
  t.has((await call('GET', `/api-keys/${id}`)).json(), shown)
  t.has((await call('GET', '/api-keys')).json().data.at(-1), shown)
  t.has((await post(`/api-keys/${id}/rotate`, {})).json(), { ...shown, rotatedFrom: id })
  const none = await app.users.apiKeys.create({ name: 'x', owner: null, addresses: null, rateLimit: null })
  t.strictSame(['owner', 'addresses', 'rateLimit'].filter((member) => member in none), [])
})

test('the events of a key have what binds it, until its tenant is removed', async (t) => {
  const { app, call } = await keyApp(t, { eventLog: true, tenants: true })
  const acme = app.users.tenant('acme').apiKeys
  const bounds = { owner: 'Ann', addresses: ['10.0.0.0/8'], rateLimit: { max: 1, window: 1 } }
  await acme.create({ name: 'x', ...bounds })
  const last = async () => (await call('GET', '/events')).json().data.at(-1)
  t.has((await last()).data, bounds)
  await app.users.tenants.remove('acme')
  const { data } = await last()
  t.strictSame([data.name, data.owner, data.addresses], [null, undefined, undefined])
})

test('every fault of what binds a key is named', async (t) => {
  const { post } = await keyApp(t)
  const cases: Array<[object, string[]]> = [
    [{ owner: '' }, ['/owner too_short']],
    [{ owner: 'x'.repeat(201) }, ['/owner too_long']],
    [{ owner: 'a\u0007b' }, ['/owner characters']],
    [{ addresses: [] }, ['/addresses too_few']],
    [{ addresses: [1] }, ['/addresses/0 type']],
    [{ addresses: Array(101).fill('10.0.0.0/8') }, ['/addresses too_many']],
    [
      {
        addresses: [
          '10.0.0.0/8', '10.0.0.1', '10.0.0.0/33', '10.1/16', '0x0a000000/8', '010.0.0.0/8', '::/129', 'fe80::1%1/64',
          '::ffff:10.0.0.0/95', ' 10.0.0.0/8', '10.0.0.0/-1'
        ]
      },
      Array.from({ length: 10 }, (_, i) => `/addresses/${i + 1} format`)
    ],
    [{ rateLimit: { max: 1 } }, ['/rateLimit/window required']],
    [{ rateLimit: { max: 1, window: 1, burst: 1 } }, ['/rateLimit/burst unknown']],
    [{ rateLimit: { max: 0, window: 86_401 } }, ['/rateLimit/max range', '/rateLimit/window range']],
    [{ rateLimit: { max: 1_000_000_001, window: 1 } }, ['/rateLimit/max range']]
  ]
  for (const [members, faults] of cases) {
    const { statusCode, json } = await post('/api-keys', { name: 'x', ...members })
    const found = json().errors.map(({ pointer, code }: { pointer: string, code: string }) => `${pointer} ${code}`)
    t.strictSame([statusCode, found], [400, faults], JSON.stringify(members).slice(0, 80))
  }
})
