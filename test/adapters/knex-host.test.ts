// A host's own Knex instance, its settings and its migrations; and a pool of our own.
import knex from 'knex'
import { test } from 'tap'
import { loadSqliteDriver } from '../../adapters/knex/drivers/sqlite-drivers.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { testApp } from '../helpers/app.ts'
import { intercept, type Step } from '../helpers/intercept.ts'
import { migrated } from '../helpers/migrated.ts'
import { pgHost, pgUrlWith } from '../helpers/postgres.ts'
import { apiKeyOf, userOf } from '../helpers/records.ts'
import { sqliteDriver, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addFirstKey, addUser } from '../helpers/writes.ts'

test('a host that debugs its Knex sees its own statements, and nothing of its users', async (t) => {
  const schema = temporarySchema(t)
  for (const { options, ...config } of [
    { client: loadSqliteDriver(sqliteDriver).client, connection: ':memory:', useNullAsDefault: true, options: {} },
    { client: 'pg', connection: pgUrl(), pool: { min: 0, max: 2 }, options: { schema } }
  ]) {
    const logged: unknown[] = []
    const keep = (...entries: unknown[]) => { logged.push(...entries) }
    const log = { debug: keep, warn: keep, error: keep }
    const host = knex({ ...config, debug: true, asyncStackTraces: true, log })
    t.teardown(() => host.destroy())
    const queries: string[] = []
    host.on('query', ({ sql }) => queries.push(sql))
    const storage = await migrated(t, knexStorage(host, options))
    const user = userOf(1, { name: 'canary', email: 'canary@example.org' })
    await host.transaction(async (trx) => {
      await addUser(storage.join(trx), user)
      await trx.raw('select 1 as mine')
    })
    t.match(JSON.stringify(logged), 'select 1 as mine')
    t.notMatch(JSON.stringify([logged, queries]), 'canary')
    t.match(queries, ['BEGIN;', 'select 1 as mine', 'COMMIT;'])
  }
})

test('the cause of an error names the constraint of the host that refused a write, and no value', async (t) => {
  const schema = temporarySchema(t)
  const onFile = sqliteHost(':memory:')
  t.teardown(() => onFile.destroy())
  for (const [host, options, table, refusedBy] of [
    [onFile, {}, 'fastify_users_users', /\(SQLITE_CONSTRAINT\w*, constraint fastify_users_users\.name\)$/],
    [pgHost(t), { schema }, `"${schema}".fastify_users_users`, /\(23505, constraint one_name\)$/]
  ] as const) {
    const { app } = await testApp(t, { storage: knexStorage(host, options) })
    await host.raw(`CREATE UNIQUE INDEX one_name ON ${table} (name)`)
    await app.users.create({ name: 'canary', email: 'ann@example.org' })
    const error = await app.users.create({ name: 'canary', email: 'bo@example.org' }).catch((thrown) => thrown)
    t.match(error, { code: 'internal', message: /in process, see its cause\.$/ })
    t.match(error.cause.message, refusedBy)
    t.notMatch(error.cause.stack, /canary|insert into/i)
  }
})

test('without a schema the search path decides, for notifications too', async (t) => {
  const schema = temporarySchema(t)
  await sql(`create schema "${schema}"`)
  const connection = pgUrlWith({ options: `-c search_path=${schema}` })
  const storage = await migrated(t, postgres({ connection, pool: { max: 2 } }))
  let changes = 0
  const stop = storage.watch?.(() => { changes++ })
  await addFirstKey(storage, apiKeyOf(1))
  await until('a notification of the new key', () => changes > 0)
  stop?.()
  t.equal((await repositoryOf(storage).apiKeys.find({ id: apiKeyOf(1).id }))?.name, 'Key 1')
})

test('a schema that is dropped while it is checked is behind, and any other error is a fault', async (t) => {
  const schema = temporarySchema(t)
  const other = await migrated(t, postgres({ connection: pgUrl(), schema }))
  const storageWith = (step: Step) => {
    const host = pgHost(t)
    intercept(host, step)
    return knexStorage(host, { schema })
  }
  const broken = storageWith(async (statement, send) =>
    send(statement.includes('compatible_from') ? 'select nonsense' : undefined))
  await t.rejects(broken.open(), { code: 'fault', driverCode: '42703' })
  const late = storageWith(async (statement, send) => {
    if (statement.includes('compatible_from')) await other.rollback(0)
    return send()
  })
  await t.rejects(late.open(), { code: 'schema_behind', message: /at version 0/ })
})

test('with statementTimeoutMs 0 the limit of the role counts no more', async (t) => {
  const connection = pgUrlWith({ options: '-c statement_timeout=1 -c lock_timeout=1' })
  const storage = await migrated(t, postgres({ connection, schema: temporarySchema(t), statementTimeoutMs: 0 }))
  for (let i = 0; i < 30; i++) await t.resolves(storage.inspect())
})

test('postgres() takes options of pg, and closes all of its connections', async (t) => {
  const schema = temporarySchema(t)
  const { hostname: host, port, username: user, password, pathname } = new URL(pgUrl())
  const database = pathname.slice(1)
  const connection = { host, port: Number(port), user, password, database, application_name: schema }
  const storage = postgres({ connection, schema, statementTimeoutMs: 0 })
  await storage.open({ migrate: true })
  const connections = async () =>
    (await sql('select 1 from pg_stat_activity where application_name = $1', [schema])).length
  t.ok(await connections() > 0)
  await storage.close()
  await until('the end of all connections', async () => await connections() === 0)
  await t.rejects(storage.open(), { code: 'unavailable' }, 'it stays closed')
  await t.resolves(storage.close(), 'a second time too')
})
