import type { Row } from './driver.ts'
import { synchronousDriver } from './synchronous.ts'

interface Statement {
  /** Whether it gives rows. */
  reader: boolean
  all (values: object): Row[]
  run (values: object): unknown
}

/** The `better-sqlite3` package. */
export const betterSqlite3Driver = synchronousDriver<Statement>('better-sqlite3', (statement, values) => {
  // Numbered values are given by their numbers.
  const numbered = Object.fromEntries(values.map((value, i) => [i + 1, value]))
  if (statement.reader) return statement.all(numbered)
  statement.run(numbered)
  return []
})
