import { createHash } from 'node:crypto'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { refusalOf, requireSameRequest, requireVersion, withoutUsers } from '../../lib/storage/storage-rules.ts'
import type {
  BatchOptions, BatchResult, ChangesOf, Json, Storage, UserWrite, WriteOutcome
} from '../../lib/storage/storage.ts'
import { isLost, waitedTooLong } from './connection/driver-errors.ts'
import type { Executor, Query } from './connection/executor.ts'
import { nestedExecutor } from './connection/nested-executor.ts'
import { idempotencySql, indexOfPart, partBounds, partKey } from './idempotency-sql.ts'
import type { Names } from './tables/names.ts'
import { toCreatedUser } from './tables/rows.ts'

type Users = Pick<Storage, 'createUser' | 'findUser' | 'updateUser' | 'deleteUser'>
type Key = NonNullable<BatchOptions['idempotency']>

/** What the row of a batch's key keeps. `run`: which call has written it, for one whose answer was lost. */
interface Kept { outcomes: WriteOutcome[], note: Json, run: string }

// Hash all addresses onto 32 lock names, because PostgreSQL has room for a few thousand locks only.
const ADDRESS_LOCKS = 32

/** The name of the lock of an address. */
function lockOf (emailKey: string): string {
  return `address ${createHash('sha256').update(emailKey).digest().readUInt8() % ADDRESS_LOCKS}`
}

/** The address that a write needs, if it needs one. */
function emailKeyOf (write: UserWrite): string[] {
  if (write.type === 'create') return [write.keys.emailKey]
  const email = write.type === 'update' ? write.changes?.email : undefined
  return email === undefined ? [] : [email.key]
}

/** Makes one write of a batch. */
async function make (users: Users, write: UserWrite, index: number, changesOf: ChangesOf): Promise<WriteOutcome> {
  switch (write.type) {
    case 'create': {
      const { user } = await users.createUser(write.user, write.keys, null, write.event)
      return { code: 'done', changed: true, user }
    }
    case 'delete': {
      const { id, guard, event } = write
      const user = await users.deleteUser(id, guard, event && { ...event, erase: false })
      return user === null ? { code: 'not_found' } : { code: 'done', changed: true, user }
    }
    case 'update': {
      const { id, updatedAt, event } = write
      let { changes, guard } = write
      if (changes === null) {
        const user = await users.findUser(id)
        if (user === null) return { code: 'not_found' }
        requireVersion(guard, user)
        guard = { ifVersion: [user.version], unlessVersion: [] }
        const made = changesOf(index, user)
        if ('refused' in made) return { code: 'refused', reason: made.refused }
        changes = made
      }
      const updated = await users.updateUser(id, changes, updatedAt, guard, event)
      return updated === null ? { code: 'not_found' } : { code: 'done', ...updated }
    }
  }
}

/** Batches of writes in SQL: one transaction for each, around the writes of single users. */
export function knexBatches (
  executor: Executor,
  names: Names,
  usersOn: (executor: Executor) => Users
): NonNullable<Storage['writeBatch']> {
  const { dialect, joined } = executor
  const { lockNames } = dialect.transaction
  const sql = idempotencySql(dialect, names)
  const lockUsers = `SELECT id FROM ${names.users} WHERE ${dialect.isIn('id', 1, 'text')} ` +
    `ORDER BY id${dialect.forUpdate}`

  /** Locks addresses and users in one order, so that concurrent batches can't wait for each other. */
  async function lock (on: Query, writes: readonly UserWrite[]): Promise<void> {
    // There is only one writer.
    if (lockNames === null) return
    const ids = writes.flatMap((write) => write.type === 'create' ? [] : [write.id])
    // One lock stands for many addresses: held to the end of a host's transaction, it would block unrelated batches.
    const addresses = joined ? [] : [...new Set(writes.flatMap(emailKeyOf).map(lockOf))].sort()
    if (addresses.length > 0) await on(lockNames(names), [addresses])
    if (ids.length > 0) await on(lockUsers, [ids])
  }

  /** Takes the key; if it is known, what it keeps. */
  async function claim (on: Query, idempotency: Key, run: string): Promise<BatchResult | null> {
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

  async function keep (on: Query, idempotency: Key, outcomes: readonly WriteOutcome[], run: string): Promise<void> {
    const { key, fingerprint, expiresAt, note } = idempotency
    const kept: Kept = { outcomes: withoutUsers(outcomes), note, run }
    await on(sql.setResult, [key, JSON.stringify(kept)])
    const parts = outcomes.flatMap((outcome, i) => outcome.code === 'done' && outcome.user !== null
      ? [[partKey(key, i), fingerprint, outcome.user.id, JSON.stringify(outcome.user), expiresAt]]
      : [])
    if (parts.length > 0) await on(sql.keepParts, dialect.batch.values(parts))
  }

  async function writeAll (
    nested: Executor,
    writes: readonly UserWrite[],
    atomic: boolean,
    changesOf: ChangesOf
  ): Promise<WriteOutcome[]> {
    await lock(nested.query, writes)
    const users = usersOn(nested)
    const outcomes: WriteOutcome[] = []
    for (const [index, write] of writes.entries()) {
      const outcome = await make(users, write, index, changesOf).catch(refusalOf)
      outcomes.push(outcome)
      if (atomic && outcome.code !== 'done') break
    }
    return outcomes
  }

  return async (writes, { atomic, idempotency }, changesOf) => {
    const run = crypto.randomUUID()
    let undone: BatchResult | null = null
    let made: BatchResult | null = null
    const work = async (outer: Query): Promise<BatchResult> => {
      undone = null
      const nested = nestedExecutor(dialect, outer, names)
      const before = idempotency === null ? null : await claim(nested.query, idempotency, run)
      // Its own: the answer to the commit was lost.
      if (before !== null) return before.replayed ? before : made ?? before
      const outcomes = await writeAll(nested, writes, atomic, changesOf)
      const result = { outcomes, note: idempotency?.note ?? null, replayed: false }
      if (atomic && outcomes.some(({ code }) => code !== 'done')) {
        undone = result
        throw new StorageError('fault', 'the batch is undone')
      }
      if (idempotency !== null) await keep(nested.query, idempotency, outcomes, run)
      made = result
      return result
    }
    const runAll = (): Promise<BatchResult> => executor.transaction(work, { bounded: true, writes: writes.length })
    try {
      // Retry if the connection was lost. The idempotency key tells the second attempt what the first one did.
      return await runAll().catch((error) => idempotency !== null && isLost(error) ? runAll() : Promise.reject(error))
    } catch (error) {
      if (undone === null) throw error
      return undone
    }
  }
}
