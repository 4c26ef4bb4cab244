import { synchronousDriver } from './synchronous.ts'

interface Statement {
  all (values: object): Array<Record<string, unknown>>
}

/** SQLite as part of Node.js, `node:sqlite`. */
export const nodeSqliteDriver = synchronousDriver<Statement>('node:sqlite', (statement, values) => {
  // The question mark is a part of the name of a numbered value.
  return statement.all(Object.fromEntries(values.map((value, i) => [`?${i + 1}`, value])))
})
