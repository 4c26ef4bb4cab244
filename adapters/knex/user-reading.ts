import { READ_PART_MAX } from '../../lib/core/limits.ts'
import type { OnUsers, Storage, UserRecord } from '../../lib/storage/storage.ts'
import type { Reading } from './connection/executor.ts'
import type { SnapshotReads } from './connection/snapshot-reads.ts'
import { type PartRequest, partStatement } from './pages.ts'
import { USER_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { toUser } from './tables/rows.ts'
import { canMatch, conditionOf } from './user-lists.ts'

type ReadPart = (request: PartRequest) => Promise<UserRecord[]>

/** Reads part after part. The next one is read while a part is taken. */
async function walk (read: ReadPart, order: PartRequest['order'], onPart: OnUsers): Promise<void> {
  const readFrom = (after: string | null): Promise<UserRecord[]> => {
    const part = read({ order, limit: READ_PART_MAX, after })
    // Nobody awaits it any more if the part before it is refused.
    part.catch(() => {})
    return part
  }
  let next: Promise<UserRecord[]> | null = readFrom(null)
  while (next !== null) {
    const users: UserRecord[] = await next
    const last = users.at(-1)
    next = last === undefined || users.length < READ_PART_MAX ? null : readFrom(last.id)
    if (last !== undefined) await onPart(users)
  }
}

/**
 * Reads all users of a filter. `snapshots`: on connections beside the pool; null: on the executor's own, which is that
 * of a transaction.
 */
export function userReading (
  executor: Reading,
  names: Names,
  snapshots: SnapshotReads | null
): Storage['readUsers'] {
  const { dialect, read } = executor
  const { readsApart } = dialect.transaction

  async function canReadApart (): Promise<boolean> {
    if (readsApart === null) return true
    const [row] = await read(readsApart)
    return row?.['apart'] === 1
  }

  return async (filter, order, onPart) => {
    if (!canMatch(filter)) return
    const condition = conditionOf(dialect, names, filter, true)
    const readBy = (run: Reading['read']): ReadPart => async (request) => {
      const { sql, params } = partStatement(dialect, names.users, USER_COLUMNS, condition, request)
      return (await run(sql, params, { keepPlan: false })).map(toUser)
    }
    if (snapshots === null) return walk(readBy(read), order, onPart)
    if (await canReadApart()) return snapshots.run((query) => walk(readBy(query), order, onPart))
    // The database has no second connection: one statement is a snapshot too.
    const users = await readBy(read)({ order, limit: Number.MAX_SAFE_INTEGER, after: null })
    for (let start = 0; start < users.length; start += READ_PART_MAX) {
      await onPart(users.slice(start, start + READ_PART_MAX))
    }
  }
}
