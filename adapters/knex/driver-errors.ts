import { isStorageError, StorageError } from '../../lib/errors.ts'
import type { Names } from './names.ts'

// PostgreSQL, appendix A: connection (08), resources (53), intervention (57P), and single conditions that pass: cancelled or timed out statement,
// lock not available, serialization failure, deadlock, read-only after a failover; wrong credentials or database until somebody mends them.
const PASSING_SQLSTATE = /^(?:(?:08|28|53)[0-9A-Z]{3}|57P[0-9A-Z]{2}|57014|55P03|40001|40P01|25006|3D000)$/
const PASSING_CODES = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'
])
const LOST_CODES = new Set(['ECONNRESET', 'EPIPE', '57P01', '57P02', '08003', '08006', '08P01'])
// PostgreSQL: data, constraints, rights, limits, what triggers raise; conflicts with other transactions, and waits that have ended. SQLite: the same.
const REFUSED = /^(?:(?:0A|2[0-9]|3[89]|42|44|53|54|55|P0)[0-9A-Z]{3}|40001|40002|40P01|57014|SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|ERROR)(?:_.*)?)$/
// better-sqlite3 gives extended codes, such as SQLITE_BUSY_SNAPSHOT.
const PASSING_SQLITE = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|PROTOCOL|NOMEM)(?:_|$)/
// What pg says without a code when a connection is lost, and pg and Knex when none can be had.
const LOST_MESSAGE = /^(?:Connection terminated|Client has encountered a connection error)/
const PASSING_MESSAGE = /^(?:timeout e|Unable to acquire a connection|aborted$)/

function property (error: unknown, name: string): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' ? value : undefined
}

// https://sqlite.org/rescode.html, from 1.
const SQLITE_CODES = [
  'ERROR', 'INTERNAL', 'PERM', 'ABORT', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY', 'INTERRUPT', 'IOERR', 'CORRUPT', 'NOTFOUND', 'FULL', 'CANTOPEN',
  'PROTOCOL', 'EMPTY', 'SCHEMA', 'TOOBIG', 'CONSTRAINT', 'MISMATCH', 'MISUSE', 'NOLFS', 'AUTH', 'FORMAT', 'RANGE', 'NOTADB'
]
const SQLITE_BUSY_SNAPSHOT = 517

// better-sqlite3 looks for the directory itself, and throws a TypeError without a code.
const NO_DIRECTORY = 'Cannot open database because the directory does not exist'

/** The code of a driver's error. node:sqlite has one for all, and SQLite's own as a number whose lowest byte says what kind it is. */
function codeOf (error: unknown): string | undefined {
  const code = property(error, 'code')
  if (code === undefined && property(error, 'message') === NO_DIRECTORY) return 'SQLITE_CANTOPEN'
  if (code !== 'ERR_SQLITE_ERROR') return code
  const extended = Number(Reflect.get(Object(error), 'errcode'))
  return extended === SQLITE_BUSY_SNAPSHOT ? 'SQLITE_BUSY_SNAPSHOT' : `SQLITE_${SQLITE_CODES[(extended & 0xff) - 1] ?? 'ERROR'}`
}

/** Whether another connection holds the lock of an SQLite file, so that the statement did nothing and may be run again. */
export function isBusy (error: unknown): boolean {
  return codeOf(error) === 'SQLITE_BUSY'
}

function takesEmail (error: unknown, { emailUnique, usersTable }: Names): boolean {
  // PostgreSQL names the constraint; SQLite names the column, in the message alone.
  return (property(error, 'code') === '23505' && property(error, 'constraint') === emailUnique) ||
    property(error, 'message')?.includes(`UNIQUE constraint failed: ${usersTable}.email_key`) === true
}

// What an operator can mend at once deserves its own words.
const WORDS = new Map([
  ['28P01', 'the database refuses the user or the password'],
  ['28000', 'the database refuses the user or the password'],
  ['08P01', 'the server, or a pooler before it, refuses the connection; a pooler that refuses settings of a session needs the option pooler of postgres()'],
  ['3D000', 'there is no such database'],
  ['ENOTFOUND', 'the host of the database is not known'],
  ['ERR_INVALID_URL', 'the connection URI is no URI: escape special characters in its password'],
  ['SQLITE_CANTOPEN', 'the database file cannot be opened or made'],
  ['SQLITE_NOTADB', 'the file is no SQLite database']
])

/** Whether the connection was lost while a statement ran: nobody knows whether it was carried out. */
export function isLost (error: unknown): boolean {
  return isStorageError(error) && error.code === 'unavailable' && error.driverCode !== undefined && LOST_CODES.has(error.driverCode)
}

/**
 * Whether the database says that it has refused the statement, which did nothing then. Of every other failure nobody knows whether it was carried out, or it would
 * come again.
 */
export function isRefused (error: unknown): boolean {
  return isStorageError(error) && error.driverCode !== undefined && REFUSED.test(error.driverCode)
}

/** Whether the same statement may succeed at once when it is run again: it met another transaction. */
export function isConflict (error: unknown): boolean {
  return ['40001', '40P01'].includes(property(error, 'code') ?? '')
}

/**
 * Turns what a driver or Knex threw into a StorageError. Their messages and details hold SQL and values in clear, so nothing of them is kept but the code.
 */
export function toStorageError (error: unknown, names: Names): StorageError {
  if (isStorageError(error)) return error
  if (takesEmail(error, names)) return new StorageError('email_taken', 'another user has the e-mail key')
  const message = property(error, 'message') ?? ''
  const code = codeOf(error) ?? (LOST_MESSAGE.test(message) ? 'ECONNRESET' : undefined)
  const passing = (code !== undefined && (PASSING_CODES.has(code) || PASSING_SQLSTATE.test(code) || PASSING_SQLITE.test(code))) ||
    property(error, 'name') === 'KnexTimeoutError' || PASSING_MESSAGE.test(message)
  const words = WORDS.get(code ?? '') ?? (passing ? 'the database cannot be reached or is busy' : 'the database refused a statement')
  return new StorageError(passing ? 'unavailable' : 'fault', `${words} (${code ?? 'no code'})`, code)
}
