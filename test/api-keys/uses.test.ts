// How often keys are used: counted in memory by each process, and added to the store once a minute.
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { createUseCounter } from '../../lib/api-keys/use-counter.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { KeyUses } from '../../lib/storage/key-uses.ts'
import { ALL_SCOPES, inject, testApp } from '../helpers/app.ts'
import { aroundCommit } from '../helpers/around.ts'
import { keyApp } from '../helpers/key-app.ts'
import { captureLog } from '../helpers/log.ts'
import { apiKeyOf, idOf } from '../helpers/records.ts'
import { until } from '../helpers/until.ts'
import { addKey } from '../helpers/writes.ts'

const COUNTED = { apiKeys: { routes: true, countUses: true } }
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** How many uses the answers have, whatever the day: a test may run at midnight. */
const sum = (days: ReadonlyArray<{ uses: number }>) => days.reduce((total, { uses }) => total + uses, 0)

/** Lets the work of a timer that was due end. */
const turns = async () => { for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve)) }

/** What is added to the uses of a memory store, call by call. */
function watched () {
  const repository = repositoryOf(memory())
  const calls: KeyUses[][] = []
  const keyUses = {
    ...repository.keyUses,
    async add (uses: readonly KeyUses[]) {
      calls.push([...uses])
      await repository.keyUses.add(uses)
    }
  }
  return { repository: { ...repository, keyUses }, calls }
}

test('counts the requests that a key is accepted for', async (t) => {
  const { app, as, post } = await keyApp(t, { ...COUNTED })
  const { id, key } = (await post('/api-keys', { name: 'a', scopes: ['users:read'] })).json()
  const other = (await post('/api-keys', { name: 'b', scopes: ['keys:read'] })).json()
  t.strictSame(await app.users.apiKeys.uses(id), { data: [] })
  t.equal((await as(key)('GET', '/users')).statusCode, 200)
  t.equal((await as(key)('HEAD', '/users')).statusCode, 200)
  t.equal((await as(key)('GET', '/users/none')).statusCode, 404)
  t.equal((await as(key)('POST', '/users')).statusCode, 403, 'a request beyond its scopes')
  t.equal((await as(`${key}x`)('GET', '/users')).statusCode, 401, 'a refused key is no use')
  const answer = await as(other.key)('GET', `/api-keys/${id}/uses`)
  t.equal(answer.statusCode, 200)
  t.equal(sum(answer.json().data), 4)
  for (const { day } of answer.json().data) t.match(day, DAY)
  t.strictSame(await app.users.apiKeys.uses(id), answer.json())
  t.equal((await as(other.key)('HEAD', `/api-keys/${id}/uses`)).body, '')
  t.equal(sum((await app.users.apiKeys.uses(other.id)).data), 2)
  const successor = await app.users.apiKeys.rotate(id)
  await as(successor.key)('GET', '/users')
  t.equal(sum((await app.users.apiKeys.uses(successor.id)).data), 1, 'a successor counts for itself')
  t.equal(sum((await app.users.apiKeys.uses(id)).data), 4)
  await app.users.apiKeys.revoke(id)
  t.equal(sum((await app.users.apiKeys.uses(id)).data), 4, 'a revoked key keeps its uses')
})

test('without the option nothing is counted, and there is no route', async (t) => {
  const storage = memory()
  const { app, as, call } = await keyApp(t, { storage })
  const { id, key } = await app.users.apiKeys.create({ name: 'a' })
  await as(key)('GET', '/users')
  t.match((await call('GET', `/api-keys/${id}/uses`)).json(), { status: 404, code: 'not_found' })
  await t.rejects(app.users.apiKeys.uses(id), new TypeError(
    'fastify-users: apiKeys.uses() needs the option apiKeys.countUses'))
  await app.close()
  t.strictSame(await repositoryOf(storage).keyUses.list(id), [])
})

test('a server that closes stores what it has counted, and several servers add up', async (t) => {
  const storage = memory()
  const apps = await Promise.all([1, 2, 3].map(() => testApp(t, { storage, ...COUNTED })))
  const made = await apps[0]?.app.users.apiKeys.create({ name: 'a' })
  const headers = { authorization: `Bearer ${made?.key}` }
  for (const [i, { app }] of apps.entries()) {
    for (let n = 0; n <= i; n++) t.equal((await inject(app, 'GET', '/v1/users', { headers })).statusCode, 200)
  }
  t.strictSame(await repositoryOf(storage).keyUses.list(String(made?.id)), [])
  for (const { app } of apps) await app.close()
  t.equal(sum(await repositoryOf(storage).keyUses.list(String(made?.id)) ?? []), 6)
})

test('many requests are one write a minute, with a row for each key and day', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2026-01-31T23:59:30.000Z') })
  t.teardown(() => mock.timers.reset())
  const { repository, calls } = watched()
  for (const n of [1, 2]) await addKey(repository.storage, apiKeyOf(n))
  const counter = createUseCounter(repository, (error) => { throw error })
  const [first, second] = [idOf('key', 1), idOf('key', 2)]
  for (let n = 0; n < 500; n++) counter.count(first)
  counter.count(second)
  mock.timers.tick(59_999)
  await turns()
  t.strictSame(calls, [], 'nothing is written before')
  for (let n = 0; n < 3; n++) counter.count(first)
  mock.timers.tick(1)
  await turns()
  t.strictSame(calls, [[
    { key: first, day: '2026-01-31', uses: 500 },
    { key: second, day: '2026-01-31', uses: 1 },
    { key: first, day: '2026-02-01', uses: 3 }
  ]])
  mock.timers.tick(600_000)
  await turns()
  t.equal(calls.length, 1, 'what was not used is not written')
  t.strictSame(await repository.keyUses.list(first), [{ day: '2026-01-31', uses: 500 }, { day: '2026-02-01', uses: 3 }])
  await counter.close()
})

test('the uses of many keys are written in parts', async (t) => {
  const { repository, calls } = watched()
  const counter = createUseCounter(repository, (error) => { throw error })
  for (let n = 0; n < 2500; n++) counter.count(idOf('key', n))
  await counter.close()
  t.strictSame(calls.map(({ length }) => length), [1000, 1000, 500])
})

test('what could not be stored stays counted, and the log says why', async (t) => {
  let fails = true
  const storage = aroundCommit(memory(), 'keyUses', async (call) => {
    if (fails) throw new StorageError('unavailable', 'busy')
    return call()
  })
  const log = captureLog()
  const { app, as } = await keyApp(t, { storage, ...COUNTED, server: { logger: { stream: log.stream } } })
  const { id, key } = await app.users.apiKeys.create({ name: 'a' })
  for (let n = 0; n < 3; n++) t.equal((await as(key)('GET', '/users')).statusCode, 200, 'no request fails')
  t.strictSame(await app.users.apiKeys.uses(id), { data: [] })
  const message = 'could not store how often API keys were used; retrying in a minute'
  await until('the failure is logged', () => log.entries().some(({ msg }) => msg === message))
  fails = false
  await as(key)('GET', '/users')
  t.equal(sum((await app.users.apiKeys.uses(id)).data), 4)
})

test('keeps the uses of 400 days', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const storage = memory()
  const { app } = await testApp(t, { storage })
  const { id } = await app.users.apiKeys.create({ name: 'a' })
  const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
  const days = [500, 401, 398, 1].map(dayBefore)
  await repositoryOf(storage).keyUses.add(days.map((day) => ({ key: id, day, uses: 1 })))
  mock.timers.tick(600_000)
  await turns()
  t.strictSame((await repositoryOf(storage).keyUses.list(id))?.map(({ day }) => day), days.slice(2))
})

test('a tenant reads the uses of its own keys, and loses them with them', async (t) => {
  const storage = memory()
  const { app, as } = await keyApp(t, { storage, tenants: true, ...COUNTED })
  const scopes = ALL_SCOPES.slice(0, 5)
  const acme = await app.users.tenant('acme').apiKeys.create({ name: 'a', scopes })
  const beta = await app.users.tenant('beta').apiKeys.create({ name: 'b', scopes })
  const read = async (key: string, id: string) => (await as(key)('GET', `/api-keys/${id}/uses`)).json()
  t.equal(sum((await read(acme.key, acme.id)).data), 1)
  t.equal(sum((await app.users.apiKeys.uses(acme.id)).data), 1, 'the platform reads those of all')
  await as(acme.key)('GET', '/users')
  await app.users.tenants.remove('acme')
  // It stores what was counted, also of the key that is gone.
  t.strictSame(await app.users.apiKeys.uses(beta.id), { data: [] })
  t.strictSame(await repositoryOf(storage).keyUses.list(acme.id), [])
})
