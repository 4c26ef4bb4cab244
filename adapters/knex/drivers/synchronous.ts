import { type Param, type SqliteDriverMethods, toSqliteValue } from './driver.ts'

type Row = Record<string, unknown>
type Values = ReadonlyArray<string | number | null>

/** The part of a connection that better-sqlite3 and node:sqlite have in common. */
export interface Connection<Statement> {
  prepare (sql: string): Statement
  exec (script: string): void
}

function isConnection<Statement> (connection: unknown): connection is Connection<Statement> {
  return typeof connection === 'object' && connection !== null && 'prepare' in connection && !('all' in connection)
}

/**
 * A driver that works before it returns, on the thread of the event loop. `all` runs a statement with numbered values,
 * `?1` first. Kept statements end with their connection.
 */
export function synchronousDriver<Statement> (
  name: string,
  all: (statement: Statement, values: Values, connection: Connection<Statement>) => Row[]
): SqliteDriverMethods {
  const statementsOf = new WeakMap<object, Map<string, Statement>>()

  function prepared (connection: Connection<Statement>, sql: string): Statement {
    const statements = statementsOf.get(connection) ?? new Map<string, Statement>()
    statementsOf.set(connection, statements)
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = connection.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  return {
    async run (connection: unknown, sql: string, params: readonly Param[], prepare = false) {
      if (!isConnection<Statement>(connection)) throw new TypeError(`not a connection of ${name}`)
      const statement = prepare ? prepared(connection, sql) : connection.prepare(sql)
      return all(statement, params.map(toSqliteValue), connection)
    },
    async execute (connection: unknown, script: string) {
      if (!isConnection<Statement>(connection)) throw new TypeError(`not a connection of ${name}`)
      connection.exec(script)
    },
    keepOrder () {},
    watchCommit: () => null,
    destroySocket () {},
    preparesOnHosts: true,
    finalizeStatements () {}
  }
}
