import type { PurgedUser } from '../../lib/storage/make-write.ts'
import { deletionBefore, LIVE_PURGE, purgeEvent } from '../../lib/storage/recorded-events.ts'
import { isStorageError, StorageError } from '../../lib/storage/storage-error.ts'
import { belongsTo, requireVersion } from '../../lib/storage/storage-rules.ts'
import type { DeletedUser, NewEvent, Trash, UserRecord, UserWrite } from '../../lib/storage/storage.ts'
import { isStorable } from '../../lib/core/text.ts'
import type { Executor, Query } from './connection/executor.ts'
import { nestedExecutor } from './connection/nested-executor.ts'
import type { Bookkeeping } from './bookkeeping.ts'
import { recordedValues } from './events/event-writes.ts'
import { DELETED_COLUMNS as COLUMNS, type DeletedRow, toDeleted } from './deleted-rows.ts'
import { toPage } from './pages.ts'
import type { Names } from './tables/names.ts'
import type { SingleWrites } from './users.ts'

const shown = ({ user, deletedAt, deletedBy }: DeletedRow): DeletedUser => ({ user, deletedAt, deletedBy })

type Purge = UserWrite & { type: 'purge' }

/** The trash in SQL, and the writes that take users out of it. `null`: there is no such user. */
export interface KnexTrash extends Trash {
  /** @throws StorageError for what refuses it */
  restore (write: UserWrite & { type: 'restore' }): Promise<UserRecord | null>
  /** The e-mail keys that users have who are put away. */
  emailKeys (on: Query, ids: readonly string[]): Promise<string[]>
  /** @throws StorageError `version_mismatch` */
  purge (write: Purge): Promise<PurgedUser | null>
}

/** Makes the trash of an executor. `usersOn`: makes the writes of users of another one. */
export function knexTrash (
  executor: Executor,
  names: Names,
  usersOn: (executor: Executor, books: Bookkeeping) => SingleWrites,
  books: Bookkeeping
): KnexTrash {
  const { dialect, read, query, transaction, joined } = executor
  const { p, limit, forUpdate } = dialect
  const { deletedUsers, users } = names
  const find = `SELECT ${dialect.select(COLUMNS)} FROM ${deletedUsers} WHERE id = ${p(1)}`
  const findAll = `SELECT ${dialect.select(COLUMNS)} FROM ${deletedUsers} WHERE ${dialect.isIn('id', 1, 'text')}`
  const drop = `DELETE FROM ${deletedUsers} WHERE id = ${p(1)}`
  const isThere = `SELECT id FROM ${users} WHERE id = ${p(1)}`
  const expired = `SELECT id FROM ${deletedUsers} WHERE deleted_at <= ${p(1)} ORDER BY deleted_at, id LIMIT ${limit(2)}`
  const listOf = (where: string): string => {
    const rows = `SELECT * FROM ${deletedUsers}${where} ORDER BY deleted_at DESC, id DESC ` +
      `LIMIT ${limit(1)} OFFSET ${limit(2)}`
    return `SELECT (SELECT count(*) FROM ${deletedUsers}${where}) AS total, ${dialect.packed(COLUMNS, rows)} AS items`
  }
  const [all, ofTenant] = [listOf(''), listOf(` WHERE tenant = ${p(3)} AND tenant <> ''`)]

  async function record (on: Query, event: NewEvent | null, user: UserRecord, erase: boolean): Promise<void> {
    if (event !== null) await books.record(on, [recordedValues(purgeEvent(event, user))])
    if (erase) await books.erase(on, user.id, user.tenant ?? '')
  }

  async function requireFree (on: Query, id: string): Promise<void> {
    if ((await on(isThere, [id])).length === 0) return
    throw new StorageError('field_taken', 'a user has the id again', { field: 'id' })
  }

  /** Locks what is put away under an id, for whoever may reach it. */
  async function locked (on: Query, id: string, tenant: string | undefined): Promise<DeletedRow | null> {
    const [row] = await on(`${find}${forUpdate}`, [id])
    const found = row === undefined ? null : toDeleted(row)
    return found !== null && belongsTo(found.user, tenant) ? found : null
  }

  /** Deletes a user that is there, and one that is put away with its id. */
  async function purgeLive (on: Query, write: Purge): Promise<PurgedUser | null> {
    const { id, guard, tenant, event, erase } = write
    const deletion = { guard: { ...guard, tenant }, event: event && deletionBefore(event), erase: false }
    const user = await usersOn(nestedExecutor(dialect, on, names), books).remove(id, deletion)
    if (user === null) return null
    await on(`${drop} AND tenant = ${p(2)}`, [id, user.tenant ?? ''])
    await record(on, event, user, erase)
    return { user, types: [...LIVE_PURGE] }
  }

  async function purgeOn (on: Query, write: Purge): Promise<PurgedUser | null> {
    const { id, guard, tenant, event, erase, putAwayBefore } = write
    while (true) {
      // A user before what is put away, as a deletion has it: two that lock both never wait for each other.
      const purged = putAwayBefore === null ? await purgeLive(on, write) : null
      if (purged !== null) return purged
      const away = await locked(on, id, tenant)
      if (away !== null) {
        if (putAwayBefore !== null && away.deletedAt > putAwayBefore) return null
        requireVersion(guard, away.user)
        await on(drop, [id])
        await record(on, event, away.user, erase)
        return { user: away.user }
      }
      // Whoever locked it may have restored it.
      const user = putAwayBefore === null ? await usersOn(nestedExecutor(dialect, on, names), books).findUser(id) : null
      if (user === null || !belongsTo(user, tenant)) return null
    }
  }

  return {
    async find (id) {
      if (!isStorable(id)) return null
      const [row] = await read(find, [id])
      return row === undefined ? null : shown(toDeleted(row))
    },

    async list ({ offset, limit, tenant }) {
      if (tenant !== undefined && !isStorable(tenant)) return { items: [], total: 0 }
      const rows = tenant === undefined
        ? await read(all, [limit, offset])
        : await read(ofTenant, [limit, offset, tenant])
      return toPage(rows, COLUMNS, (row) => shown(toDeleted(row)))
    },

    expired: async (before, limit) => (await read(expired, [before, limit])).map(({ id }) => String(id)),

    async emailKeys (on, ids) {
      return (await on(findAll, [ids])).map((row) => toDeleted(row).keys.emailKey)
    },

    async restore ({ id, updatedAt, guard, event, tenant }) {
      if (!isStorable(id)) return null
      return transaction(async (on) => {
        const away = await locked(on, id, tenant)
        if (away === null) return null
        requireVersion(guard, away.user)
        await requireFree(on, id)
        await on(drop, [id])
        const { version, updatedAt: before } = away.user
        const user = { ...away.user, version: version + 1, updatedAt: updatedAt < before ? before : updatedAt }
        try {
          return (await usersOn(nestedExecutor(dialect, on, names), books).create(user, away.keys, null, event)).user
        } catch (error) {
          // An import may have given the id meanwhile.
          if (isStorageError(error) && error.code === 'fault') await requireFree(on, id)
          throw error
        }
      }, { waitsFor: id, since: performance.now() })
    },

    async purge (write) {
      const { id, erase } = write
      if (!isStorable(id)) return null
      const since = performance.now()
      const writes = erase && !joined ? await books.writesToErase(query, id) : 0
      return transaction((on) => purgeOn(on, write), { waitsFor: id, since, writes })
    }
  }
}
