import type { Knex } from 'knex'
import type { Storage, StorageInTransaction } from '../../lib/storage.ts'
import { knexApiKeys } from './api-keys.ts'
import { dialectOf } from './dialect.ts'
import { createMigrator, type Migrator } from './migrator.ts'
import { namesOf, type NamingOptions } from './names.ts'
import { joinTransaction, openSession, type Session, type SessionOptions } from './session.ts'
import { knexUsers } from './users.ts'

/** A storage in SQL: its schema can be taken back too. */
export interface KnexStorage extends Storage, Migrator {}

function isTransaction (value: unknown): value is Knex.Transaction {
  return typeof value === 'function' && 'isTransaction' in value && value.isTransaction === true && 'isCompleted' in value
}

/**
 * Puts a storage together on a Knex instance, which is not closed with it.
 * @throws TypeError for another database, or a wrong option
 */
export function storageOnKnex (knex: Knex, options: NamingOptions, settings: SessionOptions = {}): KnexStorage {
  const names = namesOf(options, dialectOf(knex.client.driverName))
  const session = openSession(knex, names, settings)

  function storageOn (on: Session): KnexStorage {
    return {
      name: on.dialect.name,
      supports: { transactions: true },
      ...createMigrator(on, names),
      async close () {},
      within,
      ...knexUsers(on, names),
      ...knexApiKeys(on, names)
    }
  }

  function within (transaction: unknown): StorageInTransaction {
    if (!isTransaction(transaction)) throw new TypeError('fastify-users: not a transaction of Knex')
    const { session: joined, committed } = joinTransaction(transaction, session, names)
    return { ...storageOn(joined), afterCommit: committed }
  }

  return storageOn(session)
}
