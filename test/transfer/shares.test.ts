// Shares for each caller: nobody holds all places for exports, imports and readings of what is stored of a person.
import { test } from 'tap'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'
import { crowd } from '../helpers/crowd.ts'
import { endingOf } from '../helpers/exchanges.ts'
import { listen } from '../helpers/raw.ts'
import { type Exchange, http1, TRANSPORTS } from '../helpers/transports.ts'
import { until } from '../helpers/until.ts'

const refused = (count: number, what: string) => ({
  code: 'rate_limited', detail: `The API key has ${count} ${what}, and may have no more.`
})

for (const { name, server, open } of TRANSPORTS) {
  test(`${name}: a key has one export at a time, and other keys have theirs meanwhile`, async (t) => {
    const storage = await crowd(30_000)
    const { readUsers } = storage
    let isRead = false
    storage.readUsers = (...args) => {
      isRead = true
      return readUsers.apply(storage, args)
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

test('the keys of a tenant share one place for exports', async (t) => {
  const host = await testApp(t, { tenants: true, storage: await crowd(0), openapi: false })
  const acme = host.app.users.tenant('acme')
  for (let n = 0; n < 20_000; n++) await acme.create({ name: 'x'.repeat(200), email: `u${n}@example.org` })
  const keys = await Promise.all([1, 2].map((n) => acme.apiKeys.create({ name: `${n}`, scopes: ['users:read'] })))
  const port = await listen(host.app)
  const [first, second] = keys.map(({ key }) => `Bearer ${key}`)
  const exchange = http1.open({
    port, method: 'GET', path: '/v1/users/export', headers: { authorization: String(first) }
  })
  t.teardown(() => exchange.cancel())
  await until('it has begun', () => exchange.status() === 200)
  const response = await host.call('GET', '/users/export', { headers: { authorization: String(second) } })
  t.equal(response.statusCode, 429)
  t.equal((await host.call('GET', '/users/export?tenant=other')).statusCode, 200)
})

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
