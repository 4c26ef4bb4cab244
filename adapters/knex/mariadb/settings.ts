// What the server or a connection may be set to that the store can't work with.

import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Query } from './sql.ts'

const MIN_VERSION = [10, 11] as const
const MIN_PACKET = 4 * 1024 * 1024
const MIN_SORT_BUFFER = 64 * 1024
// Bytes of the longest text that users are sorted by.
const MIN_SORT = 1024

type IsUnfit = (value: string) => boolean

const isOn: IsUnfit = (value) => value === 'ON' || value === '1'
const isOff: IsUnfit = (value) => value === 'OFF' || value === '0'

/** A value with which the store can't work, and what to do. */
const UNFIT: ReadonlyArray<[name: string, isUnfit: IsUnfit, message: string]> = [
  ['sql_mode', (value) => !/STRICT_(?:ALL|TRANS)_TABLES/.test(value),
    'is not strict, so values would be cut without an error: add STRICT_TRANS_TABLES'],
  ['sql_mode', (value) => value.includes('ORACLE'), 'has ORACLE, which gives SQL another meaning: take it out'],
  ['sql_mode', (value) => value.includes('EMPTY_STRING_IS_NULL'),
    'has EMPTY_STRING_IS_NULL, and an empty text is a value: take it out'],
  ['character_set_results', (value) => value !== 'utf8mb4',
    'is another one, so texts would be lost: connect with the charset utf8mb4'],
  ['tx_isolation', (value) => value === 'READ-UNCOMMITTED',
    'is READ-UNCOMMITTED, so reads would see what is rolled back: take another one'],
  ['autocommit', isOff, 'is off for the connection, so reads would see an old snapshot: switch it on'],
  ['innodb_rollback_on_timeout', isOn,
    'is on, so a wait for a lock would end a transaction unnoticed: switch it off'],
  ['foreign_key_checks', isOff, 'is off for the connection: switch it on'],
  ['unique_checks', isOff, 'is off for the connection: switch it on'],
  ['sql_safe_updates', isOn, 'is on for the connection, which refuses our updates: switch it off'],
  ['tx_read_only', isOn, 'is on for the connection, which accepts no writes: switch it off'],
  ['sql_big_selects', isOff, 'is off for the connection, which refuses lists: switch it on, behind max_join_size'],
  ['sql_select_limit', (value) => Number(value) < 2 ** 32,
    'is set for the connection, so lists would be cut: leave it at its default'],
  ['max_sort_length', (value) => Number(value) < MIN_SORT,
    `is less than ${MIN_SORT}, so long names would be sorted wrongly: raise it`],
  ['sort_buffer_size', (value) => Number(value) < MIN_SORT_BUFFER,
    `is less than ${MIN_SORT_BUFFER} bytes, which sorting takes: raise it`],
  ['completion_type', (value) => !['NO_CHAIN', '0'].includes(value),
    'is set for the connection, so a transaction would follow each commit: leave it at NO_CHAIN'],
  ['max_allowed_packet', (value) => Number(value) < MIN_PACKET,
    `is less than ${MIN_PACKET} bytes, which large writes need: raise it`]
]

/** @throws StorageError `fault` for what the store can't work with, `unavailable` if no writes are accepted */
export async function checkSettings (query: Query): Promise<void> {
  // In one row: a connection may be limited to few.
  const names = ['version', ...new Set(UNFIT.map(([name]) => name))]
  const { rows: [row] } = await query(`SELECT ${names.map((name) => `@@${name} AS ${name}`).join(', ')}`)
  const settings = new Map(Object.entries(row ?? {}).map(([name, value]) => [name, String(value)]))
  const version = settings.get('version') ?? ''
  if (!version.includes('MariaDB')) {
    throw new StorageError('fault', 'the server is not MariaDB, which this storage is made and tested for')
  }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])) {
    throw new StorageError('fault', `MariaDB ${MIN_VERSION.join('.')} or later is needed: this is ${major}.${minor}`)
  }
  for (const [name, isUnfit, message] of UNFIT) {
    const value = settings.get(name)
    if (value !== undefined && isUnfit(value)) throw new StorageError('fault', `${name} ${message}`)
  }
}

/** What lets the server lose acknowledged writes. */
export async function weakSettings (query: Query): Promise<string[]> {
  const { rows } = await query('SHOW GLOBAL VARIABLES WHERE ' +
    "Variable_name = 'innodb_flush_log_at_trx_commit' AND Value <> '1' " +
    "OR Variable_name = 'innodb_doublewrite' AND Value IN ('OFF', '0')")
  return rows.map((row) => `${row['Variable_name']} is ${row['Value']}, ` +
    'so a crash or a loss of power can lose writes that were acknowledged')
}
