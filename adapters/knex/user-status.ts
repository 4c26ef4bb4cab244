import { updateEvents, updateTypes } from '../../lib/storage/recorded-events.ts'
import { belongsTo, requireVersion } from '../../lib/storage/storage-rules.ts'
import type { UserUpdate } from '../../lib/storage/make-write.ts'
import type { NewEvent, UserChanges, UserRecord } from '../../lib/storage/storage.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { EventWrites } from './events/event-writes.ts'
import type { Names } from './tables/names.ts'
import { toUser } from './tables/rows.ts'
import { type OwnedGuard, singleUpdates, valuesOf } from './user-update-sql.ts'
import type { WordList } from './schema/word-list.ts'

/** Changes the status of a user, and what else is to change. `null`: there is no such user. */
export type StatusUpdate = (
  id: string, changes: UserChanges, updatedAt: string, guard: OwnedGuard, event: NewEvent | null
) => Promise<UserUpdate | null>

/**
 * Makes the updates that change the status. They are rare, and which events they record depends on what else they
 * change: so they read the user first, in a transaction, where every other update is one statement.
 */
export function statusUpdate (
  { dialect, transaction }: Executor,
  names: Names,
  returned: string,
  { books, words }: { books: EventWrites, words: WordList }
): StatusUpdate {
  const find = `SELECT ${returned} FROM ${names.users} WHERE id = ${dialect.p(1)}${dialect.forUpdate}`
  const singleUpdate = singleUpdates(dialect, names, returned)

  async function change (
    on: Query, before: UserRecord, changes: UserChanges, updatedAt: string, event: NewEvent | null
  ): Promise<UserUpdate> {
    const guard = { ifVersion: null, unlessVersion: [] }
    const values = valuesOf(changes, updatedAt, words)
    const { sql, params } = singleUpdate({ id: before.id, values, guard })
    const [row] = await on(sql, params)
    if (row === undefined) return { user: before, changed: false }
    const user = toUser(row)
    if (event !== null) await books.recordUpdates(on, updateEvents(event, before, user))
    return { user, changed: true, ...(before.status !== user.status && { types: updateTypes(before, user) }) }
  }

  return (id, changes, updatedAt, { tenant, ...guard }, event) => transaction(async (on) => {
    const [row] = await on(find, [id])
    const before = row === undefined ? null : toUser(row)
    if (before === null || !belongsTo(before, tenant)) return null
    requireVersion(guard, before)
    return change(on, before, changes, updatedAt, event)
  }, { waitsFor: id, since: performance.now() })
}
