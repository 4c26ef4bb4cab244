import type { Knex } from 'knex'
import { defaulted, optional, type OptionsOf, readOptions, required } from '../lib/core/option-table.ts'
import { requireOptional } from '../lib/core/optional-packages.ts'
import { Type } from '../lib/core/typebox.ts'
import { isStorageError } from '../lib/storage/storage-error.ts'
import { ofDriver } from './knex/connection/driver-errors.ts'
import { retryWhileBusy } from './knex/connection/retry-while-busy.ts'
import { letGo, silentLogger } from './knex/drivers/knex-internals.ts'
import { onWatchedFile, openSqliteFile, type SqliteFile } from './knex/connection/sqlite-file.ts'
import { GROUP_WAIT_MS } from './knex/connection/time-limits.ts'
import {
  type LoadedDriver, loadSqliteDriver, SQLITE_DRIVERS, type SqliteDriver
} from './knex/drivers/sqlite-drivers.ts'
import type { KnexStorage } from './knex/knex-storage.ts'
import { storageOnOwnKnex } from './knex/storage.ts'
import { prefixOption } from './knex/tables/names.ts'

const BUSY_TIMEOUT_MS = 5000
// With ten million users and the file in the system's cache, a random page takes 79 µs with this, and with 64 MB.
const CACHE_KIB = 16_384
// SQLite's default is 1000. With fewer checkpoints an import takes a tenth less, and of single creations the p99 is 1.2
// instead of 1.7 ms, and the longest no longer.
const CHECKPOINT_PAGES = 4000
// Less than the wait for a connection, whose caller then learns of the lock.
const WAL_TIMEOUT_MS = 4500
const WAIT_MS = 5000

export type { SqliteDriver }

const optionTable = {
  /**
   * Path of the database file. A file that is created, and its directory, are readable by their owner alone.
   * `:memory:` for a database that lives as long as the storage.
   */
  filename: required<string>({
    schema: Type.String({ pattern: '^(?![A-Za-z][A-Za-z0-9+.-]+:).' }),
    message: 'must be the path of a file (not a URI), or :memory:'
  }),
  /**
   * Driver of SQLite. Default: the first that loads of `better-sqlite3`, `node:sqlite` (Node.js 22.13 or later),
   * `@photostructure/sqlite` and `sqlite3`. All but `sqlite3` wait for the disk on the thread of the event loop, so
   * that one suits a host with other routes and a slow disk.
   */
  driver: optional<SqliteDriver>({
    schema: Type.Union(SQLITE_DRIVERS.map((name) => Type.Literal(name))),
    message: `must be one of ${SQLITE_DRIVERS.join(', ')}`
  }),
  /**
   * Whether a file that does not exist, or is empty, becomes a new database. With false a path that is wrong, or a disk
   * that is not mounted, is an error instead of an empty store.
   */
  create: defaulted<boolean>(true, {
    schema: Type.Boolean(),
    message: 'must be true or false'
  }),
  /** Milliseconds that a write waits for another process's lock before it fails as unavailable. Reads do not wait. */
  busyTimeoutMs: defaulted<number>(BUSY_TIMEOUT_MS, {
    schema: Type.Integer({ minimum: 0 }),
    message: 'must be a whole number of milliseconds, 0 or more'
  }),
  ...prefixOption
}

export interface SqliteOptions extends OptionsOf<typeof optionTable> {}

/**
 * Prepares a new connection: write-ahead log, and every commit on the disk before it is acknowledged. It does not wait
 * for the locks of other processes: reads go on while writes are repeated. Two processes that turn the log on
 * concurrently can get SQLITE_BUSY, so that is retried.
 */
function preparer ({ execute }: Pick<LoadedDriver, 'execute'>, file: SqliteFile | null) {
  const settings = [
    'busy_timeout = 0', 'journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON',
    `cache_size = -${CACHE_KIB}`, `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    // A statement on many rows within a transaction keeps what was before in a file of its own otherwise: of a recorded
    // change that was a fifth of the CPU time.
    'temp_store = MEMORY'
  ].map((each) => `PRAGMA ${each};`).join(' ')
  return (connection: unknown, done: (error: unknown) => void): void => {
    file?.opened()
    retryWhileBusy(() => execute(connection, settings), performance.now() + WAL_TIMEOUT_MS)
      .then(() => done(null), (error) => done(ofDriver(error)))
  }
}

/** Migrates with files for what has to be sorted: the values for a new index may not fit into the memory. */
function migratingOnDisk (knex: Knex, open: KnexStorage['open']): KnexStorage['open'] {
  const sortIn = async (place: 'FILE' | 'MEMORY') => knex.raw(`PRAGMA temp_store = ${place}`)
  return async (options = {}) => {
    if (options.migrate !== true) return open(options)
    await sortIn('FILE').catch((error) => { throw isStorageError(error) ? error : ofDriver(error) })
    try {
      return await open(options)
    } finally {
      await sortIn('MEMORY').catch(() => {})
    }
  }
}

/**
 * A storage in an SQLite file, on a connection of its own. Needs the package `knex`, and a driver: `node:sqlite`,
 * `better-sqlite3`, `@photostructure/sqlite` or `sqlite3`.
 * @throws Error if one of them is missing or does not load, or the file can't be created, or must not be; TypeError for
 * a wrong option
 */
export function sqlite (given: SqliteOptions): KnexStorage {
  const options = readOptions('fastify-users: sqlite()', optionTable, given)
  const { filename, driver, create, busyTimeoutMs, tablePrefix } = options
  const { knex }: typeof import('knex') = requireOptional('sqlite()', ['knex'])('knex')
  const loaded = loadSqliteDriver(driver)
  const { name, version, client } = loaded
  const file = filename === ':memory:' ? null : openSqliteFile(filename, { create })
  const ownKnex = knex({
    client,
    connection: { filename: file?.path ?? filename },
    useNullAsDefault: true,
    compileSqlOnError: false,
    acquireConnectionTimeout: WAIT_MS,
    // SQLite has one writer, and a :memory: database is its connection.
    pool: { min: 1, max: 1, afterCreate: preparer(loaded, file) },
    log: silentLogger
  })
  const limits = { wait: Math.max(WAIT_MS, busyTimeoutMs), busy: busyTimeoutMs, total: Infinity }
  const settings = { prepare: true, batching: { connections: 1, groups: 1, wait: GROUP_WAIT_MS }, limits }
  const storage = storageOnOwnKnex(ownKnex, tablePrefix === undefined ? {} : { tablePrefix }, settings)
  const open = migratingOnDisk(ownKnex, storage.open)
  const onDriver = { ...storage, open, server: { ...storage.server, driver: `${name} ${version}` } }
  const bytesOf = async (): Promise<number> => {
    const [row] = await ownKnex.raw('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
    return Number(row.bytes)
  }
  return file === null ? onDriver : onWatchedFile(onDriver, file, bytesOf, () => letGo(ownKnex))
}
