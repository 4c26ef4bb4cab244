import { giveBack, isDiscarded, type Pool } from '../drivers/knex-internals.ts'
import { acquire } from './time-limits.ts'

// More reads on one connection would only wait there.
const DEPTH_MAX = 64

interface SharedConnection {
  opening: Promise<unknown>
  /** The connection, once it is open. */
  connection: { is: unknown } | null
  running: number
}

/** Runs work on a connection that other work uses too; null if none can be shared at the moment. */
export type Share = <Value>(work: (connection: unknown) => Promise<Value>) => Promise<Value> | null

/**
 * Shares up to `max` connections of a pool among short reads. A connection is shared while anything runs on it, and
 * then released. If it is the pool's only one, no read joins it while others wait for it. `onError` is called for every
 * failure, before the caller. `takeFree`: takes a connection that is free without waiting, if there is one.
 *
 * This pays on SQLite, where the way through the pool costs more than the statement: with 32 requests, pages at random
 * are 1.44 times as many, first pages 1.10 times. On PostgreSQL reads are fewer with it (0.88 to 1.01).
 */
export function shareConnections (
  pool: Pool,
  max: number,
  onError: (connection: unknown, error: unknown) => void,
  takeFree: () => unknown = () => undefined
): Share {
  const shared = new Set<SharedConnection>()

  function open (): SharedConnection {
    const free = takeFree()
    const each: SharedConnection = free === undefined
      ? { opening: acquire(pool), connection: null, running: 0 }
      : { opening: Promise.resolve(free), connection: { is: free }, running: 0 }
    shared.add(each)
    each.opening.then((connection) => { each.connection = { is: connection } }, () => shared.delete(each))
    return each
  }

  function leastBusy (): SharedConnection | null {
    let least: SharedConnection | null = null
    for (const each of shared) if (least === null || each.running < least.running) least = each
    return least
  }

  function choose (): SharedConnection | null {
    const least = leastBusy()
    if ((least === null || least.running > 0) && shared.size < max) return open()
    if (least === null || least.running >= DEPTH_MAX) return null
    // If the pool has no other connection, continuous reads would keep it from those who wait for it.
    const isScarce = pool.pool.max <= max
    return isScarce && least.connection !== null && pool.pool.numPendingAcquires() > 0 ? null : least
  }

  function start<Value> (
    each: SharedConnection,
    connection: unknown,
    work: (connection: unknown) => Promise<Value>
  ): Promise<Value> {
    const result = work(connection)
    const leave = (): void => {
      // The next read then gets another connection.
      if (--each.running === 0 || isDiscarded(connection)) shared.delete(each)
      if (each.running === 0) giveBack(pool, connection)
    }
    result.then(leave, (error) => {
      onError(connection, error)
      leave()
    })
    return result
  }

  return (work) => {
    const each = choose()
    if (each === null) return null
    each.running++
    if (each.connection !== null) return start(each, each.connection.is, work)
    return each.opening.then((connection) => start(each, connection, work))
  }
}
