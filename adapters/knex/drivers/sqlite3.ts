import { type Row, type SqliteDriverMethods, toSqliteValue } from './driver.ts'

type Values = ReadonlyArray<string | number | null>
type Done = (error: Error | null, rows: Row[]) => void

interface SqliteStatement {
  all (params: Values, done: Done): void
  finalize (): void
}

interface SqliteConnection {
  serialize (): void
  all (sql: string, params: Values, done: Done): void
  prepare (sql: string, done: (error: Error | null) => void): SqliteStatement
  exec (script: string, done: (error: Error | null) => void): void
}

function isSqlite (connection: unknown): connection is SqliteConnection {
  return typeof connection === 'object' && connection !== null && 'all' in connection
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

/** The `sqlite3` package. It works on threads of its own, so that the event loop does not wait for the disk. */
export const sqlite3Driver: SqliteDriverMethods = {
  run (connection, sql, params, prepare = false) {
    if (!isSqlite(connection)) return Promise.reject(new TypeError('not a connection of sqlite3'))
    const values = params.map(toSqliteValue)
    const run = (statement: SqliteStatement | null): Promise<Row[]> => new Promise((resolve, reject) => {
      const done: Done = (error, rows) => {
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
  },

  execute (connection, script) {
    if (!isSqlite(connection)) return Promise.reject(new TypeError('not a connection of sqlite3'))
    return new Promise((resolve, reject) => connection.exec(script, (error) => error === null ? resolve() : reject(error)))
  },

  // It runs the statements of one connection on several threads, in no order: a host's ROLLBACK could overtake a write of ours.
  keepOrder (connection) {
    if (isSqlite(connection)) connection.serialize()
  },

  watchEnd: () => null,

  // It can't close a connection that keeps statements.
  forgetStatements (connection) {
    if (!isSqlite(connection)) return
    for (const statement of kept.get(connection)?.values() ?? []) statement.finalize()
    kept.delete(connection)
  }
}
