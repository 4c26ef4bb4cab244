import { READ_PART_MAX } from '../../lib/core/limits.ts'
import { sortValue } from '../../lib/storage/user-order.ts'
import type { OnUsers, PageRequest, UserReads, UserRecord, UserSort } from '../../lib/storage/storage.ts'
import type { Reading } from './connection/executor.ts'
import type { SnapshotReads } from './connection/snapshot-reads.ts'
import type { Statement } from './drivers/driver.ts'
import { partStatement } from './pages.ts'
import type { Condition } from './dialects/value-sql.ts'
import { sortedPart, type SortedStart, sortedStatement, toSortedPage } from './sorted-pages.ts'
import { USER_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, toUser } from './tables/rows.ts'
import { canMatch, conditionOf } from './user-lists.ts'

/** A part of a walk, and where the next one begins; null: it was the last one. */
interface Part { users: UserRecord[], next: SortedStart | null }
type ReadPart = (start: SortedStart | null) => Promise<Part>

/** Reads part after part. The next one is read while a part is taken. */
async function walk (read: ReadPart, onPart: OnUsers): Promise<void> {
  const readFrom = (start: SortedStart | null): Promise<Part> => {
    const part = read(start)
    // Nobody awaits it any more if the part before it is refused.
    part.catch(() => {})
    return part
  }
  let following: Promise<Part> | null = readFrom(null)
  while (following !== null) {
    const { users, next }: Part = await following
    following = next === null ? null : readFrom(next)
    if (users.length > 0) await onPart(users)
  }
}

/** What a walk reads: the users of a condition, in an order. */
interface Walk { condition: Condition | null, order: PageRequest['order'], sort: UserSort | undefined }

/** Where the part behind rows begins; behind all users with a value: at the others. null: they were the last. */
function startBehind (rows: readonly Row[], { sort }: Walk, start: SortedStart | null): SortedStart | null {
  const last = rows.length < READ_PART_MAX ? undefined : rows.at(-1)
  const isLast = sort === undefined || typeof sort === 'string' || start?.value === null
  if (last === undefined) return isLast ? null : { value: null, id: null }
  const user = toUser(last)
  if (sort === undefined) return { value: null, id: user.id }
  const keys = { nameKey: String(last['nameKey']), emailKey: String(last['emailKey']) }
  return { value: sortValue({ user, keys }, sort), id: user.id }
}

/**
 * Reads all users of a filter. `snapshots`: on connections beside the pool; null: on the executor's own, which is that
 * of a transaction.
 */
export function userReading (
  executor: Reading,
  names: Names,
  snapshots: SnapshotReads | null
): UserReads['walk'] {
  const { dialect, read } = executor
  const { readsApart } = dialect.transaction

  async function canReadApart (): Promise<boolean> {
    if (readsApart === null) return true
    const [row] = await read(readsApart)
    return row?.['apart'] === 1
  }

  function partOf ({ condition, order, sort }: Walk, start: SortedStart | null): Statement {
    const limit = READ_PART_MAX
    if (sort !== undefined) return sortedPart(dialect, names.users, condition, { sort, order, limit, start })
    return partStatement(dialect, names.users, USER_COLUMNS, condition, { order, limit, after: start?.id ?? null })
  }

  /** All users by one statement, which is a snapshot too. */
  async function readAtOnce ({ condition, order, sort }: Walk): Promise<UserRecord[]> {
    const limit = Number.MAX_SAFE_INTEGER
    const { sql, params } = sort === undefined
      ? partStatement(dialect, names.users, USER_COLUMNS, condition, { order, limit, after: null })
      : sortedStatement(dialect, names.users, {
        condition, page: { order, limit, sort, from: { offset: 0 } }, counted: null, isSearch: false
      })
    const rows = await read(sql, params, { keepPlan: false })
    return sort === undefined ? rows.map(toUser) : toSortedPage(rows).items
  }

  return async (filter, order, onPart, sort) => {
    if (!canMatch(filter)) return
    const given = { condition: conditionOf(dialect, names, filter, null), order, sort }
    const readBy = (run: Reading['read']): ReadPart => async (start) => {
      const { sql, params } = partOf(given, start)
      const rows = await run(sql, params, { keepPlan: false })
      return { users: rows.map(toUser), next: startBehind(rows, given, start) }
    }
    if (snapshots === null) return walk(readBy(read), onPart)
    if (await canReadApart()) return snapshots.run((query) => walk(readBy(query), onPart))
    // The database has no second connection.
    const users = await readAtOnce(given)
    for (let start = 0; start < users.length; start += READ_PART_MAX) {
      await onPart(users.slice(start, start + READ_PART_MAX))
    }
  }
}
