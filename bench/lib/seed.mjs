// Fills the table of a server, in bulk and past everything that would make it slow.
import { createRequire } from 'node:module'
import pg from 'pg'
import { batches, COLUMNS } from './people.mjs'

// The repository's own better-sqlite3: here there is another one, never built, that came with a package.
const require = createRequire(new URL('../../package.json', import.meta.url))

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

export async function seedSqlite (filename, table, size, { create }) {
  const Database = require('better-sqlite3')
  const database = new Database(filename)
  database.pragma('journal_mode = WAL')
  if (create) database.exec(plain(table, 'text', 'text'))
  const insert = database.prepare(`INSERT INTO ${table} (${COLUMNS}) VALUES (${COLUMNS.map((column) => `@${column}`)})`)
  const all = database.transaction((people) => { for (const person of people) insert.run(person) })
  for (const people of batches(size, 10_000)) all(people)
  database.exec('ANALYZE')
  database.close()
}

/** Deletes about a tenth of a table's rows at random by plain SQL; answers how many. */
export async function deleteTenth (place, table) {
  if (!place.startsWith('postgres:')) {
    const database = new (require('better-sqlite3'))(place)
    const { changes } = database.prepare(`DELETE FROM ${table} WHERE abs(random()) % 10 = 0`).run()
    database.close()
    return changes
  }
  const client = new pg.Client({ connectionString: place })
  await client.connect()
  const { rowCount } = await client.query(`DELETE FROM ${table} WHERE random() < 0.1`)
  await client.query(`VACUUM ANALYZE ${table}`)
  await client.end()
  return rowCount
}

/** How many changes of the blocks wait to be folded into them. */
export async function changesOf (place) {
  const sql = 'SELECT count(*) AS n FROM fastify_users_block_changes'
  if (!place.startsWith('postgres:')) {
    const database = new (require('better-sqlite3'))(place)
    const { n } = database.prepare(sql).get()
    database.close()
    return n
  }
  const client = new pg.Client({ connectionString: place })
  await client.connect()
  const { rows: [{ n }] } = await client.query(sql)
  await client.end()
  return Number(n)
}
