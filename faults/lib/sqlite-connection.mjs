import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** A connection to an SQLite file, by whatever driver there is: `exec(sql)` and `all(sql)`. */
export function sqlite (filename) {
  try {
    const Database = require('better-sqlite3')
    const database = new Database(filename)
    return {
      exec: (sql) => database.exec(sql),
      all: (sql) => database.prepare(sql).all(),
      close: () => database.close()
    }
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const database = new DatabaseSync(filename)
    return {
      exec: (sql) => database.exec(sql),
      all: (sql) => database.prepare(sql).all(),
      close: () => database.close()
    }
  }
}
