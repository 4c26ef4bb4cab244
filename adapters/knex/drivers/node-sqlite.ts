import type { Row } from './driver.ts'
import { synchronousDriver } from './synchronous.ts'

interface Statement {
  all (values: object): Row[]
}

/** SQLite as Node.js itself brings it, `node:sqlite`. */
export const nodeSqliteDriver = synchronousDriver<Statement>('node:sqlite', (statement, values) => {
  // Numbered values are given by their names, of which the question mark is a part.
  return statement.all(Object.fromEntries(values.map((value, i) => [`?${i + 1}`, value])))
})
