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
    // Not installed, or built for another version of Node.js.
    if (!['MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'].includes(error.code)) throw error
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const database = new DatabaseSync(filename)
    return {
      exec: (sql) => database.exec(sql),
      all: (sql) => database.prepare(sql).all(),
      close: () => database.close()
    }
  }
}
