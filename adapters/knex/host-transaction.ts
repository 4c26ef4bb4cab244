import type { Knex } from 'knex'

type Callback = () => void

/** What is known of a transaction of the host's, nested ones included: they are savepoints on one connection. */
interface Known {
  /** The last piece of our work in it: savepoints can't overlap, so there is one at a time. */
  last: Promise<unknown>
  savepoints: number
  /** What waits for the commit, in order. */
  waiting: Callback[]
  /** Savepoints of the host's, the innermost last, each with how much was waiting when it was set. */
  marks: Array<{ name: string, length: number }>
}

const known = new WeakMap<Knex.Transaction, Known>()

function outermost (transaction: Knex.Transaction): Knex.Transaction {
  return transaction.parentTransaction === undefined ? transaction : outermost(transaction.parentTransaction)
}

/** Whether PostgreSQL has given the transaction up: its COMMIT will be answered, and will be a rollback. */
function isAborted (connection: unknown): boolean {
  if (typeof connection !== 'object' || connection === null || !('getTransactionStatus' in connection)) return false
  return typeof connection.getTransactionStatus === 'function' && connection.getTransactionStatus() === 'E'
}

const STATEMENT = /^\s*(savepoint|release|rollback|abort)\b(?:\s+(?:work|transaction)\b)?(\s+to\b)?(?:\s*savepoint\b)?\s*([^\s;]*)/

/** Follows a statement of the host's: one that undoes part of the transaction undoes what waited since. */
function follow (state: Known, sql: string): void {
  const [, verb = '', to, name = ''] = STATEMENT.exec(sql.toLowerCase()) ?? []
  const mark = state.marks.findLastIndex((each) => each.name === name)
  switch (verb) {
    case 'savepoint':
      state.marks.push({ name, length: state.waiting.length })
      return
    case 'release':
      if (mark !== -1) state.marks.length = mark
      return
    case 'rollback':
    case 'abort':
      // A savepoint that is not known was set before anything of ours happened.
      state.waiting.length = to === undefined ? 0 : state.marks[mark]?.length ?? 0
      state.marks.length = to === undefined ? 0 : mark + 1
  }
}

/**
 * What is known of a transaction of the host's, from now on: the host's statements are followed, and whatever waits for the commit is called once the outermost
 * transaction is committed. Never where it is rolled back: Knex resolves `executionPromise` for both alike, so what counts is the last word that it sent.
 */
export function knowTransaction (transaction: Knex.Transaction, connection: () => unknown): Known {
  const outer = outermost(transaction)
  const before = known.get(outer)
  if (before !== undefined) return before
  const state: Known = { last: Promise.resolve(), savepoints: 0, waiting: [], marks: [] }
  known.set(outer, state)
  let kept = false
  outer.on('query', ({ sql }: { sql: string }) => {
    kept = /^\s*commit\b/i.test(sql) && !isAborted(connection())
    follow(state, sql)
  })
  outer.executionPromise.then(() => {
    if (kept) for (const callback of state.waiting) callback()
  }, () => {})
  return state
}
