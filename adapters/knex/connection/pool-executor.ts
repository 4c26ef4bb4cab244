import type { Knex } from 'knex'
import { dialectOf } from '../dialects/index.ts'
import { discard, poolOf } from '../drivers/knex-internals.ts'
import type { Names } from '../tables/names.ts'
import { untilAborted } from './deadlines.ts'
import { isConflict, isLost, toStorageError } from './driver-errors.ts'
import type { Batching, Executor, PoolExecutor, Query } from './executor.ts'
import { shareConnections } from './shared-connections.ts'
import { queryOn, type StatementSettings } from './statements.ts'
import { createWriteQueue, type WriteQueue } from './write-queue.ts'

// Of two that conflict one succeeds, so a statement that fails this often has met that many others.
const ATTEMPTS = 20

// Connections that writes which wait for locks leave to reads and to groups of writes.
const LEFT_FREE = 3

/** A queue for all connections of a pool but a few, and for half of a small pool. A host's own pool has none. */
function writeQueueOf (connections: number, timeout: number | undefined): WriteQueue {
  if (connections === 1 || timeout === undefined) return (_key, work) => work()
  return createWriteQueue(Math.max(1, Math.floor(connections / 2), connections - LEFT_FREE), timeout)
}

/** Settings of an executor on a pool of our own. */
export interface PoolSettings extends StatementSettings {
  /** Milliseconds for the server's limit on statements, where none could be set on its session. */
  localTimeout?: number | undefined
  /** Milliseconds that a write waits for its turn, among those that may wait for a lock. */
  queueTimeout?: number | undefined
  batching?: Batching | null | undefined
}

type Work<Value> = (query: Query, connection: unknown) => Promise<Value>

interface Limits {
  deadline: number | undefined
  attempts?: number
}

/**
 * Makes the executor of a Knex instance. It sends statements to the driver on Knex's connections, past its query
 * builder and hooks: a host's identifier mappers and response processors do not reach our tables, and finished SQL
 * text costs nothing to build.
 */
export function createPoolExecutor (knex: Knex, names: Names, settings: PoolSettings = {}): PoolExecutor {
  const { deadline, prepare, busyTimeout, localTimeout, queueTimeout, batching = null } = settings
  const pool = poolOf(knex)
  const dialect = dialectOf(pool.driverName)
  const { begin: beginDefault, beginSnapshotWrite, exclusiveLock, shareTable } = dialect.transaction
  const { liftTimeouts, statementTimeout } = dialect.transaction
  const queued = writeQueueOf(pool.pool.max, queueTimeout)
  const share = shareConnections(pool, dialect, batching?.connections ?? 0, discardIfLost)

  /** A lost connection must not be lent again. */
  function discardIfLost (connection: unknown, error: unknown): void {
    if (isLost(toStorageError(error, names))) discard(connection)
  }

  async function withConnection<Value> (work: Work<Value>, deadline: number | undefined): Promise<Value> {
    const connection = await pool.acquireConnection()
    try {
      const result = work(queryOn(dialect, connection, { prepare, busyTimeout, deadline }), connection)
      // Before the connection is released.
      result.catch((error) => discardIfLost(connection, error))
      return await result
    } finally {
      await pool.releaseConnection(connection)
    }
  }

  /** Work is atomic, so after a conflict it can simply be done again. */
  async function repeat<Value> (work: Work<Value>, limits: Limits): Promise<Value> {
    const { attempts = ATTEMPTS } = limits
    try {
      return await withConnection(work, limits.deadline)
    } catch (error) {
      if (attempts > 1 && isConflict(error)) return repeat(work, { ...limits, attempts: attempts - 1 })
      throw toStorageError(error, names)
    }
  }

  const inTransaction = <Value>(work: (query: Query) => Promise<Value>, begin = beginDefault): Work<Value> =>
    async (query, connection) => {
      try {
        await query(begin)
        const value = await work(query)
        await query('COMMIT')
        return value
      } catch (error) {
        // A connection that can't be rolled back must not be lent again. The first error is the one that matters.
        await query('ROLLBACK').catch(() => discard(connection))
        throw error
      }
    }

  // A host's own limit on locks stays: its pool may have one, so that no schema change holds up others for long.
  const lifting = queueTimeout === undefined ? statementTimeout?.(0) ?? null : liftTimeouts
  const lift = async (query: Query) => { if (lifting !== null) await query(lifting) }

  const query: Executor['query'] = (sql, params, options = {}) => {
    const { keepPlan = true, retry = true, bounded = false, waitsFor } = options
    const limits = { deadline, attempts: retry ? ATTEMPTS : 1 }
    const run = (on: Query) => on(sql, params, { keepPlan })
    const work = !bounded || localTimeout === undefined || statementTimeout === null
      ? run
      : inTransaction(async (on) => {
        await on(statementTimeout(localTimeout))
        return run(on)
      })
    return waitsFor === undefined ? repeat(work, limits) : queued(waitsFor, () => repeat(work, limits))
  }

  const readAlone: Executor['read'] = (sql, params, { keepPlan = true } = {}) => query(sql, params, { keepPlan })

  const read: Executor['read'] = async (sql, params, options = {}) => {
    const { long = false, keepPlan = true } = options
    if (long && !dialect.sharesLongReads) return readAlone(sql, params, options)
    const shared = share((connection) =>
      queryOn(dialect, connection, { prepare, busyTimeout, deadline })(sql, params, { keepPlan }))
    try {
      return await (shared ?? readAlone(sql, params, options))
    } catch (thrown) {
      const error = toStorageError(thrown, names)
      if (!isLost(error)) throw error
      // A lost connection fails all reads that shared it. Reading again does no harm.
      return readAlone(sql, params, options)
    }
  }

  return {
    dialect,
    batching,
    read,
    query,
    transaction (work, { exclusive = false, noTimeout = false, waitsFor = null } = {}) {
      const all = inTransaction(async (on) => {
        if (noTimeout) await lift(on)
        if (exclusive && exclusiveLock !== null) await on(exclusiveLock, [names.lock])
        return work(on)
      })
      // Whoever waits for a migration waits as long as it takes.
      if (noTimeout) return repeat(all, { deadline: Infinity })
      return queued(exclusive ? names.lock : waitsFor, () => repeat(all, { deadline }))
    },
    snapshot (work, { begin = beginSnapshotWrite, signal } = {}) {
      const all = inTransaction(async (on) => {
        await lift(on)
        for (const statement of shareTable(names.users)) await on(statement)
        return work(on)
      }, begin)
      const limits = { deadline: Infinity }
      return repeat((on, connection) => untilAborted(all(on, connection), dialect, connection, signal), limits)
    }
  }
}
