// Fills the table of a server, in bulk and past everything that would make it slow.
import { createRequire, isBuiltin } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { nodeSqliteClient } from '../../dist/adapters/knex/index.js'
import { batches, COLUMNS } from './people.mjs'

// The repository's own Knex and drivers: here there are others, never built, that came with a package.
const require = createRequire(new URL('../../package.json', import.meta.url))
const { knex } = require('knex')

/** A table as an expert would make it by hand: the columns and indexes that ours has. */
const plain = (table, text, moment) => `CREATE TABLE IF NOT EXISTS ${table} (
  id ${text} NOT NULL PRIMARY KEY, name text NOT NULL, name_key ${text} NOT NULL, email text NOT NULL, email_key ${text} NOT NULL UNIQUE,
  version integer NOT NULL, created_at ${moment} NOT NULL, updated_at ${moment} NOT NULL);
  CREATE INDEX IF NOT EXISTS ${table}_name_key ON ${table} (name_key);`

export async function seedPostgres (url, table, size, { create }) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  if (create) await client.query(plain(table, 'text COLLATE "C"', 'timestamptz(3)'))
  const types = ['text', 'text', 'text', 'text', 'text', 'int', 'timestamptz', 'timestamptz']
  const insert = `INSERT INTO ${table} (${COLUMNS}) SELECT * FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`)})`
  for (const people of batches(size, 10_000)) await client.query(insert, COLUMNS.map((column) => people.map((person) => person[column])))
  await client.query(`VACUUM ANALYZE ${table}`)
  await client.end()
}

/** A Knex instance on a file, by the driver that sqlite() takes: two copies of SQLite in one process don't see each other's locks. */
function openSqlite (filename) {
  let client = 'better-sqlite3'
  try {
    require.resolve(client)
  } catch {
    client = isBuiltin('node:sqlite') ? nodeSqliteClient() : 'sqlite3'
  }
  return knex({ client, connection: { filename }, useNullAsDefault: true })
}

export async function seedSqlite (filename, table, size, { create }) {
  const database = openSqlite(filename)
  await database.raw('PRAGMA journal_mode = WAL')
  if (create) for (const statement of plain(table, 'text', 'text').split(';').filter((text) => text.trim() !== '')) await database.raw(statement)
  const values = COLUMNS.map((column) => `value ->> '${column}'`)
  for (const people of batches(size, 10_000)) await database.raw(`INSERT INTO ${table} (${COLUMNS}) SELECT ${values} FROM json_each(?)`, [JSON.stringify(people)])
  await database.raw('ANALYZE')
  await database.destroy()
}

/** Runs a statement by plain SQL, on another connection than the storage's: its rows, and how many it changed. */
async function plainSql (place, sql) {
  if (place.startsWith('postgres:')) {
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

/** Deletes about a tenth of a table's rows at random; answers how many. */
export async function deleteTenth (place, table) {
  const { changed } = await plainSql(place, `DELETE FROM ${table} WHERE abs(random()) ${place.startsWith('postgres:') ? '< 0.1' : '% 10 = 0'}`)
  if (place.startsWith('postgres:')) await plainSql(place, `VACUUM ANALYZE ${table}`)
  return changed
}

/** Does now what PostgreSQL does by itself in the minutes after a large change, and would do while it is measured. */
export async function settlePostgres (place) {
  await plainSql(place, 'VACUUM ANALYZE')
  await plainSql(place, 'CHECKPOINT')
  const workers = async () => (await plainSql(place, "SELECT count(*) AS n FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'")).rows[0].n
  while (Number(await workers()) > 0) await delay(200)
}

/** How many changes of the blocks wait to be folded into them. */
export async function changesOf (place) {
  const { rows: [{ n }] } = await plainSql(place, 'SELECT count(*) AS n FROM fastify_users_block_changes')
  return Number(n)
}
