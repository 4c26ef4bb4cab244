import type { Words } from '../../../lib/storage/storage.ts'
import type { Names } from '../tables/names.ts'

/** Statements that take removed words out of the index, in steps that hold up writers for a few milliseconds. */
export interface RemovedWordsSql {
  /** Returns a row if any words are marked as removed, and notes that what is marked by now is being taken out. */
  note: string
  /** The first step, and each that follows. */
  steps: readonly [first: string, next: string]
  /** Rows written on this connection so far, as `written`: a step that writes fewer than two had nothing to do. */
  written: string
  /** Notes that all is out that was marked before `note`. */
  done: string
}

/** The index of the words that users are found by. */
export interface WordsSql {
  /** The column by which the index knows a user, if it is not the id, with the comma after it. */
  userNumber: string
  create (names: Names): string[]
  /** Drops what the users' table does not take with it. */
  drop (names: Names): string[]
  /** How words leave the index that its removals only mark; null: the server's own clean-up does that. */
  removals: ((names: Names) => RemovedWordsSql) | null
  /** The condition of users who have the words of a search, with `?` for what `query` makes of these. */
  has (names: Names): string
  /** The query of their `number`s, with the same value, where the index is a table of its own; else null. */
  numbers: ((names: Names) => string) | null
  query (lists: ReadonlyArray<Words>): string
}
