// Connections that are lost, statements that conflict again and again, and work that is told to stop.
import type { Knex } from 'knex'
import { test, type Test } from 'tap'
import { untilAborted } from '../../adapters/knex/connection/deadlines.ts'
import { isDiscarded } from '../../adapters/knex/drivers/knex-internals.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { testApp } from '../helpers/app.ts'
import { intercept } from '../helpers/intercept.ts'
import { migrated } from '../helpers/migrated.ts'
import { pgHost, pgUrlWith, terminate } from '../helpers/postgres.ts'
import { apiKeyOf, timeOf, userOf } from '../helpers/records.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addFirstKey, addUser, addUserOnce, count, rotateKey } from '../helpers/writes.ts'

const idempotency = { key: 'k', fingerprint: 'f', now: timeOf(0), expiresAt: '2027-01-01T00:00:00.000Z', note: null }

/** A storage on a host's only connection, which the server knows by the name of the schema. */
async function onOneConnection (t: Test) {
  const schema = temporarySchema(t)
  const host = pgHost(t, { connection: pgUrlWith({ application_name: schema }), pool: { min: 0, max: 1 } })
  return { schema, host, storage: await migrated(t, knexStorage(host, { schema })) }
}

test('work that does not end after it was told to stop loses its connection', async (t) => {
  const stopping = new AbortController()
  const connection = {}
  let destroySocket = () => {}
  const result = new Promise((_resolve, reject) => { destroySocket = () => reject(new Error('destroyed')) })
  const aborted = untilAborted(result, { destroySocket }, connection, stopping.signal)
  const stopped = t.rejects(aborted, { message: 'destroyed' })
  t.notOk(isDiscarded(connection))
  stopping.abort()
  await stopped
  t.ok(isDiscarded(connection))
})

test('a transaction whose connection is lost fails as unavailable, and does nothing', async (t) => {
  const { schema, host, storage } = await onOneConnection(t)
  const restore = intercept(host, async (statement, send) => {
    if (statement.includes('DELETE FROM')) await terminate(schema)
    return send()
  })
  for (const n of [1, 2]) await addUser(storage, userOf(n))
  const guard = { ifVersion: null, unlessVersion: [] }
  const written = repositoryOf(storage).users.write([
    { type: 'update', id: userOf(1).id, changes: { status: 'suspended' }, updatedAt: timeOf(9), guard, event: null },
    { type: 'delete', id: userOf(2).id, guard, event: null, erase: false }
  ], { atomic: true, idempotency: null })
  await t.rejects(written, { name: 'StorageError', code: 'unavailable' })
  restore()
  t.strictSame(await Promise.all([1, 2].map((n) => storage.users.find(userOf(n).id))), [userOf(1), userOf(2)])
})

test('a server that reports the loss of another one keeps its session', async (t) => {
  const { schema, host, storage } = await onOneConnection(t)
  const session = async () => (await host.raw('SELECT pg_backend_pid() AS pid')).rows[0].pid
  const before = await session()
  await sql(`CREATE FUNCTION "${schema}".lose () RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'connection to the remote node failed' USING ERRCODE = '08006'; END $$`)
  for (const table of ['users', 'api_keys']) {
    await sql(`CREATE TRIGGER lose BEFORE INSERT ON "${schema}".fastify_users_${table}
      FOR EACH ROW EXECUTE FUNCTION "${schema}".lose()`)
  }
  const lost = { code: 'unavailable', driverCode: '08006' }
  await t.rejects(addUser(storage, userOf(1)), lost, 'a statement')
  await t.rejects(addFirstKey(storage, apiKeyOf(1)), lost, 'a transaction')
  t.equal(await session(), before)
  await sql(`DROP FUNCTION "${schema}".lose CASCADE`)
  await addUser(storage, userOf(1))
})

test('a transaction that gets no lock leaves its connection usable', async (t) => {
  const schema = temporarySchema(t)
  const host = pgHost(t, { connection: pgUrlWith({ options: '-c lock_timeout=100' }), pool: { min: 0, max: 1 } })
  const storage = await migrated(t, knexStorage(host, { schema }))
  await pgHost(t).transaction(async (trx) => {
    const lock = `fastify-users.${schema}.fastify_users_`
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [lock])
    const pruned = storage.log.prune(timeOf(1), 1)
    await t.rejects(pruned, { code: 'unavailable', driverCode: '55P03' })
    t.equal(await addFirstKey(storage, apiKeyOf(1)), true, 'other work needs no lock')
    const rotation = { now: timeOf(1), expiresAt: '2026-02-01T00:00:00.000Z' }
    await t.resolves(rotateKey(storage, apiKeyOf(1).id, apiKeyOf(2), rotation))
  })
  t.match(await host.raw('select 1 as one'), { rows: [{ one: 1 }] })
})

test('a creation whose answer was lost finds its own user, with and without an idempotency key', async (t) => {
  const { schema, host, storage } = await onOneConnection(t)
  let lose = true
  intercept(host, async (statement, send) => {
    const answer = await send()
    if (!lose || !statement.includes('INSERT INTO')) return answer
    // The statement was carried out; now the connection is lost, and the answer with it.
    lose = false
    await terminate(schema)
    return send('select 1')
  })
  for (const [n, key] of [[1, null], [2, idempotency]] as const) {
    lose = true
    const user = userOf(n)
    const answer = key === null ? await addUser(storage, user) : (await addUserOnce(storage, user, key)).user
    t.strictSame(answer, user)
    t.equal(lose, false, 'the answer was lost')
    const other = userOf(n, { name: 'B', email: 'other@example.org' })
    const again = addUser(storage, other)
    await t.rejects(again, { code: 'fault' }, 'another user has the id')
  }
  t.equal(await count(storage), 2)
})

test('a creation that gets no connection waits for one only once', async (t) => {
  const schema = temporarySchema(t)
  const host = pgHost(t, { pool: { min: 0, max: 1 }, acquireConnectionTimeout: 1000 })
  const storage = await migrated(t, knexStorage(host, { schema }))
  await host.transaction(async () => {
    const pool: { acquireConnection: () => Promise<unknown> } = host.client
    const calls = t.capture(pool, 'acquireConnection', pool.acquireConnection)
    await t.rejects(addUser(storage, userOf(1)), { code: 'unavailable' })
    t.equal(calls().length, 1)
  })
})

for (const [name, open] of Object.entries({
  'postgres()': (connection: Knex.PgConnectionConfig, schema: string) =>
    postgres({ connection: { ...connection }, schema }),
  'knexStorage()': (connection: Knex.PgConnectionConfig, schema: string, t: Test) =>
    knexStorage(pgHost(t, { connection }), { schema })
})) {
  test(`${name} is unavailable while a function for the password fails, and works again after it`, async (t) => {
    const schema = temporarySchema(t)
    const { hostname: host, port, username: user, password } = new URL(pgUrl())
    let works = true
    const connection = {
      host,
      port: Number(port),
      user,
      database: 'postgres',
      application_name: schema,
      password: async () => works ? password : Promise.reject(new Error('the service for tokens is down'))
    }
    const { app } = await testApp(t, { storage: await migrated(t, open(connection, schema, t)) })
    await app.ready()
    works = false
    await terminate(schema)
    const refused = { code: 'storage_unavailable', cause: { message: /no connection to the database can be opened/ } }
    await until('the connections are lost', () => app.users.list().then(() => false, () => true))
    await t.rejects(app.users.list(), refused)
    await t.rejects(app.users.create({ name: 'Ann', email: 'ann@example.org' }), refused)
    works = true
    t.equal((await app.users.create({ name: 'Ann', email: 'ann@example.org' })).name, 'Ann')
  })
}
