import { type SqliteDriverMethods, toSqliteValue } from './driver.ts'

type Row = Record<string, unknown>
type Values = ReadonlyArray<string | number | null>
type Done = (error: Error | null, rows: Row[]) => void

interface Statement {
  all (params: Values, done: Done): void
  finalize (): void
}

interface Connection {
  serialize (): void
  all (sql: string, params: Values, done: Done): void
  prepare (sql: string, done: (error: Error | null) => void): Statement
  exec (script: string, done: (error: Error | null) => void): void
}

function isConnection (connection: unknown): connection is Connection {
  return typeof connection === 'object' && connection !== null && 'all' in connection
}

function notOurs (): Promise<never> {
  return Promise.reject(new TypeError('not a connection of sqlite3'))
}

const statementsOf = new WeakMap<Connection, Map<string, Statement>>()

/** The prepared statement that a connection keeps. */
function prepared (connection: Connection, sql: string): Statement | Promise<Statement> {
  const statements = statementsOf.get(connection) ?? new Map<string, Statement>()
  statementsOf.set(connection, statements)
  return statements.get(sql) ?? new Promise((resolve, reject) => {
    const statement = connection.prepare(sql, (error) => {
      if (error !== null) return reject(error)
      statements.set(sql, statement)
      resolve(statement)
    })
  })
}

/** The `sqlite3` package. It works on its own threads, so the event loop does not wait for the disk. */
export const sqlite3Driver: SqliteDriverMethods = {
  run (connection, sql, params, prepare = false) {
    if (!isConnection(connection)) return notOurs()
    const values = params.map(toSqliteValue)
    const run = (statement: Statement | null): Promise<Row[]> => new Promise((resolve, reject) => {
      const done: Done = (error, rows) => {
        if (error === null) return resolve(rows)
        // sqlite3 leaves a failed statement open, and with it the snapshot of the database that it reads.
        if (statement !== null && statementsOf.get(connection)?.delete(sql) === true) statement.finalize()
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
    if (!isConnection(connection)) return notOurs()
    return new Promise((resolve, reject) => {
      connection.exec(script, (error) => error === null ? resolve() : reject(error))
    })
  },

  // It runs the statements of one connection on several threads, in no particular order: a host's ROLLBACK could
  // overtake our write.
  keepOrder (connection) {
    if (isConnection(connection)) connection.serialize()
  },

  watchCommit: () => null,
  destroySocket () {},

  preparesOnHosts: false,
  // It can't close a connection that keeps statements.
  finalizeStatements (connection) {
    if (!isConnection(connection)) return
    for (const statement of statementsOf.get(connection)?.values() ?? []) statement.finalize()
    statementsOf.delete(connection)
  }
}
