import type { Knex } from 'knex'
import { type KnexStorage, storageOnKnex } from './storage.ts'
import type { NamingOptions } from './tables/names.ts'

export type KnexStorageOptions = NamingOptions
export type { KnexStorage }
export type { CountsReport } from './counting/verify.ts'
export { nodeSqliteClient } from './drivers/node-sqlite-client.ts'
export type { SchemaReport } from './schema/inspection.ts'
export { migrationsSql, type MigrationsSqlOptions } from './schema/migrations-sql.ts'

/**
 * A storage on a Knex instance of the host's, on PostgreSQL (`pg`) or SQLite (`sqlite3`, `better-sqlite3`,
 * `nodeSqliteClient()`). The instance stays the host's: it is never closed here, and none of its settings is changed.
 * @throws TypeError for another database, or a wrong option
 */
export function knexStorage (knex: Knex, options: KnexStorageOptions = {}): KnexStorage {
  return storageOnKnex(knex, options)
}
