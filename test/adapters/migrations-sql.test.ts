// migrationsSql(): the SQL of the migrations, for a team that runs its DDL itself; and inspect(): what is missing in a
// schema, and what is not in force.
import { join } from 'node:path'
import { test } from 'tap'
import { knexStorage, migrationsSql } from '../../adapters/knex/index.ts'
import { LATEST, migrations } from '../../adapters/knex/schema/migrations.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { inFile, shapeOfFile, shapeOfSchema } from '../helpers/database-shape.ts'
import { migrated } from '../helpers/migrated.ts'
import { runScript, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const clients = ['sqlite3', 'better-sqlite3', '@photostructure/sqlite', 'node:sqlite'] as const

test('on SQLite the SQL makes what migrate() makes with any driver, and reverts it', async (t) => {
  const directory = await temporaryDirectory(t)
  const printed = join(directory, 'printed.db')
  for (const client of clients) t.equal(migrationsSql(client), migrationsSql('sqlite3'))
  await runScript(printed, migrationsSql('sqlite3'))
  await runScript(printed, migrationsSql('sqlite3', { from: LATEST }))
  const applied = await inFile(printed, 'select * from fastify_users_migrations order by version')
  t.match(applied, migrations.map(({ name, compatibleFrom }, i) =>
    ({ version: i + 1, name, applied_at: ISO, compatible_from: compatibleFrom })))
  const storage = sqlite({ filename: printed })
  t.teardown(() => storage.close())
  await t.resolves(storage.open())
  for (const { driver } of sqliteDrivers.filter(({ skip }) => skip === false)) {
    const filename = join(directory, `${driver.replace(':', '-')}.db`)
    await migrated(t, sqlite({ filename, driver }))
    t.strictSame(await shapeOfFile(printed), await shapeOfFile(filename), driver)
  }
  await runScript(printed, migrationsSql('sqlite3', { from: LATEST, to: 0 }))
  t.strictSame(await shapeOfFile(printed), [])
  await t.rejects(storage.open(), { code: 'schema_behind' })
})

for (const profile of ['classic', 'portable'] as const) {
  test(`on PostgreSQL the SQL of the ${profile} profile makes what migrate() makes, and reverts it`, async (t) => {
    const [schema, printed] = [temporarySchema(t), temporarySchema(t)]
    await migrated(t, postgres({ connection: pgUrl(), schema, profile }))
    await sql(migrationsSql('pg', { schema: printed, profile, to: 1 }))
    await sql(migrationsSql('pg', { schema: printed, profile, from: 1, to: LATEST }))
    const applied = await sql(`select * from "${printed}".fastify_users_migrations order by version`)
    t.match(applied, migrations.map(({ name, compatibleFrom }, i) =>
      ({ version: i + 1, name, applied_at: Date, compatible_from: compatibleFrom })))
    const storage = postgres({ connection: pgUrl(), schema: printed })
    t.teardown(() => storage.close())
    await t.resolves(storage.open())
    t.match(await storage.inspect(), { profile, pending: [], missing: [] })
    t.strictSame(await shapeOfSchema(printed), await shapeOfSchema(schema))
    await sql(migrationsSql('pg', { schema: printed, profile, from: LATEST, to: 0 }))
    t.strictSame(await shapeOfSchema(printed), [[], [], [], [], [], []])
    await t.rejects(storage.open(), { code: 'schema_behind' })
  })
}

test('the SQL makes the indexes of fields, and takes them away', async (t) => {
  const schema = temporarySchema(t)
  const filterable = ['plan']
  const unique = ['legacyId']
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  const run = async (script: string) => {
    const statements = script.split(/;\n(?!\s)/).filter((statement) => statement.trim() !== '')
    for (const statement of statements) await host.raw(statement.replaceAll('?', '\\?'))
  }
  const onFile = knexStorage(host)
  await run(migrationsSql('better-sqlite3', { filterable, unique }))
  await t.resolves(onFile.open({ filterable, unique }))
  await run(migrationsSql('better-sqlite3', { from: LATEST, to: 0, filterable }))
  t.equal((await onFile.inspect()).version, 0)

  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await sql(migrationsSql('pg', { schema }))
  t.strictSame((await storage.inspect({ filterable })).unindexed, ['plan'])
  t.strictSame((await storage.inspect({ unique })).notUnique, unique)
  await sql(migrationsSql('pg', { schema, from: LATEST, filterable, unique }))
  await t.resolves(storage.open({ filterable, unique }))
  await sql(migrationsSql('pg', { schema, from: LATEST, to: 0, filterable }))
  t.equal((await storage.inspect()).version, 0)
  for (const to of [0, 1]) {
    t.throws(() => migrationsSql('pg', { to, filterable: ['a"; DROP'] }), { name: 'TypeError' })
  }
})

test('refuses wrong options and other databases', async (t) => {
  const untyped = (value: unknown) => JSON.parse(JSON.stringify(value))
  t.throws(() => migrationsSql('pg', untyped({ from: -1, to: 99, version: 1 })), {
    name: 'TypeError',
    message: /3 wrong options/
  })
  for (const [option, value] of [['schema', 'x'], ['profile', 'portable']] as const) {
    const message = `fastify-users: the option ${option} is for PostgreSQL`
    t.throws(() => migrationsSql('sqlite3', { [option]: value }), { name: 'TypeError', message })
  }
  t.throws(() => migrationsSql(untyped('mysql')), TypeError)
})

test('reports the version, the migrations to apply, and what was dropped or disabled', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  const requirements = { filterable: ['plan'] }
  const found = { latest: LATEST, profile: 'classic', missing: [], unindexed: ['plan'], notUnique: [], searchable: '' }
  t.match(await storage.inspect(requirements), {
    ...found, version: 0, compatibleFrom: 0, pending: migrations.map(({ name }) => name)
  })
  await storage.open({ migrate: true })
  t.match(await storage.inspect(requirements), { ...found, version: LATEST, compatibleFrom: 1, pending: [] })
  await sql(`drop index "${schema}".fastify_users_users_name_key;
    alter table "${schema}".fastify_users_users disable trigger fastify_users_counting_delete;
    update pg_index set indisvalid = false
      where indexrelid = '"${schema}".fastify_users_users_email_unique'::regclass`)
  // The second is the unique constraint, whose index is not valid.
  t.strictSame((await storage.inspect()).missing.sort(),
    ['fastify_users_counting_delete', 'fastify_users_users_email_unique', 'fastify_users_users_name_key'])
})

test('SQLite: detects what was dropped, and a table that was made again with other constraints', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const storage = await migrated(t, sqlite({ filename }))
  t.strictSame((await storage.inspect()).missing, [])
  await inFile(filename, 'drop index fastify_users_users_name_key')
  await inFile(filename, 'drop trigger fastify_users_counting_delete')
  const dropped = ['fastify_users_counting_delete', 'fastify_users_users_name_key']
  t.strictSame((await storage.inspect()).missing.sort(), dropped)
  await storage.rollback(0)
  await storage.open({ migrate: true })
  const [table] = await inFile(filename, "SELECT sql FROM sqlite_master WHERE name = 'fastify_users_users'")
  const others = await inFile(filename, `SELECT sql FROM sqlite_master
    WHERE tbl_name = 'fastify_users_users' AND type <> 'table' AND sql IS NOT NULL`)
  const without = String(table?.['sql'])
    .replace(/,\s+CONSTRAINT "\w+" UNIQUE \([^)]+\)| CONSTRAINT "\w+" UNIQUE/g, '')
  const [pkey, emailUnique] = ['fastify_users_users_pkey', 'fastify_users_users_email_unique']
  for (const [constraints, missing] of [
    ['', [pkey, emailUnique]],
    [', UNIQUE (email_key, tenant), UNIQUE (id)', [pkey, emailUnique]],
    [', UNIQUE (id), UNIQUE (email_key)', [emailUnique]],
    [', UNIQUE (id), UNIQUE (email_key, tenant)', []]
  ] as const) {
    const recreated = without.replace(/\)$/, () => `${constraints})`)
    const statements = ['DROP TABLE fastify_users_users', recreated, ...others.map(({ sql }) => String(sql))]
    for (const statement of statements) await inFile(filename, statement)
    t.strictSame((await storage.inspect()).missing, missing, constraints)
  }
})
