import type { Knex } from 'knex'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import { dialectOf } from '../dialects/index.ts'
import { poolOf } from '../drivers/knex-internals.ts'
import type { Names } from '../tables/names.ts'
import { toStorageError } from './driver-errors.ts'
import type { Executor, Query } from './executor.ts'
import { afterCommit, hostTransaction, type Slot } from './host-transactions.ts'
import { behindSavepoint } from './nested-executor.ts'
import { queryOn } from './statements.ts'

export interface JoinedTransaction {
  executor: Executor
  /** Calls back once the host has committed what was done so far. */
  afterCommit: (callback: () => void) => void
}

/**
 * Makes an executor inside a transaction of the host's, on its connection. The host commits it or rolls it back.
 * @throws TypeError for a transaction that is over, or on another kind of database
 */
export function joinTransaction (
  transaction: Knex.Transaction,
  { dialect }: Executor,
  names: Names
): JoinedTransaction {
  const pool = poolOf(transaction)
  if (transaction.isCompleted()) throw new TypeError('fastify-users: the transaction is over')
  if (dialectOf(pool.driverName, dialect.profile) !== dialect) {
    throw new TypeError(`fastify-users: the transaction is not one on ${dialect.name}`)
  }
  const { exclusiveLock } = dialect.transaction
  const state = hostTransaction(transaction)
  let connection: unknown
  let slot: Slot | null = null

  function requireOpen (): void {
    if (transaction.isCompleted()) throw new StorageError('fault', 'the transaction is over')
  }

  /**
   * Checks right before each statement: the host may end the transaction meanwhile, and the connection is then somebody
   * else's. And right after its answer: if the transaction has ended, the statement's fate is unknown.
   */
  const send: Query = async (sql, params) => {
    requireOpen()
    const rows = await queryOn(dialect, connection)(sql, params)
    requireOpen()
    // In the same turn as the answer: the host's next statement may undo what was done.
    slot = state.slotAfter(slot)
    return rows
  }

  /** Runs work after the work before it: savepoints can't overlap. */
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

  const withSavepoint = <Value>(work: (query: Query) => Promise<Value>): Promise<Value> =>
    next(() => behindSavepoint(send, `fastify_users_${++state.savepoints}`, work))

  const executor: Executor = {
    dialect,
    batching: null,
    prepares: false,
    joined: true,
    read: (sql, params) => next(() => send(sql, params)),
    query: (sql, params, { savepoint = false } = {}) => savepoint
      ? withSavepoint((query) => query(sql, params))
      : next(() => send(sql, params)),
    transaction: (work, { exclusive = false } = {}) => withSavepoint(async (query) => {
      if (exclusive && exclusiveLock !== null) await query(exclusiveLock(names))
      return work(query)
    })
  }
  return { executor, afterCommit: (callback) => afterCommit(slot ?? state.slotAfter(null), callback) }
}
