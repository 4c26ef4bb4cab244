// How statements reach the server through mysql2, and what its errors mean.

import { isStorageError, StorageError } from '../../../lib/storage/storage-error.ts'
import type { Query, Row } from './sql.ts'

interface Connection {
  query (
    options: { sql: string, typeCast: true, rowsAsArray: false, nestTables: false },
    done: (error: unknown, result: Row[] | { affectedRows?: number }) => void
  ): void
  stream?: { destroy (): void }
}

const isConnection = (value: unknown): value is Connection => typeof Object(value).query === 'function'

/** Closes the socket of a connection without waiting for the server. */
export const mysql2Driver = {
  destroySocket (connection: unknown): void {
    if (isConnection(connection)) connection.stream?.destroy()
  }
}

// What needs no escape under any sql_mode and in any character set of the connection.
const PLAIN = /^[ -&(-[\]-~]*$/

/** A value as SQL. Hexadecimal digits mean the same whatever a host has set on its connection. */
function literal (value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value !== 'string') throw new TypeError('not a value of a statement')
  return PLAIN.test(value) ? `_utf8mb4'${value}'` : `_utf8mb4 X'${Buffer.from(value, 'utf8').toString('hex')}'`
}

const isText = (value: unknown): boolean => typeof value !== 'string' || value.isWellFormed()

/** What a unique or foreign key refuses. */
export class Violation extends Error {
  readonly code: string
  /** The name of the key. */
  readonly key: string

  constructor (code: string, key: string) {
    super('a key refuses the row')
    this.code = code
    this.key = key
  }

  /** The error of the storage for a key that a host has added. */
  toStorageError (): StorageError {
    const text = `the database refused a statement (${this.code}, constraint ${this.key})`
    return new StorageError('fault', text, { driverCode: this.code })
  }
}

const IDLE_SECONDS = 15

const DUPLICATE = 1062
const REFERENCES = [1216, 1217, 1451, 1452]
// A deadlock, a row that has changed since the snapshot.
const CONFLICTS = ['ER_LOCK_DEADLOCK', 'ER_CHECKREAD']
const LOCKED = 'ER_LOCK_WAIT_TIMEOUT'
// Too many connections, a refused host or user, an unknown database, a shutdown, a full disk or table, a lock,
// read-only, a statement or connection that was ended, a node of Galera that is not ready.
const PASSING = [
  1021, 1040, 1044, 1045, 1047, 1049, 1053, 1114, 1129, 1130, 1152, 1158, 1159, 1160, 1161, 1180, 1203, 1205, 1226,
  1290, 1317, 1792, 1836, 1927, 1969, 3024, 4031
]

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['ER_ACCESS_DENIED_ERROR', 'the database refuses the user or the password'],
  ['ER_DBACCESS_DENIED_ERROR', 'the database refuses the user'],
  ['ER_BAD_DB_ERROR', 'the database does not exist'],
  ['ER_TABLEACCESS_DENIED_ERROR', 'the user of the database lacks a right on the tables: see docs/storages.md'],
  ['ER_OPTION_PREVENTS_STATEMENT', 'the database accepts no writes: it is set to be read-only'],
  ['ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', 'the transaction accepts no writes: it, or tx_read_only, is read-only'],
  [LOCKED, 'another transaction locks what is written'],
  ['ER_RECORD_FILE_FULL', 'the disk of the database is full'],
  ['ER_DISK_FULL', 'the disk of the database is full'],
  ['ER_UNKNOWN_SYSTEM_VARIABLE', 'the server is not MariaDB, or is too old: 10.11 is needed'],
  ['ENOTFOUND', 'the host of the database is unknown']
])

export const isConflict = (error: unknown): boolean =>
  isStorageError(error) && CONFLICTS.includes(error.driverCode ?? '')

/** True if another transaction held a lock for longer than the statement waits: only the statement was undone. */
export const isLocked = (error: unknown): boolean => isStorageError(error) && error.driverCode === LOCKED

/** True if a table is not there. */
export const isNoTable = (error: unknown): boolean => isStorageError(error) && error.driverCode === 'ER_NO_SUCH_TABLE'

const stringOf = (error: unknown, name: string): string => {
  const value: unknown = Object(error)[name]
  return typeof value === 'string' ? value : ''
}

/** What the driver or Knex has thrown, without its text, which may hold values. */
export function translated (error: unknown): unknown {
  if (isStorageError(error) || error instanceof Violation || error instanceof TypeError) return error
  const { errno }: { errno?: unknown } = Object(error)
  const code = stringOf(error, 'code')
  const message = stringOf(error, 'sqlMessage')
  // The last name in the message, in any language: the first one is the value.
  if (errno === DUPLICATE) return new Violation(code, /^.*['`](?:[^'`]*\.)?([^'`]+)['`]/s.exec(message)?.[1] ?? '')
  if (typeof errno === 'number' && REFERENCES.includes(errno)) {
    return new Violation(code, /CONSTRAINT [`"]([^`"]+)[`"]/.exec(message)?.[1] ?? '')
  }
  const isFault = typeof errno === 'number' && errno >= 1000 && !PASSING.includes(errno) && !CONFLICTS.includes(code)
  const usual = isFault ? 'the database refused a statement' : 'the database cannot be reached or is busy'
  const without = stringOf(error, 'name') === 'KnexTimeoutError' ? 'no answer in time' : 'no code'
  const text = `${MESSAGES.get(code) ?? usual} (${code === '' ? without : code})`
  return new StorageError(isFault ? 'fault' : 'unavailable', text, { driverCode: code })
}

/** True if the connection is of no use any more. */
export function isLost (error: unknown): boolean {
  return isStorageError(error) && error.code === 'unavailable' &&
    /^(?:PROTOCOL_|E[A-Z]+$|ER_SERVER_SHUTDOWN|ER_CONNECTION_KILLED)/.test(error.driverCode ?? '') &&
    !(error.driverCode ?? '').startsWith('ER_LOCK')
}

/**
 * Prepares a session of our own: whatever the server's defaults are, statements mean the same. A client that vanishes
 * in a transaction holds up all writers until the server ends it.
 */
export async function prepareSession (connection: unknown, lockSeconds: number, seconds: number): Promise<void> {
  const query = queryOn(connection, false)
  await query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
  await query("SET SESSION lc_messages = 'en_US', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', " +
    'autocommit = 1, foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, completion_type = 0, ' +
    'sql_select_limit = DEFAULT, sql_big_selects = 1, tx_read_only = 0, innodb_lock_wait_timeout = ?, ' +
    'max_statement_time = ?, idle_write_transaction_timeout = ?', [lockSeconds, seconds, IDLE_SECONDS])
}

/**
 * Makes what runs statements on a connection. `isReading`: a text that can't be stored is NULL, which equals nothing;
 * else it is refused. `before`: is asked before each statement is sent.
 */
export function queryOn (connection: unknown, isReading: boolean): Query {
  return async (sql, values = []) => {
    if (!isConnection(connection)) throw new TypeError('fastify-users: not a connection of mysql2')
    if (!isReading && !values.every(isText)) throw new StorageError('fault', 'a text cannot be stored unchanged')
    let n = 0
    const text = values.length === 0
      ? sql
      : sql.replaceAll('?', () => {
        const value = values[n++]
        return literal(isText(value) ? value : null)
      })
    return new Promise((resolve, reject) => {
      connection.query({ sql: text, typeCast: true, rowsAsArray: false, nestTables: false },
        (error, result) => {
          if (error != null) reject(translated(error))
          else if (Array.isArray(result)) resolve({ rows: result, count: result.length })
          else resolve({ rows: [], count: result.affectedRows ?? 0 })
        })
    })
  }
}
