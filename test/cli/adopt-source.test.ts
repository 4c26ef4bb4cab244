// The reader of fastify-users adopt, on tables of others: exact keys and values, conditions, moments.
import { test, type Test } from 'tap'
import { readMapping } from '../../cli/adopt-mapping.ts'
import { readTable, type SourceTable } from '../../cli/adopt-source.ts'
import { failureOf, Refusal } from '../../cli/failure.ts'
import { openSource, type SourceDatabase } from '../../cli/source-database.ts'
import { pgSourceOf, sourceOf, usersOf } from '../helpers/sources.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'

const fields = { properties: { legacyId: { type: 'string' } } }
const mapping = readMapping('name=full_name,email=email,legacyId=id', fields)
const accounts: SourceTable = { table: 'accounts', key: 'id', mapping }

/** A new database of PostgreSQL as a source. */
async function newDatabase (t: Test, settings = '') {
  const name = `source_${temporarySchema(t)}`
  await sql(`CREATE DATABASE ${name} ${settings}`)
  t.teardown(() => sql(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  const url = new URL(pgUrl())
  url.pathname = `/${name}`
  const source = openSource(url.href)
  t.teardown(() => source.knex.destroy())
  return { name, source }
}

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
  // A driver that cuts off what it cannot hold.
  const knex = sqliteHost(filename, {
    postProcessResponse: (rows) => rows.map((row: object) => ({ ...row, ...('k' in row && { k: '0' }) }))
  })
  t.teardown(() => knex.destroy())
  await t.rejects(usersOf({ ...source, knex }, accounts),
    new Refusal('the column of --key cannot be read in steps, after the row 0: name a column of integers or text'))
})

test('takes question marks and backslashes in a condition as they are', async (t) => {
  const table = '(id INTEGER PRIMARY KEY, full_name TEXT, email TEXT)'
  const rows = String.raw`VALUES (1, 'what?', 'a'), (2, 'b\?', 'b'), (3, 'b\\?', 'c'), (4, 'd', 'd')`
  const { source } = await sourceOf(t, `CREATE TABLE accounts ${table}`, `INSERT INTO accounts ${rows}`)
  const { source: postgres, schema } = await pgSourceOf(t, pgUrl(),
    `CREATE TABLE @accounts ${table}`, `INSERT INTO @accounts ${rows}`)
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
  await t.rejects(keysWhere(source, 'accounts', 'id = ?'), { message: /^the table cannot be read: / })
})

test('says why a key cannot be compared', async (t) => {
  const { source, schema } = await pgSourceOf(t, pgUrl(),
    'CREATE TABLE @accounts (id json, full_name text, email text)')
  await t.rejects(readTable(source, { ...accounts, table: `${schema}.accounts` }),
    new Refusal('the table cannot be read: could not identify an equality operator for type json'))
})

test('shows no value of a row or an option if the values of a condition do not fit', async (t) => {
  const { source, schema } = await pgSourceOf(t, pgUrl(),
    'CREATE TABLE @accounts (id integer PRIMARY KEY, full_name text, email text)',
    "INSERT INTO @accounts VALUES (1, 'secret', 'secret value')")
  const table = `${schema}.accounts`
  const unfit = (options: string) =>
    new Refusal(`the table cannot be read: a value of ${options} does not fit its type (22P02)`)
  await t.rejects(usersOf(source, { ...accounts, table, where: 'email::integer = 1' }), unfit('--where'))
  await t.rejects(usersOf(source, { ...accounts, table, after: 'secret' }), unfit('--after'))
  await t.rejects(usersOf(source, { ...accounts, table, where: 'true', after: 'x' }), unfit('--where or --after'))
  await sql(`CREATE VIEW ${table}_view AS SELECT id, full_name, CASE id WHEN 1 THEN email::integer END AS email
    FROM ${table}`)
  const fails = 'the table cannot be read: the database cannot return a value'
  await t.rejects(usersOf(source, { ...accounts, table: `${table}_view` }), new Refusal(`${fails} (22P02)`))
  await sql(`TRUNCATE ${table}; INSERT INTO ${table} SELECT i, 'N', i FROM generate_series(1, 250) i;
    INSERT INTO ${table} VALUES (999, 'secret', 'secret'); CREATE OR REPLACE VIEW ${table}_view AS
    SELECT id, full_name, email::integer AS email FROM ${table}`)
  const { rows } = await readTable(source, { ...accounts, table: `${table}_view` })
  await t.rejects(async () => { for await (const step of rows) t.equal(step.length, 250) },
    new Refusal(`${fails}, in a row after 250 (22P02)`))
})

test('says what is wrong with a source that goes away while it is read', async (t) => {
  const { source, filename } = await sourceOf(t, 'CREATE TABLE accounts (id INTEGER PRIMARY KEY, full_name, email)',
    "INSERT INTO accounts VALUES (1, 'secret', 'secret@example.org')")
  const { rows } = await readTable(source, accounts)
  const owner = sqliteHost(filename)
  await owner.raw('DROP TABLE accounts')
  await owner.destroy()
  await t.rejects(async () => { for await (const step of rows) t.fail(String(step.length)) },
    { constructor: Refusal, message: /^the table cannot be read: .*no such table: accounts$/ })

  const { name, source: postgres } = await newDatabase(t)
  await postgres.knex.raw("CREATE TABLE accounts AS SELECT 1 AS id, 'secret' AS full_name, 'secret' AS email")
  const reader = await readTable(postgres, accounts)
  await sql(`DROP DATABASE ${name} WITH (FORCE)`)
  const error = await (async () => { for await (const step of reader.rows) t.fail(String(step.length)) })()
    .catch((thrown: unknown) => thrown)
  t.match(failureOf(error), { exitCode: 3, message: /^the table cannot be read: the database [^:]*\(\w+\)$/ })
})

test('refuses a row whose JSON no body may have, and keeps text as it is where a field may be text', async (t) => {
  const own = { note: { type: ['string', 'null'] }, data: { type: 'object' } }
  const given = readMapping('name=full_name,email=email,note=note,data=data', { properties: own })
  const table = (type: string) => `(id INTEGER PRIMARY KEY, full_name TEXT, email TEXT, note TEXT, data ${type})`
  const rows = `VALUES (1, 'A', 'a', 'null', '{"a":1}'), (2, 'B', 'b', '"b"', '{"a":1,"a":2}'),
    (3, 'C', 'c', '1', NULL), (4, 'D', 'd', NULL, '{"constructor":{"prototype":1}}')`
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

for (const { driver, skip } of sqliteDrivers) {
  test(`refuses a row with bytes that are no UTF-8 in place of changing them, on ${driver}`, { skip }, async (t) => {
    const { filename } = await sourceOf(t, 'CREATE TABLE accounts (id, full_name TEXT, email TEXT)',
      `INSERT INTO accounts VALUES (1, cast(x'4dfc6c6c6572' as TEXT), cast(x'ff' as TEXT)), (2, 'M\ufffdller', 'b'),
        ('x', 'X\ufffd', cast(x'80' as TEXT))`)
    const knex = sqliteHost(filename, { driver })
    t.teardown(() => knex.destroy())
    const users = await usersOf({ kind: 'sqlite', knex }, accounts)
    const refused = (line: number, ...pointers: string[]) => ({
      line, error: { errors: pointers.map((pointer) => ({ pointer, code: 'format', detail: 'must be text in UTF-8' })) }
    })
    t.match(users, [
      ['1', refused(1, '/name', '/email')], ['2', { name: 'M\ufffdller', email: 'b' }], ['x', refused(3, '/email')]
    ])
    await knex.raw("INSERT INTO accounts VALUES (cast(x'81' as TEXT), 'Z', 'z')")
    await t.rejects(usersOf({ kind: 'sqlite', knex }, accounts),
      new Refusal('the column of --key has text that is not UTF-8, or U+FFFD'))
  })
}

test('takes a replacement character in a file of SQLite in UTF-16 for one', async (t) => {
  const { source } = await sourceOf(t, "PRAGMA encoding = 'UTF-16'",
    'CREATE TABLE accounts (id INTEGER PRIMARY KEY, full_name TEXT, email TEXT)',
    "INSERT INTO accounts VALUES (1, 'M\ufffdller', 'a')")
  t.match(await usersOf(source, accounts), [['1', { name: 'M\ufffdller' }]])
})

test('names the row that is not UTF-8 in a database of PostgreSQL without an encoding', async (t) => {
  const { source } = await newDatabase(t, "ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
  await source.knex.raw('CREATE TABLE accounts (id text PRIMARY KEY, full_name text, email text, tags text[])')
  await source.knex.raw(String.raw`INSERT INTO accounts VALUES
    ('a', 'Müller', 'a', '{ü}'), ('b', E'M\374ller', 'b', NULL), ('c', 'C', 'c', ARRAY[E'\374']),
    ('d', E'\357\277\275', 'd', NULL)`)
  const given = readMapping('name=full_name,email=email,tags=tags', { properties: { tags: { type: 'array' } } })
  t.match(await usersOf(source, { ...accounts, mapping: given }), [
    ['a', { name: 'Müller', tags: ['ü'] }], ['b', { line: 2, error: { errors: [{ pointer: '/name' }] } }],
    ['c', { line: 3, error: { errors: [{ pointer: '/tags' }] } }], ['d', { name: '\ufffd' }]
  ])
})

test('--after takes every key that is named: numbers of expressions, decimals, text and bytes', async (t) => {
  const { source: sqlite } = await sourceOf(t,
    'CREATE TABLE people (id INTEGER PRIMARY KEY)',
    'INSERT INTO people VALUES (1), (2), (10), (9007199254740993)',
    "CREATE VIEW summed AS SELECT id + 0 AS id, 'N' AS full_name, 'e' AS email FROM people",
    "CREATE VIEW both AS SELECT id, 'N' AS full_name, 'e' AS email FROM people WHERE id < 3 UNION ALL " +
    "SELECT id, 'N', 'e' FROM people WHERE id > 2",
    "CREATE VIEW halves AS SELECT id / 4.0 AS id, 'N' AS full_name, 'e' AS email FROM people WHERE id < 11",
    "CREATE VIEW texts AS SELECT id || '' AS id, 'N' AS full_name, 'e' AS email FROM people WHERE id < 11",
    "CREATE VIEW mixed AS SELECT id + 0 AS id, 'N' AS full_name, 'e' AS email FROM people WHERE id < 11 " +
    "UNION ALL SELECT 'x' || id, 'N', 'e' FROM people WHERE id < 11",
    'CREATE TABLE bytes (id BLOB PRIMARY KEY, full_name TEXT, email TEXT)',
    "INSERT INTO bytes VALUES (x'', 'N', 'e'), (x'00ff', 'N', 'e'), (x'fe', 'N', 'e')")
  const { source: postgres, schema } = await pgSourceOf(t, pgUrl(),
    'CREATE TABLE @bytes (id bytea PRIMARY KEY, full_name text, email text)',
    String.raw`INSERT INTO @bytes VALUES ('\x', 'N', 'e'), ('\x00ff', 'N', 'e'), ('\xfe', 'N', 'e')`)
  for (const [source, table, keys] of [
    [sqlite, 'summed', ['1', '2', '10', '9007199254740993']], [sqlite, 'both', ['1', '2', '10', '9007199254740993']],
    [sqlite, 'halves', ['0.25', '0.5', '2.5']], [sqlite, 'texts', ['1', '10', '2']],
    [sqlite, 'mixed', ['1', '2', '10', 'x1', 'x10', 'x2']], [sqlite, 'bytes', ['\\x', '\\x00ff', '\\xfe']],
    [postgres, `${schema}.bytes`, ['\\x', '\\x00ff', '\\xfe']]
  ] as const) {
    for (const [i, after] of [undefined, ...keys].entries()) {
      const given = { ...accounts, table, ...(after !== undefined && { after }) }
      t.strictSame((await usersOf(source, given)).map(([key]) => key), keys.slice(i), `${table} after ${after}`)
    }
  }
  t.equal((await usersOf(sqlite, { ...accounts, table: 'bytes', after: '\\x0' })).length, 3, 'text is before bytes')
})
