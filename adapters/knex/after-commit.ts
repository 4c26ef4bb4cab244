import type { Knex } from 'knex'

type Callback = () => void

const waiting = new WeakMap<Knex.Transaction, Callback[]>()

/** Whether PostgreSQL has given the transaction up: its COMMIT will be answered, and will be a rollback. */
function isAborted (connection: unknown): boolean {
  if (typeof connection !== 'object' || connection === null || !('getTransactionStatus' in connection)) return false
  return typeof connection.getTransactionStatus === 'function' && connection.getTransactionStatus() === 'E'
}

/**
 * Runs a callback once a transaction of the host's is committed: with all the transactions around it, where it is a nested one. Never where it is rolled
 * back. Knex resolves `executionPromise` for a commit and for a rollback alike, so what counts is the last word it sent to the database.
 */
export function afterCommit (transaction: Knex.Transaction, connection: unknown, callback: Callback): void {
  const known = waiting.get(transaction)
  if (known !== undefined) {
    known.push(callback)
    return
  }
  const callbacks = [callback]
  waiting.set(transaction, callbacks)
  let kept = false
  transaction.on('query', ({ sql }: { sql: string }) => {
    if (/^(?:COMMIT|RELEASE|ROLLBACK)\b/.test(sql)) kept = !sql.startsWith('ROLLBACK') && !isAborted(connection)
  })
  transaction.executionPromise.then(() => {
    if (!kept) return
    const outer = transaction.parentTransaction
    for (const each of callbacks) {
      if (outer === undefined) each()
      else afterCommit(outer, connection, each)
    }
  }, () => {})
}
