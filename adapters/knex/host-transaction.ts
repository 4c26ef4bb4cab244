import type { Knex } from 'knex'
import type { Dialect } from './dialect.ts'
import type { Ending } from './drivers/driver.ts'

type Callback = () => void

/** A place among what waits for the commit, taken when a statement of ours was answered; what is told there may come a little later. */
export interface Slot {
  callbacks: Callback[]
  fate: 'waiting' | 'kept' | 'undone'
}

const STATEMENT = /^(?:\s+|--[^\n]*\n|\/\*.*?\*\/)*(savepoint|release|rollback|abort)\b(?:\s+(?:work|transaction)\b)?(\s+to\b)?(?:\s*savepoint\b)?\s*([^\s;]*)/s

/** What is known of a transaction of the host's, nested ones included: they are savepoints on one connection. */
export class HostTransaction {
  /** The last piece of our work in it: savepoints can't overlap, so there is one at a time. */
  last: Promise<unknown> = Promise.resolve()
  savepoints = 0
  #slots: Slot[] = []
  /** Savepoints of the host's, the innermost last, each with how many slots there were when it was set. */
  #marks: Array<{ name: string, length: number }> = []
  #ending: Ending | null = null

  constructor (outermost: Knex.Transaction) {
    let committing = false
    outermost.on('query', ({ sql }: { sql: string }) => {
      committing = /^\s*commit\b/i.test(sql)
      this.#follow(sql)
    })
    // Knex resolves this for a commit and for a rollback alike: what counts is the last word that it sent, and what PostgreSQL made of it.
    outermost.executionPromise.then(() => this.#end(committing && this.#ending?.committed() !== false), () => this.#end(false))
  }

  /** Notes the connection, once it is known. */
  runsOn (connection: unknown, dialect: Dialect): void {
    if (this.#ending !== null) return
    dialect.keepOrder(connection)
    this.#ending = dialect.watchEnd(connection)
  }

  /** Takes the place of a statement that has just been answered; the same one as before where the host has set no savepoint since. */
  slotAfter (before: Slot | null): Slot {
    if (before !== null && this.#slots.at(-1) === before && this.#marks.at(-1)?.length !== this.#slots.length) return before
    const slot: Slot = { callbacks: [], fate: 'waiting' }
    this.#slots.push(slot)
    return slot
  }

  /** Follows a statement of the host's: one that undoes part of the transaction undoes what was told since. */
  #follow (sql: string): void {
    const [, verb = '', to, name = ''] = STATEMENT.exec(sql.toLowerCase()) ?? []
    const mark = this.#marks.findLastIndex((each) => each.name === name)
    if (verb === 'savepoint') this.#marks.push({ name, length: this.#slots.length })
    else if (verb === 'release' && mark !== -1) this.#marks.length = mark
    else if (verb === 'rollback' || verb === 'abort') {
      // A savepoint that is not known was set before anything of ours happened.
      for (const slot of this.#slots.splice(to === undefined ? 0 : this.#marks[mark]?.length ?? 0)) slot.fate = 'undone'
      this.#marks.length = to === undefined ? 0 : mark + 1
    }
  }

  #end (kept: boolean): void {
    this.#ending?.stop()
    for (const slot of this.#slots.splice(0)) {
      slot.fate = kept ? 'kept' : 'undone'
      if (kept) for (const callback of slot.callbacks) callback()
    }
  }
}

/** Has a callback called once the slot's part of the transaction is committed: at once where it is by now, never where it was undone. */
export function tell (slot: Slot, callback: Callback): void {
  if (slot.fate === 'kept') callback()
  else slot.callbacks.push(callback)
}

const known = new WeakMap<Knex.Transaction, HostTransaction>()

function outermost (transaction: Knex.Transaction): Knex.Transaction {
  return transaction.parentTransaction === undefined ? transaction : outermost(transaction.parentTransaction)
}

/** What is known of a transaction of the host's: the same for all that are nested in one. */
export function hostTransaction (transaction: Knex.Transaction): HostTransaction {
  const outer = outermost(transaction)
  const state = known.get(outer) ?? new HostTransaction(outer)
  known.set(outer, state)
  return state
}
