import type { Words } from '../../../lib/storage/storage.ts'
import type { Names } from '../tables/names.ts'

/** The index of the words that users are found by. */
export interface WordsSql {
  /** The column by which the index knows a user, if it is not the id, with the comma after it. */
  userNumber: string
  create (names: Names): string[]
  /** Drops what the users' table does not take with it. */
  drop (names: Names): string[]
  /** The condition of users who have the words of a search, with `?` for what `query` makes of these. */
  has (names: Names): string
  /** The query of their `number`s, with the same value, where the index is a table of its own; else null. */
  numbers: ((names: Names) => string) | null
  query (lists: ReadonlyArray<Words>): string
}
