import { isStorageError, StorageError } from '../../../lib/storage/storage-error.ts'
import { WORD_LIST } from '../tables/columns.ts'
import { IN_A_GROUP, isNamed, type Names, UNIQUE_INDEX } from '../tables/names.ts'

// PostgreSQL, appendix A. Conditions that pass: connection (08), credentials (28), resources (53), intervention (57P),
// cancelled or timed out statement, lock not available, serialisation failure, deadlock, read-only after a failover,
// missing database.
const PASSING_SQLSTATE = /^(?:(?:08|28|53)[0-9A-Z]{3}|57P[0-9A-Z]{2}|57014|55P03|40001|40P01|25006|3D000)$/
const PASSING_CODES = [
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT'
]
// Codes of Node.js for a connection whose TLS fails: certificates that are not trusted, and the protocol's own errors.
const PASSING_TLS = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_)/
const LOST_CODES = ['ECONNRESET', 'EPIPE', '57P01', '57P02', '08003', '08006', '08P01']
// Refusals of the statement itself. PostgreSQL: data, constraints, rights, limits, exceptions of triggers, conflicts
// with other transactions, timeouts. SQLite: the same.
const REFUSED_SQLSTATE = /^(?:(?:0A|2[0-9]|3[89]|42|44|53|54|55|P0)[0-9A-Z]{3}|40001|40002|40P01|57014)$/
const REFUSED_SQLITE = /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|ERROR|BUSY)(?:_.*)?$/
// better-sqlite3 gives extended codes, such as SQLITE_BUSY_SNAPSHOT.
const PASSING_SQLITE = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|PROTOCOL|NOMEM)(?:_|$)/
// Messages without a code: of pg for a lost connection, of Knex if none can be had, and of pg if none with TLS.
const LOST_MESSAGE = /^(?:Connection terminated|Client has encountered a connection error)/
const PASSING_MESSAGE =
  /^(?:Unable to acquire a connection|The server does not support SSL|aborted$)/
// What a server says that has lost another one, to which it had passed a statement or a COMMIT.
const PASSED_ON =
  /^(?:could not commit transaction |server closed the connection unexpectedly|failure on connection marked as )/

function property (error: unknown, name: string): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' ? value : undefined
}

// https://sqlite.org/rescode.html, from 1.
const SQLITE_CODES = [
  'ERROR', 'INTERNAL', 'PERM', 'ABORT', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY', 'INTERRUPT', 'IOERR', 'CORRUPT',
  'NOTFOUND', 'FULL', 'CANTOPEN', 'PROTOCOL', 'EMPTY', 'SCHEMA', 'TOOBIG', 'CONSTRAINT', 'MISMATCH', 'MISUSE', 'NOLFS',
  'AUTH', 'FORMAT', 'RANGE', 'NOTADB'
]
const SQLITE_BUSY_SNAPSHOT = 517
// Not SQLITE_BUSY_SNAPSHOT: repeated in the same transaction, the statement would fail again.
const BUSY_CODES = ['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_BUSY_TIMEOUT']

// better-sqlite3 looks for the directory itself, and throws a TypeError without a code.
const NO_DIRECTORY = 'Cannot open database because the directory does not exist'

/** The code of a driver's error. node:sqlite has one for all, and a number whose lowest byte is SQLite's own code. */
function codeOf (error: unknown): string | undefined {
  const code = property(error, 'code')
  if (code === undefined && property(error, 'message') === NO_DIRECTORY) return 'SQLITE_CANTOPEN'
  if (code !== 'ERR_SQLITE_ERROR') return code
  const extended = Number(Reflect.get(Object(error), 'errcode'))
  if (extended === SQLITE_BUSY_SNAPSHOT) return 'SQLITE_BUSY_SNAPSHOT'
  return `SQLITE_${SQLITE_CODES[(extended & 0xff) - 1] ?? 'ERROR'}`
}

/** True if another connection locks the SQLite file: the statement did nothing and may be run again. */
export function isBusy (error: unknown): boolean {
  return BUSY_CODES.includes(codeOf(error) ?? '')
}

/** True if SQLite has rolled the transaction back itself, as on a full disk: there was nothing to do. */
export function isRolledBack (error: unknown): boolean {
  return property(error, 'message')?.includes('no transaction is active') === true
}

/** The constraint that PostgreSQL names; in the message alone where it passes on what another server says. */
function constraintOf (error: unknown): string {
  return property(error, 'constraint') ?? /"([^"]+)"/.exec(property(error, 'message') ?? '')?.[1] ?? ''
}

/** PostgreSQL names the constraint; SQLite names the column, in the message alone. */
function isEmailTaken (error: unknown, { emailUnique, bareUsers }: Names): boolean {
  return (property(error, 'code') === '23505' && isNamed(constraintOf(error), emailUnique)) ||
    property(error, 'message')?.includes(`UNIQUE constraint failed: ${bareUsers}.email_key`) === true
}

/** The unique index of a field that a value violates. SQLite names it in the message alone. */
function violatedIndex (error: unknown, { bare }: Names): string | undefined {
  const name = property(error, 'code') === '23505'
    ? constraintOf(error)
    : /UNIQUE constraint failed: index '([^']+)'/.exec(property(error, 'message') ?? '')?.[1]
  return name?.startsWith(bare(UNIQUE_INDEX)) === true ? name : undefined
}

/** True if the mark of the list of searched fields is not in force. PostgreSQL names the column. */
const isMarkRefused = (error: unknown, { bareUsers }: Names): boolean =>
  (property(error, 'code') === '23502' && property(error, 'column') === WORD_LIST) ||
    property(error, 'message')?.includes(`NOT NULL constraint failed: ${bareUsers}.${WORD_LIST}`) === true

/** True if the database has refused a write because a row of ours would refer to one that is not there. */
export function isOwnReference (error: unknown, { bare }: Pick<Names, 'bare'>): boolean {
  if (!isStorageError(error)) return false
  return error.message === IN_A_GROUP ||
    (error.driverCode === '23503' && error.message.includes(`, constraint ${bare('')}`))
}

const OTHER_LIST = 'another process has changed the fields that users are found by'

/** True if a write has the words of other fields than those that hold, so it did nothing. */
export const isOtherList = (error: unknown): boolean => isStorageError(error) && error.message === OTHER_LIST

/** Messages for what an operator can mend. */
const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['28P01', 'the database refuses the user or the password'],
  ['28000', 'the database refuses the user or the password'],
  ['08P01', 'the server or a pooler refuses the connection; a pooler that refuses session settings needs the option ' +
    'pooler of postgres()'],
  ...['42P05', '26000'].map((code) => [code, 'a pooler lends another session for each statement: set the option ' +
    'pooler of postgres()'] as const),
  ['3D000', 'the database does not exist'],
  ['25006', 'the database accepts no writes: it is a standby, or is set to be read-only'],
  ['42501', 'the database role lacks a right on the tables or their functions: see docs/storages.md'],
  ['ENOTFOUND', 'the host of the database is unknown'],
  ['ERR_INVALID_URL', 'the connection URI is malformed: escape special characters in its password'],
  ['SQLITE_CANTOPEN', 'the database file cannot be opened or created'],
  ['SQLITE_READONLY', 'the database file cannot be written'],
  ['SQLITE_READONLY_DIRECTORY', 'the directory of the database file cannot be written'],
  ['SQLITE_FULL', 'the disk of the database is full'],
  ['53100', 'the disk of the database is full'],
  ['SQLITE_CORRUPT', 'the database file is damaged: restore it from a backup'],
  ['SQLITE_NOTADB', 'the file is not an SQLite database']
])

/** True if the connection was lost while a statement ran: it is unknown whether it was carried out. */
export function isLost (error: unknown): boolean {
  return isStorageError(error) && error.code === 'unavailable' && error.driverCode !== undefined &&
    LOST_CODES.includes(error.driverCode)
}

/**
 * True if what a driver threw says that its own connection is lost. A server or a pooler that has lost another server
 * reports the same codes as an ERROR, and its session goes on.
 */
export function isConnectionLost (error: unknown, names: Names): boolean {
  return property(error, 'severity') !== 'ERROR' && isLost(toStorageError(error, names))
}

/** True if PostgreSQL has ended a statement because of a limit on its time, or on its wait for a lock. */
export function waitedTooLong (error: unknown): boolean {
  return isStorageError(error) && ['57014', '55P03'].includes(error.driverCode ?? '')
}

/**
 * True if the database has refused the statement, which therefore did nothing. After any other failure it is unknown
 * whether it was carried out, or it would fail again.
 */
export function isRefused (error: unknown): boolean {
  if (!isStorageError(error)) return false
  const { code, driverCode } = error
  return code === 'field_taken' ||
    (driverCode !== undefined && (REFUSED_SQLSTATE.test(driverCode) || REFUSED_SQLITE.test(driverCode)))
}

const CONFLICTS = ['40001', '40P01']

/**
 * True if the statement conflicted with another one: it did nothing, and may succeed when it is repeated immediately.
 */
export function isConflict (error: unknown): boolean {
  return CONFLICTS.includes(property(error, isStorageError(error) ? 'driverCode' : 'code') ?? '')
}

const UNREACHABLE = 'the database cannot be reached or is busy'
const CLOSED = 'the connections to the database are closed, such as by destroy() of the Knex instance'
const NO_CONNECTION = 'no connection to the database was free in time: all are in use, or none can be opened; inside ' +
  'a transaction of yours use app.users.using(trx)'

const SQLITE_NAMES = /(?:CHECK|UNIQUE|NOT NULL) constraint failed: ([\w.]+(?:, [\w.]+)*|index '\w+')$/

/** The name of the constraint that refused a statement, or its columns: no value, and no text of a check. */
function refusedBy (error: unknown, code: string | undefined): string | undefined {
  if (code?.startsWith('SQLITE_CONSTRAINT') === true) return SQLITE_NAMES.exec(property(error, 'message') ?? '')?.[1]
  return code?.startsWith('23') === true ? property(error, 'constraint') ?? property(error, 'column') : undefined
}

/** Turns what a driver or Knex threw into `unavailable` or `fault`. Only its code and a constraint's name are kept. */
export function ofDriver (error: unknown): StorageError {
  const message = property(error, 'message') ?? ''
  const code = codeOf(error) ?? (LOST_MESSAGE.test(message) ? 'ECONNRESET' : undefined)
  const isPassingCode = code !== undefined &&
    (PASSING_CODES.includes(code) || [PASSING_SQLSTATE, PASSING_SQLITE, PASSING_TLS].some((each) => each.test(code)))
  const isLate = property(error, 'name') === 'KnexTimeoutError'
  const timedOut = message.startsWith('timeout e')
  const passes = isPassingCode || isLate || timedOut || PASSING_MESSAGE.test(message) || PASSED_ON.test(message)
  const isClosed = message === 'Unable to acquire a connection'
  const usual = isLate ? NO_CONNECTION : isClosed ? CLOSED : passes ? UNREACHABLE : 'the database refused a statement'
  const constraint = refusedBy(error, code)
  const by = constraint === undefined ? '' : `, constraint ${constraint}`
  const text = `${MESSAGES.get(code ?? '') ?? usual} (${code ?? (timedOut ? 'no answer in time' : 'no code')}${by})`
  return new StorageError(passes ? 'unavailable' : 'fault', text, { driverCode: code })
}

/**
 * What keeps a connection from being opened may pass, unless the database itself says what is wrong: a function of the
 * host's that gives passwords or settings may fail, as a service for tokens does.
 */
export function ofOpening (error: unknown): unknown {
  const code = codeOf(error)
  const says = code !== undefined && (MESSAGES.has(code) || REFUSED_SQLSTATE.test(code) || /^(?:SQLITE|ER)_/.test(code))
  if (says || isStorageError(error) || ofDriver(error).code === 'unavailable') return error
  const why = 'no connection to the database can be opened: its driver fails, or a function that gives passwords or ' +
    'settings'
  return new StorageError('unavailable', `${why} (${code ?? 'no code'})`, { driverCode: code })
}

/**
 * Turns what a driver or Knex threw into a StorageError. Only the code and a constraint's name are kept: their messages
 * and details hold SQL and values in clear.
 */
export function toStorageError (error: unknown, names: Names): StorageError {
  if (isStorageError(error)) return error
  if (isEmailTaken(error, names)) return new StorageError('email_taken', 'another user has the e-mail key')
  if (isMarkRefused(error, names)) return new StorageError('unavailable', OTHER_LIST, { driverCode: codeOf(error) })
  if (property(error, 'message')?.includes(IN_A_GROUP) === true) {
    return new StorageError('fault', IN_A_GROUP, { driverCode: codeOf(error) })
  }
  const index = violatedIndex(error, names)
  if (index !== undefined) {
    // Whoever knows the fields replaces the index by the name of the field.
    return new StorageError('field_taken', 'another user has the value of a unique field', { field: index })
  }
  return ofDriver(error)
}
