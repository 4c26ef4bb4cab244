import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { Names } from '../tables/names.ts'
import { toStorageError } from './driver-errors.ts'
import type { Query } from './executor.ts'

// There is no such table, or no such schema.
const MISSING = ['42P01', '3F000']

/** Why a standby is left alone that has other tables than its primary. */
export const OTHER_TABLES = 'its tables are not the primary’s: replicas must name the database of connection, ' +
  'with the same schema'

/**
 * Tells tables apart; null: there are none. A standby has the same numbers of database and table as its primary. A
 * dump that is restored keeps the id of the storage, but makes another database or another table.
 */
export async function whichTables (query: Query, names: Names): Promise<string | null> {
  const { migrations } = names
  try {
    const [row] = await query("SELECT pg_catalog.concat_ws(' ', storage_id, tableoid, (SELECT oid FROM " +
      'pg_catalog.pg_database WHERE datname = pg_catalog.current_database())) AS tables ' +
      `FROM ${migrations} ORDER BY version LIMIT 1`)
    return row === undefined ? null : String(row['tables'])
  } catch (error) {
    if (MISSING.includes(toStorageError(error, names).driverCode ?? '')) return null
    throw error
  }
}

/**
 * Makes the function that refuses a connection with other tables than the primary's. It asks each connection once,
 * since an address may lead to another server. @throws StorageError `unavailable`
 */
export function requireTables (names: Names, expected: () => string | null) {
  const known = new WeakMap<object, string | null>()
  return async (query: Query, connection: object): Promise<void> => {
    const tables = expected()
    if (tables !== null && known.get(connection) === tables) return
    const found = await whichTables(query, names)
    known.set(connection, found)
    if (found === null || found !== tables) throw new StorageError('unavailable', OTHER_TABLES)
  }
}
