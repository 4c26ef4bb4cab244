// What the server or a connection may be set to that the store can't work with.

import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Query } from './sql.ts'

const NAMES = [
  'version', 'sql_mode', 'autocommit', 'innodb_rollback_on_timeout', 'foreign_key_checks', 'unique_checks',
  'sql_select_limit', 'max_allowed_packet', 'sql_safe_updates', 'completion_type'
]
const MIN_VERSION = [10, 11]
const MIN_PACKET = 4 * 1024 * 1024

type Settings = ReadonlyMap<string, string>

const is = (settings: Settings, name: string, value: string): boolean => settings.get(name) === value

/** Each with what to do. */
const UNFIT: ReadonlyArray<[isUnfit: (settings: Settings) => boolean, message: string]> = [
  [(settings) => !/STRICT_(?:ALL|TRANS)_TABLES/.test(settings.get('sql_mode') ?? ''),
    'sql_mode is not strict, so values would be cut without an error: add STRICT_TRANS_TABLES'],
  [(settings) => /ORACLE/.test(settings.get('sql_mode') ?? ''),
    'sql_mode has ORACLE, which gives SQL another meaning: take it out'],
  [(settings) => /EMPTY_STRING_IS_NULL/.test(settings.get('sql_mode') ?? ''),
    'sql_mode has EMPTY_STRING_IS_NULL, and an empty text is a value: take it out'],
  [(settings) => is(settings, 'autocommit', 'OFF') || is(settings, 'autocommit', '0'),
    'autocommit is off for the connection, so reads would see an old snapshot: switch it on'],
  [(settings) => is(settings, 'innodb_rollback_on_timeout', 'ON') || is(settings, 'innodb_rollback_on_timeout', '1'),
    'innodb_rollback_on_timeout is on, so a wait for a lock would end a transaction unnoticed: switch it off'],
  [(settings) => is(settings, 'foreign_key_checks', 'OFF') || is(settings, 'foreign_key_checks', '0'),
    'foreign_key_checks is off for the connection: switch it on'],
  [(settings) => is(settings, 'unique_checks', 'OFF') || is(settings, 'unique_checks', '0'),
    'unique_checks is off for the connection: switch it on'],
  [(settings) => is(settings, 'sql_safe_updates', 'ON') || is(settings, 'sql_safe_updates', '1'),
    'sql_safe_updates is on for the connection, which refuses our updates: switch it off'],
  [(settings) => Number(settings.get('sql_select_limit') ?? Infinity) < 2 ** 32,
    'sql_select_limit is set for the connection, so lists would be cut: leave it at its default'],
  [(settings) => !['NO_CHAIN', '0', ''].includes(settings.get('completion_type') ?? ''),
    'completion_type is set for the connection, so transactions would go on after a commit: leave it at NO_CHAIN'],
  [(settings) => Number(settings.get('max_allowed_packet') ?? Infinity) < MIN_PACKET,
    `max_allowed_packet is less than ${MIN_PACKET} bytes, which large writes need: raise it`]
]

/** @throws StorageError `fault` for what the store can't work with, `unavailable` if no writes are accepted */
export async function checkSettings (query: Query): Promise<void> {
  const { rows } = await query(`SHOW VARIABLES WHERE Variable_name IN (${NAMES.map((name) => `'${name}'`).join(', ')})`)
  const settings = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]))
  const version = settings.get('version') ?? ''
  if (!version.includes('MariaDB')) {
    throw new StorageError('fault', 'the server is not MariaDB, which this storage is made and tested for')
  }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < (MIN_VERSION[0] ?? 0) || (major === MIN_VERSION[0] && minor < (MIN_VERSION[1] ?? 0))) {
    throw new StorageError('fault', `MariaDB ${MIN_VERSION.join('.')} or later is needed: this is ${major}.${minor}`)
  }
  const unfit = UNFIT.find(([isUnfit]) => isUnfit(settings))
  if (unfit !== undefined) throw new StorageError('fault', unfit[1])
}

/** What lets the server lose acknowledged writes. */
export async function weakSettings (query: Query): Promise<string[]> {
  const { rows } = await query('SHOW GLOBAL VARIABLES WHERE ' +
    "Variable_name = 'innodb_flush_log_at_trx_commit' AND Value <> '1' " +
    "OR Variable_name = 'innodb_doublewrite' AND Value IN ('OFF', '0')")
  return rows.map((row) => `${row['Variable_name']} is ${row['Value']}, ` +
    'so a crash or a loss of power can lose writes that were acknowledged')
}
