import type { Knex } from 'knex'
import { StorageError } from '../../lib/errors.ts'
import { isStorable } from '../../lib/text.ts'
import { discard, type Pool, stoppable, withDeadline } from './connections.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import type { Param, Row } from './drivers/driver.ts'
import { isConflict, isLost, toStorageError } from './driver-errors.ts'
import { hostTransaction, type Slot, tell } from './host-transaction.ts'
import { shareConnections } from './lanes.ts'
import type { Names } from './names.ts'
import { whileBusy } from './while-busy.ts'

// Where two of ours meet one of them goes through, so a statement that loses this often has met that many others.
const ATTEMPTS = 20

/** Runs one statement. `keep`: where statements are prepared, this one is too, which is for texts that there are few of; true by default. */
export type Run = (sql: string, params?: readonly Param[], keep?: boolean) => Promise<Row[]>

/** Statements on connections of Knex. Throws StorageError alone. */
export interface Session {
  readonly dialect: Dialect
  /** One statement that no constraint refuses. */
  readonly run: Run
  /** One that only reads, and is quick at any size of the tables. */
  readonly read: Run
  /** One that only reads, and may take long: it keeps no other statement waiting that need not wait for it. */
  readonly search: Run
  /** How many connections reads share, and how many groups of each kind of write may be under way, so that it is not told which of them came first; 0: each goes alone. */
  readonly lanes: number
  /** One of many writes, which are tried one by one where it fails: it is not tried again where it meets another transaction. */
  readonly once: Run
  /** One statement that a constraint may refuse; in a transaction of the host's the refusal leaves that usable. */
  readonly attempt: Run
  /** Statements that happen all or not at all. */
  atomically<Value> (work: (run: Run) => Promise<Value>): Promise<Value>
  /** What a transaction begins with that must not wait for ever, where nothing on the session says so; null where something does. */
  readonly limit: string | null
  /** The same, apart from every other such piece of work of this installation; `patient`: for as long as it takes. */
  exclusively<Value> (work: (run: Run) => Promise<Value>, options?: { patient: boolean }): Promise<Value>
}

/** A session on a pool, whoever owns that. */
export interface OwnSession extends Session {
  /**
   * Statements that all see the database as it is when they begin, for as long as they take, and happen all or not at all. Where another has changed meanwhile
   * what they change, they are done again from the start; where another locks what they need, they are given up soon. `signal` ends them in a few seconds.
   */
  snapshot<Value> (work: (run: Run) => Promise<Value>, options?: { begin?: string, signal?: AbortSignal }): Promise<Value>
}

/** Settings of a session on a pool of our own. */
export interface SessionOptions {
  /** Milliseconds after which a statement is given up and its connection thrown away: the server may never answer. */
  deadline?: number | undefined
  /** The same limit for the server, in milliseconds, where none could be set on its session. */
  localLimit?: number | undefined
  /** Statements with values are prepared once on each connection, and kept there. */
  prepare?: boolean | undefined
  /** Milliseconds that a statement is tried again while another connection holds the lock of the SQLite file; undefined: the connection itself waits. */
  busyTimeout?: number | undefined
  /** Connections that reads may share, and groups of each kind of write at once; 0 by default. */
  lanes?: number | undefined
}

/** Whether a text, or every text in a list, can be stored unchanged. */
export const isSound = (param: Param): boolean => typeof param === 'string' ? isStorable(param) : !Array.isArray(param) || param.every(isSound)

/** Statements on one connection. A text that can't be stored unchanged is refused before it is sent. */
function runOn (dialect: Dialect, connection: unknown, { deadline, prepare = false, busyTimeout }: SessionOptions = {}): Run {
  return (sql, params = [], keep = true) => {
    if (!params.every(isSound)) return Promise.reject(new StorageError('fault', 'a text can not be stored unchanged'))
    const run = () => dialect.run(connection, sql, params, prepare && keep && params.length > 0)
    if (busyTimeout !== undefined) return whileBusy(run, busyTimeout)
    return deadline === undefined ? run() : withDeadline(run(), connection, deadline)
  }
}

/**
 * Opens a session on a Knex instance. Statements go to the driver on Knex's own connections, past its query builder and its hooks: a host's identifier
 * mappers and response processors stay out of our tables, and finished SQL text costs nothing to build.
 */
export function openSession (knex: Knex, names: Names, { deadline, localLimit, prepare, busyTimeout, lanes = 0 }: SessionOptions = {}): OwnSession {
  const pool: Pool = knex.client
  const dialect = dialectOf(pool.driverName)
  const settings = { deadline, prepare, busyTimeout }
  const share = shareConnections(pool, lanes, discardLost)

  async function withConnection<Value> (work: (run: Run, connection: unknown) => Promise<Value>, limit: number | undefined): Promise<Value> {
    const connection = await pool.acquireConnection()
    try {
      const answer = work(runOn(dialect, connection, { ...settings, deadline: limit }), connection)
      // Before it is given back.
      answer.catch((error) => discardLost(connection, error))
      return await answer
    } finally {
      await pool.releaseConnection(connection)
    }
  }

  /** Where an error tells that the connection is lost, nobody is lent that again. */
  function discardLost (connection: unknown, error: unknown): void {
    if (isLost(toStorageError(error, names))) discard(connection)
  }

  /** Each piece of work is atomic, so one that lost against another transaction can simply be done again. */
  async function repeat<Value> (work: (run: Run, connection: unknown) => Promise<Value>, limit = deadline, left = ATTEMPTS): Promise<Value> {
    try {
      return await withConnection(work, limit)
    } catch (error) {
      if (left > 1 && isConflict(error)) return repeat(work, limit, left - 1)
      throw toStorageError(error, names)
    }
  }

  /** A transaction of our own, from its first statement to its last. */
  const transaction = <Value>(work: (run: Run) => Promise<Value>, begin = dialect.begin) => async (on: Run, connection: unknown): Promise<Value> => {
    try {
      await on(begin)
      const value = await work(on)
      await on('COMMIT')
      return value
    } catch (error) {
      // A connection that can't even be rolled back must not come to the next one who asks; what went wrong first is what counts.
      await on('ROLLBACK').catch(() => discard(connection))
      throw error
    }
  }

  const run: Run = (sql, params, keep) => repeat((on) => on(sql, params, keep))
  const read: Run = async (sql, params, keep) => {
    try {
      return await (share((connection) => runOn(dialect, connection, settings)(sql, params, keep)) ?? run(sql, params, keep))
    } catch (thrown) {
      const error = toStorageError(thrown, names)
      if (!isLost(error)) throw error
      // A connection that is lost takes all along that shared it; to read again does no harm.
      return run(sql, params, keep)
    }
  }
  return {
    dialect,
    read,
    // SQLite's one connection does one thing at a time, shared or not.
    search: dialect.name === 'sqlite' ? read : run,
    lanes,
    limit: localLimit === undefined ? null : `SET LOCAL statement_timeout = ${localLimit}`,
    run,
    once: (sql, params, keep) => repeat((on) => on(sql, params, keep), deadline, 1),
    attempt: run,
    atomically: (work) => repeat(transaction(work)),
    exclusively: (work, { patient } = { patient: false }) => repeat(transaction(async (on) => {
      if (patient && dialect.patience !== null) await on(dialect.patience)
      if (dialect.lock !== null) await on(dialect.lock, [names.lock])
      return work(on)
    }), patient ? Infinity : deadline),
    snapshot: (work, { begin = dialect.snapshot.write, signal } = {}) => {
      const all = transaction(async (on) => {
        if (dialect.patience !== null) await on(dialect.patience)
        for (const statement of dialect.share?.(names.users) ?? []) await on(statement)
        return work(on)
      }, begin)
      return repeat((on, connection) => stoppable(all(on, connection), connection, signal), Infinity)
    }
  }
}

/**
 * Opens a session in a transaction of the host's: on its connection, and neither committed nor rolled back here. `committed` notes what is to be done once the
 * host has committed.
 * @throws TypeError for a transaction that is over, or on another kind of database
 */
export function joinTransaction (transaction: Knex.Transaction, { dialect }: Session, names: Names): { session: Session, committed: (callback: () => void) => void } {
  const pool: Pool = transaction.client
  if (transaction.isCompleted()) throw new TypeError('fastify-users: the transaction is over')
  if (dialectOf(pool.driverName) !== dialect) throw new TypeError(`fastify-users: the transaction is not one on ${dialect.name}`)
  const state = hostTransaction(transaction)
  let connection: unknown
  let slot: Slot | null = null

  function requireOpen (): void {
    if (transaction.isCompleted()) throw new StorageError('fault', 'the transaction is over')
  }

  /**
   * Asked right before each statement is sent: the host may end the transaction while we are at work, and the connection is then somebody else's. And right
   * after its answer: what became of it is then unknown.
   */
  const send: Run = async (sql, params) => {
    requireOpen()
    const rows = await runOn(dialect, connection)(sql, params)
    requireOpen()
    // In the same turn as the answer: what the host sends next may undo what was done.
    slot = state.slotAfter(slot)
    return rows
  }

  function next<Value> (work: () => Promise<Value>): Promise<Value> {
    const done = state.last.then(async () => {
      requireOpen()
      connection = await pool.acquireConnection()
      state.runsOn(connection, dialect)
      return work()
    }).catch((error) => { throw toStorageError(error, names) })
    state.last = done.catch(() => {})
    return done
  }

  /** A savepoint keeps a refusal from spoiling the host's transaction: PostgreSQL gives up a transaction with any failed statement. */
  const behindSavepoint = <Value>(work: (run: Run) => Promise<Value>): Promise<Value> => next(async () => {
    const savepoint = `fastify_users_${++state.savepoints}`
    await send(`SAVEPOINT ${savepoint}`)
    try {
      const value = await work(send)
      await send(`RELEASE SAVEPOINT ${savepoint}`)
      return value
    } catch (error) {
      await send(`ROLLBACK TO SAVEPOINT ${savepoint}`).catch(() => {})
      throw error
    }
  })

  const run: Run = (sql, params) => next(() => send(sql, params))
  const session: Session = {
    dialect,
    limit: null,
    run,
    once: run,
    read: run,
    search: run,
    lanes: 0,
    attempt: (sql, params) => behindSavepoint((on) => on(sql, params)),
    atomically: behindSavepoint,
    exclusively: (work) => behindSavepoint(async (on) => {
      if (dialect.lock !== null) await on(dialect.lock, [names.lock])
      return work(on)
    })
  }
  return { session, committed: (callback) => tell(slot ?? state.slotAfter(null), callback) }
}
