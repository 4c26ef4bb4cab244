// Shares for each caller: nobody holds all places for exports, imports, readings of what is stored of a person, and of
// what reads and writes have in common.
import { type Test, test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { ALL_SCOPES, inject, testApp } from '../helpers/app.ts'
import { crowd, MANY } from '../helpers/crowd.ts'
import { endingOf, served } from '../helpers/exchanges.ts'
import { listen } from '../helpers/raw.ts'
import { type Exchange, http1, TRANSPORTS } from '../helpers/transports.ts'
import { until } from '../helpers/until.ts'

const refused = (count: number, what: string) => ({
  code: 'rate_limited', detail: `The API key has ${count} ${what}, which is the maximum.`
})

for (const { name, server, open } of TRANSPORTS) {
  test(`${name}: a key has one export at a time, and other keys have theirs meanwhile`, async (t) => {
    const storage = await crowd(MANY)
    const walk = storage.users.walk.bind(storage.users)
    let isRead = false
    storage.users.walk = (...args) => {
      isRead = true
      return walk(...args)
    }
    const host = await testApp(t, { server, openapi: false, storage })
    const port = await listen(host.app)
    const other = await host.app.users.apiKeys.create({ name: 'other', scopes: ALL_SCOPES })
    const exportBy = (key: string): Exchange => {
      const exchange = open({
        port, method: 'GET', path: '/v1/users/export', headers: { authorization: `Bearer ${key}` }
      })
      t.teardown(() => exchange.cancel())
      return exchange
    }
    const first = exportBy(host.key)
    await until('it runs', () => isRead)
    const response = await host.call('GET', '/users/export')
    t.match(response.json(), refused(1, 'export running'))
    t.equal(response.headers['retry-after'], '15')
    t.equal((await host.call('HEAD', '/users/export')).statusCode, 200)
    const beside = exportBy(other.key)
    beside.read()
    t.equal(await endingOf(beside), 'whole')
    first.cancel()
    await until('its place is free', async () => (await host.call('GET', '/users/export')).statusCode === 200)
    const cancelled = exportBy(host.key)
    cancelled.read()
    t.equal(await endingOf(cancelled), 'whole')
    t.equal(cancelled.status(), 200)
  })
}

test('a key has at most 20 imports at a time', async (t) => {
  const host = await testApp(t)
  const port = await listen(host.app)
  const headers = { authorization: `Bearer ${host.key}`, 'content-type': 'application/x-ndjson' }
  const running = Array.from({ length: 20 }, (_, n) => {
    const exchange = http1.open({ port, method: 'POST', path: '/v1/users/import', headers })
    exchange.read()
    exchange.send(`{"name":"${n}"}\n`)
    t.teardown(() => exchange.cancel())
    return exchange
  })
  await until('all have begun', () => running.every((each) => each.status() === 200))
  const options = { headers: { 'content-type': 'application/x-ndjson' }, payload: '{}\n' }
  const response = await host.call('POST', '/users/import', options)
  t.equal(response.statusCode, 429)
  t.match(response.json(), refused(20, 'imports running'))
  running[0]?.end()
  await until('its place is free', async () => (await host.call('POST', '/users/import', options)).statusCode === 200)
})

/** Has calls wait from now on, until the end of a test. */
function holding (t: Test) {
  const held: Array<() => void> = []
  let isOn = false
  t.teardown(() => { for (const release of held) release() })
  return {
    held,
    set (on: boolean): void {
      isOn = on
    },
    in<Args extends unknown[], Value> (call: (...args: Args) => Promise<Value>) {
      return async (...args: Args): Promise<Value> => {
        if (isOn) await new Promise<void>((resolve) => held.push(resolve))
        return call(...args)
      }
    }
  }
}

test('the keys of a tenant share one place for exports', async (t) => {
  const hold = holding(t)
  const storage = memory()
  storage.users.walk = hold.in(storage.users.walk.bind(storage.users))
  const host = await testApp(t, { tenants: true, storage })
  const acme = host.app.users.tenant('acme')
  const keys = await Promise.all(['1', '2'].map((name) => acme.apiKeys.create({ name, scopes: ['users:read'] })))
  const [first, second] = keys.map(({ key }) => ({ headers: { authorization: `Bearer ${key}` } }))
  hold.set(true)
  const exported = host.call('GET', '/users/export', first)
  await until('it is read', () => hold.held.length === 1)
  hold.set(false)
  t.equal((await host.call('GET', '/users/export', second)).statusCode, 429)
  t.equal((await host.call('GET', '/users/export?tenant=other')).statusCode, 200)
  for (const release of hold.held) release()
  t.equal((await exported).statusCode, 200)
})

for (const path of ['/users/:id/events', '/events', '/users']) {
  test(`the keys of a tenant do not hold all places with GET ${path}: others are served`, async (t) => {
    const hold = holding(t)
    const storage = memory()
    const { users, log } = storage
    users.list = hold.in(users.list.bind(users))
    log.history = hold.in(log.history.bind(log))
    log.read = hold.in(log.read.bind(log))
    const host = await testApp(t, { storage, eventLog: true, tenants: true, limits: { inFlight: 4 } })
    const acme = host.app.users.tenant('acme')
    const { id } = await acme.create({ name: 'Ada', email: 'ada@example.org' })
    const keys = await Promise.all(['1', '2'].map((name) => acme.apiKeys.create({ name, scopes: ALL_SCOPES })))
    const called = path.replace(':id', id)
    t.equal((await host.call('GET', called)).statusCode, 200, 'another caller is there')
    hold.set(true)
    const sent = Array.from({ length: 20 }, (_, n) =>
      inject(host.app, 'GET', `/v1${called}`, { headers: { authorization: `Bearer ${keys[n % 2]?.key}` } }))
    await until('three are read', () => hold.held.length === 3)
    hold.set(false)
    for (let n = 0; n < 5; n++) t.equal((await host.call('GET', called)).statusCode, 200)
    t.equal(hold.held.length, 3)
    for (const release of hold.held) release()
    await Promise.all(sent)
  })
}

test('lists of tenants have two places of their own, of which a key holds one', async (t) => {
  const hold = holding(t)
  const storage = memory()
  storage.listTenants = hold.in(storage.listTenants.bind(storage))
  const host = await testApp(t, { storage, tenants: true, limits: { inFlight: 2 } })
  const keys = await Promise.all(['1', '2'].map((name) =>
    host.app.users.apiKeys.create({ name, scopes: ['tenants:read'] })))
  const [one, two] = keys.map(({ key }) => ({ headers: { authorization: `Bearer ${key}` } }))
  t.equal((await host.call('GET', '/tenants', two)).statusCode, 200)
  hold.set(true)
  const sent = Array.from({ length: 5 }, () => host.call('GET', '/tenants', one))
  await until('one is read', () => hold.held.length === 1)
  hold.set(false)
  t.equal((await host.call('GET', '/tenants', two)).statusCode, 200)
  hold.set(true)
  sent.push(...[two, two].map((each) => host.call('GET', '/tenants', each)))
  await until('both are taken', () => hold.held.length === 2)
  t.equal((await host.call('GET', '/users')).statusCode, 200)
  t.equal(hold.held.length, 2)
  hold.set(false)
  for (const release of hold.held) release()
  await Promise.all(sent)
})

test('what takes long holds no place of the limit of concurrent requests', async (t) => {
  const { app, send } = await served(t, http1, { storage: await crowd(MANY), eventLog: true, limits: { inFlight: 1 } })
  const { key } = await app.users.apiKeys.create({ name: 'beside', scopes: ['users:read'] })
  for (const [method, path, headers] of [
    ['GET', '/users/export', {}], ['GET', '/events', { accept: 'text/event-stream' }],
    ['POST', '/users/import?report=all', { 'content-type': 'application/x-ndjson' }]
  ] as const) {
    const exchange = send(method, path, headers)
    if (method === 'POST') exchange.send('{}\n')
    await until('it has begun', () => exchange.status() === 200)
    const answer = await inject(app, 'GET', '/v1/users?limit=1', { headers: { authorization: `Bearer ${key}` } })
    t.equal(answer.statusCode, 200, path)
    t.equal(exchange.ending(), null, path)
  }
})
