// How a store reaches the database: by a pool of Knex, or inside a transaction of the host's.

import type { Knex } from 'knex'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import { withDeadline } from '../connection/deadlines.ts'
import { afterCommit, hostTransaction, type Slot } from '../connection/host-transactions.ts'
import { acquireBy } from '../connection/time-limits.ts'
import { closeBesidePool, discard, giveBack, openBesidePool, poolOf } from '../drivers/knex-internals.ts'
import { isLost, mysql2Driver, queryOn, translated } from './driver.ts'
import type { Query } from './sql.ts'

/** How a store reaches the database. */
export interface Access {
  read<Result> (work: (query: Query) => Promise<Result>): Promise<Result>
  /** One transaction, with the row of all writers locked: nothing of ours comes between what it reads and writes. */
  write<Result> (work: (query: Query) => Promise<Result>, options?: WriteOptions): Promise<Result>
}

export interface WriteOptions {
  /** How much longer than usual it may take. Default 0. */
  extraMs?: number
  /** When it was asked for, by `performance.now()`: its time limits count from then. Default: now. */
  since?: number
  /** What comes before the row of all writers is locked. */
  first?: (query: Query) => Promise<void>
}

/** Milliseconds that work on a pool of our own waits for a connection, and may take; Infinity: a host's pool. */
export interface Limits { wait: number, total: number }

const CONCURRENT_SNAPSHOTS = 2
const SNAPSHOT_STATEMENT_MS = 60_000
const CLOSE_MS = 2000
const LONG_LOCK_SECONDS = 86_400

/** `lock`: the statement that each writer begins with. */
export function accessTo (knex: Knex, lock: string, { wait, total }: Limits) {
  const pool = poolOf(knex)
  const snapshots = new Set<() => void>()
  let isClosed = false

  async function on<Result> (
    isReading: boolean, work: (query: Query, connection: unknown) => Promise<Result>, limit = total,
    since = performance.now()
  ): Promise<Result> {
    const connection = await acquireBy(pool, since + wait).catch((error: unknown) => { throw translated(error) })
    const send = queryOn(connection, isReading)
    const query: Query = (sql, values) => withDeadline(send(sql, values), mysql2Driver, connection, since + limit)
    try {
      return await work(query, connection)
    } catch (error) {
      if (isLost(error)) discard(connection)
      throw error
    } finally {
      giveBack(pool, connection)
    }
  }

  type Work<Result> = (query: Query, connection: unknown) => Promise<Result>

  const inTransaction = <Result>(work: (query: Query) => Promise<Result>): Work<Result> =>
    async (query, connection) => {
      await query('START TRANSACTION')
      try {
        const result = await work(query)
        await query('COMMIT')
        return result
      } catch (error) {
        await query('ROLLBACK').catch(() => discard(connection))
        throw error
      }
    }

  /** Lifts the server's limits of a session while work runs. How long a host waits for locks is for the host to say. */
  const lifted = <Result>(work: Work<Result>): Work<Result> => async (query, connection) => {
    const { rows: [row] } = await query('SELECT @@max_statement_time AS seconds, @@innodb_lock_wait_timeout AS locks')
    const [seconds, locks] = [Number(row?.['seconds']), Number(row?.['locks'])]
    const set = (statement: number, lock: number) =>
      query('SET SESSION max_statement_time = ?, innodb_lock_wait_timeout = ?', [statement, lock])
    await set(0, total === Infinity ? locks : LONG_LOCK_SECONDS)
    try {
      return await work(query, connection)
    } finally {
      await set(seconds, locks).catch(() => discard(connection))
    }
  }

  return {
    // Work of one parameter: what has a second one of its own would take the connection for it.
    read: (work) => on(true, (query) => work(query)),
    write: (work, { extraMs = 0, since, first } = {}) => on(false, inTransaction(async (query) => {
      await first?.(query)
      await query(lock)
      return work(query)
    }), total + extraMs, since),
    /** Reads one snapshot. */
    consistent: <Result>(work: (query: Query) => Promise<Result>) => on(true, async (query, connection) => {
      await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      await query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
      try {
        return await work(query)
      } finally {
        await query('COMMIT').catch(() => discard(connection))
      }
    }),
    /** One transaction of any length. */
    long: <Result>(work: (query: Query) => Promise<Result>) => on(false, lifted(inTransaction(async (query) => {
      await query(lock)
      return work(query)
    })), Infinity),
    /** Work on one connection, of any length, outside of a transaction. */
    alone: <Result>(work: (query: Query) => Promise<Result>) => on(false, lifted(work), Infinity),
    /** Reads one snapshot on a connection of its own, since it may take long. */
    async snapshot (work: (query: Query) => Promise<void>): Promise<void> {
      const closed = (): StorageError => new StorageError('unavailable', 'the storage is closed')
      if (isClosed) throw closed()
      if (snapshots.size >= CONCURRENT_SNAPSHOTS) {
        throw new StorageError('unavailable', `${CONCURRENT_SNAPSHOTS} reads of all users are already running`)
      }
      let stop = (): void => {}
      const stopped = new Promise<never>((_resolve, reject) => { stop = () => reject(closed()) })
      snapshots.add(stop)
      const opening = openBesidePool(knex).catch((error: unknown) => { throw translated(error) })
      try {
        await Promise.race([stopped, opening.then(async (connection) => {
          const send = queryOn(connection, true)
          const query: Query = (sql, values) =>
            withDeadline(send(sql, values), mysql2Driver, connection, performance.now() + SNAPSHOT_STATEMENT_MS)
          await query('SET SESSION max_statement_time = 0')
          await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
          await query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
          await work(query)
        })])
      } finally {
        snapshots.delete(stop)
        const ended = opening.then((connection) =>
          withDeadline(closeBesidePool(knex, connection), mysql2Driver, connection, performance.now() + CLOSE_MS))
        await ended.catch(() => {})
      }
    },
    close (): void {
      isClosed = true
      for (const stop of snapshots) stop()
    }
  } satisfies Access & Record<string, unknown>
}

const OVER = 'the transaction is over'
// What may have rolled a host's transaction back: then what follows commits by itself.
const ROLLS_BACK = ['ER_LOCK_DEADLOCK', 'ER_CHECKREAD', 'ER_XA_RBDEADLOCK']
const lost = new WeakSet<Knex.Transaction>()
const heard = new WeakSet<Knex.Transaction>()

/** Access inside a transaction of the host's. */
export function accessIn (transaction: Knex.Transaction, lock: string) {
  const client = poolOf(transaction)
  const state = hostTransaction(transaction)
  let outermost = transaction
  while (outermost.parentTransaction !== undefined) outermost = outermost.parentTransaction
  const watch = { committed: () => !lost.has(outermost), stop () {} }
  if (!heard.has(outermost)) {
    heard.add(outermost)
    outermost.on('query-error', (error: unknown) => {
      if (ROLLS_BACK.includes(String(Object(error).code))) lost.add(outermost)
    })
  }
  let slot: Slot | null = null

  function requireOpen (): void {
    if (transaction.isCompleted()) throw new StorageError('fault', OVER)
    if (!lost.has(outermost)) return
    const text = 'the database has rolled the transaction back, because of a deadlock: roll it back, and begin again'
    throw new StorageError('unavailable', text, { driverCode: 'ER_LOCK_DEADLOCK' })
  }

  /** Work after the work before it: savepoints can't overlap. */
  function inTurn<Result> (isReading: boolean, work: (query: Query) => Promise<Result>): Promise<Result> {
    const done = state.last.then(async () => {
      requireOpen()
      const connection = await client.acquireConnection()
      state.runsOn(connection, { keepOrder () {}, watchCommit: () => watch })
      const send = queryOn(connection, isReading)
      const watched: Query = (sql, values) => send(sql, values).catch((error: unknown) => {
        if (ROLLS_BACK.includes(String(Object(error).driverCode))) lost.add(outermost)
        throw error
      })
      const query: Query = async (sql, values) => {
        requireOpen()
        const answer = await watched(sql, values)
        requireOpen()
        slot = state.slotAfter(slot)
        return answer
      }
      // A deadlock in a statement of the host that nobody told: what follows would commit by itself.
      const { rows: [row] } = await watched('SELECT @@in_transaction AS is_open')
      if (Number(row?.['is_open']) !== 1) lost.add(outermost)
      return work(query)
    }).catch((error: unknown) => { throw translated(error) })
    state.last = done.catch(() => {})
    return done
  }

  return {
    read: (work) => inTurn(true, work),
    write: (work) => inTurn(false, async (query) => {
      await query(lock)
      return work(query)
    }),
    afterCommit: (callback: () => void): void => afterCommit(slot ?? state.slotAfter(null), callback)
  } satisfies Access & Record<string, unknown>
}
