// Users who belong to no tenant are given to one, beside a service and by several callers; and what is to be seen then.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { assignUsers } from '../../lib/storage/tenant-assignment.ts'
import type { UnassignedUser } from '../../lib/storage/tenant-loop.ts'
import { ALL_SCOPES } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { migrated } from '../helpers/migrated.ts'
import { connectPg } from '../helpers/postgres.ts'
import { everyone, firstPage, idOf, rename, timeOf, userOf } from '../helpers/records.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addUsers, changeUser } from '../helpers/writes.ts'
import { hosted, PLATFORM } from './hosted.ts'

/** Adds the users with the numbers from 1 on, who belong to no tenant. */
const fill = (storage: Storage, count: number): Promise<void> =>
  addUsers(storage, Array.from({ length: count }, (_, n) => userOf(n + 1)))

const countIn = async (storage: Storage, tenant: string): Promise<number> =>
  (await storage.users.list({ ...everyone, tenant }, firstPage(1))).total

const assignAll = (storage: Storage) => assignUsers(repositoryOf(storage).tenants.assign, 'acme', () => {})

async function host (t: Test, storage: Storage, tenants = true) {
  const own = [{ key: PLATFORM, name: 'platform', scopes: ALL_SCOPES, tenant: null }]
  const { app, send } = await hosted(t, { storage, tenants, apiKeys: tenants ? {} : { static: own } })
  return {
    app,
    send: (method: string, path: string, { payload, headers }: {
      payload?: object, headers?: Record<string, string>
    } = {}) => send(PLATFORM, method, `/v1${path}`, payload, headers)
  }
}

test('names who is refused, and gives the others', async (t) => {
  const storage = memory()
  const schema = { type: 'object', properties: { badge: { type: 'string' } } } as const
  const { app } = await hosted(t, { storage, fields: { schema, unique: ['badge'] } })
  await fill(storage, 299)
  await addUsers(storage, [userOf(300, { fields: { badge: 'A' } })])
  const taken = [7, 260]
  for (const n of taken) await app.users.tenant('acme').create({ name: 'x', email: userOf(n).email })
  await app.users.tenant('acme').create(withoutType({ name: 'x', email: 'x@example.org', badge: 'A' }))
  const refused: UnassignedUser[] = []
  const onRefused = (user: UnassignedUser) => { refused.push(user) }
  t.strictSame(await app.users.tenants.assign('acme', { onRefused }), { assigned: 297, refused: 3 })
  t.strictSame(refused, [
    ...taken.map((n) => ({ id: idOf('usr', n), code: 'email_taken' })),
    { id: idOf('usr', 300), code: 'field_taken', field: 'badge' }
  ])
  const failing = app.users.tenants.assign('acme', { onRefused: () => { throw new RangeError('mine') } })
  await t.rejects(failing, { name: 'RangeError', message: 'mine' })
  t.strictSame(await app.users.tenants.assign('beta'), { assigned: 3, refused: 0 }, 'another tenant can have them')
  t.strictSame(await app.users.tenants.assign('beta'), { assigned: 0, refused: 0 }, 'nobody is left')
  await t.rejects(app.users.tenants.assign('No'), { code: 'validation_failed' })
  const plain = await host(t, memory(), false)
  await t.rejects(plain.app.users.tenants.assign('acme'), TypeError)
})

test('groups follow their members, unless one of them stays or the name is taken', async (t) => {
  const storage = memory()
  const before = await hosted(t, { storage, tenants: false, groups: true, apiKeys: { static: [] } })
  const { users } = before.app
  const ids: string[] = []
  for (const n of [1, 2, 3]) ids.push((await users.create({ name: 'x', email: `u${n}@example.org` })).id)
  const [first = '', second = '', third = ''] = ids
  const groups = { Editors: [first, second], Mixed: [first, third], Taken: [second], Empty: [] }
  for (const [name, add] of Object.entries(groups)) {
    await users.groups.changeMembers((await users.groups.create({ name })).id, { add })
  }
  const { app } = await hosted(t, { storage, groups: true })
  const acme = app.users.tenant('acme')
  await acme.create({ name: 'x', email: 'u3@example.org' })
  await acme.groups.create({ name: 'taken' })
  t.strictSame(await app.users.tenants.assign('acme'), { assigned: 2, refused: 1 })
  const names = ({ data }: { data: Array<{ name: string }> }) => data.map(({ name }) => name)
  t.strictSame(names(await acme.groups.list({ sort: 'name' })), ['Editors', 'Empty', 'taken'])
  const [editors] = (await acme.groups.list({ sort: 'name' })).data
  t.strictSame((await acme.groups.members(String(editors?.id))).data.map(({ id }) => id), [first, second])
  const recorded = (await storage.log.read({ after: null, limit: 100, types: null, tenant: 'acme' }))?.events ?? []
  t.strictSame(recorded.filter(({ subject }) => subject === editors?.id).map(({ type }) => type),
    ['group.created', 'group.members_changed'])
  await users.delete(third)
  t.strictSame(await app.users.tenants.assign('acme'), { assigned: 0, refused: 0 })
  t.ok(names(await acme.groups.list()).includes('Mixed'), 'it has no other members any more')
})

test('a service without the option tenants goes on beside it', async (t) => {
  const schema = temporarySchema(t)
  const open = () => postgres({ connection: pgUrl(), schema, pool: { max: 4 } })
  const mover = await migrated(t, open())
  const { send } = await host(t, open(), false)
  const payload = { name: 'Ann', email: 'ann@example.org' }
  const headers = { 'idempotency-key': 'k-1' }
  const { body: { id } } = await send('POST', '/users', { payload, headers })
  const before = await send('GET', `/users/${id}`)
  t.strictSame(await assignAll(mover), { assigned: 1, refused: 0 })
  const after = await send('GET', `/users/${id}`)
  t.strictSame(after, before, 'it shows no tenant, and the version stays')
  t.match(await send('GET', `/users/${id}`, { headers: { 'if-none-match': String(before.etag) } }), { status: 304 })
  t.match(await send('POST', '/users', { payload, headers }), { status: 201, body: before.body })
  t.equal((await send('GET', '/users')).body.meta.total, 1)
  t.match(await send('PATCH', `/users/${id}`, { payload: { name: 'Bea' } }), { status: 200, body: { name: 'Bea' } })
  t.match(await send('POST', '/users', { payload }), { status: 201 }, 'the address is that of the tenant now')
  t.strictSame(await assignAll(mover), { assigned: 0, refused: 1 })
  t.match(await send('DELETE', `/users/${id}`), { status: 204 })
  t.strictSame(await assignAll(mover), { assigned: 1, refused: 0 })
})

test('an assignment ends when the server closes, and goes on when it is asked for again', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const storage = sqlite({ filename })
  const { app } = await host(t, storage)
  await fill(storage, 700)
  const assigning = app.users.tenants.assign('acme')
  await Promise.all([t.rejects(assigning, { code: 'storage_unavailable' }), app.close()])
  await t.rejects(app.users.tenants.assign('acme'), { code: 'storage_unavailable' })
  const again = await host(t, sqlite({ filename }))
  const { assigned } = await again.app.users.tenants.assign('acme')
  t.ok(assigned > 0, `${assigned} were left`)
  t.equal((await again.app.users.list()).meta.total, 700)
  t.strictSame((await again.app.users.tenants.list()).data, [{ id: 'acme', users: 700 }])
})

test('a user whose row is locked for long holds up nobody else', async (t) => {
  const schema = temporarySchema(t)
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema, statementTimeoutMs: 30_000 }))
  await fill(storage, 40)
  const locking = await connectPg(t)
  await locking.query('begin')
  await locking.query(`select 1 from "${schema}".fastify_users_users where id = $1 for update`, [idOf('usr', 20)])
  const assigning = assignAll(storage)
  await until('all others are given', async () => await countIn(storage, 'acme') === 39)
  for (const n of [19, 21, 40]) {
    t.match(await changeUser(storage, idOf('usr', n), rename('X'), { updatedAt: timeOf(9) }), { changed: true })
  }
  t.equal(await countIn(storage, 'acme'), 39, 'it still waits for the user')
  await locking.query('rollback')
  t.strictSame(await assigning, { assigned: 40, refused: 0 })
})
