import type { Knex } from 'knex'
import type {
  EventLog, KeyUseStore, Storage, StorageInTransaction, TenantStore, Trash, WebhookStore
} from '../../lib/storage/storage.ts'
import { knexApiKeys } from './api-keys.ts'
import type { Executor } from './connection/executor.ts'
import type { KeyChangeListener } from './connection/key-change-listener.ts'
import { createPoolExecutor, type PoolSettings } from './connection/pool-executor.ts'
import { createSnapshotReads, type SnapshotReads } from './connection/snapshot-reads.ts'
import { joinTransaction } from './connection/transaction-executor.ts'
import { createCompaction } from './counting/compaction.ts'
import { type CountsReport, countsVerifier } from './counting/verify.ts'
import { dialectOf } from './dialects/index.ts'
import { connectionsOf, isTransaction, poolOf } from './drivers/knex-internals.ts'
import { knexEventLog } from './events/event-log.ts'
import { eventWrites } from './events/event-writes.ts'
import { createNumbering } from './events/numbering.ts'
import { knexKeyUses } from './key-uses.ts'
import { createMigrator, type Migrator } from './schema/migrator.ts'
import { namesOf, type NamingOptions } from './tables/names.ts'
import { createStandbys, type ReplicaSettings } from './standbys.ts'
import { userReading } from './user-reading.ts'
import { knexTenants } from './tenants.ts'
import { knexTrash } from './trash.ts'
import { knexWrites } from './user-writes.ts'
import { knexUsers } from './users.ts'
import { knexWebhooks } from './webhooks.ts'

// Requests are combined, so more of them than connections may run. If the database becomes slow, all of them wait.
const CONCURRENCY_PER_CONNECTION = 4
const CONCURRENCY_MIN = 40

/** A storage in SQL. Its schema can be reverted, and its counted numbers can be verified. */
export interface KnexStorage extends Storage, Migrator {
  joinTransaction (transaction: unknown): StorageInTransaction
  eventLog: EventLog
  webhooks: WebhookStore
  trash: Trash
  tenants: TenantStore
  keyUses: KeyUseStore
  /** Compares the counted numbers with the users. @throws StorageError `unavailable` */
  verifyCounts (): Promise<CountsReport>
  /**
   * Counts all users again, after plain SQL that bypassed the triggers. Lists are right immediately, and slower until
   * it is done.
   * @throws StorageError `schema_behind`, `schema_newer`, `unavailable`
   */
  rebuildCounts (): Promise<void>
}

/**
 * Makes a storage on a Knex instance, which it does not close.
 * @throws TypeError for an unsupported database, or an invalid option
 */
export function storageOnKnex (
  knex: Knex,
  options: NamingOptions,
  settings: PoolSettings = {},
  replicas: ReplicaSettings | null = null
): KnexStorage {
  const names = namesOf(options, dialectOf(poolOf(knex).driverName).hasSchemas)
  const pool = createPoolExecutor(knex, names, settings)
  const compaction = createCompaction(pool, names)
  const concurrency = Math.max(CONCURRENCY_MIN, CONCURRENCY_PER_CONNECTION * poolOf(knex).pool.max)

  const writes = eventWrites(pool.dialect, names)

  const uniqueFields = new Set<string>()
  const usersOn = (executor: Executor) => knexUsers(executor, names, uniqueFields, compaction, writes)
  const trashOn = (executor: Executor) => knexTrash(executor, names, usersOn, writes)
  const writersOn = (executor: Executor) => ({ users: usersOn(executor), trash: trashOn(executor) })

  function storageOn (
    executor: Executor,
    snapshots: SnapshotReads | null,
    close: () => Promise<void>
  ): Omit<KnexStorage, 'eventLog' | 'webhooks' | 'tenants' | 'keyUses'> {
    const migrator = createMigrator(executor, names, uniqueFields)
    const { findUser, listUsers, prune } = usersOn(executor)
    const { find, list, expired } = trashOn(executor)
    return {
      name: executor.dialect.name,
      ...migrator,
      verifyCounts: countsVerifier(pool, names),
      async rebuildCounts () {
        await migrator.check()
        await compaction.rebuild()
      },
      warnings: durabilityWarnings(executor),
      ...readOnlyCheck(executor),
      concurrency,
      connections: () => connectionsOf(knex),
      close,
      joinTransaction: join,
      findUser,
      listUsers,
      prune,
      writeUsers: knexWrites(executor, names, writersOn),
      trash: { find, list, expired },
      readUsers: userReading(executor, names, snapshots),
      ...knexApiKeys(executor, names, writes)
    }
  }

  function join (transaction: unknown): StorageInTransaction {
    if (!isTransaction(transaction)) throw new TypeError('fastify-users: not a Knex transaction')
    const { executor, afterCommit } = joinTransaction(transaction, pool, names)
    return { ...storageOn(executor, null, async () => {}), afterCommit }
  }

  const snapshots = createSnapshotReads(knex, names)
  const close = async (): Promise<void> => {
    await standbys?.close()
    await snapshots.close()
    await compaction.close()
  }
  const numbering = createNumbering(pool, names)
  const own = storageOn(pool, snapshots, close)
  const standbys = replicas && createStandbys({ executor: pool, names, compaction, reads: own }, replicas)
  return {
    ...own,
    ...(standbys !== null && { standbys }),
    eventLog: knexEventLog(pool, names, writes, numbering),
    webhooks: knexWebhooks(pool, names, writes, numbering),
    tenants: knexTenants(pool, names, compaction),
    keyUses: knexKeyUses(pool, names)
  }
}

/** Creates a storage on our own Knex instance, with the listener for changes of API keys. It closes both. */
export function storageOnOwnKnex (
  knex: Knex,
  options: NamingOptions,
  settings: PoolSettings,
  listener: KeyChangeListener | null = null,
  replicas: ReplicaSettings | null = null
): KnexStorage {
  const storage = storageOnKnex(knex, options, settings, replicas)
  const { pool, driverName } = poolOf(knex)
  const { finalizeStatements } = dialectOf(driverName)
  pool.on('destroyRequest', (_id, connection) => finalizeStatements(connection))
  return {
    ...storage,
    ...(listener !== null && { watchApiKeys: listener.watch }),
    async close () {
      await listener?.close()
      await storage.close()
      await knex.destroy()
    }
  }
}

/** Makes the function that says whether the database accepts no writes, where that can change. */
function readOnlyCheck ({ query, dialect: { isReadOnly } }: Executor): Pick<Storage, 'isReadOnly'> {
  if (isReadOnly === null) return {}
  return { isReadOnly: async () => (await query(isReadOnly)).length > 0 }
}

/** Makes the function that says which settings let the database lose what it has acknowledged. */
export function durabilityWarnings ({ query, dialect }: Pick<Executor, 'query' | 'dialect'>) {
  return async (): Promise<string[]> => {
    const weak = await query(dialect.weakSettings)
    return weak.map(({ name, value }) =>
      `${String(name)} is ${String(value)}, so a crash or a loss of power can lose writes that were acknowledged`)
  }
}
