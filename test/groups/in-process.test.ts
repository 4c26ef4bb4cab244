// Groups in process: with the rules of the routes, for a tenant, by an actor, and inside a transaction of the host's.
import Fastify from 'fastify'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { aroundCommit } from '../helpers/around.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { testApp } from '../helpers/app.ts'

const ANN = { name: 'Ann', email: 'ann@example.org' }

test('app.users.groups does what the routes do', async (t) => {
  const { app: { users: { as, groups, ...all }, users: whole } } = await testApp(t, { groups: true, eventLog: true })
  const [ann, ben] = [await all.create(ANN), await all.create({ name: 'Ben', email: 'ben@example.org' })]
  const group = await as({ id: 'desk', type: 'staff' }).groups.create({ name: 'A' })
  t.match(group, { name: 'A', members: 0, version: 1 })
  t.match(await groups.changeMembers(group.id, { add: [ann.id, ben.id] }), { members: 2 })
  const { next, ...page } = await groups.members(group.id, { sort: '-name', limit: 1 })
  t.strictSame(page, { data: [ben], meta: { page: 1, limit: 1, total: 2 } })
  t.strictSame((await groups.members(group.id, { sort: '-name', limit: 1, cursor: String(next) })).data, [ann])
  t.strictSame(await groups.of(ann.id), { data: [await groups.get(group.id)], meta: { page: 1, limit: 20, total: 1 } })
  t.strictSame((await whole.list({ group: group.id, q: 'ben' })).data, [ben])
  const walked = []
  for await (const user of whole.iterate({ group: group.id })) walked.push(user.id)
  t.strictSame(walked, [ann.id, ben.id])
  await t.rejects(groups.update(group.id, { name: 'B' }, { ifMatch: 1 }), { code: 'precondition_failed' })
  t.match(await groups.update(group.id, { name: 'B' }, { ifMatch: 2 }), { name: 'B', version: 3 })
  await t.rejects(groups.changeMembers(group.id, { add: ['x'] }), { code: 'validation_failed' })
  await t.rejects(groups.create({ name: 'b' }), { code: 'name_taken' })
  await groups.delete(group.id)
  await t.rejects(groups.get(group.id), { code: 'group_not_found' })
  t.match((await whole.events.list({ subject: group.id })).data[0], { actor: { id: 'desk', type: 'staff' } })
})

test('a member who cannot be added for the storage alone is not said to be unknown', async (t) => {
  const storage = memory()
  const { app: { users: { groups, ...all } }, call } = await testApp(t, { groups: true, storage })
  const [{ id: ann }, { id }] = [await all.create(ANN), await groups.create({ name: 'A' })]
  aroundCommit(storage, 'memberships', async () => { throw new StorageError('unavailable', 'away') })
  t.match((await call('PUT', `/groups/${id}/members/${ann}`)).json(), { status: 503, code: 'storage_unavailable' })
})

test('each tenant has its own groups', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: memory(), migrate: true, groups: true, tenants: true })
  const [acme, beta] = [app.users.tenant('acme'), app.users.tenant('beta')]
  const ann = await acme.create(ANN)
  const other = await beta.create(ANN)
  const group = await acme.groups.create({ name: 'A' })
  t.equal(group.tenant, 'acme')
  t.match(await beta.groups.create({ name: 'a' }), { tenant: 'beta' })
  await t.rejects(acme.groups.changeMembers(group.id, { add: [other.id] }), { code: 'validation_failed' })
  await acme.groups.changeMembers(group.id, { add: [ann.id] })
  await t.rejects(beta.groups.get(group.id), { code: 'group_not_found' })
  await t.rejects(beta.groups.members(group.id), { code: 'group_not_found' })
  await t.rejects(beta.groups.of(ann.id), { code: 'user_not_found' })
  t.strictSame((await beta.list({ group: group.id })).data, [])
  t.equal((await app.users.groups.list()).meta.total, 2, 'the platform sees all')
  t.equal((await app.users.groups.members(group.id)).meta.total, 1)
  await t.rejects(app.users.groups.create({ name: 'N' }), { code: 'validation_failed' })
  await app.users.tenants.remove('acme')
  t.strictSame((await app.users.groups.list()).data.map(({ tenant }) => tenant), ['beta'])
})

test('inside a transaction of the host', async (t) => {
  const knex = sqliteHost(':memory:', { pool: { min: 1, max: 1 } })
  t.teardown(() => knex.destroy())
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: knexStorage(knex), migrate: true, groups: true, trash: true })
  const told: string[] = []
  app.users.events.on('group.members_changed', ({ data }) => { told.push(...data.removed) })
  const { id } = await app.users.groups.create({ name: 'A' })
  const made: string[] = []
  for (const end of ['rollback', 'commit'] as const) {
    const transaction = await knex.transaction()
    const within = app.users.using(transaction)
    const ann = await within.create(ANN)
    made.push(ann.id)
    await within.groups.changeMembers(id, { add: [ann.id] })
    t.equal((await within.groups.members(id)).meta.total, 1)
    await transaction[end]()
    await transaction.executionPromise.catch(() => {})
    t.equal((await app.users.groups.get(id)).members, end === 'commit' ? 1 : 0, end)
  }
  const transaction = await knex.transaction()
  await app.users.using(transaction).delete(String(made[1]))
  t.strictSame(told, [])
  await transaction.commit()
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(told, [made[1]], 'it is told after the commit')
})
