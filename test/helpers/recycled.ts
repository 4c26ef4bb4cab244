// Places of stores that are emptied and used again, since making the tables takes most of the time of a small duty:
// on PostgreSQL 160 ms, where emptying them takes 4. Every night each store is made anew.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import type { Storage } from '../../lib/storage/storage.ts'
import { from } from './level.ts'
import { temporaryDirectory } from './stores.ts'

/** Places, such as names of schemas. A place that was given back is empty when it is taken again. */
export interface Places {
  /** `isNew`: without tables. */
  take (isNew: boolean): Promise<string>
  giveBack (place: string): Promise<void>
}

// A table that had many rows is slow to read until it is vacuumed.
const ROWS_MAX = 2000

/** What a schema had when its tables were made. */
interface Made {
  relations: ReadonlySet<string>
  /** The statements that bring it back. */
  empty: string
}

const nameOf = (schema: string, relation: string): string => `"${schema}"."${relation}"`

/** The relations of a schema, by kind. */
async function relationsOf (client: pg.Client, schema: string): Promise<Array<{ name: string, kind: string }>> {
  const text = `SELECT relname AS name, relkind AS kind FROM pg_class
    WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'i', 'S') ORDER BY relname`
  return (await client.query(text, [`"${schema}"`])).rows
}

async function madeOf (client: pg.Client, schema: string): Promise<Made> {
  const relations = await relationsOf(client, schema)
  const empty: string[] = []
  for (const { name, kind } of relations) {
    const quoted = nameOf(schema, name)
    if (kind === 'S') {
      const { rows: [row] } = await client.query(`SELECT last_value, is_called FROM ${quoted}`)
      empty.push(`SELECT setval('${quoted}', ${row.last_value}, ${row.is_called})`)
    }
    if (kind !== 'r') continue
    empty.push(`DELETE FROM ${quoted}`)
    const { rows: [row] } = await client.query(`SELECT json_agg(each)::text AS rows FROM ${quoted} AS each`)
    if (row.rows !== null) {
      empty.push(`INSERT INTO ${quoted} OVERRIDING SYSTEM VALUE
        SELECT * FROM json_populate_recordset(NULL::${quoted}, ${pg.escapeLiteral(row.rows)})`)
    }
  }
  // Without triggers and foreign keys, so that the order of the tables does not matter.
  const statements = ['BEGIN', 'SET LOCAL session_replication_role = replica', ...empty, 'COMMIT']
  return { relations: new Set(relations.map(({ name }) => name)), empty: statements.join(';\n') }
}

/**
 * Schemas of a database, dropped with the test. `make` makes a store in a schema, to create its tables; `url` is that
 * of a superuser.
 */
export function recycledSchemas (
  t: Test,
  make: (schema: string) => Storage | Promise<Storage>,
  { url, newSchema }: { url: () => string | Promise<string>, newSchema: () => string | Promise<string> }
): Places {
  const free: string[] = []
  const made = new Map<string, Made>()
  let connected: Promise<pg.Client> | null = null
  async function connect (): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: await url() })
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  const client = (): Promise<pg.Client> => (connected ??= connect())
  async function madeAnew (): Promise<string> {
    const schema = await newSchema()
    const storage = await make(schema)
    await storage.open({ migrate: true })
    await storage.close()
    made.set(schema, await madeOf(await client(), schema))
    return schema
  }
  return {
    async take (isNew) {
      if (isNew || from('nightly') === false) return newSchema()
      return free.pop() ?? madeAnew()
    },
    async giveBack (schema) {
      const state = made.get(schema)
      const on = await client()
      const added = state && (await relationsOf(on, schema)).filter(({ name }) => !state.relations.has(name))
      if (state === undefined || added?.some(({ kind }) => kind !== 'i') !== false) {
        await on.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
        return
      }
      const indexes = added.map(({ name }) => `DROP INDEX ${nameOf(schema, name)}`)
      const results: unknown = await on.query([...indexes, state.empty].join(';\n'))
      const counts = Array.isArray(results) ? results.map(({ rowCount }) => Number(rowCount ?? 0)) : []
      if (counts.reduce((sum, count) => sum + count, 0) < ROWS_MAX) free.push(schema)
      else await on.query(`DROP SCHEMA "${schema}" CASCADE`)
    }
  }
}

/** Paths of SQLite files, each in a directory of its own, removed with the test: copies of one that has the tables. */
export function copiedFiles (t: Test, make: (filename: string) => Storage | Promise<Storage>): Places {
  let model: Promise<string> | null = null
  async function makeModel (): Promise<string> {
    const directory = await temporaryDirectory(t)
    const storage = await make(join(directory, 'users.db'))
    await storage.open({ migrate: true })
    await storage.close()
    return directory
  }
  return {
    async take (isNew) {
      const directory = await temporaryDirectory(t)
      if (isNew || from('nightly') === false) return join(directory, 'deep', 'users.db')
      // Closing has moved the log into the file. One that a connection still holds goes away at any moment.
      const filter = (path: string): boolean => !/-(?:wal|shm)$/.test(path)
      await cp(await (model ??= makeModel()), directory, { recursive: true, filter })
      return join(directory, 'users.db')
    },
    async giveBack () {}
  }
}
