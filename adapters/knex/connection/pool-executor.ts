import { setTimeout } from 'node:timers/promises'
import type { Knex } from 'knex'
import { dialectOf } from '../dialects/index.ts'
import { LOCK_WAIT_MS } from '../dialects/dialect.ts'
import type { Profile } from '../tables/profiles.ts'
import { discard, giveBack, poolOf, takeFree } from '../drivers/knex-internals.ts'
import type { Names } from '../tables/names.ts'
import { untilAborted } from './deadlines.ts'
import { isBusy, isConflict, isConnectionLost, isLost, isRolledBack, toStorageError } from './driver-errors.ts'
import type { Batching, Executor, PoolExecutor, Query } from './executor.ts'
import { narrowing } from './narrow-pool.ts'
import { retryWhileBusy } from './retry-while-busy.ts'
import { shareConnections } from './shared-connections.ts'
import { queryOn, type StatementSettings } from './statements.ts'
import { acquireBy, type TimeLimits, UNLIMITED } from './time-limits.ts'
import { createWriteQueue, writersOf } from './write-queue.ts'

// One of two conflicting statements always succeeds, so 20 failures mean 20 other writers.
const ATTEMPTS = 20

// From the second conflict on, a pause of at most so many milliseconds lets the others get ahead.
const PAUSE_MAX_MS = 64

// Time for the round trips of one write on a slow network.
const WRITE_MS = 50

// What exclusive transactions wait for in the queue; no id.
const EXCLUSIVE = 'exclusive'

/** Settings of an executor on a pool of our own. */
export interface PoolSettings extends StatementSettings {
  /** Milliseconds for the server's limit on statements, where none could be set on its session. */
  localTimeout?: number | undefined
  /** Without them, time is limited by the database and the pool alone, and no write waits for its turn. */
  limits?: TimeLimits | undefined
  batching?: Batching | null | undefined
  /** How PostgreSQL is used. Default `classic`. */
  profile?: Profile | undefined
}

type Work<Value> = (query: Query, connection: unknown) => Promise<Value>

/** How work is run. */
interface Run {
  /** When it was asked for, by `performance.now()`. */
  since?: number | undefined
  /** How often it is done at most while it conflicts with other transactions. Default 20. */
  attempts?: number
  /** Milliseconds that it waits for the lock on the SQLite file. */
  busy?: number
  /** Milliseconds that it may take beyond the limit, once it has a connection. Default 0. */
  extraMs?: number
}

/**
 * Makes the executor of a Knex instance. It sends statements to the driver on Knex's connections, past its query
 * builder and hooks: a host's identifier mappers and response processors do not reach our tables, and finished SQL
 * text costs nothing to build.
 */
export function createPoolExecutor (knex: Knex, names: Names, settings: PoolSettings = {}): PoolExecutor {
  const { prepare, localTimeout, limits = UNLIMITED, batching = null, profile } = settings
  const isHosts = limits === UNLIMITED
  const pool = isHosts ? poolOf(knex) : narrowing(poolOf(knex))
  const dialect = dialectOf(pool.driverName, profile)
  const { begin: beginDefault, beginSnapshotWrite, exclusiveLock, shareTable } = dialect.transaction
  const { liftTimeouts, statementTimeoutMs } = dialect.transaction
  const inQueue = isHosts ? null : createWriteQueue(writersOf(pool.pool.max))
  const free = () => isHosts ? undefined : takeFree(pool)
  const share = shareConnections(pool, batching?.connections ?? 0, discardIfLost, free)

  /** A lost connection must not be lent again. */
  function discardIfLost (connection: unknown, error: unknown): void {
    if (isConnectionLost(error, names)) discard(connection)
  }

  function queued<Value> (key: string | null, since: number, work: () => Promise<Value>): Promise<Value> {
    return inQueue === null ? work() : inQueue(key, since + limits.wait, work)
  }

  function withConnection<Value> (work: Work<Value>, since: number, extraMs: number): Promise<Value> {
    const deadline = since + limits.total + extraMs
    const on = (connection: unknown): Promise<Value> =>
      work(queryOn(dialect, connection, { prepare, deadline }), connection).then((value) => {
        giveBack(pool, connection)
        return value
      }, (error) => {
        discardIfLost(connection, error)
        giveBack(pool, connection)
        throw error
      })
    const taken = free()
    return taken === undefined ? acquireBy(pool, since + limits.wait).then(on) : on(taken)
  }

  /** Work is atomic, so after a conflict it can simply be done again. `again`: another way to do the same. */
  function repeat<Value> (work: Work<Value>, run: Run = {}, again = work): Promise<Value> {
    const { since = performance.now(), attempts = ATTEMPTS, busy = limits.busy, extraMs = 0 } = run
    const once = () => withConnection(work, since, extraMs)
    // Without its connection while it waits for the file: reads need no lock.
    return (busy === 0 ? once() : retryWhileBusy(once, since + busy)).catch(async (error) => {
      if (attempts === 1 || !isConflict(error)) throw toStorageError(error, names)
      const conflicts = ATTEMPTS - attempts
      if (conflicts > 0) await setTimeout(Math.random() * Math.min(2 ** conflicts, PAUSE_MAX_MS))
      return repeat(again, { ...run, since, attempts: attempts - 1 })
    })
  }

  const inTransaction = <Value>(work: (query: Query) => Promise<Value>, begin = beginDefault): Work<Value> =>
    async (query, connection) => {
      // What could not begin needs no end.
      await query(begin)
      try {
        const value = await work(query)
        await query('COMMIT')
        return value
      } catch (error) {
        // A connection that can't be rolled back must not be lent again. The first error is the one that matters.
        await query('ROLLBACK').catch((failure) => { if (!isRolledBack(failure)) discard(connection) })
        throw error
      }
    }

  // A host's own limit on locks stays: its pool may have one, so that no schema change holds up others for long.
  const lifting = isHosts ? statementTimeoutMs?.(0) ?? null : liftTimeouts
  const lift = async (query: Query) => { if (lifting !== null) await query(lifting) }
  const localLimit = localTimeout === undefined ? null : statementTimeoutMs?.(localTimeout) ?? null
  const setLimit = async (query: Query) => { if (localLimit !== null) await query(localLimit) }

  const query: Executor['query'] = (sql, params, options = {}) => {
    const { keepPlan = true, retry = true, bounded = false, waitsFor, since = performance.now() } = options
    const how = retry ? { since } : { since, attempts: 1, busy: LOCK_WAIT_MS }
    const run = (on: Query) => on(sql, params, { keepPlan })
    // How it is repeated after a conflict: under READ COMMITTED a statement waits for others, and is not refused for
    // what they do. A host's default may be stricter, and refuse it as often as others come between.
    const alone = inTransaction(async (on) => {
      if (bounded) await setLimit(on)
      return run(on)
    })
    const work = bounded && localLimit !== null ? alone : run
    const start = () => repeat(work, how, alone)
    return waitsFor === undefined ? start() : queued(waitsFor, since, start)
  }

  const read: Executor['read'] = async (sql, params, options = {}) => {
    const { keepPlan = true } = options
    const since = performance.now()
    const alone = () => query(sql, params, { keepPlan, since })
    const deadline = since + limits.total
    const shared = share((connection) => queryOn(dialect, connection, { prepare, deadline })(sql, params, { keepPlan }))
    try {
      return await (shared ?? alone())
    } catch (thrown) {
      const error = toStorageError(thrown, names)
      // A lost connection fails all reads that share it, and so may a read that fails. Reading again does no harm.
      if (isLost(error) || isBusy(thrown) || isConflict(thrown)) return alone()
      throw error
    }
  }

  return {
    dialect,
    batching,
    prepares: prepare === true,
    joined: false,
    read,
    query,
    transaction (work, options = {}) {
      const { exclusive = false, noTimeout = false, waitsFor = null, since = performance.now() } = options
      const { bounded = false, writes = 0, signal } = options
      const all = inTransaction(async (on) => {
        if (noTimeout) await lift(on)
        else if (bounded) await setLimit(on)
        if (exclusive && exclusiveLock !== null) await on(exclusiveLock(names))
        return work(on)
      })
      // No time limit: a process that waits for another’s migration waits until it ends.
      const aborted: typeof all = (on, connection) => untilAborted(all(on, connection), dialect, connection, signal)
      if (noTimeout) return repeat(aborted, { extraMs: Infinity })
      const extraMs = writes * WRITE_MS
      return queued(exclusive ? EXCLUSIVE : waitsFor, since, () => repeat(all, { since, extraMs }))
    },
    snapshot (work, { begin = beginSnapshotWrite, signal } = {}) {
      const all = inTransaction(async (on) => {
        await lift(on)
        for (const statement of shareTable(names.users)) await on(statement)
        return work(on)
      }, begin)
      const aborted: typeof all = (on, connection) => untilAborted(all(on, connection), dialect, connection, signal)
      return repeat(aborted, { extraMs: Infinity })
    }
  }
}
