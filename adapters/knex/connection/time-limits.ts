import { StorageError } from '../../../lib/storage/storage-error.ts'
import { giveBack, type Pool } from '../drivers/knex-internals.ts'
import { ofOpening } from './driver-errors.ts'

/** How long work on a pool of our own may take, in milliseconds since it was requested. */
export interface TimeLimits {
  /** Until it has its turn and a connection. */
  wait: number
  /** Until another process no longer locks the SQLite file. */
  busy: number
  /** Until it must have ended. After that its connection is closed, because the server may never answer. */
  total: number
}

/** Milliseconds that a write on our own pool waits for its group: less than other work waits for a connection. */
export const GROUP_WAIT_MS = 2000

/** For a host's pool, which has its own limits. */
export const UNLIMITED: TimeLimits = { wait: Infinity, busy: 0, total: Infinity }

/** Acquires a connection, as soon as there is one. */
export async function acquire (pool: Pick<Pool, 'acquireConnection'>): Promise<unknown> {
  try {
    return await pool.acquireConnection()
  } catch (error) {
    throw ofOpening(error)
  }
}

/** Acquires a connection. @throws StorageError `unavailable` if none is free by `time`, of `performance.now()` */
export function acquireBy (pool: Pool, time: number): Promise<unknown> {
  const acquired = acquire(pool)
  if (time === Infinity) return acquired
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(new StorageError('unavailable', 'no connection to the database is free'))
    }, Math.max(0, time - performance.now()))
    acquired.then((connection) => {
      if (isLate) giveBack(pool, connection)
      resolve(connection)
    }, reject).finally(() => clearTimeout(timer))
  })
}
