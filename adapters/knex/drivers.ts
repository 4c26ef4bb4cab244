import type { EventEmitter } from 'node:events'

/** A value that a statement is given. A list is a list where the database has them, and JSON where it has none. */
export type Param = string | number | null | readonly Param[]

/** A statement and its values. */
export interface Statement {
  sql: string
  params: readonly Param[]
}

/** A row as the driver gives it. */
export type Row = Record<string, unknown>

/** What the database made of a COMMIT. */
export interface Ending {
  committed (): boolean
  stop (): void
}

interface PgConnection {
  /** The protocol underneath, whose messages are events. */
  connection: EventEmitter & { stream: { cork (): void, uncork (): void } }
  query (config: { name?: string | undefined, text: string, values: readonly Param[], types: { getTypeParser: () => (text: string) => string } }): Promise<{ rows: Row[] }>
}

type SqliteValues = ReadonlyArray<string | number | null>
type SqliteDone = (error: Error | null, rows: Row[]) => void

interface SqliteStatement {
  all (params: SqliteValues, done: SqliteDone): void
  finalize (): void
}

interface SqliteConnection {
  serialize (): void
  all (sql: string, params: SqliteValues, done: SqliteDone): void
  prepare (sql: string, done: (error: Error | null) => void): SqliteStatement
}

interface BetterSqliteStatement {
  reader: boolean
  all (values: object): Row[]
  run (values: object): unknown
}

interface BetterSqliteConnection {
  prepare (sql: string): BetterSqliteStatement
}

function isPg (connection: unknown): connection is PgConnection {
  return typeof connection === 'object' && connection !== null && 'query' in connection
}

function isSqlite (connection: unknown): connection is SqliteConnection {
  return typeof connection === 'object' && connection !== null && 'all' in connection
}

function isBetterSqlite (connection: unknown): connection is BetterSqliteConnection {
  return typeof connection === 'object' && connection !== null && 'prepare' in connection && !('all' in connection)
}

// Every value comes as text: a host may have set parsers of its own on the driver, for the whole process.
const textOnly = { getTypeParser: () => (text: string) => text }

const names = new Map<string, string>()

/** The name under which connections of PostgreSQL keep a statement. Texts are few: values are never part of one. */
function nameOf (text: string): string {
  const name = names.get(text) ?? `fastify_users_${names.size + 1}`
  names.set(text, name)
  return name
}

/** Runs a statement on a connection of pg. */
export async function runOnPg (connection: unknown, text: string, values: readonly Param[], prepare = false): Promise<Row[]> {
  if (!isPg(connection)) throw new TypeError('not a connection of pg')
  return (await connection.query({ name: prepare ? nameOf(text) : undefined, text, values, types: textOnly })).rows
}

/** Watches a connection of pg: the COMMIT of a transaction that PostgreSQL has given up is answered, with the command tag ROLLBACK. */
export function watchEnd (connection: unknown): Ending | null {
  if (!isPg(connection)) return null
  const wire = connection.connection
  let tag = ''
  const note = ({ text }: { text: string }): void => { if (text === 'COMMIT' || text === 'ROLLBACK') tag = text }
  wire.on('commandComplete', note)
  return { committed: () => tag === 'COMMIT', stop: () => { wire.off('commandComplete', note) } }
}

/** Has a connection of pg send in one packet what it is given in this turn of the event loop. */
export function gather (connection: unknown): void {
  if (!isPg(connection)) return
  const { stream } = connection.connection
  stream.cork()
  setImmediate(() => stream.uncork())
}

/** SQLite has no lists: one is JSON text. */
function plain (value: Param): string | number | null {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

const kept = new WeakMap<SqliteConnection, Map<string, SqliteStatement>>()

/** The statement as a connection of sqlite3 keeps it. */
function prepared (connection: SqliteConnection, sql: string): SqliteStatement | Promise<SqliteStatement> {
  const statements = kept.get(connection) ?? new Map<string, SqliteStatement>()
  kept.set(connection, statements)
  return statements.get(sql) ?? new Promise((resolve, reject) => {
    const statement = connection.prepare(sql, (error) => {
      if (error !== null) return reject(error)
      statements.set(sql, statement)
      resolve(statement)
    })
  })
}

/** Gives up what a connection keeps: sqlite3 can't close one that keeps statements. */
export function forgetStatements (connection: unknown): void {
  if (!isSqlite(connection)) return
  for (const statement of kept.get(connection)?.values() ?? []) statement.finalize()
  kept.delete(connection)
}

/** Runs a statement on a connection of sqlite3. */
export function runOnSqlite (connection: unknown, sql: string, params: readonly Param[], prepare = false): Promise<Row[]> {
  if (!isSqlite(connection)) return Promise.reject(new TypeError('not a connection of sqlite3'))
  const values = params.map(plain)
  const run = (statement: SqliteStatement | null): Promise<Row[]> => new Promise((resolve, reject) => {
    const done: SqliteDone = (error, rows) => {
      if (error === null) return resolve(rows)
      // sqlite3 leaves a statement that failed open, and with it the moment of the database that it saw.
      if (statement !== null && kept.get(connection)?.delete(sql) === true) statement.finalize()
      reject(error)
    }
    if (statement === null) connection.all(sql, values, done)
    else statement.all(values, done)
  })
  if (!prepare) return run(null)
  const statement = prepared(connection, sql)
  return statement instanceof Promise ? statement.then(run) : run(statement)
}

/** sqlite3 runs statements of one connection on several threads, in no order: a host's ROLLBACK could overtake a write of ours. From now on it keeps the order. */
export function keepOrder (connection: unknown): void {
  if (isSqlite(connection)) connection.serialize()
}

/** Runs a statement on a connection of better-sqlite3. */
export async function runOnBetterSqlite (connection: unknown, sql: string, params: readonly Param[]): Promise<Row[]> {
  if (!isBetterSqlite(connection)) throw new TypeError('not a connection of better-sqlite3')
  const statement = connection.prepare(sql)
  // Numbered values are given by their numbers.
  const values = Object.fromEntries(params.map((value, i) => [i + 1, plain(value)]))
  if (statement.reader) return statement.all(values)
  statement.run(values)
  return []
}
