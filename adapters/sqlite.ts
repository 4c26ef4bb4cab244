import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Type } from '../lib/typebox.ts'
import { optionCheck } from '../lib/option-check.ts'
import { tablePrefix } from './knex/names.ts'
import { quiet } from './knex/quiet.ts'
import { type LoadedDriver, loadSqliteDriver, SQLITE_DRIVERS, type SqliteDriver } from './knex/sqlite-drivers.ts'
import { type KnexStorage, ownStorage } from './knex/storage.ts'
import { whileBusy } from './knex/while-busy.ts'
import { requirePeers } from '../lib/peers.ts'

const BUSY_TIMEOUT_MS = 5000
// SQLite's own 2 MB hold a small part of the indexes of a million users: with 64 MB a random page of ten million costs a third.
const CACHE_KIB = 65_536
const WAL_TIMEOUT_MS = 5000
const ACQUIRE_TIMEOUT_MS = 10_000

export type { SqliteDriver }

export interface SqliteOptions {
  /** Path of the database file; its directory is made. `:memory:` for one that lives as long as the storage. */
  filename: string
  /**
   * Driver of SQLite. Default: the first that loads of `better-sqlite3`, `node:sqlite` (Node.js 22.13 or later) and `sqlite3`. The first two wait for the disk on
   * the thread of the event loop, so `sqlite3` suits a host with other routes and a slow disk.
   */
  driver?: SqliteDriver
  /** Milliseconds that a statement waits for another process's lock before it is given up as unavailable. Default 5000. */
  busyTimeout?: number
  /** What every table, constraint and index of ours begins with. Default `fastify_users_`. */
  tablePrefix?: string
}

const refuseWrong = optionCheck<SqliteOptions>({
  filename: { required: true, schema: Type.String({ pattern: '^(?![A-Za-z][A-Za-z0-9+.-]+:).' }), words: 'must be the path of a file, no URI, or :memory:' },
  driver: { schema: Type.Union(SQLITE_DRIVERS.map((name) => Type.Literal(name))), words: `must be one of ${SQLITE_DRIVERS.join(', ')}` },
  busyTimeout: { schema: Type.Integer({ minimum: 0 }), words: 'must be a whole number of milliseconds, 0 or more' },
  tablePrefix
})

/**
 * Sets a new connection up: write-ahead log, every commit on the disk before it is acknowledged, and a wait for the locks of other processes. Two processes that turn
 * the log on concurrently can get SQLITE_BUSY past the timeout, so that is tried again.
 */
function preparer (busyTimeout: number, { execute }: Pick<LoadedDriver, 'execute'>): (connection: unknown, done: (error: unknown) => void) => void {
  const settings = [`busy_timeout = ${busyTimeout}`, 'journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON', `cache_size = -${CACHE_KIB}`].map((each) => `PRAGMA ${each};`).join(' ')
  return (connection, done) => {
    whileBusy(() => execute(connection, settings), WAL_TIMEOUT_MS).then(() => done(null), done)
  }
}

/**
 * A storage in an SQLite file, on a connection of its own. Needs the package `knex`, and a driver: `node:sqlite`, `better-sqlite3` or `sqlite3`.
 * @throws Error if one of them is missing or does not load, or the directory can't be made; TypeError for a wrong option
 */
export function sqlite (options: SqliteOptions): KnexStorage {
  refuseWrong('fastify-users: sqlite()', options)
  const { filename, driver, busyTimeout = BUSY_TIMEOUT_MS, tablePrefix: prefix } = options
  const { knex }: typeof import('knex') = requirePeers('sqlite()', ['knex'])('knex')
  const loaded = loadSqliteDriver(driver)
  const { name, version, client, lockTimeouts } = loaded
  if (filename !== ':memory:') mkdirSync(dirname(filename), { recursive: true })
  const { connection, caller } = lockTimeouts(busyTimeout)
  const own = knex({
    client,
    connection: { filename },
    useNullAsDefault: true,
    compileSqlOnError: false,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    // SQLite has one writer; and a :memory: database is its connection.
    pool: { min: 1, max: 1, afterCreate: preparer(connection, loaded) },
    log: quiet
  })
  const storage = ownStorage(own, prefix === undefined ? {} : { tablePrefix: prefix }, { prepare: true, lanes: 1, busyTimeout: caller })
  return { ...storage, name: `sqlite (${name} ${version})` }
}
