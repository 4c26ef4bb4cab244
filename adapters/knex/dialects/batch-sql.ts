import type { Param } from '../drivers/driver.ts'

/** A column of a batch, and its type where types have to be named. */
export type TypedColumn = readonly [name: string, type: string]

/** The parts of a statement that writes many rows. The statement has no parameters but the values of the rows. */
export interface BatchSql {
  /** The rows of values as a table `q`, whose columns have these names with `q_` before them. */
  rows (columns: readonly TypedColumn[]): string
  /** One row as a table `q` of the same columns, whose values are the parameters from the nth on. */
  one (columns: readonly TypedColumn[], n: number): string
  /** The parameters of the statement for these rows. */
  values (rows: ReadonlyArray<readonly Param[]>): Param[]
  /** An extra condition of an update, so that each row is looked up by its id (the first column of `q`). */
  idCondition: string
  /** True if a connection may keep the plan of an update; not if the plan depends on the current size of the table. */
  keepsPlan: boolean
  /** A first table expression that limits the wait for locks of other transactions. */
  lockTimeout: string
  /** The order of an insertion: concurrent ones then take their locks in the same order. */
  order (column: string): string
}
