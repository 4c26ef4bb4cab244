import type { SqliteDriverMethods } from './driver.ts'
import { allNumbered, type Statement } from './node-sqlite.ts'
import { type Connection, synchronousDriver } from './synchronous.ts'

// The texts of SQLite's result codes (https://sqlite.org/c3ref/errcode.html), by which a code is found.
const CODES: ReadonlyArray<[text: string, code: number]> = [
  ['database is locked', 5], ['database table is locked', 6], ['out of memory', 7],
  ['attempt to write a readonly database', 8], ['disk I/O error', 10], ['database disk image is malformed', 11],
  ['database or disk is full', 13], ['unable to open database file', 14], ['locking protocol', 15],
  ['constraint failed', 19], ['file is not a database', 26]
]
const BUSY = 5

// Needs the lock of a writer, and changes nothing in a database that is not vacuumed incrementally. There it gives one
// free page back.
const PROBE = 'PRAGMA incremental_vacuum(1)'

/** The error of `all()`, with the code of SQLite that it lacks. */
function withCode (error: unknown): unknown {
  const { message, errcode }: { message?: string, errcode?: number } = Object(error)
  const code = CODES.find(([text]) => message?.includes(text))?.[1]
  return errcode !== undefined || code === undefined ? error : Object.assign(Object(error), { errcode: code })
}

const driver = synchronousDriver<Statement>('@photostructure/sqlite', (statement, values, on) => {
  try {
    return allNumbered(statement, values)
  } catch (thrown) {
    const error = withCode(thrown)
    if (Object(error).errcode !== BUSY || !isInTransaction(on)) throw error
    on.exec(PROBE)
    return allNumbered(statement, values)
  }
})

/**
 * The package `@photostructure/sqlite`: the interface of `node:sqlite` for Node.js 20, with its binaries. Errors of its
 * `all()` lack the code of SQLite. In a transaction it decides whether a locked statement may be repeated: not after
 * SQLITE_BUSY_SNAPSHOT. So the driver then runs a statement whose error has its code.
 */
export const photostructureDriver: SqliteDriverMethods = {
  ...driver,
  // Its statements end with the process alone, so its `close()` does not move the log into the file, as the last
  // connection of SQLite does.
  finalizeStatements (connection) {
    driver.execute(connection, 'PRAGMA wal_checkpoint(TRUNCATE)').catch(() => {})
  }
}

const isInTransaction = (connection: Connection<Statement>): boolean => Object(connection).isTransaction === true
