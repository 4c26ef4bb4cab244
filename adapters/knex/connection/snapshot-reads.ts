import type { Knex } from 'knex'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { closeBesidePool, openBesidePool } from '../drivers/knex-internals.ts'
import type { Names } from '../tables/names.ts'
import { withDeadline } from './deadlines.ts'
import { toStorageError } from './driver-errors.ts'
import type { Query } from './executor.ts'
import { retryWhileBusy } from './retry-while-busy.ts'
import { queryOn } from './statements.ts'

// Each takes a connection of the database's, and keeps it from removing old rows.
const CONCURRENT_MAX = 2
const BUSY_MS = 5000
// A statement takes milliseconds. A server that has not answered for so long is gone.
const STATEMENT_MS = 60_000
const CLOSE_MS = 2000

type Work = (query: Query) => Promise<void>

/** Reads of one snapshot, for as long as their reader takes. */
export interface SnapshotReads {
  /**
   * Runs work whose statements all see the database as it is when it begins. It has a connection of its own beside the
   * pool, since a slow reader must not take one of the pool's. Errors of the work come through as they are.
   * @throws StorageError `unavailable` if two run already, or the storage is closed, also while the work runs
   */
  run (work: Work): Promise<void>
  /** Ends what runs. */
  close (): Promise<void>
}

/** `before`: what each connection must pass before the snapshot is taken. */
export function createSnapshotReads (
  knex: Knex,
  names: Names,
  dialect: Dialect,
  before: (query: Query, connection: object) => Promise<void> = async () => {}
): SnapshotReads {
  const { beginSnapshotRead, readForLong, shareTable } = dialect.transaction
  /** Each ends a read, and resolves when its connection is closed. */
  const running = new Set<() => Promise<void>>()
  let isClosed = false

  const closed = (): StorageError => new StorageError('unavailable', 'the storage is closed')
  const failed = (error: unknown): never => { throw toStorageError(error, names) }

  function queryFor (connection: unknown): Query {
    const send: Query = (sql, params) =>
      queryOn(dialect, connection, { deadline: performance.now() + STATEMENT_MS })(sql, params)
    return (sql, params) => retryWhileBusy(() => send(sql, params), performance.now() + BUSY_MS).catch(failed)
  }

  async function readOn (connection: unknown, work: Work): Promise<void> {
    const query = queryFor(connection)
    await before(query, Object(connection))
    await query(beginSnapshotRead)
    for (const statement of shareTable(names.users)) await query(statement)
    await query(readForLong)
    await work(query)
    // So that a pooler gives the server's connection to others. Everything is read, whatever comes of it.
    await query('COMMIT').catch(() => {})
  }

  /** Closes a connection, whatever its state: the server may not answer, or the driver has closed it. */
  async function end (connection: unknown): Promise<void> {
    const ended = closeBesidePool(knex, connection)
    await withDeadline(ended, dialect, connection, performance.now() + CLOSE_MS).catch(() => {})
  }

  return {
    async run (work) {
      if (isClosed) throw closed()
      if (running.size >= CONCURRENT_MAX) {
        throw new StorageError('unavailable', `${CONCURRENT_MAX} reads of all users are already running`)
      }
      let stop = (): void => {}
      const stopped = new Promise<never>((_resolve, reject) => { stop = () => reject(closed()) })
      let isOpen = false
      const opening = openBesidePool(knex).catch(failed)
      let ending: Promise<void> | undefined
      /** Closes the connection once. Nobody waits for one that is still being opened. */
      async function release (): Promise<void> {
        ending ??= opening.then(end, () => {})
        if (isOpen) await ending
      }
      const endNow = (): Promise<void> => {
        stop()
        return release()
      }
      running.add(endNow)
      try {
        await Promise.race([stopped, opening.then((connection) => {
          isOpen = true
          return readOn(connection, work)
        })])
      } finally {
        running.delete(endNow)
        await release()
      }
    },

    async close () {
      isClosed = true
      await Promise.all([...running].map((endNow) => endNow()))
    }
  }
}
