// app.users.as(): events, histories, webhooks and the trash name the person or job that makes a change in process.
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import fastifyUsers, { type TenantUsers, type UserMethods, type UsersOptions } from '../../lib/index.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { untyped } from '../helpers/untyped.ts'

const JO = { id: 'staff_7', name: 'Jo Support', type: 'staff' }
const REQUEST = { requestId: 'req-1f' }
const options = { eventLog: true, trash: { retention: 3600 }, apiKeys: { countUses: true } } as const

async function mounted (t: Test, more: Partial<UsersOptions> = {}) {
  const knex = sqliteHost(':memory:')
  t.teardown(() => knex.destroy())
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(fastifyUsers, { storage: knexStorage(knex), migrate: true, ...options, ...more })
  return { knex, users: app.users }
}

/** Makes each kind of change of users once. Returns the id of the user that is left. */
async function changeUsers (users: UserMethods): Promise<string> {
  const { id } = await users.create({ name: 'Ann', email: 'ann@example.org' })
  await users.update(id, { status: 'suspended', name: 'Anne' })
  await users.delete(id)
  await users.restore(id)
  await users.batch([
    { op: 'create', body: { name: 'Bob', email: 'bob@example.org' } },
    { op: 'update', id, body: { name: 'Ann' } }
  ])
  await users.import([{ name: 'Cy', email: 'cy@example.org' }, { email: 'ann@example.org', name: 'Ann C.' }],
    { onConflict: 'update', by: 'email' })
  return id
}

const ALL_CHANGES = [
  'user.created', 'user.updated', 'user.suspended', 'user.deleted', 'user.restored', 'user.created', 'user.updated',
  'user.created', 'user.updated'
]

async function recorded (users: Pick<TenantUsers, 'events'>, actor?: string) {
  const { data } = await users.events.list(actor === undefined ? {} : { actor })
  return data.map(({ type, actor, requestId }) => ({ type, actor, requestId }))
}

const by = (types: readonly string[], actor: object | null, requestId: string | null) =>
  types.map((type) => ({ type, actor, requestId }))

test('every change of users is recorded as made by the actor, and found by the id of the actor', async (t) => {
  const { users } = await mounted(t)
  const heard: unknown[] = []
  users.events.on('user.restored', ({ actor, requestId }) => { heard.push({ actor, requestId }) })
  const id = await changeUsers(users.as(JO, REQUEST))
  t.strictSame(await recorded(users), by(ALL_CHANGES, JO, 'req-1f'))
  const { data: [newest] } = await users.events.ofUser(id)
  await users.as({ id: 'job_1' }).revert(id, String(newest?.id))
  t.strictSame(await recorded(users, 'job_1'), by(['user.updated'], { type: 'host', id: 'job_1', name: null }, null))
  t.strictSame(await recorded(users, JO.id), by(ALL_CHANGES, JO, 'req-1f'))
  t.strictSame(heard, [{ actor: JO, requestId: 'req-1f' }])
  await users.as(JO).delete(id)
  t.strictSame((await users.listDeleted()).data.map(({ deletedBy }) => deletedBy), [JO])
  await users.as({ ...JO, name: null }).delete(id, { purge: true })
  const [last] = (await recorded(users, JO.id)).slice(-1)
  t.strictSame(last, { type: 'user.purged', actor: { ...JO, name: null }, requestId: null })
})

test('changes of API keys are recorded as made by the actor', async (t) => {
  const { users } = await mounted(t)
  const { apiKeys } = users.as(JO, REQUEST)
  t.not(await apiKeys.createFirst({ name: 'first' }), null)
  t.equal(await apiKeys.createFirst({ name: 'another first' }), null, 'the store has a key')
  const { id } = await apiKeys.create({ name: 'second' })
  const successor = await apiKeys.rotate(id)
  await apiKeys.revoke(successor.id)
  t.strictSame(await recorded(users), by(
    ['api_key.created', 'api_key.created', 'api_key.rotated', 'api_key.revoked'], JO, 'req-1f'
  ))
})

test('an actor, a tenant and a transaction may come in any order', async (t) => {
  const { users, knex } = await mounted(t, { tenants: true })
  const inOrders: Array<[name: string, run: (work: (users: UserMethods) => Promise<unknown>) => Promise<unknown>]> = [
    ['tenant as', (work) => work(users.tenant('acme').as(JO))],
    ['as tenant', (work) => work(users.as(JO).tenant('acme'))],
    ['tenant using as', (work) => knex.transaction((trx) => work(users.tenant('acme').using(trx).as(JO)))],
    ['as using tenant', (work) => knex.transaction((trx) => work(users.as(JO).using(trx).tenant('acme')))],
    ['using as tenant', (work) => knex.transaction((trx) => work(users.using(trx).as(JO).tenant('acme')))],
    ['the last actor', (work) => work(users.as({ id: 'other' }).tenant('acme').as(JO))]
  ]
  for (const [i, [name, run]] of inOrders.entries()) {
    await run((acme) => acme.create({ name, email: `${i}@example.org` }))
    const { data } = await users.events.list({ order: 'desc', limit: 1 })
    t.match(data, [{ data: { name }, actor: JO, tenant: 'acme' }], name)
  }
  t.strictSame((await users.tenant('acme').list()).meta.total, inOrders.length)
  await knex.transaction((trx) => users.as(JO).tenant('acme').using(trx).create({ name: 'x', email: 'x@example.org' })
    .then(() => trx.rollback()))
  t.equal((await recorded(users, JO.id)).length, inOrders.length, 'what is rolled back is recorded of nobody')
})

test('without an actor a change is the host’s, also beside one with an actor', async (t) => {
  const { users } = await mounted(t)
  const jo = users.as(JO)
  await Promise.all(Array.from({ length: 20 }, (_, i) =>
    (i % 2 === 0 ? jo : users).create({ name: `${i % 2}`, email: `${i}@example.org` })))
  const { data } = await users.events.list({ limit: 100 })
  t.strictSame(data.map(({ data, actor }) => [Reflect.get(data, 'name'), actor?.id ?? null]).sort(),
    Array.from({ length: 20 }, (_, i) => i < 10 ? ['0', JO.id] : ['1', null]))
})

test('an idempotency key belongs to its actor', async (t) => {
  const { users } = await mounted(t)
  const create = (of: UserMethods, email: string) =>
    of.create({ name: 'Ann', email }, { idempotencyKey: 'same' }).then(({ id }) => id)
  const first = await create(users.as(JO), 'jo@example.org')
  t.equal(await create(users.as({ ...JO, name: 'Joanna' }), 'jo@example.org'), first, 'whatever the actor is called')
  t.not(await create(users.as({ ...JO, id: 'staff_8' }), 'other@example.org'), first)
  t.not(await create(users, 'host@example.org'), first)
  await t.rejects(create(users.as(JO), 'else@example.org'), { code: 'idempotency_key_reused' })
})

test('an actor is checked, with a fault for each member', async (t) => {
  const { users } = await mounted(t, { tenants: true })
  const faultsOf = (actor: unknown, options?: unknown) => {
    try {
      Reflect.apply(users.as, users, [actor, options])
      return null
    } catch (error) {
      const { code, errors }: { code: string, errors: Array<{ parameter: string, code: string }> } = Object(error)
      return [code, ...errors.map(({ parameter, code }) => `${parameter} ${code}`)]
    }
  }
  for (const id of [undefined, '', 7, '\ud800']) {
    t.strictSame(faultsOf({ id }), ['validation_failed', 'id format'])
  }
  for (const actor of ['jo', []]) t.strictSame(faultsOf(actor), ['validation_failed', 'actor type'])
  for (const name of ['', 'x'.repeat(201), 5, 'a\0']) {
    t.strictSame(faultsOf({ ...JO, name }), ['validation_failed', 'name format'])
  }
  for (const type of ['', 'Staff', '7up', 'a'.repeat(17), 'a b', null]) {
    t.strictSame(faultsOf({ ...JO, type }), ['validation_failed', 'type format'])
  }
  for (const requestId of ['', 7, 'a\0']) {
    t.strictSame(faultsOf(JO, { requestId }), ['validation_failed', 'requestId format'])
  }
  t.strictSame(faultsOf({ ...JO, email: 'x' }, { request: 1 }),
    ['validation_failed', 'email unknown', 'request unknown'])
  for (const right of [{ id: 'é 1' }, { ...JO, name: null }, { ...JO, type: 'a'.repeat(16) }]) {
    t.equal(faultsOf(right, { requestId: null }), null)
  }
  t.throws(() => users.tenant('acme').as(untyped({})), { code: 'validation_failed' })
})

test('an actor that is changed after it was named changes nothing', async (t) => {
  const { users } = await mounted(t)
  const actor = { ...JO }
  const jo = users.as(actor)
  actor.id = 'other'
  await jo.create({ name: 'Ann', email: 'ann@example.org' })
  t.strictSame(await recorded(users), by(['user.created'], JO, null))
})
