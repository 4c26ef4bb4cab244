import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Type } from '../lib/typebox.ts'
import { optionCheck } from '../lib/option-check.ts'
import { tablePrefix } from './knex/names.ts'
import { quiet } from './knex/quiet.ts'
import { type KnexStorage, ownStorage } from './knex/storage.ts'
import { requirePeers } from '../lib/peers.ts'

const BUSY_TIMEOUT_MS = 5000
// SQLite's own 2 MB hold a small part of the indexes of a million users: with 64 MB a random page of ten million costs a third.
const CACHE_KIB = 65_536
const PATIENCE_MS = 5000
const ACQUIRE_TIMEOUT_MS = 10_000

export interface SqliteOptions {
  /** Path of the database file; its directory is made. `:memory:` for one that lives as long as the storage. */
  filename: string
  /** Milliseconds that a statement waits for another process's lock before it is given up as unavailable. Default 5000. */
  busyTimeout?: number
  /** What every table, constraint and index of ours begins with. Default `fastify_users_`. */
  tablePrefix?: string
}

const refuseWrong = optionCheck<SqliteOptions>({
  filename: { required: true, schema: Type.String({ pattern: '^(?![A-Za-z][A-Za-z0-9+.-]+:).' }), words: 'must be the path of a file, no URI, or :memory:' },
  busyTimeout: { schema: Type.Integer({ minimum: 0 }), words: 'must be a whole number of milliseconds, 0 or more' },
  tablePrefix
})

/** The part of a connection of the sqlite3 package that is used here. */
interface Connection {
  exec (sql: string, done: (error: Error | null) => void): void
}

/**
 * Sets a new connection up: write-ahead log, every commit on the disk before it is acknowledged, and patience with other processes.
 * Two processes that turn the log on at once can get SQLITE_BUSY past the timeout, so that is tried again.
 */
function preparer (busyTimeout: number): (connection: Connection, done: (error: Error | null) => void) => void {
  const settings = `PRAGMA busy_timeout = ${busyTimeout}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -${CACHE_KIB}`
  return (connection, done) => {
    const until = Date.now() + PATIENCE_MS
    const attempt = (): void => connection.exec(settings, (error) => {
      if (error !== null && 'code' in error && error.code === 'SQLITE_BUSY' && Date.now() < until) setImmediate(attempt)
      else done(error)
    })
    attempt()
  }
}

/**
 * A storage in an SQLite file, on a connection of its own. Needs the packages `knex` and `sqlite3`.
 * @throws Error if one of them is missing, or the directory can't be made; TypeError for a wrong option
 */
export function sqlite (options: SqliteOptions): KnexStorage {
  refuseWrong('fastify-users: sqlite()', options)
  const { filename, busyTimeout = BUSY_TIMEOUT_MS, tablePrefix: prefix } = options
  const require = requirePeers('sqlite()', ['knex', 'sqlite3'])
  const { knex }: typeof import('knex') = require('knex')
  if (filename !== ':memory:') mkdirSync(dirname(filename), { recursive: true })
  const own = knex({
    client: 'sqlite3',
    connection: { filename },
    useNullAsDefault: true,
    compileSqlOnError: false,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    // SQLite has one writer; and a :memory: database is its connection.
    pool: { min: 1, max: 1, afterCreate: preparer(busyTimeout) },
    log: quiet
  })
  return ownStorage(own, prefix === undefined ? {} : { tablePrefix: prefix }, { prepare: true, lanes: 1 })
}
