import type { Knex } from 'knex'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { createUserWrites } from '../../lib/storage/user-loop.ts'
import type { Opened, OpenOptions, Storage, StorageInTransaction } from '../../lib/storage/storage.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { KeyChangeListener } from './connection/key-change-listener.ts'
import { nestedExecutor } from './connection/nested-executor.ts'
import { createPoolExecutor, type PoolSettings } from './connection/pool-executor.ts'
import { createSnapshotReads, type SnapshotReads } from './connection/snapshot-reads.ts'
import { queryOn } from './connection/statements.ts'
import { joinTransaction } from './connection/transaction-executor.ts'
import { throwingUnseen } from './connection/unseen-changes.ts'
import { createCompaction } from './counting/compaction.ts'
import { countsVerifier } from './counting/verify.ts'
import type { Dialect } from './dialects/dialect.ts'
import { dialectOf } from './dialects/index.ts'
import {
  closeBesidePool, connectionsOf, isTransaction, openBesidePool, openingOf, poolOf
} from './drivers/knex-internals.ts'
import { bookkeeping } from './bookkeeping.ts'
import { type WordSplitter, wordSplitter } from './common-words.ts'
import { knexEventLog } from './events/event-log.ts'
import { createNumbering, type Numbering } from './events/numbering.ts'
import { createRefusedWrites, type RefusedWrites } from './refused-writes.ts'
import { withProfileOfTables } from './profile-of-tables.ts'
import type { KnexStorage } from './knex-storage.ts'
import { readRecord } from './schema/recorded-schema.ts'
import { inTrial, isAway, isUnable, tryNewTables, tryWrites } from './server-trial.ts'
import { createMigrator } from './schema/migrator.ts'
import { type Names, namesOf, type NamingOptions } from './tables/names.ts'
import { createStandbys, type ReplicaSettings } from './standbys.ts'
import { type Row, toUser } from './tables/rows.ts'
import { rowsOn } from './rows/row-store.ts'
import { tenantLists } from './tenants.ts'
import { userLists } from './user-lists.ts'
import { emailLookup, userLookup } from './user-lookup.ts'
import { userReading } from './user-reading.ts'
import { wordRemoval } from './removed-words.ts'
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
  return withProfileOfTables({
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

/** What the stores of rows on one database share. */
interface Shared {
  names: Names
  lists: ReturnType<typeof fieldLists>
  compaction: ReturnType<typeof createCompaction>
  numbering: Numbering
  refused: RefusedWrites
  splitWords: WordSplitter
}

/** The rows of an executor. `snapshots`: reads beside the pool; null: inside a transaction. */
function rowsOf (
  executor: Executor,
  snapshots: SnapshotReads | null,
  { names, lists, compaction, numbering, refused, splitWords }: Shared
): Omit<Storage, 'open' | 'close'> {
  const books = bookkeeping(executor.dialect, names)
  const { rewrite, ...rows } = rowsOn(executor, names, { lists, books, compaction, numberAll: numbering.all, refused })
  const findById = userLookup(executor, names, ['id'])
  return {
    name: executor.dialect.name,
    ...rows,
    users: {
      find: (id) => findById(id).then(([row]) => row === undefined ? null : toUser(row)),
      list: userLists(executor, names, compaction, emailLookup(executor, names), splitWords),
      walk: userReading(executor, names, snapshots)
    },
    listTenants: tenantLists(executor, names),
    log: { ...knexEventLog(executor, names, numbering), rewrite }
  }
}

/** A storage of one profile. `moves`: its migration moves tables of the other one. */
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
  const lists = fieldLists(names)
  const numbering = createNumbering(pool, names)
  const refused = createRefusedWrites()
  const splitWords = wordSplitter(names)
  const shared = { names, lists, compaction, numbering, refused, splitWords }

  // A trial has a list of words of its own: its tables may be rolled back.
  const tryAll = (on: Query) => {
    const nested = nestedExecutor(pool.dialect, on, names)
    const rows = rowsOf(nested, null, { ...shared, lists: fieldLists(names) })
    // Nobody opens or closes it.
    return tryWrites(createUserWrites({ ...rows, open: async () => ({ created: false }), async close () {} }, 0))
  }
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
      throw new StorageError('schema_behind', 'the server does not support the profile classic of the tables ' +
        `(${String(Object(error).driverCode)}): move them to the other one, with the option profile: 'portable' and ` +
        'storage.open({ migrate: true })')
    })
    isTried = wasTried
  }

  // A host may use a storage on its Knex instance again.
  let closing = new AbortController()
  const removeWords = wordRemoval(pool, names, () => closing.signal)

  /** What is opened, and read and written, on the pool or inside a transaction. */
  function storageWith (executor: Executor, snapshots: SnapshotReads | null) {
    const migrator = createMigrator(executor, names, lists, { moves, tryTables, closing: () => closing.signal })
    const rows = rowsOf(executor, snapshots, shared)
    async function open ({ migrate = false, ...needs }: OpenOptions = {}): Promise<Opened> {
      const created = migrate ? await migrator.migrate(needs) : (await migrator.check(needs), false)
      // Whoever makes the tables tries them.
      if (created) isTried = true
      if (!executor.joined) await tryOnce()
      return { created, ...(pool.dialect.hasProfiles && { profile: pool.dialect.profile }) }
    }
    return { migrator, storage: { ...rows, open } }
  }

  function join (transaction: unknown): StorageInTransaction {
    if (!isTransaction(transaction)) throw new TypeError('fastify-users: not a Knex transaction')
    const { executor, afterCommit } = joinTransaction(transaction, pool, names)
    const { storage } = storageWith(executor, null)
    return { ...storage, commit: throwingUnseen(storage), async close () {}, join, afterCommit }
  }

  const snapshots = createSnapshotReads(knex, names, pool.dialect)
  const { migrator: { check, migrate: _, ...migrator }, storage } = storageWith(pool, snapshots)
  const standbys = replicas &&
    createStandbys({ executor: pool, names, compaction, splitWords, reads: storage.users }, replicas)
  const server: KnexStorage['server'] = {
    concurrency,
    connections: () => connectionsOf(knex),
    warnings: durabilityWarnings(pool),
    async isReadOnly () {
      const { isReadOnly } = pool.dialect
      return refused.areRefused() || (isReadOnly !== null && (await pool.query(isReadOnly)).length > 0)
    },
    upkeep: removeWords,
    ...(standbys !== null && { standbys })
  }
  return {
    ...storage,
    ...migrator,
    join,
    server,
    verifyCounts: countsVerifier(pool, names),
    async rebuildCounts () {
      await check({})
      await compaction.rebuild()
    },
    async close () {
      closing.abort()
      closing = new AbortController()
      await standbys?.close()
      await snapshots.close()
      await compaction.close()
    }
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
    ...(listener !== null && { watch: listener.watch }),
    open: openingOf(knex, storage.open),
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
