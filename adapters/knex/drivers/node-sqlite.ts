import { synchronousDriver } from './synchronous.ts'

export interface Statement {
  all (values: object): Array<Record<string, unknown>>
}

/** Runs a statement with numbered values. The question mark is a part of the name of one. */
export function allNumbered (statement: Statement, values: readonly unknown[]): Array<Record<string, unknown>> {
  return statement.all(Object.fromEntries(values.map((value, i) => [`?${i + 1}`, value])))
}

/** SQLite as part of Node.js, `node:sqlite`. */
export const nodeSqliteDriver = synchronousDriver<Statement>('node:sqlite', allNumbered)
