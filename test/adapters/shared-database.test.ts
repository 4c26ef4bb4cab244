// Our tables in a host's database: under their own names, with few rights, beside the host's tables and migrations.
import { join } from 'node:path'
import type { Knex } from 'knex'
import type pg from 'pg'
import { test } from 'tap'
import { knexStorage, migrationsSql } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { testApp } from '../helpers/app.ts'
import { inFile } from '../helpers/database-shape.ts'
import { migrated } from '../helpers/migrated.ts'
import { USER_COLUMN_LIST } from '../helpers/plain-users.ts'
import { pgHost, urlOfRole } from '../helpers/postgres.ts'
import { userOf } from '../helpers/records.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { addUser } from '../helpers/writes.ts'

test('on a current schema migrate() needs no right to change it', async (t) => {
  const schema = temporarySchema(t)
  await migrated(t, postgres({ connection: pgUrl(), schema }))
  const connection = await urlOfRole(t, `${schema}_app`, [
    `USAGE ON SCHEMA "${schema}"`, `SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}"`
  ])
  const { app } = await testApp(t, { storage: postgres({ connection, schema }), migrate: true })
  t.equal((await app.users.create({ name: 'A', email: 'a@b.co' })).version, 1)
})

test('a role that may create tables in a schema needs no right to create schemas', async (t) => {
  const [schema, printed] = [temporarySchema(t), temporarySchema(t)]
  for (const each of [schema, printed]) await sql(`create schema "${each}"`)
  const connection = await urlOfRole(t, `${schema}_app`, [`USAGE, CREATE ON SCHEMA "${schema}", "${printed}"`])
  const storage = await migrated(t, postgres({ connection, schema }))
  await t.resolves(storage.open())
  const limited = pgHost(t, { connection, pool: { min: 0, max: 1 } })
  await limited.raw(migrationsSql('pg', { schema: printed }).replaceAll('?', '\\?'))
  await t.resolves(knexStorage(limited, { schema: printed }).open())
})

test('everything of ours begins with the prefix', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const schema = temporarySchema(t)
  const tablePrefix = 'people_'
  const requirements = { filterable: ['plan'] }
  for (const storage of [sqlite({ filename, tablePrefix }), postgres({ connection: pgUrl(), schema, tablePrefix })]) {
    t.teardown(() => storage.close())
    await storage.open({ migrate: true, ...requirements })
  }
  const rows = [
    ...await inFile(filename, "select name from sqlite_master where name not like 'sqlite_autoindex%'"),
    ...await sql(`select relname as name from pg_class where relnamespace = $1::regnamespace
      union select conname from pg_constraint where connamespace = $1::regnamespace and contype <> 'n'
      union select proname from pg_proc where pronamespace = $1::regnamespace
      union select tgname from pg_trigger t join pg_class c on c.oid = tgrelid
        where relnamespace = $1::regnamespace and not tgisinternal`, [schema])
  ]
  const names = rows.map(({ name }) => String(name)).filter((name) => !name.startsWith('pg_toast'))
  t.ok(names.length > 40)
  t.strictSame(names.filter((name) => !name.startsWith('people_')), [])
})

test('with the longest prefix PostgreSQL cuts no name of ours', async (t) => {
  const [schema, printed] = [temporarySchema(t), temporarySchema(t)]
  const tablePrefix = 'p'.repeat(36)
  const requirements = { unique: ['accountNumber', 'u'.repeat(63)], filterable: ['subscriptionPlan', 'f'.repeat(63)] }
  const names = migrationsSql('pg', { schema: printed, tablePrefix, ...requirements }).match(/p{36}\w+/g) ?? []
  t.ok(names.length > 40)
  t.strictSame(names.filter((name) => name.length > 63), [])
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema, tablePrefix }), requirements)
  await t.resolves(storage.open(requirements))
  const add = (n: number) => addUser(storage, userOf(n, { fields: { accountNumber: 7 } }))
  await add(1)
  await t.rejects(add(2), { code: 'field_taken', field: 'accountNumber' })
})

const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => ['001_users'],
  getMigrationName: (name) => name,
  getMigration: async () => ({
    up: async (trx) => { await trx.schema.createTable('users', (table) => { table.increments() }) },
    down: async (trx) => { await trx.schema.dropTable('users') }
  })
}

test('two prefixes, and a host\'s own tables and migrations, share one database', async (t) => {
  const schema = temporarySchema(t)
  await sql(`create schema "${schema}"`)
  const onFile = sqliteHost(join(await temporaryDirectory(t), 'host.db'))
  t.teardown(() => onFile.destroy())
  for (const host of [onFile, pgHost(t, { searchPath: [schema] })]) {
    await host.migrate.latest({ migrationSource })
    const [a, b] = [knexStorage(host), knexStorage(host, { tablePrefix: 'customers_' })]
    for (const storage of [a, b]) {
      await storage.open({ migrate: true })
      await addUser(storage, userOf(1))
    }
    await a.close()
    const list = await host.migrate.list({ migrationSource })
    t.match(list, [[{ name: '001_users' }], []], 'the host\'s migrations are as they were')
    t.match(await host.migrate.latest({ migrationSource }), [Number, []], 'and continue')
    t.strictSame(await host('users').select(), [], 'the host\'s users are the host\'s')
    t.strictSame(await b.users.find(userOf(1).id), userOf(1), 'the host\'s instance is still open')
  }
  const ours = await sql(`select tablename from pg_tables where schemaname = $1 and tablename like '%\\_users'
    order by 1`, [schema])
  const tables = ['customers_deleted_users', 'customers_users', 'fastify_users_deleted_users', 'fastify_users_users']
  t.strictSame(ours, tables.map((tablename) => ({ tablename })), 'in the search path')
})

for (const name of ["o'brien", 'a "b" c', 'Ä@$x$ %']) {
  test(`the schema that a search path begins with may be called ${name}`, async (t) => {
    const quoted = `"${name.replaceAll('"', '""')}"`
    await sql(`CREATE SCHEMA ${quoted}`)
    t.teardown(() => sql(`DROP SCHEMA ${quoted} CASCADE`))
    const afterCreate = (client: pg.Client, done: (error: Error | null) => void) =>
      client.query(`SET search_path TO ${quoted}`, done)
    const host = pgHost(t, { pool: { min: 0, max: 4, afterCreate } })
    const storage = knexStorage(host)
    await storage.open({ migrate: true })
    await host.raw(`INSERT INTO fastify_users_users ${USER_COLUMN_LIST} SELECT 'usr_0' || lpad(n::text, 25, '0'),
      'n', 'n', 'e', n::text, 1, now(), now() FROM generate_series(1, 2000) AS n`)
    await storage.rebuildCounts()
    await host.raw("DELETE FROM fastify_users_users WHERE name_key = 'n' AND email_key < '3'")
    t.match(await storage.verifyCounts(), { users: 777, counted: 777, wrong: 0 })
    t.strictSame((await storage.inspect()).missing, [])
    await storage.rollback(0)
    t.equal((await storage.inspect()).version, 0)
  })
}
