import type { Knex } from 'knex'
import { packageRequire, requireOptional } from '../../../lib/core/optional-packages.ts'
import { sqlite3ClientOf } from './knex-internals.ts'

/** The used parts of `node:sqlite`. Its types come with later versions of Node.js than our oldest. */
interface StatementSync {
  all (...values: readonly unknown[]): object[]
  run (...values: readonly unknown[]): { changes: number | bigint, lastInsertRowid: number | bigint }
}

interface DatabaseSync {
  prepare (sql: string): StatementSync
  close (): void
}

interface Query {
  sql: string
  method?: string
  bindings?: readonly unknown[]
  returning?: unknown
  response?: unknown
  context?: unknown
}

export interface NodeSqlite {
  DatabaseSync: new (filename: string, options?: object) => DatabaseSync
}

function loadOrUndefined (load: (name: string) => NodeSqlite): NodeSqlite | undefined {
  try {
    return load('node:sqlite')
  } catch {
    return undefined
  }
}

/**
 * Node.js's own SQLite; undefined on a Node.js that has none, or has it behind a flag. It is loaded without the
 * warning of Node.js 22 that it is experimental, which every command would print: the parts used here are tested
 * there.
 */
export function nodeSqlite (
  load: (name: string) => NodeSqlite = packageRequire
): NodeSqlite | undefined {
  const { emitWarning } = process
  process.emitWarning = () => {}
  const loaded = loadOrUndefined(load)
  process.emitWarning = emitWarning
  return loaded
}

// Milliseconds, as in better-sqlite3.
const LOCK_TIMEOUT_MS = 5000

// Knex expects a row id or a number of changes from these, and rows from all others.
const METHODS_WITHOUT_ROWS = ['insert', 'update', 'del', 'counter']

function toBinding (value: unknown): unknown {
  if (value instanceof Date) return value.valueOf()
  return typeof value === 'boolean' ? Number(value) : value
}

/** A Knex client on this SQLite. @throws Error if there is none, or `knex` is missing */
export function clientOn (sqlite: NodeSqlite | undefined, driverName = 'node:sqlite'): typeof Knex.Client {
  if (sqlite === undefined) {
    throw new Error(`fastify-users: node:sqlite needs Node.js 22.13 or later, and this is ${process.version}: ` +
      'npm install better-sqlite3@12, and name it as the client of your Knex instance')
  }
  const { DatabaseSync } = sqlite
  const Sqlite3Client = sqlite3ClientOf(requireOptional('nodeSqliteClient()', ['knex']))

  return class NodeSqliteClient extends Sqlite3Client {
    static {
      this.prototype.driverName = driverName
    }

    _driver () {
      return DatabaseSync
    }

    override async acquireRawConnection () {
      const { filename, options }: { filename: string, options?: object } = Object(this.connectionSettings)
      return new DatabaseSync(filename, { timeout: LOCK_TIMEOUT_MS, ...options })
    }

    override async destroyRawConnection (connection: DatabaseSync) {
      connection.close()
    }

    async _query (connection: DatabaseSync, query: Query) {
      const { sql, method = '', bindings = [], returning } = query
      const statement = connection.prepare(sql)
      const values = bindings.map(toBinding)
      if (!METHODS_WITHOUT_ROWS.includes(method) || returning !== undefined) {
        // Its rows have no prototype, and a host may call `hasOwnProperty` on them.
        return Object.assign(query, { response: statement.all(...values).map((row) => ({ ...row })) })
      }
      const { changes, lastInsertRowid } = statement.run(...values)
      return Object.assign(query, { context: { lastID: lastInsertRowid, changes } })
    }
  }
}

/**
 * A Knex client on Node.js's own SQLite, without a package to install:
 * `knex({ client: nodeSqliteClient(), connection: { filename } })`. Otherwise it behaves as Knex's client
 * `better-sqlite3`: dates are stored as milliseconds, true and false as 1 and 0. `connection.options` go to
 * `DatabaseSync`.
 * @throws Error before Node.js 22.13, or if `knex` is missing
 */
export function nodeSqliteClient (): typeof Knex.Client {
  return clientOn(nodeSqlite())
}
