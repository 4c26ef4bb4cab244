import type { Knex } from 'knex'
import type { Storage, StorageInTransaction } from '../../lib/storage.ts'
import { knexApiKeys } from './api-keys.ts'
import { auditor, type CountsReport } from './blocks/audit.ts'
import { createUpkeep } from './blocks/upkeep.ts'
import { dialectOf } from './dialect.ts'
import type { KeyWatch } from './key-changes.ts'
import { createMigrator, type Migrator } from './migrator.ts'
import { namesOf, type NamingOptions } from './names.ts'
import { joinTransaction, openSession, type Session, type SessionOptions } from './session.ts'
import { knexUsers } from './users.ts'

/** A storage in SQL: its schema can be taken back too, and the numbers by which it counts users can be checked. */
export interface KnexStorage extends Storage, Migrator {
  /** Holds the numbers by which users are counted against the users. @throws StorageError `unavailable` */
  checkCounts (): Promise<CountsReport>
  /** Counts all users again, where plain SQL went past the triggers. Lists are right again at once, and slower until it is done. @throws StorageError `unavailable` */
  rebuildCounts (): Promise<void>
}

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
  const upkeep = createUpkeep(session, names)

  function storageOn (on: Session, close: () => Promise<void>): KnexStorage {
    return {
      name: on.dialect.name,
      supports: { transactions: true },
      ...createMigrator(on, names),
      checkCounts: auditor(session, names),
      rebuildCounts: upkeep.rebuild,
      close,
      within,
      ...knexUsers(on, names, upkeep),
      ...knexApiKeys(on, names)
    }
  }

  function within (transaction: unknown): StorageInTransaction {
    if (!isTransaction(transaction)) throw new TypeError('fastify-users: not a transaction of Knex')
    const { session: joined, committed } = joinTransaction(transaction, session, names)
    return { ...storageOn(joined, async () => {}), afterCommit: committed }
  }

  return storageOn(session, upkeep.close)
}

/** The same on a Knex instance of our own, which is closed with it, as is what tells of changes of API keys. */
export function ownStorage (knex: Knex, options: NamingOptions, settings: SessionOptions, keyWatch: KeyWatch | null = null): KnexStorage {
  const storage = storageOnKnex(knex, options, settings)
  const { pool, driverName } = knex.client
  const { forgetStatements } = dialectOf(driverName)
  pool.on('destroyRequest', (_id: unknown, connection: unknown) => forgetStatements(connection))
  return {
    ...storage,
    ...(keyWatch !== null && { watchApiKeys: keyWatch.watch }),
    async close () {
      await keyWatch?.close()
      await storage.close()
      await knex.destroy()
    }
  }
}
