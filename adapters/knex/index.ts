import type { Knex } from 'knex'
import { MARIADB_CLIENT, mariadbOnKnex } from './mariadb/store.ts'
import { dialectOf } from './dialects/index.ts'
import { type Pool, poolOf } from './drivers/knex-internals.ts'
import type { KnexStorage } from './knex-storage.ts'
import { storageOnKnex } from './storage.ts'
import { namesOf, type NamingOptions } from './tables/names.ts'

export type KnexStorageOptions = NamingOptions
export type { KnexStorage }
export type { CountsReport } from './counting/verify.ts'
export { nodeSqliteClient } from './drivers/node-sqlite-client.ts'
export type { SchemaReport } from './schema/inspection.ts'
export { migrationsSql, type MigrationsSqlOptions } from './schema/migrations-sql.ts'

// On PostgreSQL two: while one waits for the disk, the other one is sent.
const CONCURRENT_GROUPS = { postgres: 2, sqlite: 1 }

/**
 * A storage on a Knex instance of the host's, on PostgreSQL (`pg`), MariaDB (`mysql2`) or SQLite (`sqlite3`,
 * `better-sqlite3`, `nodeSqliteClient()`). The instance stays the host's: it is never closed here, and none of its
 * settings is changed.
 * @throws TypeError for what is no instance of Knex, for another database, or a wrong option
 */
export function knexStorage (knex: Knex, options: KnexStorageOptions = {}): KnexStorage {
  const { client }: Record<string, unknown> = Object(knex)
  if (Object(client) !== client) {
    throw new TypeError('fastify-users: knexStorage() takes an instance of Knex, such as knex({ client: … }) returns')
  }
  const { driverName, pool }: Partial<Pool> = poolOf(knex)
  if (driverName === undefined || pool === undefined) {
    throw new TypeError('fastify-users: knexStorage() takes an open instance of Knex: this one is a transaction, ' +
      'was made without the option connection, or was destroyed')
  }
  if (driverName === MARIADB_CLIENT) return mariadbOnKnex(knex, namesOf(options, false).bare(''))
  const { name, preparesOnHosts: prepare } = dialectOf(driverName)
  // How long a write waits is for the host's pool to say.
  const batching = { connections: 0, groups: CONCURRENT_GROUPS[name], wait: Infinity }
  return storageOnKnex(knex, options, { prepare, batching })
}
