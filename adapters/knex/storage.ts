import type { Knex } from 'knex'
import type { Storage, StorageInTransaction } from '../../lib/storage.ts'
import { knexApiKeys } from './api-keys.ts'
import { createMigrator } from './migrator.ts'
import { namesOf, type NamingOptions } from './names.ts'
import { joinTransaction, openSession, type Session, type SessionOptions } from './session.ts'
import { knexUsers } from './users.ts'

function isTransaction (value: unknown): value is Knex.Transaction {
  return typeof value === 'function' && 'isTransaction' in value && value.isTransaction === true && 'isCompleted' in value
}

/**
 * Puts a storage together on a Knex instance, which is not closed with it.
 * @throws TypeError for another database, or a wrong option
 */
export function storageOnKnex (knex: Knex, options: NamingOptions, settings: SessionOptions = {}): Storage {
  const names = namesOf(options)
  const session = openSession(knex, names, settings)
  if (session.dialect.name === 'sqlite' && options.schema !== undefined) throw new TypeError('fastify-users: the option schema is for PostgreSQL')

  function storageOn (on: Session): Storage {
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
