// Fills the tables of the servers by bulk inserts, on connections of its own.
import { createRequire, isBuiltin } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { nodeSqliteClient } from '../../dist/adapters/knex/index.js'
import { batches, COLUMNS, OUR_COLUMNS } from './people.mjs'

const BATCH = 10_000
// A list that meets this many changes starts compaction.
const CHANGES_MAX = 256

// The repository's Knex and drivers. Those in bench/node_modules belong to other packages, and are not compiled.
const require = createRequire(new URL('../../package.json', import.meta.url))
const { knex } = require('knex')

// MariaDB compares these byte by byte, and indexes no text without a length.
const VARCHAR = 'varchar(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin'

/** The statements that make a table as an expert writes it by hand, with the same columns and indexes as ours. */
const handWritten = (table, text, moment) => [
  `CREATE TABLE IF NOT EXISTS ${table} (
    id ${text} NOT NULL PRIMARY KEY,
    name text NOT NULL,
    name_key ${text} NOT NULL,
    email text NOT NULL,
    email_key ${text} NOT NULL UNIQUE,
    version integer NOT NULL,
    created_at ${moment} NOT NULL,
    updated_at ${moment} NOT NULL
  )`,
  `CREATE INDEX IF NOT EXISTS ${table}_name_key ON ${table} (name_key)`
]

const columnsOf = (create, tenant) =>
  create ? COLUMNS : [...OUR_COLUMNS, ...tenant === undefined ? [] : ['tenant']]

/** The same in a table by hand in MariaDB. */
export async function seedMariadb (url, table, size) {
  const database = knex({ client: 'mysql2', connection: { uri: url }, pool: { min: 1, max: 1 } })
  for (const statement of handWritten(table, VARCHAR, VARCHAR)) await database.raw(statement)
  for (const people of batches(size, BATCH)) {
    const rows = people.map((person) => COLUMNS.map((column) => person[column]))
    await database.raw(`INSERT INTO ${table} (${COLUMNS}) VALUES ${rows.map(() => '(?)').join(', ')}`, rows)
  }
  await database.raw(`ANALYZE TABLE ${table}`)
  await database.destroy()
}

const isPostgres = (place) => place.startsWith('postgres:')

/**
 * Inserts people into a table of PostgreSQL, in the order of their ids. `create`: makes the table first. `tenant`: that
 * of all.
 */
export async function seedPostgres (url, table, size, { create, tenant }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const statements = create ? handWritten(table, 'text COLLATE "C"', 'timestamptz(3)') : []
  for (const statement of statements) await client.query(statement)
  const columns = columnsOf(create, tenant)
  const types = ['text', 'text', 'text', 'text', 'text', 'int', 'timestamptz', 'timestamptz', 'text', 'text', 'text']
  const lists = columns.map((_column, i) => `$${i + 1}::${types[i]}[]`)
  const insert = `INSERT INTO ${table} (${columns}) SELECT * FROM unnest(${lists})`
  for (const people of batches(size, BATCH, { tenant })) {
    await client.query(insert, columns.map((column) => people.map((person) => person[column])))
  }
  await client.query(`VACUUM ANALYZE ${table}`)
  await client.end()
}

/**
 * A Knex instance on a file, with the driver that `sqlite()` takes by default. Two copies of SQLite in one process
 * do not see each other's locks.
 */
function openSqlite (filename) {
  let client = 'better-sqlite3'
  try {
    require.resolve(client)
  } catch {
    client = isBuiltin('node:sqlite') ? nodeSqliteClient() : 'sqlite3'
  }
  return knex({ client, connection: { filename }, useNullAsDefault: true })
}

/** The same in an SQLite file. */
export async function seedSqlite (filename, table, size, { create, tenant }) {
  const database = openSqlite(filename)
  await database.raw('PRAGMA journal_mode = WAL')
  const statements = create ? handWritten(table, 'text', 'text') : []
  for (const statement of statements) await database.raw(statement)
  const columns = columnsOf(create, tenant)
  const values = columns.map((column) => `value ->> '${column}'`)
  const insert = `INSERT INTO ${table} (${columns}) SELECT ${values} FROM json_each(?)`
  for (const people of batches(size, BATCH, { tenant })) await database.raw(insert, [JSON.stringify(people)])
  // Only this table. The counting tables are still empty, so their statistics would soon be wrong.
  await database.raw(`ANALYZE ${table}`)
  await database.destroy()
}

/** A connection that stays open. `ask` returns the rows of a statement with one value, which it writes as `?`. */
export async function connectionTo (place) {
  if (isPostgres(place)) {
    const client = new pg.Client({ connectionString: place })
    await client.connect()
    const ask = async (text, value) => (await client.query(text.replace('?', '$1'), [value])).rows
    return { ask, close: () => client.end() }
  }
  const database = openSqlite(place)
  return { ask: (text, value) => database.raw(text, [value]), close: () => database.destroy() }
}

/** Runs a statement on a connection of its own. Returns its rows, and how many rows it changed. */
export async function plainSql (place, sql) {
  if (isPostgres(place)) {
    const client = new pg.Client({ connectionString: place })
    await client.connect()
    const { rows, rowCount } = await client.query(sql)
    await client.end()
    return { rows, changed: rowCount }
  }
  const database = openSqlite(place)
  try {
    await database.raw('PRAGMA busy_timeout = 60000')
    const rows = await database.raw(sql)
    const [{ changed }] = await database.raw('SELECT changes() AS changed')
    return { rows, changed }
  } finally {
    await database.destroy()
  }
}

/** Deletes about a tenth of the rows of a table at random, by plain SQL. Returns how many. */
export async function deleteTenth (place, table) {
  const isChosen = isPostgres(place) ? 'abs(random()) < 0.1' : 'abs(random()) % 10 = 0'
  const { changed } = await plainSql(place, `DELETE FROM ${table} WHERE ${isChosen}`)
  if (isPostgres(place)) await plainSql(place, `VACUUM ANALYZE ${table}`)
  return changed
}

/** Does the work that PostgreSQL would do by itself in the minutes after a large change, during the measurement. */
export async function settlePostgres (place) {
  await plainSql(place, 'VACUUM ANALYZE')
  await plainSql(place, 'CHECKPOINT')
  const running = "SELECT count(*) AS n FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"
  while (Number((await plainSql(place, running)).rows[0].n) > 0) await delay(200)
}

/** Waits until compaction has added the recorded changes to their blocks. `list` reads a page, which starts it. */
export async function waitForCompaction (place, list) {
  while (true) {
    const { rows: [{ n }] } = await plainSql(place, 'SELECT count(*) AS n FROM fastify_users_counting_changes')
    if (Number(n) < CHANGES_MAX) return
    await list()
    await delay(200)
  }
}
