// Names of those who made changes: taken out with the values of the person, or of the tenant.
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { LoggedEvent } from '../../lib/index.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { createFanOut } from '../../lib/webhooks/fan-out.ts'
import { captureLog } from '../helpers/log.ts'
import { webhookOf } from '../helpers/records.ts'

/** A mount whose users sign in: the token is the id of a user, who is known by it and by its name. */
async function signingIn (t: Test, tenants: boolean) {
  const host = await testApp(t, {
    eventLog: true,
    tenants,
    apiKeys: { routes: true },
    async authenticate (token) {
      if (!token.startsWith('usr_')) return null
      const { id, name, tenant } = await host.app.users.get(token)
      return { id, name, scopes: ALL_SCOPES, ...(tenants && { tenant: tenant ?? null }) }
    }
  })
  const as = (id: string) => (method: string, path: string, payload?: object) =>
    host.call(method, path, { headers: { authorization: `Bearer ${id}` }, ...(payload !== undefined && { payload }) })
  return { ...host, as }
}

const actors = (events: readonly LoggedEvent[]) => events.map(({ type, actor }) => [type, actor?.id, actor?.name])

test('an erasure takes the name of the person out of the changes that it made', async (t) => {
  const { app: { users }, as } = await signingIn(t, false)
  const ann = await users.create({ name: 'Ann Smith', email: 'ann@example.org' })
  const bob = await users.create({ name: 'Bob Jones', email: 'bob@example.org' })
  await as(ann.id)('PATCH', `/users/${ann.id}`, { name: 'Ann Miller' })
  await as(ann.id)('PATCH', `/users/${bob.id}`, { name: 'Bob Brown' })
  await as(bob.id)('PATCH', `/users/${bob.id}`, { name: 'Bob Black' })
  // Nobody has read these events.
  await users.delete(ann.id, { erase: true })
  t.strictSame(actors((await users.events.ofUser(ann.id)).data), [
    ['user.deleted', undefined, undefined], ['user.updated', ann.id, null], ['user.created', undefined, undefined]
  ])
  const { data: ofBob } = await users.events.ofUser(bob.id)
  t.strictSame(actors(ofBob), [
    ['user.updated', bob.id, 'Bob Brown'], ['user.updated', ann.id, null], ['user.created', undefined, undefined]
  ])
  t.equal(ofBob[0]?.data.name, 'Bob Black', 'what it changed of others stays')
  t.strictSame((await users.events.list({ actor: ann.id })).data.map(({ id }) => id).length, 2, 'found by the id')
  await users.delete(bob.id)
  await users.delete(bob.id, { erase: true })
  const whole = JSON.stringify((await users.events.list({ limit: 100 })).data)
  t.strictSame(whole.match(/Ann Smith|Ann Miller|Bob (Jones|Brown|Black)/g), null)
})

test('a deleted tenant leaves no name of those who made changes in it', async (t) => {
  const { app: { users }, as, call } = await signingIn(t, true)
  const acme = users.tenant('acme')
  const ann = await acme.create({ name: 'Ann Smith', email: 'ann@acme.example' })
  const { id, key } = await acme.apiKeys.create({ name: 'payroll of Ann', scopes: ALL_SCOPES })
  const other = await users.tenant('other').create({ name: 'Cid', email: 'cid@example.org' })
  await as(other.id)('PATCH', `/users/${other.id}`, { name: 'Cid Green' })
  await as(ann.id)('PATCH', `/users/${ann.id}`, { name: 'Ann Miller' })
  await as(ann.id)('POST', '/api-keys', { name: 'laptop of Ann' })
  await call('PATCH', `/users/${ann.id}`, {
    headers: { authorization: `Bearer ${key}` }, payload: { name: 'Ann Brown' }
  })
  await users.tenants.remove('acme')
  const { data } = await users.events.list({ limit: 100 })
  t.strictSame(actors(data.filter(({ actor }) => actor !== null)), [
    ['user.updated', other.id, 'Cid'], ['user.updated', ann.id, null],
    ['api_key.created', ann.id, null], ['user.updated', id, null]
  ])
  t.strictSame(JSON.stringify(data).match(/Ann (Smith|Miller|Brown)|(payroll|laptop) of Ann/g), null)
})

test('webhooks of a deleted tenant are not said to have missed pruned events', async (t) => {
  const storage = memory()
  const { app: { users } } = await testApp(t, { storage, eventLog: true, tenants: true })
  const { events, webhooks, tenants } = repositoryOf(storage)
  await webhooks.insert(webhookOf(1, { tenant: 'acme', types: [] }))
  await users.tenant('acme').create({ name: 'Ann', email: 'ann@acme.example' })
  const lines = captureLog()
  const { log } = Fastify({ logger: { stream: lines.stream } })
  const listed = async () => (await webhooks.list({ order: 'asc', limit: 9, from: { offset: 0 } })).items
  // Each round as of a process that has just begun.
  const round = async () => createFanOut(webhooks, events, log)(await listed())
  await round()
  t.strictSame((await listed()).map(({ after }) => typeof after), ['string'])
  // The user, then the event; the webhook is what is left.
  while ((await events.read({ after: null, limit: 1, types: null, tenant: 'acme' }))?.events.length !== 0) {
    t.equal(await tenants.remove('acme', 1), 1)
  }
  await round()
  t.strictSame((await listed()).map(({ after }) => after), [null])
  t.equal(lines.text(), '')
})
