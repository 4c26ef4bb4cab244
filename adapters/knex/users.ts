import { belongsTo, requireVersion } from '../../lib/storage/storage-rules.ts'
import type { Deletion, UserUpdate } from '../../lib/storage/make-write.ts'
import type {
  NewEvent, Storage, UserChanges, UserRecord
} from '../../lib/storage/storage.ts'
import { isStorable } from '../../lib/core/text.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { Compaction } from './counting/hand-counting.ts'
import type { Param } from './drivers/driver.ts'
import { putAwayOn } from './deleted-rows.ts'
import { type Bookkeeping, changesOf } from './bookkeeping.ts'
import { userEventValues } from './events/event-writes.ts'
import { namingTakenField } from './schema/field-indexes.ts'
import { KEY_COLUMNS, USER_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, toKeys, toUser } from './tables/rows.ts'
import { type Creations, knexCreation } from './user-creation.ts'
import { userLists } from './user-lists.ts'
import { emailLookup, userLookup } from './user-lookup.ts'
import { statusUpdate } from './user-status.ts'
import { userUpdate } from './user-update.ts'
import type { FieldLists } from './schema/word-list.ts'
import { guardConditions, type OwnedGuard, standingOf } from './user-update-sql.ts'

/** Writes of single users. A refused write throws a `StorageError`; `null` means that there is no such user. */
export interface SingleWrites extends Pick<Creations, 'create'>, Pick<Storage, 'findUser'> {
  update (
    id: string, changes: UserChanges, updatedAt: string, guard: OwnedGuard, event: NewEvent | null
  ): Promise<UserUpdate | null>
  remove (id: string, deletion: Deletion & { guard: OwnedGuard }): Promise<UserRecord | null>
}

type Users = SingleWrites & Pick<Creations, 'prune'> & Pick<Storage, 'listUsers'>

function changesStatus ({ status, statusReason }: UserChanges, user: UserRecord): boolean {
  return (status !== undefined && status !== user.status) ||
    (statusReason !== undefined && statusReason !== user.statusReason)
}

function changesValues ({ name, email, fields }: UserChanges, user: UserRecord): boolean {
  return (name !== undefined && name.value !== user.name) || (email !== undefined && email.value !== user.email) ||
    (fields !== undefined && JSON.stringify(fields) !== JSON.stringify(user.fields))
}

/** Users in SQL. A write is one statement. If it changed nothing, a second statement reads the reason. */
export function knexUsers (
  executor: Executor,
  names: Names,
  lists: FieldLists,
  compaction: Compaction,
  books: Bookkeeping
): Users {
  const { query, transaction, dialect, joined } = executor
  const columns = dialect.select(USER_COLUMNS)
  const findById = userLookup(executor, names, ['id'])
  const findByEmailKey = emailLookup(executor, names)
  const update = userUpdate(executor, names, columns, { lists, books })
  const updateStatus = statusUpdate(executor, names, columns, { words: lists.words, books })
  const putAwayUser = putAwayOn(dialect, names)

  async function findUser (id: string): Promise<UserRecord | null> {
    const [row] = await findById(id)
    return row === undefined ? null : toUser(row)
  }

  /** The user that a write skipped, or null if there is none. @throws StorageError `version_mismatch` */
  async function findSkipped (id: string, { tenant, ...guard }: OwnedGuard): Promise<UserRecord | null> {
    const user = await findUser(id)
    if (user === null || !belongsTo(user, tenant)) return null
    requireVersion(guard, user)
    return user
  }

  async function removeAndRecord (
    on: Query,
    remove: (on: Query) => Promise<Row | undefined>,
    { event, erase, putAway }: Deletion
  ): Promise<UserRecord | null> {
    const row = await remove(on)
    if (row === undefined) return null
    const user = toUser(row)
    if (putAway !== undefined) await putAwayUser(on, user, toKeys(row), putAway)
    await books.count(on, changesOf(user.tenant, -1))
    if (event !== null) await books.record(on, [userEventValues(event, user)])
    if (erase) await books.erase(on, user.id, user.tenant ?? '')
    return user
  }

  return {
    findUser,
    ...knexCreation(executor, names, { findUser, findByEmailKey, compaction, books, words: lists.words }),
    listUsers: userLists(executor, names, compaction, findByEmailKey),

    async update (id, changes, updatedAt, guard, event) {
      if (!isStorable(id)) return null
      const { status: _status, statusReason: _reason, ...values } = changes
      const naming = <Value>(write: () => Promise<Value>): Promise<Value> =>
        namingTakenField(names, changes.fields ?? {}, write)
      while (true) {
        // A replacement names the status too, which most users have already.
        const row = await naming(() =>
          update(id, values, updatedAt, { ...guard, standing: standingOf(changes) }, event))
        if (row !== undefined) return { user: toUser(row), changed: true }
        const user = await findSkipped(id, guard)
        if (user === null) return null
        if (changesStatus(changes, user)) return naming(() => updateStatus(id, changes, updatedAt, guard, event))
        if (!changesValues(changes, user)) return { user, changed: false }
        // The statement found the values already stored, but another write has changed them since: try again.
      }
    },

    async remove (id, deletion) {
      const { guard, event, erase, putAway } = deletion
      if (!isStorable(id)) return null
      const params: Param[] = [id]
      const conditions = [`id = ${dialect.p(1)}`, ...guardConditions(dialect, guard, (value) => params.push(value))]
      const keys = putAway === undefined ? '' : `, ${dialect.select(KEY_COLUMNS)}`
      const sql = dialect.returning(`DELETE FROM ${names.users} WHERE ${conditions.join(' AND ')}`, columns + keys)
      const remove = async (on: Query): Promise<Row | undefined> => (await on(sql, params, { waitsFor: id }))[0]
      const since = performance.now()
      // Inside of another transaction it has that one's time.
      const writes = erase && !joined ? await books.writesToErase(query, id) : 0
      while (true) {
        const isAlone = event === null && !erase && putAway === undefined && !books.countsByHand
        const row = isAlone ? await remove(query) : undefined
        if (row !== undefined) return toUser(row)
        const removed = isAlone
          ? null
          : await transaction((on) => removeAndRecord(on, remove, deletion), { waitsFor: id, since, writes })
        if (removed !== null) return removed
        if (await findSkipped(id, guard) === null) return null
        // The guard failed in the statement, but holds now: another write has just created that version. Try again.
      }
    }
  }
}
