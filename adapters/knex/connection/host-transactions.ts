import type { Knex } from 'knex'
import type { CommitWatch, Driver } from '../drivers/driver.ts'
import { onStatement, outermostOf } from '../drivers/knex-internals.ts'

type Callback = () => void

/**
 * A position in the order of the callbacks that wait for the commit. It is taken when a statement of ours is answered;
 * callbacks may be added to it a little later.
 */
export interface Slot {
  callbacks: Callback[]
  fate: 'waiting' | 'committed' | 'undone'
}

// Whitespace and comments. No text matches in two ways: ambiguity took exponential time on an indented statement.
const SKIPPED = '(?:\\s|--[^\\n]*\\n|/\\*[^*]*\\*+(?:[^/*][^*]*\\*+)*/)*'
const VERB = '(savepoint|release|rollback|abort)\\b(?:\\s+(?:work|transaction)\\b)?'
const STATEMENT = new RegExp(`^${SKIPPED}${VERB}(\\s+to\\b)?(?:\\s*savepoint\\b)?\\s*([^\\s;]*)`)
// String literals and comments, in which a semicolon does not end a statement.
const TEXT_OR_COMMENT = /'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$|--[^\n]*|\/\*.*?\*\//gs

/** The statements of an SQL text. If there are several, string literals and comments are left out. */
function statementsOf (sql: string): string[] {
  return /;\s*\S/.test(sql) ? sql.replace(TEXT_OR_COMMENT, ' ').split(';') : [sql]
}

/** The state of a host's transaction. Nested transactions are savepoints on its connection, and share this state. */
export class HostTransaction {
  /** Our latest work in the transaction: savepoints can't overlap, so our work runs one piece at a time. */
  last: Promise<unknown> = Promise.resolve()
  savepoints = 0
  #slots: Slot[] = []
  /** The host's savepoints, the innermost last, each with the number of slots when it was set. */
  #marks: Array<{ name: string, length: number }> = []
  #watch: CommitWatch | null = null

  constructor (outermost: Knex.Transaction) {
    let committing = false
    onStatement(outermost, (sql) => {
      committing = /^\s*commit\b/i.test(sql)
      for (const statement of statementsOf(sql)) this.#follow(statement)
    })
    // Knex resolves this promise after a commit and after a rollback: the last statement that it sent, and PostgreSQL's
    // answer, decide which it was.
    const ended = () => this.#end(committing && this.#watch?.committed() !== false)
    outermost.executionPromise.then(ended, () => this.#end(false))
  }

  /** Notes the connection, once it is known. */
  runsOn (connection: unknown, { keepOrder, watchCommit }: Pick<Driver, 'keepOrder' | 'watchCommit'>): void {
    if (this.#watch !== null) return
    keepOrder(connection)
    this.#watch = watchCommit(connection)
  }

  /** The slot of a statement that was just answered: the previous slot, if the host has set no savepoint since. */
  slotAfter (before: Slot | null): Slot {
    const isCurrent = before !== null && this.#slots.at(-1) === before
    if (isCurrent && this.#marks.at(-1)?.length !== this.#slots.length) return before
    const slot: Slot = { callbacks: [], fate: 'waiting' }
    this.#slots.push(slot)
    return slot
  }

  /** Tracks a statement of the host. A rollback, whole or to a savepoint, undoes the slots that it covers. */
  #follow (sql: string): void {
    const [, verb = '', to, name = ''] = STATEMENT.exec(sql.toLowerCase()) ?? []
    const mark = this.#marks.findLastIndex((each) => each.name === name)
    if (verb === 'savepoint') this.#marks.push({ name, length: this.#slots.length })
    else if (verb === 'release' && mark !== -1) this.#marks.length = mark
    else if (verb === 'rollback' || verb === 'abort') {
      // An unknown savepoint was set before our first statement: undo all slots.
      const kept = to === undefined ? 0 : this.#marks[mark]?.length ?? 0
      for (const slot of this.#slots.splice(kept)) slot.fate = 'undone'
      this.#marks.length = to === undefined ? 0 : mark + 1
    }
  }

  #end (committed: boolean): void {
    this.#watch?.stop()
    for (const slot of this.#slots.splice(0)) {
      slot.fate = committed ? 'committed' : 'undone'
      if (committed) for (const callback of slot.callbacks) callback()
    }
  }
}

/**
 * Calls back when the slot's part of the transaction has committed: immediately if that has already happened, never if
 * the part was rolled back.
 */
export function afterCommit (slot: Slot, callback: Callback): void {
  if (slot.fate === 'committed') callback()
  else slot.callbacks.push(callback)
}

const known = new WeakMap<Knex.Transaction, HostTransaction>()

/** The state of a host's transaction. Transactions that are nested in one share its state. */
export function hostTransaction (transaction: Knex.Transaction): HostTransaction {
  const outermost = outermostOf(transaction)
  const state = known.get(outermost) ?? new HostTransaction(outermost)
  known.set(outermost, state)
  return state
}
