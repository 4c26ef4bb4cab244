import { synchronousDriver } from './synchronous.ts'

interface Statement {
  /** True if the statement returns rows. */
  reader: boolean
  all (values: object): Array<Record<string, unknown>>
  run (values: object): unknown
}

/** The `better-sqlite3` package. */
export const betterSqlite3Driver = synchronousDriver<Statement>('better-sqlite3', (statement, values) => {
  const numbered: Record<number, unknown> = {}
  let n = 0
  for (const value of values) numbered[++n] = value
  if (statement.reader) return statement.all(numbered)
  statement.run(numbered)
  return []
})
