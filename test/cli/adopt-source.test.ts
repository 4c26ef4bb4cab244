// The reader of fastify-users adopt, on tables of others: exact keys and values, conditions, moments.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { readMapping } from '../../cli/adopt-mapping.ts'
import { readTable, type SourceTable } from '../../cli/adopt-source.ts'
import { failureOf, Refusal } from '../../cli/failure.ts'
import { openSource, type SourceDatabase } from '../../cli/source-database.ts'
import { pgSourceOf, sourceOf, usersOf } from '../helpers/sources.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import '../helpers/watch-all.ts'

const fields = { properties: { legacyId: { type: 'string' } } }
const mapping = readMapping('name=full_name,email=email,legacyId=id', fields)
const accounts: SourceTable = { table: 'accounts', key: 'id', mapping }

const BASE = 1234567890123456700n
const INT64_MAX = 2n ** 63n - 1n
const ids = [-INT64_MAX - 1n, 7n, ...Array.from({ length: 600 }, (_, i) => BASE + BigInt(i)), INT64_MAX]

for (const { driver, skip } of sqliteDrivers) {
  test(`reads integers of 64 bits exactly, and every row once, on ${driver}`, { skip }, async (t) => {
    const values = ids.map((id, i) => `(${id}, 'N${i}', 'n${i}@example.org')`).join()
    const { filename } = await sourceOf(t, 'CREATE TABLE accounts (id INTEGER PRIMARY KEY, full_name TEXT, email TEXT)',
      `INSERT INTO accounts VALUES ${values}`)
    const knex = sqliteHost(filename, { driver })
    t.teardown(() => knex.destroy())
    const users = await usersOf({ kind: 'sqlite', knex }, accounts)
    t.strictSame(users, ids.map((id, i) =>
      [String(id), { name: `N${i}`, email: `n${i}@example.org`, legacyId: String(id) }]))
    const rest = await usersOf({ kind: 'sqlite', knex }, { ...accounts, after: String(BASE + 597n) })
    t.strictSame(rest.map(([key]) => key), ids.slice(-3).map(String))
  })
}

test('reads keys of a column without a type in the order of SQLite: numbers, then text', async (t) => {
  const keys = Array.from({ length: 600 }, (_, i) => i < 300
    ? String(i % 2 === 0 ? i + 0.5 : i)
    : `'${String(i - 300).padStart(3, '0')}'`)
  const { source } = await sourceOf(t, 'CREATE TABLE accounts (id UNIQUE, full_name, email)',
    `INSERT INTO accounts VALUES ${keys.map((key) => `(${key}, 'N', 'n@example.org')`).join()}`)
  t.strictSame((await usersOf(source, accounts)).map(([key]) => key), keys.map((key) => key.replaceAll("'", '')))
})

test('ends with an error if the keys of a step are those of the step before', async (t) => {
  const { source, filename } = await sourceOf(t,
    'CREATE TABLE accounts (id INTEGER PRIMARY KEY, full_name TEXT, email TEXT)',
    'INSERT INTO accounts WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) ' +
    "SELECT i, 'N' || i, 'n' || i || '@example.org' FROM n")
  // A driver that cuts off what it can not hold.
  const knex = sqliteHost(filename, {
    postProcessResponse: (rows) => rows.map((row: object) => ({ ...row, ...('k' in row && { k: '0' }) }))
  })
  t.teardown(() => knex.destroy())
  await t.rejects(usersOf({ ...source, knex }, accounts),
    new Refusal('the column of --key can not be read in steps, after the row 0: name one of integers or text'))
})

test('takes question marks and backslashes in a condition as they are', async (t) => {
  const table = '(id INTEGER PRIMARY KEY, full_name TEXT, email TEXT)'
  const rows = String.raw`VALUES (1, 'what?', 'a'), (2, 'b\?', 'b'), (3, 'b\\?', 'c'), (4, 'd', 'd')`
  const { source } = await sourceOf(t, `CREATE TABLE accounts ${table}`, `INSERT INTO accounts ${rows}`)
  const schema = temporarySchema(t)
  await sql(`CREATE SCHEMA "${schema}"`)
  await sql(`CREATE TABLE "${schema}".accounts ${table}`)
  await sql(`INSERT INTO "${schema}".accounts ${rows}`)
  const postgres = openSource(pgUrl())
  t.teardown(() => postgres.knex.destroy())
  const keysWhere = async (from: SourceDatabase, table: string, where: string) =>
    (await usersOf(from, { ...accounts, table, where })).map(([key]) => key)
  for (const [where, keys] of [
    ["full_name = 'what?'", ['1']], ["full_name <> 'what?'", ['2', '3', '4']],
    ["full_name LIKE '%?' AND id > 1", ['2', '3']],
    [String.raw`full_name = 'b\?'`, ['2']], [String.raw`full_name = 'b\\?'`, ['3']]
  ] as const) {
    t.strictSame(await keysWhere(source, 'accounts', where), keys, `SQLite: ${where}`)
    t.strictSame(await keysWhere(postgres, `${schema}.accounts`, where), keys, `PostgreSQL: ${where}`)
  }
  t.strictSame(await keysWhere(postgres, `${schema}.accounts`, String.raw`full_name ~ '^b\\\?$'`), ['2'])
  t.strictSame(await keysWhere(postgres, `${schema}.accounts`, "jsonb_build_object(full_name, 1) ? 'd'"), ['4'])
  await t.rejects(keysWhere(source, 'accounts', 'id = ?'), { message: /^the table can not be read: / })
})

test('says why a key can not be compared', async (t) => {
  const schema = temporarySchema(t)
  await sql(`CREATE SCHEMA "${schema}"`)
  await sql(`CREATE TABLE "${schema}".accounts (id json, full_name text, email text)`)
  const source = openSource(pgUrl())
  t.teardown(() => source.knex.destroy())
  await t.rejects(readTable(source, { ...accounts, table: `${schema}.accounts` }),
    new Refusal('the table can not be read: could not identify an equality operator for type json'))
})

test('shows no value of a row or an option if the values of a condition do not fit', async (t) => {
  const schema = temporarySchema(t)
  await sql(`CREATE SCHEMA "${schema}"`)
  await sql(`CREATE TABLE "${schema}".accounts (id integer PRIMARY KEY, full_name text, email text)`)
  await sql(`INSERT INTO "${schema}".accounts VALUES (1, 'secret', 'secret@example.org')`)
  const source = openSource(pgUrl())
  t.teardown(() => source.knex.destroy())
  const refusal = new Refusal(
    'the table can not be read: a value of --where, --after or --since does not fit its type (22P02)')
  const table = `${schema}.accounts`
  await t.rejects(readTable(source, { ...accounts, table, where: 'email::integer = 1' }), refusal)
  await t.rejects(readTable(source, { ...accounts, table, after: 'secret' }), refusal)
})

test('says what is wrong with a source that goes away while it is read', async (t) => {
  const { source, filename } = await sourceOf(t, 'CREATE TABLE accounts (id INTEGER PRIMARY KEY, full_name, email)',
    "INSERT INTO accounts VALUES (1, 'secret', 'secret@example.org')")
  const { rows } = await readTable(source, accounts)
  const owner = sqliteHost(filename)
  await owner.raw('DROP TABLE accounts')
  await owner.destroy()
  await t.rejects(async () => { for await (const step of rows) t.fail(String(step.length)) },
    { constructor: Refusal, message: /^the table can not be read: .*no such table: accounts$/ })

  const text = join(await temporaryDirectory(t), 'text')
  await writeFile(text, 'secret'.repeat(1000))
  const noDatabase = openSource(`sqlite:${text}`)
  t.teardown(() => noDatabase.knex.destroy())
  await t.rejects(readTable(noDatabase, accounts),
    new Refusal('the table can not be read: the file is no SQLite database (SQLITE_NOTADB)'))

  const name = `gone_${temporarySchema(t)}`
  await sql(`CREATE DATABASE ${name}`)
  t.teardown(() => sql(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  const url = new URL(pgUrl())
  url.pathname = `/${name}`
  const postgres = openSource(url.href)
  t.teardown(() => postgres.knex.destroy())
  await postgres.knex.raw("CREATE TABLE accounts AS SELECT 1 AS id, 'secret' AS full_name, 'secret' AS email")
  const reader = await readTable(postgres, accounts)
  await sql(`DROP DATABASE ${name} WITH (FORCE)`)
  const error = await (async () => { for await (const step of reader.rows) t.fail(String(step.length)) })()
    .catch((thrown: unknown) => thrown)
  t.match(failureOf(error), { exitCode: 3, message: /^the table can not be read: the database [^:]*\(\w+\)$/ })
})

test('refuses a row whose JSON no body may have, and keeps text as it is where a field may be text', async (t) => {
  const own = { note: { type: ['string', 'null'] }, data: { type: 'object' } }
  const given = readMapping('name=full_name,email=email,note=note,data=data', { properties: own })
  const table = (type: string) => `(id INTEGER PRIMARY KEY, full_name TEXT, email TEXT, note TEXT, data ${type})`
  const rows = `VALUES (1, 'A', 'a', 'null', '{"a":1}'), (2, 'B', 'b', '"b"', '{"a":1,"a":2}'), (3, 'C', 'c', '1', NULL),
    (4, 'D', 'd', NULL, '{"constructor":{"prototype":1}}')`
  const { source: sqlite } = await sourceOf(t, `CREATE TABLE accounts ${table('TEXT')}`, `INSERT INTO accounts ${rows}`)
  const { source: postgres, schema } = await pgSourceOf(t, pgUrl(),
    `CREATE TABLE @accounts ${table('json')}`, `INSERT INTO @accounts ${rows}`)
  for (const [source, from] of [[sqlite, 'accounts'], [postgres, `${schema}.accounts`]] as const) {
    const [first, second, third, last] = await usersOf(source, { ...accounts, table: from, mapping: given })
    t.strictSame(first, ['1', { name: 'A', email: 'a', note: 'null', data: { a: 1 } }])
    t.match(second, ['2', { line: 2, error: { errors: [{ pointer: '/data', code: 'duplicate' }] } }])
    t.strictSame(third, ['3', { name: 'C', email: 'c', note: '1' }])
    t.match(last, ['4', { line: 4, error: { errors: [{ pointer: '/data', code: 'forbidden' }] } }])
  }
})
