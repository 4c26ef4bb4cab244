import type { Dialect } from '../dialects/dialect.ts'
import type { Names } from '../tables/names.ts'
import { toStorageError } from './driver-errors.ts'
import type { Executor, Query } from './executor.ts'

/**
 * Creates an executor inside a transaction that another executor runs. Its statements run in that transaction, one
 * after the other. They are not retried: the outer executor retries the whole transaction.
 */
export function nestedExecutor (dialect: Dialect, outer: Query, names: Names): Executor {
  let savepoints = 0
  const query: Query = async (sql, params, options = {}) => {
    try {
      return await outer(sql, params, options)
    } catch (error) {
      throw toStorageError(error, names)
    }
  }
  const withSavepoint = <Value>(work: (query: Query) => Promise<Value>): Promise<Value> =>
    behindSavepoint(query, `fastify_users_nested_${++savepoints}`, work)

  return {
    dialect,
    batching: null,
    prepares: false,
    joined: true,
    read: (sql, params) => query(sql, params),
    query: (sql, params, { savepoint = false, keepPlan = true } = {}) => savepoint
      ? withSavepoint((on) => on(sql, params, { keepPlan }))
      : query(sql, params, { keepPlan }),
    transaction: (work) => withSavepoint(work)
  }
}

/**
 * Does work behind a savepoint, to which it is rolled back if it fails: PostgreSQL aborts a transaction with a failed
 * statement, and this one keeps it usable.
 */
export async function behindSavepoint<Value> (
  query: Query,
  name: string,
  work: (query: Query) => Promise<Value>
): Promise<Value> {
  await query(`SAVEPOINT ${name}`)
  try {
    const value = await work(query)
    await query(`RELEASE SAVEPOINT ${name}`)
    return value
  } catch (error) {
    // Released too: what is rolled back to stays, and many would nest.
    await query(`ROLLBACK TO SAVEPOINT ${name}`).then(() => query(`RELEASE SAVEPOINT ${name}`)).catch(() => {})
    throw error
  }
}
