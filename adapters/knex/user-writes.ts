import { StorageError } from '../../lib/storage/storage-error.ts'
import {
  belongsTo, creationAlone, refusalOf, requireSameRequest, requireVersion, withoutUsers
} from '../../lib/storage/storage-rules.ts'
import type {
  Idempotency, Json, Storage, UserRecord, UserWrite, WriteOutcome, WritesOptions, WritesResult
} from '../../lib/storage/storage.ts'
import { type Bookkeeping, bookkeepingAtEnd, countOf } from './bookkeeping.ts'
import { isLost, isOtherList, waitedTooLong } from './connection/driver-errors.ts'
import type { Executor, Query } from './connection/executor.ts'
import { nestedExecutor } from './connection/nested-executor.ts'
import { locksOf } from './tables/lock-names.ts'
import { idempotencySql, indexOfPart, partBounds, partKey } from './idempotency-sql.ts'
import type { Names } from './tables/names.ts'
import { toCreatedUser } from './tables/rows.ts'
import type { KnexTrash } from './trash.ts'
import type { SingleWrites } from './users.ts'
import type { WordList } from './schema/word-list.ts'

/** What the row of a key keeps. `run`: which call has written it, for one whose answer was lost. */
interface Kept { outcomes: WriteOutcome[], note: Json, run: string }

/** True if a write takes a user from one table to another, or out of both. */
function movesUser (write: UserWrite): boolean {
  return write.type === 'restore' || write.type === 'purge' || (write.type === 'delete' && write.putAway !== undefined)
}

/** The address that a write needs, if it needs one. */
function emailKeyOf (write: UserWrite): string[] {
  if (write.type === 'create') return [write.keys.emailKey]
  const changes = write.type === 'update' && typeof write.changes !== 'function' ? write.changes : {}
  return changes.email === undefined ? [] : [changes.email.key]
}

/** What writes users, and what gives back those that are put away. */
export interface Writers {
  users: SingleWrites
  trash: KnexTrash
}

function doneWith (user: UserRecord | null): WriteOutcome {
  return user === null ? { code: 'not_found' } : { code: 'done', changed: true, user }
}

/** Makes one write. @throws StorageError for what refuses it */
async function make ({ users, trash }: Writers, write: UserWrite): Promise<WriteOutcome> {
  switch (write.type) {
    case 'restore': return doneWith(await trash.restore(write))
    case 'purge': {
      const purged = await trash.purge(write)
      return purged === null ? { code: 'not_found' } : { code: 'done', changed: true, ...purged }
    }
    case 'create': {
      const { user } = await users.create(write.user, write.keys, null, write.event)
      return { code: 'done', changed: true, user }
    }
    case 'delete': {
      const { id, guard, tenant } = write
      return doneWith(await users.remove(id, { ...write, guard: { ...guard, tenant } }))
    }
    case 'update': {
      const { id, updatedAt, event, tenant } = write
      let { changes, guard } = write
      if (typeof changes === 'function') {
        const user = await users.findUser(id)
        if (user === null || !belongsTo(user, tenant)) return { code: 'not_found' }
        requireVersion(guard, user)
        guard = { ifVersion: [user.version], unlessVersion: [] }
        const made = changes(user)
        if ('refused' in made) return { code: 'refused', reason: made.refused }
        changes = made
      }
      const updated = await users.update(id, changes, updatedAt, { ...guard, tenant }, event)
      return updated === null ? { code: 'not_found' } : { code: 'done', ...updated }
    }
  }
}

/**
 * The writes of users in SQL. One alone is a statement, together with its idempotency key too if it is a creation;
 * several are made in a transaction.
 */
export function knexWrites (
  executor: Executor,
  names: Names,
  writersOn: (executor: Executor, books: Bookkeeping) => Writers,
  { books, words }: { books: Bookkeeping, words: WordList }
): Storage['writeUsers'] {
  const { dialect, joined } = executor
  const writers = writersOn(executor, books)
  const { lockNames } = dialect.transaction
  const sql = idempotencySql(dialect, names)
  const lockUsers = `SELECT id FROM ${names.users} WHERE ${dialect.isIn('id', 1, 'text')} ` +
    `ORDER BY id${dialect.forUpdate}`
  const lockDeleted = lockUsers.replace(names.users, names.deletedUsers)

  /** Locks addresses and users in one order, so that concurrent batches can't wait for each other. */
  async function lock (on: Query, writes: readonly UserWrite[]): Promise<void> {
    // There is only one writer.
    if (lockNames === null) return
    const ids = writes.flatMap((write) => write.type === 'create' ? [] : [write.id])
    const moves = writes.some(movesUser)
    // One lock stands for many addresses: held to the end of a host's transaction, it would block unrelated batches.
    if (!joined) {
      // A row that another batch moves is not found again when it has moved: so these users have locks by name too.
      if (moves) await on(lockNames(names), [locksOf('user', ids)])
      const restored = writes.flatMap((write) => write.type === 'restore' ? [write.id] : [])
      const emailKeys = restored.length === 0 ? [] : await writers.trash.emailKeys(on, restored)
      const addresses = locksOf('address', [...writes.flatMap(emailKeyOf), ...emailKeys])
      if (addresses.length > 0) await on(lockNames(names), [addresses])
    }
    if (ids.length > 0) await on(lockUsers, [ids])
    if (moves) await on(lockDeleted, [ids])
  }

  /** Takes the key; if it is known, what it keeps. */
  async function claim (on: Query, idempotency: Idempotency, run: string): Promise<WritesResult | null> {
    const { key, fingerprint, expiresAt, now } = idempotency
    while (true) {
      const claimed = await on(sql.claimForBatch, [key, fingerprint, '', expiresAt, now]).catch((error) => {
        if (!waitedTooLong(error)) throw error
        throw new StorageError('idempotency_in_progress', 'the first batch with the key is still running')
      })
      if (claimed.length > 0) {
        // If it has renewed an expired key, the users of that batch are still there.
        await on(sql.dropParts, partBounds(key))
        return null
      }
      const [known] = await on(sql.find, [key, now])
      // It has been deleted since.
      if (known === undefined) continue
      requireSameRequest(known['fingerprint'], idempotency)
      const kept: Kept = JSON.parse(String(known['result']))
      for (const part of await on(sql.findParts, partBounds(key))) {
        const outcome = kept.outcomes[indexOfPart(String(part['key']), key)]
        if (outcome?.code === 'done') outcome.user = toCreatedUser(part['result'])
      }
      return { outcomes: kept.outcomes, note: kept.note, replayed: kept.run !== run }
    }
  }

  async function keep (
    on: Query, idempotency: Idempotency, outcomes: readonly WriteOutcome[], run: string
  ): Promise<void> {
    const { key, fingerprint, expiresAt, note } = idempotency
    const kept: Kept = { outcomes: withoutUsers(outcomes), note, run }
    await on(sql.setResult, [key, JSON.stringify(kept)])
    const users = outcomes.flatMap((outcome, i) => outcome.code === 'done' && outcome.user !== null
      ? [{ i, user: outcome.user }]
      : [])
    if (users.length === 0) return
    // Users that the batch has deleted itself have no row. The others are locked, so they are still there.
    const there = new Set((await on(sql.findUsers, [users.map(({ user }) => user.id)])).map(({ id }) => id))
    const parts = users.filter(({ user }) => there.has(user.id))
      .map(({ i, user }) => [partKey(key, i), fingerprint, user.id, JSON.stringify(user), expiresAt])
    if (parts.length > 0) await on(sql.keepParts, dialect.batch.values(parts))
  }

  async function writeAll (nested: Executor, writes: readonly UserWrite[], atomic: boolean): Promise<WriteOutcome[]> {
    await lock(nested.query, writes)
    const ofAll = books.holdsUpOthers ? bookkeepingAtEnd(books) : null
    const writers = writersOn(nested, ofAll ?? books)
    const outcomes: WriteOutcome[] = []
    for (const write of writes) {
      const outcome = await make(writers, write).catch(refusalOf)
      outcomes.push(outcome)
      // What it has written is undone.
      if (atomic && outcome.code !== 'done') return outcomes
    }
    await ofAll?.write(nested.query)
    return outcomes
  }

  async function together (
    writes: readonly UserWrite[],
    { atomic, idempotency }: WritesOptions
  ): Promise<WritesResult> {
    const run = crypto.randomUUID()
    let undone: WritesResult | null = null
    let made: WritesResult | null = null
    const work = async (outer: Query): Promise<WritesResult> => {
      undone = null
      const nested = nestedExecutor(dialect, outer, names)
      const before = idempotency === null ? null : await claim(nested.query, idempotency, run)
      // Its own: the answer to the commit was lost.
      if (before !== null) return before.replayed ? before : made ?? before
      const outcomes = await writeAll(nested, writes, atomic)
      const result = { outcomes, note: idempotency?.note ?? null, replayed: false }
      if (atomic && outcomes.some(({ code }) => code !== 'done')) {
        undone = result
        throw new StorageError('fault', 'the writes are undone')
      }
      if (idempotency !== null) await keep(nested.query, idempotency, outcomes, run)
      made = result
      return result
    }
    const count = joined ? 0 : await countOf(executor.query, writes, books)
    const runAll = (): Promise<WritesResult> => executor.transaction(work, { bounded: true, writes: count })
    try {
      // Retry if the connection was lost. The idempotency key tells the second attempt what the first one did.
      return await runAll().catch((error) => idempotency !== null && isLost(error) ? runAll() : Promise.reject(error))
    } catch (error) {
      if (undone === null) throw error
      return undone
    }
  }

  /** A creation, with its key. */
  async function createAlone (
    { user, keys, event }: UserWrite & { type: 'create' },
    idempotency: Idempotency | null
  ): Promise<WritesResult> {
    try {
      const made = await writers.users.create(user, keys, idempotency, event)
      return { outcomes: [{ code: 'done', changed: true, user: made.user }], note: null, replayed: made.replayed }
    } catch (error) {
      return { outcomes: [refusalOf(error)], note: null, replayed: false }
    }
  }

  async function writeAlone (write: UserWrite): Promise<WritesResult> {
    const outcome = await make(writers, write).catch(refusalOf)
    return { outcomes: [outcome], note: null, replayed: false }
  }

  const write: Storage['writeUsers'] = (writes, options) => {
    const { idempotency } = options
    const creation = creationAlone(writes, options)
    if (creation !== null) return createAlone(creation, idempotency)
    const [only] = writes
    const isData = only?.type !== 'update' || typeof only.changes !== 'function'
    return only !== undefined && writes.length === 1 && idempotency === null && isData
      ? writeAlone(only)
      : together(writes, options)
  }

  return async (writes, options) => {
    await words.know(executor.query)
    try {
      return await write(writes, options)
    } catch (error) {
      if (!isOtherList(error)) throw error
      // A transaction of the host's has failed with the statement.
      if (joined) throw error
      await words.read(executor.query)
      return write(writes, options)
    }
  }
}
