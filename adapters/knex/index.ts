import type { Knex } from 'knex'
import type { Storage } from '../../lib/storage.ts'
import { knexApiKeys } from './api-keys.ts'
import { createMigrator } from './migrator.ts'
import { namesOf, type NamingOptions } from './names.ts'
import { openSession } from './session.ts'
import { knexUsers } from './users.ts'

export type KnexStorageOptions = NamingOptions

/**
 * A storage on a Knex instance of the host's, on PostgreSQL (`pg`) or SQLite (`sqlite3`). The instance stays the host's: it is never closed here, and none
 * of its settings is changed.
 * @throws TypeError for another database, or an option that is no plain identifier
 */
export function knexStorage (knex: Knex, options: KnexStorageOptions = {}): Storage {
  const names = namesOf(options)
  const session = openSession(knex, names)
  if (session.dialect.name === 'sqlite' && options.schema !== undefined) throw new TypeError('fastify-users: the option schema is for PostgreSQL')
  return {
    name: session.dialect.name,
    ...createMigrator(session, names),
    async close () {},
    ...knexUsers(session, names),
    ...knexApiKeys(session, names)
  }
}
