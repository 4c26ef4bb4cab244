// Our tables are created, checked and dropped explicitly, by one process at a time.
import { join } from 'node:path'
import Fastify from 'fastify'
import { test } from 'tap'
import { LATEST } from '../../adapters/knex/schema/migrations.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import users from '../../lib/index.ts'
import { databases } from '../helpers/cli.ts'
import { TABLES } from '../helpers/each-kind.ts'
import { inFile, shapeOfFile, shapeOfSchema } from '../helpers/database-shape.ts'
import { migrated } from '../helpers/migrated.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

/** A row for tables of this version, which code of another version, and later code, works with. */
const newer = (version: number, compatibleFrom: number): string =>
  `(version, name, applied_at, compatible_from) values (${version}, 'x', '2026-01-01T00:00:00.000Z', ${compatibleFrom})`

test('a schema that is behind or newer is a clear error at registration', async (t) => {
  for (const { create } of databases) {
    const { open, execute } = await create(t)
    const register = async (migrate: boolean) => {
      const app = Fastify()
      t.teardown(() => app.close())
      await app.register(users, { storage: open(), migrate })
    }
    await t.rejects(register(false), {
      name: 'StorageError',
      code: 'schema_behind',
      message: `the tables are at version 0, this code needs ${LATEST}: call storage.open({ migrate: true }), ` +
        'or register with migrate: true'
    })
    await t.resolves(register(true))
    await t.resolves(register(false))
    await execute(`insert into @fastify_users_migrations ${newer(99, LATEST + 1)}`)
    await t.rejects(register(false), {
      code: 'schema_newer',
      message: `the tables are at version 99, this code knows ${LATEST}: install a newer fastify-users`
    })
    await t.rejects(register(true), { code: 'schema_newer' })
    await execute('delete from @fastify_users_migrations')
    await t.rejects(register(false), { code: 'schema_behind' }, 'without a recorded migration there is no schema')
  }
})

test('newer tables that are compatible are worked with, and changed by newer code alone', async (t) => {
  for (const { create } of databases) {
    const { open, execute } = await create(t)
    const running = Fastify()
    t.teardown(() => running.close())
    const storage = open()
    await running.register(users, { storage, migrate: true })
    await execute(`insert into @fastify_users_migrations ${newer(LATEST + 1, LATEST)}`)
    for (const table of TABLES) await execute(`alter table @fastify_users_${table} add column later text`)
    for (const migrate of [false, true]) {
      const started = Fastify()
      t.teardown(() => started.close())
      await started.register(users, { storage: open(), migrate })
      await started.users.create({ name: 'A', email: `${migrate}@example.org` })
    }
    await storage.open()
    await storage.rebuildCounts()
    t.equal((await running.users.list()).meta.total, 2)
    await execute('drop index @fastify_users_users_name_key')
    t.match(await storage.inspect({ unique: ['plan'] }), {
      version: LATEST + 1, compatibleFrom: LATEST, pending: [], missing: [], notUnique: ['plan']
    }, 'what newer tables lack is not known, but for the indexes of fields')
    await t.rejects(storage.open({ migrate: true }), { code: 'schema_newer' })
    await t.rejects(storage.rollback(0), { code: 'schema_newer' })
    await execute(`insert into @fastify_users_migrations ${newer(LATEST + 2, LATEST + 2)}`)
    await t.rejects(storage.open(), { code: 'schema_newer' })
    await t.rejects(storage.rebuildCounts(), { code: 'schema_newer' })
    await execute('delete from @fastify_users_migrations')
    await t.rejects(storage.rebuildCounts(), { code: 'schema_behind' })
  }
})

test('a migration that fails leaves nothing behind', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const schema = temporarySchema(t)
  await inFile(filename, 'create table fastify_users_api_keys (mine int)')
  await sql(`create schema "${schema}"; create table "${schema}".fastify_users_api_keys (mine int)`)
  for (const storage of [sqlite({ filename }), postgres({ connection: pgUrl(), schema })]) {
    t.teardown(() => storage.close())
    await t.rejects(storage.open({ migrate: true }), { code: 'fault' })
    await t.rejects(storage.open(), { code: 'schema_behind' })
  }
  t.strictSame((await shapeOfFile(filename)).map(({ name }) => name), ['fastify_users_api_keys'])
  const tables = await sql('select tablename from pg_tables where schemaname = $1', [schema])
  t.strictSame(tables, [{ tablename: 'fastify_users_api_keys' }])
})

test('a rollback drops our tables, also if many processes ask for it, and nothing of the host', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const schema = temporarySchema(t)
  const cases = [{
    storage: sqlite({ filename }),
    run: (statement: string) => inFile(filename, statement.replace('"SCHEMA".', ''))
  }, {
    storage: postgres({ connection: pgUrl(), schema }),
    run: (statement: string) => sql(statement.replace('SCHEMA', schema))
  }]
  for (const { storage, run } of cases) {
    await migrated(t, storage)
    await run('create table "SCHEMA".orders (id int)')
    for (const wrong of [-1, 0.5, LATEST + 1, NaN]) await t.rejects(storage.rollback(wrong), TypeError)
    await storage.rollback(LATEST)
    await t.resolves(storage.open(), 'a rollback to the current version changes nothing')
    await Promise.all([0, 0, 1, 0].map((version) => storage.rollback(version)))
    await t.rejects(storage.open(), { code: 'schema_behind', message: /at version 0, this code needs/ })
    await t.resolves(storage.rollback(1), 'a rollback to a later version changes nothing')
    t.equal((await storage.inspect()).version, 0)
    t.strictSame(await run('select id from "SCHEMA".orders'), [])
    await storage.open({ migrate: true })
    await run(`insert into "SCHEMA".fastify_users_migrations ${newer(99, LATEST + 1)}`)
    await t.rejects(storage.rollback(0), { code: 'schema_newer' })
    await run('delete from "SCHEMA".fastify_users_migrations where version = 99')
    await storage.rollback(0)
  }
  t.strictSame((await shapeOfFile(filename)).map(({ name }) => name), ['orders'])
  t.strictSame((await shapeOfSchema(schema)).map((rows) => rows.length), [1, 0, 0, 0, 0, 1], 'one column of one table')
})
