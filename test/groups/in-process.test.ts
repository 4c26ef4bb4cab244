// Groups in process, beside what client/contract.test.ts has: by an actor, and inside a transaction of the host's. Of
// tenants: tenants/isolation-in-process.test.ts.
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { aroundCommit } from '../helpers/around.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { testApp } from '../helpers/app.ts'

const ANN = { name: 'Ann', email: 'ann@example.org' }

test('members are listed by cursor, users by their group, and a change names its actor', async (t) => {
  const { app: { users: { as, groups, ...all }, users: whole } } = await testApp(t, { groups: true, eventLog: true })
  const [ann, ben] = [await all.create(ANN), await all.create({ name: 'Ben', email: 'ben@example.org' })]
  const group = await as({ id: 'desk', type: 'staff' }).groups.create({ name: 'A' })
  await groups.changeMembers(group.id, { add: [ann.id, ben.id] })
  const { next, ...page } = await groups.members(group.id, { sort: '-name', limit: 1 })
  t.strictSame(page, { data: [ben], meta: { page: 1, limit: 1, total: 2 } })
  t.strictSame((await groups.members(group.id, { sort: '-name', limit: 1, cursor: String(next) })).data, [ann])
  t.strictSame((await whole.list({ group: group.id, q: 'ben' })).data, [ben])
  const walked = []
  for await (const user of whole.iterate({ group: group.id })) walked.push(user.id)
  t.strictSame(walked, [ann.id, ben.id])
  await t.rejects(groups.changeMembers(group.id, { add: ['x'] }), { code: 'validation_failed' })
  await t.rejects(groups.update(group.id, { name: 'B' }, { ifMatch: 1 }), { code: 'precondition_failed' })
  t.match((await whole.events.list({ subject: group.id })).data[0], { actor: { id: 'desk', type: 'staff' } })
})

test('a member who cannot be added for the storage alone is not said to be unknown', async (t) => {
  const storage = memory()
  const { app: { users: { groups, ...all } }, call } = await testApp(t, { groups: true, storage })
  const [{ id: ann }, { id }] = [await all.create(ANN), await groups.create({ name: 'A' })]
  aroundCommit(storage, 'memberships', async () => { throw new StorageError('unavailable', 'away') })
  t.match((await call('PUT', `/groups/${id}/members/${ann}`)).json(), { status: 503, code: 'storage_unavailable' })
})

test('inside a transaction of the host', async (t) => {
  const knex = sqliteHost(':memory:', { pool: { min: 1, max: 1 } })
  t.teardown(() => knex.destroy())
  const { app } = await testApp(t, { storage: knexStorage(knex), groups: true, trash: true })
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
