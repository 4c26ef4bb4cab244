import { betterSqlite3Driver } from './drivers/better-sqlite3.ts'
import type { Driver, Param } from './drivers/driver.ts'
import { nodeSqliteDriver } from './drivers/node-sqlite.ts'
import { pgDriver } from './drivers/pg.ts'
import { sqlite3Driver } from './drivers/sqlite3.ts'

/** A column of a table, and its type where types have to be told. */
export type TypedColumn = readonly [name: string, type: string]

/** The parts of a statement that writes many rows; its values are those of the rows and no others. */
export interface Many {
  /** The rows of values as a table `q`, whose columns are called as these with `q_` before them. */
  rows (columns: readonly TypedColumn[]): string
  /** What the statement is given for them. */
  values (rows: ReadonlyArray<readonly Param[]>): Param[]
  /** What an update asks beside the id (the first column of `q`), so that each row can be looked up by it. */
  among: string
  /** Whether a connection may keep the plan of an update: not where that is made for the size that the table has at the moment. */
  keep: boolean
  /** What a statement reads from first, so that it waits for no other transaction longer than a moment. */
  lockTimeout: string
  /** The order of an insertion: two of them wait for each other in one order. */
  order (column: string): string
}

/** What the databases say differently. Everything else is the same SQL on both. */
export interface Dialect extends Driver {
  name: 'postgres' | 'sqlite'
  /** Placeholder of the nth value, from 1. */
  p (n: number): string
  /** How columns are read: alone, or as a value in JSON. Moments and JSON come alone as text. */
  read: Record<'plain' | 'moment' | 'json', { alone (column: string): string, inJson (column: string): string }>
  /** The values of every row in one JSON text. */
  pack (values: readonly string[]): string
  /** Whether the column is in the list that is the nth value. */
  in (column: string, n: number, type: 'bigint' | 'text'): string
  /**
   * How the users' table, and bare its name, is named where many rows are looked up by this column. Where ANALYZE has seen a small table, SQLite believes in it for
   * ever, and would read the whole table instead.
   */
  by (column: 'id' | 'email_key', table: string, bare: string): string
  /** How many rows are written by one statement. */
  many: Many
  /**
   * The nth value as a LIMIT or OFFSET. SQLite looks at the bare parameter of a LIMIT when it plans, so it plans again whenever that is bound: half the time of a
   * page of 20.
   */
  bound (n: number): string
  /** The smaller of two expressions. */
  least (a: string, b: string): string
  /** Begins a transaction that sees what others have committed, and that can't lose against another writer on its way. */
  begin: string
  /** Begins a transaction that sees one moment of the database, to read it alone or to write too. */
  snapshot: { read: string, write: string }
  /** What a snapshot takes before it looks at anything, so that it and the emptying of a table wait for each other in one order, and not for long. */
  share: ((table: string) => string[]) | null
  /** Names the transactions that have written a table and are still open; its one value is the table. null where there is but one writer. */
  writers: string | null
  /** Gives back the room of rows that are gone; null where that is done at once. */
  tidy: ((tables: readonly string[]) => string) | null
  /** How full a page of a table is made whose rows are changed in place again and again. */
  roomy: string
  /** What keeps other processes out of a transaction of this name, where `begin` alone does not; its one value is the name. */
  lock: string | null
  /** Lifts the server's limit on the time of statements for the rest of a transaction. */
  patience: string | null
  /** Column type for text that is compared and sorted byte by byte. */
  bytewise: string
  /** Column type for JSON whose text is kept as it is. */
  jsonType: string
  /** The JSON text of a member of a column of that type. */
  member (column: string, name: string): string
  /** Column type for a moment. */
  momentType: string
  /** The present moment, for a column of that type. */
  now: string
}

/** Milliseconds that a write of many may wait for another transaction, and a single one hold up others. What takes longer than this waits for a host's transaction, or a slow disk. */
export const MOMENT_MS = 25

const asItIs = { alone: (column: string) => column, inJson: (column: string) => column }

export const postgresDialect: Dialect = {
  ...pgDriver,
  name: 'postgres',
  p: (n) => `$${n}`,
  // As JSON, and without a zone, the text depends neither on the session's DateStyle nor on its TimeZone.
  read: {
    plain: asItIs,
    moment: { alone: (column) => `to_json(${column} AT TIME ZONE 'UTC')`, inJson: (column) => `${column} AT TIME ZONE 'UTC'` },
    json: { alone: (column) => `${column}::text`, inJson: (column) => column }
  },
  pack: (values) => `json_agg(json_build_array(${values.join(', ')}))`,
  by: (_column, table) => table,
  in: (column, n, type) => `${column} = ANY($${n}::${type}[])`,
  many: {
    rows: (columns) => `unnest(${columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ')}) AS q (${columns.map(([name]) => `q_${name}`).join(', ')})`,
    values: (rows) => rows.slice(0, 1).flatMap((first) => first.map((_, i) => rows.map((row) => String(row[i])))),
    among: '',
    keep: false,
    // For this statement alone, which is a transaction. PostgreSQL never leaves out what calls a volatile function.
    lockTimeout: `(SELECT set_config('lock_timeout', '${MOMENT_MS}', true)) AS moment, `,
    order: (column) => ` ORDER BY ${column}`
  },
  bound: (n) => `$${n}`,
  least: (a, b) => `least(${a}, ${b})`,
  begin: 'BEGIN ISOLATION LEVEL READ COMMITTED',
  snapshot: { read: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', write: 'BEGIN ISOLATION LEVEL REPEATABLE READ' },
  share: (table) => ['SET LOCAL lock_timeout = 2000', `LOCK TABLE ${table} IN ACCESS SHARE MODE`],
  // Who does not own the tables is told so in a notice, and nothing happens.
  tidy: (tables) => `VACUUM ${tables.join(', ')}`,
  roomy: ' WITH (fillfactor = 50)',
  writers: "SELECT virtualtransaction AS writer FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted " +
    'AND relation = to_regclass($1) AND database = (SELECT oid FROM pg_database WHERE datname = current_database())',
  lock: "SELECT pg_advisory_xact_lock(hashtextextended('fastify-users.' || coalesce(current_schema(), '') || '.' || $1, 0))",
  patience: 'SET LOCAL statement_timeout = 0',
  bytewise: 'text COLLATE "C"',
  // Not jsonb, which has an order of its own.
  jsonType: 'json',
  member: (column, name) => `(${column} -> '${name}')::text`,
  momentType: 'timestamptz(3)',
  now: 'now()'
}

/** What SQLite calls the index of a constraint of the users' table: it counts them as they were declared. */
export function constraintIndex (bare: string, column: 'id' | 'email_key'): string {
  return `sqlite_autoindex_${bare}_${column === 'id' ? 1 : 2}`
}

export const sqliteDialect: Dialect = {
  ...sqlite3Driver,
  name: 'sqlite',
  p: (n) => `?${n}`,
  // Most hosts have no fields: then there is nothing to read.
  read: { plain: asItIs, moment: asItIs, json: { alone: (column) => column, inJson: (column) => `json(nullif(${column}, '{}'))` } },
  pack: (values) => `json_group_array(json_array(${values.join(', ')}))`,
  by: (column, table, bare) => `${table} INDEXED BY "${constraintIndex(bare, column)}"`,
  in: (column, n) => `${column} IN (SELECT value FROM json_each(?${n}))`,
  many: {
    rows: (columns) => `(SELECT ${columns.map(([name], i) => `json_extract(value, '$[${i}]') AS q_${name}`).join(', ')} FROM json_each(?1)) AS q`,
    values: (rows) => [rows],
    among: " AND id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))",
    keep: true,
    // There is but one writer.
    lockTimeout: '',
    order: () => ''
  },
  bound: (n) => `CAST(?${n} AS INTEGER)`,
  least: (a, b) => `min(${a}, ${b})`,
  // A transaction that begins by reading could not become a writer behind another one's back: SQLite would refuse it at once.
  begin: 'BEGIN IMMEDIATE',
  snapshot: { read: 'BEGIN', write: 'BEGIN IMMEDIATE' },
  share: null,
  writers: null,
  tidy: null,
  roomy: '',
  lock: null,
  patience: null,
  bytewise: 'text',
  jsonType: 'text',
  member: (column, name) => `(${column} -> '${name}')`,
  momentType: 'text',
  now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
}

/** By the name of the driver that a Knex client gives. */
const dialects = new Map<string, Dialect>([
  ['pg', postgresDialect],
  ['sqlite3', sqliteDialect],
  ['better-sqlite3', { ...sqliteDialect, ...betterSqlite3Driver }],
  ['node:sqlite', { ...sqliteDialect, ...nodeSqliteDriver }]
])

/**
 * The dialect of a Knex instance.
 * @throws TypeError for a client of another database
 */
export function dialectOf (driverName: string): Dialect {
  const dialect = dialects.get(driverName)
  if (dialect === undefined) throw new TypeError(`fastify-users: knexStorage() works on the Knex clients ${[...dialects.keys()].join(', ')}, not on ${driverName}`)
  return dialect
}
