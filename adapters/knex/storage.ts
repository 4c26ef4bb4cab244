import type { Knex } from 'knex'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { StorageInTransaction } from '../../lib/storage/storage.ts'
import { knexApiKeys } from './api-keys.ts'
import type { Executor, PoolExecutor, Query } from './connection/executor.ts'
import type { KeyChangeListener } from './connection/key-change-listener.ts'
import { nestedExecutor } from './connection/nested-executor.ts'
import { createPoolExecutor, type PoolSettings } from './connection/pool-executor.ts'
import { createSnapshotReads, type SnapshotReads } from './connection/snapshot-reads.ts'
import { queryOn } from './connection/statements.ts'
import { joinTransaction } from './connection/transaction-executor.ts'
import { createCompaction } from './counting/compaction.ts'
import { countsVerifier } from './counting/verify.ts'
import type { Dialect } from './dialects/dialect.ts'
import { dialectOf } from './dialects/index.ts'
import { closeBesidePool, connectionsOf, isTransaction, openBesidePool, poolOf } from './drivers/knex-internals.ts'
import { eventErasure, knexEventLog } from './events/event-log.ts'
import { type Bookkeeping, bookkeeping } from './bookkeeping.ts'
import { createNumbering } from './events/numbering.ts'
import { createDiskRoom } from './full-disk.ts'
import { withFoundProfile } from './found-profile.ts'
import type { KnexStorage } from './knex-storage.ts'
import { knexKeyUses } from './key-uses.ts'
import { readRecord } from './schema/recorded-schema.ts'
import { inTrial, isAway, isUnable, tryNewTables, tryWrites } from './server-trial.ts'
import { createMigrator } from './schema/migrator.ts'
import { type Names, namesOf, type NamingOptions } from './tables/names.ts'
import { createStandbys, type ReplicaSettings } from './standbys.ts'
import type { Row } from './tables/rows.ts'
import { userReading } from './user-reading.ts'
import { wordRemoval } from './removed-words.ts'
import { knexTenants } from './tenants.ts'
import { knexTrash } from './trash.ts'
import { knexWrites } from './user-writes.ts'
import { knexUsers } from './users.ts'
import { knexWebhooks } from './webhooks.ts'
import { fieldLists } from './schema/word-list.ts'

// Requests are combined, so more of them than connections may run. If the database becomes slow, all of them wait.
const CONCURRENCY_PER_CONNECTION = 4
const CONCURRENCY_MIN = 40

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
  const { hasSchemas, hasProfiles } = dialectOf(poolOf(knex).driverName)
  const names = namesOf(options, hasSchemas)
  const { profile } = options
  if (!hasProfiles || profile !== undefined) {
    return storageOf(knex, names, { ...settings, profile }, replicas)
  }
  const { query, dialect } = createPoolExecutor(knex, names, settings)
  return withFoundProfile({
    make: (found) => storageOf(knex, names, { ...settings, profile: found }, replicas, false),
    recorded: async () => (await readRecord(query, dialect, names))?.profile ?? null
  })
}

/** Runs a statement on a connection beside the pool. */
async function queryApart (knex: Knex, dialect: Dialect, sql: string): Promise<Row[]> {
  const connection = await openBesidePool(knex)
  try {
    return await queryOn(dialect, connection)(sql)
  } finally {
    await closeBesidePool(knex, connection)
  }
}

/** Makes the trial of an executor's writes, in a transaction of its own. */
function triedOn (pool: PoolExecutor, names: Names): (on: Query) => Promise<void> {
  const books = bookkeeping(pool.dialect, names)
  const lists = fieldLists(names)
  const users = (executor: Executor) => knexUsers(executor, names, lists, createCompaction(pool, names), books)
  return (on) => {
    const nested = nestedExecutor(pool.dialect, on, names)
    const trash = knexTrash(nested, names, users, books)
    const writersOn = (executor: Executor) => ({ users: users(executor), trash })
    return tryWrites(knexWrites(nested, names, writersOn, { books, words: lists.words }))
  }
}

/** A storage of one profile. `moves`: its `migrate()` moves tables of the other one. */
function storageOf (
  knex: Knex,
  names: Names,
  settings: PoolSettings,
  replicas: ReplicaSettings | null,
  moves = true
): KnexStorage {
  const pool = createPoolExecutor(knex, names, settings)
  const compaction = createCompaction(pool, names)
  const concurrency = Math.max(CONCURRENCY_MIN, CONCURRENCY_PER_CONNECTION * poolOf(knex).pool.max)

  const books = bookkeeping(pool.dialect, names)

  const tryAll = triedOn(pool, names)
  const apart = (sql: string) => queryApart(knex, pool.dialect, sql)
  const tryTables = pool.dialect.mayBeUnable
    ? (on: Query) => tryNewTables(on, { dialect: pool.dialect, names, tryAll, apart })
    : null
  let isTried = !pool.dialect.mayBeUnable

  /** Tries once whether the server can do what the tables need: else the first write would fail. */
  async function tryOnce (): Promise<void> {
    if (isTried) return
    let wasTried = true
    await inTrial(pool, tryAll).catch((error) => {
      if (!isUnable(error)) {
        // A server that is busy or away has not been tried. One that accepts no writes needs none tried.
        wasTried = !isAway(error)
        return
      }
      throw new StorageError('schema_behind', 'the server can not do what the profile classic of the tables needs ' +
        `(${String(Object(error).driverCode)}): move them to the other one, with the option profile: 'portable' and ` +
        'storage.migrate()')
    })
    isTried = wasTried
  }

  // A host may use a storage on its Knex instance again.
  let closing = new AbortController()
  const removeWords = wordRemoval(pool, names, () => closing.signal)
  const lists = fieldLists(names)
  const disk = createDiskRoom()
  const usersOn = (executor: Executor, books: Bookkeeping) =>
    knexUsers(executor, names, lists, compaction, books)
  const trashOn = (executor: Executor, books: Bookkeeping) => knexTrash(executor, names, usersOn, books)
  const writersOn = (executor: Executor, books: Bookkeeping) =>
    ({ users: usersOn(executor, books), trash: trashOn(executor, books) })

  function storageOn (
    executor: Executor,
    snapshots: SnapshotReads | null,
    close: () => Promise<void>
  ): Omit<KnexStorage, 'eventLog' | 'webhooks' | 'tenants' | 'keyUses'> {
    const migrator = createMigrator(executor, names, lists, { moves, tryTables, closing: () => closing.signal })
    const { findUser, listUsers, prune } = usersOn(executor, books)
    const { find, list, expired } = trashOn(executor, books)
    const writeUsers = disk.noting(knexWrites(executor, names, writersOn, { books, words: lists.words }))
    return {
      name: executor.dialect.name,
      ...migrator,
      async check (requirements) {
        await migrator.check(requirements)
        if (!executor.joined) await tryOnce()
      },
      verifyCounts: countsVerifier(pool, names),
      async rebuildCounts () {
        await migrator.check()
        await compaction.rebuild()
      },
      warnings: durabilityWarnings(executor),
      async isReadOnly () {
        const { isReadOnly } = executor.dialect
        return disk.isFull() || (isReadOnly !== null && (await executor.query(isReadOnly)).length > 0)
      },
      concurrency,
      connections: () => connectionsOf(knex),
      close,
      joinTransaction: join,
      findUser,
      listUsers,
      async prune (now) {
        await prune(now)
        // Within a transaction of the host's it would hold up all other writers.
        if (!executor.joined) await removeWords()
      },
      async writeUsers (writes, options) {
        // As in `eventLog.erase`. A transaction of the host's may have the only connection.
        if (!executor.joined && writes.some((write) => 'erase' in write && write.erase)) await numbering.all()
        return writeUsers(writes, options)
      },
      trash: { find, list, expired },
      readUsers: userReading(executor, names, snapshots),
      ...knexApiKeys(executor, names, books)
    }
  }

  function join (transaction: unknown): StorageInTransaction {
    if (!isTransaction(transaction)) throw new TypeError('fastify-users: not a Knex transaction')
    const { executor, afterCommit } = joinTransaction(transaction, pool, names)
    return { ...storageOn(executor, null, async () => {}), eraseEvents: eventErasure(executor, books), afterCommit }
  }

  const snapshots = createSnapshotReads(knex, names, pool.dialect)
  const close = async (): Promise<void> => {
    closing.abort()
    closing = new AbortController()
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
    eventLog: knexEventLog(pool, names, books, numbering),
    webhooks: knexWebhooks(pool, names, books, numbering),
    tenants: knexTenants(pool, names, compaction, books),
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

/** Makes the function that says which settings let the database lose what it has acknowledged. */
export function durabilityWarnings ({ query, dialect }: Pick<Executor, 'query' | 'dialect'>) {
  return async (): Promise<string[]> => {
    const weak = await query(dialect.weakSettings)
    return weak.map(({ name, value }) =>
      `${String(name)} is ${String(value)}, so a crash or a loss of power can lose writes that were acknowledged`)
  }
}
