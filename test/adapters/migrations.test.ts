// Our tables in somebody else's database: made explicitly, once, by whoever comes first, and never by guessing.
import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Fastify from 'fastify'
import knex from 'knex'
import type pg from 'pg'
import { test, type Test } from 'tap'
import { knexStorage, migrationsSql } from '../../adapters/knex/index.ts'
import { migrations } from '../../adapters/knex/schema/migrations.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import users from '../../lib/index.ts'
import { pgBouncerUrl, pgUrl, sql, stores, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { runScript, sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { plainNode } from '../helpers/plain-node.ts'

const run = promisify(execFile)
const START = join(import.meta.dirname, '..', 'helpers', 'start-once.mjs')

/** Runs a statement in an SQLite file. */
async function inFile (filename: string, statement: string): Promise<Array<Record<string, unknown>>> {
  const other = sqliteHost(filename)
  try {
    return await other.raw(statement)
  } finally {
    await other.destroy()
  }
}

for (const { driver, skip } of sqliteDrivers) {
  test(`eight concurrent processes on an empty database, SQLite by ${driver}`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'new', 'users.db')
    const schema = temporarySchema(t)
    const pooler = pgBouncerUrl()
    const pooledSchema = temporarySchema(t)
    for (const args of [['sqlite', filename, driver], ['postgres', pgUrl(), schema], ...(pooler === undefined ? [] : [['postgres', pooler, pooledSchema, 'pooler']])]) {
      const started = await Promise.all(Array.from({ length: 8 }, () => run(...plainNode(START, ...args))))
      t.strictSame(started.map(({ stdout }) => stdout).sort(), [...Array.from({ length: 7 }, () => 'started'), 'started first'], args.join(' '))
    }
    const versions = migrations.map((_, i) => ({ version: i + 1 }))
    t.strictSame(await inFile(filename, 'select version from fastify_users_migrations order by 1'), versions)
    t.strictSame(await sql(`select version from "${schema}".fastify_users_migrations order by 1`), versions)
    t.strictSame(await inFile(filename, 'select count(*) as n from fastify_users_users'), [{ n: 8 }])
    t.strictSame(await sql(`select count(*)::int as n from "${schema}".fastify_users_users`), [{ n: 8 }])
  })
}

test('a schema that is behind or newer is a clear error at registration', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const schema = temporarySchema(t)
  const both = [
    { make: () => sqlite({ filename }), alter: (statement: string) => inFile(filename, statement.replace('TABLE', 'fastify_users_migrations')) },
    { make: () => postgres({ connection: pgUrl(), schema }), alter: (statement: string) => sql(statement.replace('TABLE', `"${schema}".fastify_users_migrations`)) }
  ]
  for (const { make, alter } of both) {
    const register = async (migrate: boolean) => {
      const app = Fastify()
      t.teardown(() => app.close())
      await app.register(users, { storage: make(), migrate })
    }
    await t.rejects(register(false), { name: 'StorageError', code: 'schema_behind', message: `the tables are at version 0, this code needs ${migrations.length}: call storage.migrate(), or register with migrate: true` })
    await register(true)
    await register(false)
    await alter("insert into TABLE (version, name, applied_at) values (99, 'later', '2026-01-01T00:00:00.000Z')")
    await t.rejects(register(false), { code: 'schema_newer', message: `the tables are at version 99, this code knows ${migrations.length}: install a newer fastify-users` })
    await t.rejects(register(true), { code: 'schema_newer' })
    await alter('delete from TABLE')
    await t.rejects(register(false), { code: 'schema_behind' }, 'an empty bookkeeping is no schema')
  }
})

test('a migration that fails leaves nothing behind', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const schema = temporarySchema(t)
  await inFile(filename, 'create table fastify_users_api_keys (mine int)')
  await sql(`create schema "${schema}"`)
  await sql(`create table "${schema}".fastify_users_api_keys (mine int)`)
  for (const storage of [sqlite({ filename }), postgres({ connection: pgUrl(), schema })]) {
    t.teardown(() => storage.close())
    await t.rejects(storage.migrate(), { code: 'fault' })
    await t.rejects(storage.check(), { code: 'schema_behind' })
  }
  t.strictSame(await inFile(filename, "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"), [{ name: 'fastify_users_api_keys' }])
  t.strictSame(await sql('select tablename from pg_tables where schemaname = $1', [schema]), [{ tablename: 'fastify_users_api_keys' }])
})

/** Everything in an SQLite file, and in a schema of PostgreSQL, that is not data. */
const shapeOfFile = (filename: string) => inFile(filename, "select name, replace(sql, ' IF NOT EXISTS', '') as sql from sqlite_master order by name")
const shapeOfSchema = async (schema: string) => JSON.parse(JSON.stringify([
  await sql('select table_name, column_name, data_type, collation_name, is_nullable, datetime_precision from information_schema.columns where table_schema = $1 order by 1, 2', [schema]),
  await sql('select conname, pg_get_constraintdef(oid) as def from pg_constraint where connamespace = $1::regnamespace order by 1', [schema]),
  await sql('select indexname, indexdef from pg_indexes where schemaname = $1 order by 1', [schema]),
  await sql('select proname, prosrc, prosecdef, proconfig, pg_get_function_identity_arguments(oid) as args from pg_proc where pronamespace = $1::regnamespace order by 1', [schema]),
  await sql('select tgname, pg_get_triggerdef(t.oid) as def from pg_trigger t join pg_class c on c.oid = tgrelid where relnamespace = $1::regnamespace and not tgisinternal order by 1', [schema])
]).replaceAll(schema, 'SCHEMA'))

test('the printed SQL makes what migrate makes, step by step too, and takes it back', async (t) => {
  const directory = await temporaryDirectory(t)
  const [migratedFile, printedFile] = [join(directory, 'a.db'), join(directory, 'b.db')]
  const [migratedSchema, printedSchema] = [temporarySchema(t), temporarySchema(t)]
  const others = sqliteDrivers.filter(({ driver, skip }) => driver !== sqliteDriver && skip === false).map(({ driver }) => ({ driver, filename: join(directory, `${driver.replace(':', '-')}.db`) }))
  const onFile = [{ driver: sqliteDriver, filename: migratedFile }, ...others].map((options) => sqlite(options))
  for (const storage of [...onFile, postgres({ connection: pgUrl(), schema: migratedSchema })]) {
    await storage.migrate()
    await storage.close()
  }
  for (const client of ['sqlite3', 'better-sqlite3', 'node:sqlite'] as const) t.equal(migrationsSql(client), migrationsSql('sqlite3'))
  await runScript(printedFile, migrationsSql('sqlite3', { to: 1 }))
  await runScript(printedFile, migrationsSql('sqlite3', { from: 1 }))
  await sql(migrationsSql('pg', { schema: printedSchema, to: 1 }))
  await sql(migrationsSql('pg', { schema: printedSchema, from: 1, to: migrations.length }))
  const printed = [sqlite({ filename: printedFile }), postgres({ connection: pgUrl(), schema: printedSchema })]
  for (const storage of printed) {
    t.teardown(() => storage.close())
    await storage.check()
    await storage.migrate()
  }
  t.strictSame(await shapeOfFile(printedFile), await shapeOfFile(migratedFile))
  for (const { filename, driver } of others) t.strictSame(await shapeOfFile(filename), await shapeOfFile(migratedFile), driver)
  t.strictSame(await shapeOfSchema(printedSchema), await shapeOfSchema(migratedSchema))
  t.match(await sql(`select applied_at from "${printedSchema}".fastify_users_migrations`), migrations.map(() => ({ applied_at: Date })))
  t.match(await inFile(printedFile, 'select applied_at from fastify_users_migrations'), migrations.map(() => ({ applied_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ })))
  await runScript(printedFile, migrationsSql('sqlite3', { from: migrations.length, to: 0 }))
  await sql(migrationsSql('pg', { schema: printedSchema, from: migrations.length, to: 0 }))
  t.strictSame(await shapeOfFile(printedFile), [])
  t.strictSame(await shapeOfSchema(printedSchema), [[], [], [], [], []])
  for (const storage of printed) await t.rejects(storage.check(), { code: 'schema_behind' })
  t.equal(migrationsSql('pg', { from: 0, to: 0 }), 'BEGIN ISOLATION LEVEL READ COMMITTED;\nCOMMIT;\n')
  const untyped = (value: unknown) => JSON.parse(JSON.stringify(value))
  t.throws(() => migrationsSql('pg', untyped({ from: -1, to: 99, version: 1 })), { name: 'TypeError', message: /3 wrong options/ })
  t.throws(() => migrationsSql('sqlite3', { schema: 'x' }), { name: 'TypeError', message: 'fastify-users: the option schema is for PostgreSQL' })
  t.throws(() => migrationsSql(untyped('mysql')), TypeError)
})

test('a rollback goes back step by step, also when many ask for it, and touches nothing of the host', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const schema = temporarySchema(t)
  const both = [
    { storage: sqlite({ filename }), run: (statement: string) => inFile(filename, statement.replace('"SCHEMA".', '')) },
    { storage: postgres({ connection: pgUrl(), schema }), run: (statement: string) => sql(statement.replace('SCHEMA', schema)) }
  ]
  for (const { storage, run } of both) {
    t.teardown(() => storage.close())
    await storage.migrate()
    await run('create table "SCHEMA".orders (id int)')
    for (const wrong of [-1, 0.5, migrations.length + 1, NaN]) await t.rejects(storage.rollback(wrong), TypeError)
    await storage.rollback(migrations.length)
    await storage.check()
    await Promise.all([0, 0, 1, 0].map((version) => storage.rollback(version)))
    await t.rejects(storage.check(), { code: 'schema_behind', message: /at version 0/ })
    t.strictSame(await run('select count(*) as n from "SCHEMA".orders').then(([row]) => Number(row?.['n'])), 0)
    await storage.migrate()
    await run("insert into \"SCHEMA\".fastify_users_migrations (version, name, applied_at) values (99, 'later', '2026-01-01T00:00:00.000Z')")
    await t.rejects(storage.rollback(0), { code: 'schema_newer' })
  }
  t.strictSame((await shapeOfFile(filename)).map(({ name }) => name).filter((name) => !String(name).includes('fastify_users')), ['orders'])
})

test('an SQLite table made again without its constraints, or with these in another order, is told of', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const storage = sqlite({ filename })
  t.teardown(() => storage.close())
  await storage.migrate()
  t.strictSame((await storage.inspect()).missing, [])
  const [{ sql: made } = {}] = await inFile(filename, "SELECT sql FROM sqlite_master WHERE name = 'fastify_users_users'")
  const later = await inFile(filename, "SELECT sql FROM sqlite_master WHERE tbl_name = 'fastify_users_users' AND type <> 'table' AND sql IS NOT NULL")
  const without = String(made).replace(/ CONSTRAINT "\w+" (PRIMARY KEY|UNIQUE)/g, '')
  for (const [table, missing] of [
    [without, ['fastify_users_users_pkey', 'fastify_users_users_email_unique']],
    [without.replace(/\)$/, ', UNIQUE (email_key), PRIMARY KEY (id))'), ['fastify_users_users_pkey', 'fastify_users_users_email_unique']],
    [without.replace(/\)$/, ', PRIMARY KEY (id))'), ['fastify_users_users_email_unique']],
    [without.replace(/\)$/, ', PRIMARY KEY (id), UNIQUE (email_key, name))'), ['fastify_users_users_email_unique']],
    [without.replace(/\)$/, ', PRIMARY KEY (id), UNIQUE (email_key))'), []]
  ] as const) {
    for (const statement of ['DROP TABLE fastify_users_users', table, ...later.map(({ sql }) => String(sql))]) await inFile(filename, statement)
    t.strictSame((await storage.inspect()).missing, missing, table)
  }
})

test('eight pools migrate and roll back at once', async (t) => {
  for (const schema of Array.from({ length: 5 }, () => temporarySchema(t))) {
    const storages = Array.from({ length: 8 }, () => postgres({ connection: pgUrl(), schema, pool: { max: 1 } }))
    const all = (step: (storage: (typeof storages)[number], i: number) => Promise<void>) => Promise.all(storages.map(step))
    await all((storage) => storage.migrate())
    await all((storage, i) => storage.rollback(i % 2))
    await t.rejects(storages[0]?.check() ?? Promise.resolve(), { code: 'schema_behind' })
    await all((storage) => storage.migrate())
    await all((storage) => storage.check())
    await all((storage) => storage.close())
  }
})

test('on a current schema migrate asks for no right to change it', async (t) => {
  const schema = temporarySchema(t)
  const owner = postgres({ connection: pgUrl(), schema })
  t.teardown(() => owner.close())
  await owner.migrate()
  const role = `${schema}_app`
  await sql(`create role "${role}" login password 'x'`)
  t.teardown(() => sql(`drop owned by "${role}"; drop role "${role}"`))
  await sql(`grant usage on schema "${schema}" to "${role}"; grant select, insert, update, delete on all tables in schema "${schema}" to "${role}"`)
  const url = new URL(pgUrl())
  url.username = role
  url.password = 'x'
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: postgres({ connection: url.href, schema }), migrate: true })
  t.equal((await app.users.create({ name: 'A', email: 'a@b.co' })).version, 1)
  const empty = temporarySchema(t)
  await sql(`create schema "${empty}"; grant usage, create on schema "${empty}" to "${role}"`)
  const inPrepared = postgres({ connection: url.href, schema: empty })
  t.teardown(() => inPrepared.close())
  await inPrepared.migrate()
  await inPrepared.check()
  const printed = temporarySchema(t)
  await sql(`create schema "${printed}"; grant usage, create on schema "${printed}" to "${role}"`)
  const limited = knex({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } })
  t.teardown(() => limited.destroy())
  await limited.raw(migrationsSql('pg', { schema: printed }).replaceAll('?', '\\?'))
  await knexStorage(limited, { schema: printed }).check()
})

test('everything of ours has the prefix in its name', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const schema = temporarySchema(t)
  const storages = [sqlite({ filename, tablePrefix: 'people_' }), postgres({ connection: pgUrl(), schema, tablePrefix: 'people_' })]
  for (const storage of storages) {
    t.teardown(() => storage.close())
    await storage.migrate()
  }
  const names = [
    ...await inFile(filename, "select name from sqlite_master where name not like 'sqlite_autoindex%'"),
    ...await sql('select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind in (\'r\', \'i\')', [schema]),
    ...await sql('select conname as name from pg_constraint where connamespace = $1::regnamespace and contype <> \'n\'', [schema])
  ].map(({ name }) => String(name))
  t.ok(names.length > 12)
  t.ok(names.every((name) => name.startsWith('people_')), names.join(' '))
})

test('two prefixes, and a host\'s own tables and migrations, share one database', async (t) => {
  const hostMigrations = {
    getMigrations: async () => ['001_orders'],
    getMigrationName: (name: string) => name,
    getMigration: async () => ({
      up: async (trx: knex.Knex) => { await trx.schema.createTable('users', (table) => { table.increments() }) },
      down: async (trx: knex.Knex) => { await trx.schema.dropTable('users') }
    })
  }
  const schema = temporarySchema(t)
  await sql(`create schema "${schema}"`)
  const hosts = [
    sqliteHost(join(await temporaryDirectory(t), 'host.db')),
    knex({ client: 'pg', connection: pgUrl(), searchPath: [schema], pool: { min: 0, max: 4 } })
  ]
  for (const host of hosts) {
    t.teardown(() => host.destroy())
    await host.migrate.latest({ migrationSource: hostMigrations })
    const [a, b] = [knexStorage(host), knexStorage(host, { tablePrefix: 'customers_' })]
    for (const storage of [a, b]) {
      await storage.migrate()
      await storage.createUser({ id: 'usr_01h455vb4pex5vsknk084sn02q', name: 'A', email: 'a@b.co', fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }, { emailKey: 'a@b.co', nameKey: 'a' }, null)
    }
    await a.close()
    t.match(await host.migrate.list({ migrationSource: hostMigrations }), [[{ name: '001_orders' }], []], 'the host\'s migrations are what they were')
    t.match(await host.migrate.latest({ migrationSource: hostMigrations }), [Number, []], 'and go on')
    t.strictSame(await host('users').select(), [], 'the host\'s users are the host\'s')
    t.equal((await b.findUser('usr_01h455vb4pex5vsknk084sn02q'))?.name, 'A', 'closing a storage leaves the host\'s instance open')
  }
  t.strictSame(await sql('select count(*)::int as n from pg_tables where schemaname = $1 and tablename like \'%\\_users\'', [schema]), [{ n: 2 }], 'our tables follow the host\'s search path')
})

test('the schema that a search path begins with may have any name', async (t) => {
  for (const name of ["o'brien", 'a "b" c', 'Ä@$x$ %']) {
    const quoted = `"${name.replaceAll('"', '""')}"`
    await sql(`CREATE SCHEMA ${quoted}`)
    t.teardown(() => sql(`DROP SCHEMA ${quoted} CASCADE`))
    const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 4, afterCreate: (client: pg.Client, done: (error: Error | null) => void) => client.query(`SET search_path TO ${quoted}`, done) } })
    t.teardown(() => host.destroy())
    const storage = knexStorage(host)
    await storage.migrate()
    await host.raw('INSERT INTO fastify_users_users SELECT \'usr_0\' || lpad(n::text, 25, \'0\'), \'n\', \'n\', \'e\', n::text, 1, now(), now() FROM generate_series(1, 2000) AS n')
    await storage.rebuildCounts()
    await host.raw("DELETE FROM fastify_users_users WHERE name_key = 'n' AND email_key < '3'")
    const { users, counted, wrong } = await storage.verifyCounts()
    t.strictSame([users, counted, wrong], [users, users, 0], name)
    t.strictSame((await storage.inspect()).missing, [])
    await storage.rollback(0)
    t.equal((await storage.inspect()).version, 0)
  }
})

test('knex migrate:latest on the command line goes on working beside us', async (t) => {
  const cwd = await temporaryDirectory(t)
  const schema = temporarySchema(t)
  await sql(`create schema "${schema}"`)
  await mkdir(join(cwd, 'migrations'))
  const step = (n: number) => writeFile(join(cwd, 'migrations', `${n}_table.cjs`), `exports.up = (knex) => knex.schema.createTable('users${n}', (table) => { table.increments() })\nexports.down = (knex) => knex.schema.dropTable('users${n}')\n`)
  const configs = [
    // The configuration is printed into a file, so its client must have a name.
    ...sqliteDrivers.filter(({ driver, skip }) => driver !== 'node:sqlite' && skip === false)
      .map(({ driver }) => ({ client: driver, connection: { filename: join(cwd, `${driver}.db`) }, useNullAsDefault: true })),
    { client: 'pg', connection: pgUrl(), searchPath: [schema] }
  ]
  for (const [i, config] of configs.entries()) {
    await writeFile(join(cwd, `knexfile${i}.cjs`), `module.exports = ${JSON.stringify({ ...config, migrations: { directory: './migrations', extension: 'cjs', loadExtensions: ['.cjs'] } })}`)
    // The command line looks for knex beside the knexfile.
    const command = (name: string) => run(...plainNode(join(import.meta.dirname, '..', '..', 'node_modules', 'knex', 'bin', 'cli.js'), name, '--knexfile', join(cwd, `knexfile${i}.cjs`)), { cwd, env: { PATH: process.env['PATH'], NODE_PATH: join(import.meta.dirname, '..', '..', 'node_modules') } })
    await step(1)
    t.match((await command('migrate:latest')).stdout, 'Batch 1 run: 1 migrations')
    const host = knex(config)
    t.teardown(() => host.destroy())
    const storage = knexStorage(host)
    await storage.migrate()
    await step(2)
    t.match((await command('migrate:latest')).stdout, 'Batch 2 run: 1 migrations')
    await storage.check()
    t.match((await command('migrate:rollback')).stdout, 'Batch 2 rolled back: 1 migrations')
    await storage.rollback(0)
    t.match((await command('migrate:list')).stdout, /1_table.cjs/)
    t.match((await command('migrate:latest')).stdout, 'Batch 2 run: 1 migrations')
    await rm(join(cwd, 'migrations', '2_table.cjs'))
  }
})

for (const store of stores) {
  test(`migrate on a current schema changes nothing on ${store.name}`, async (t: Test) => {
    const storage = await store.create(t)
    t.teardown(() => storage.close())
    await storage.migrate()
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(users, { storage })
    await app.users.create({ name: 'A', email: 'a@b.co' })
    await storage.migrate()
    t.equal((await app.users.list()).meta.total, 1)
  })
}
