import { READ_PART_MAX } from '../../lib/core/limits.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { deletionBefore, purgeEvent, updateEvents, updateTypes, userEvent } from '../../lib/storage/recorded-events.ts'
import { type Deletion, LIVE_PURGE, type PurgedUser, type UserUpdate } from '../../lib/storage/make-write.ts'
import { changedKeys, requireVersion } from '../../lib/storage/storage-rules.ts'
import type {
  NewEvent, Page, PageRequest, Storage, TenantStore, UserChanges, UserFilter, UserKeys, UserPageRequest, UserRecord,
  UserSort, VersionGuard
} from '../../lib/storage/storage.ts'
import type { MemoryEvents } from './event-log.ts'
import { IdempotencyRecords } from './idempotency-records.ts'
import { pageOf, type Positions } from './positions.ts'
import { memoryAssignment } from './tenant-assignment.ts'
import { MemoryTrash } from './trash.ts'
import { keysOf, storedFields, type UserEntry, userOf } from './user-entry.ts'
import { userTable } from './user-table.ts'
import { memoryWrites } from './user-writes.ts'

/** The later one of two moments. */
const later = (a: string, b: string): string => a < b ? b : a

interface UserStore extends Pick<Storage,
'trash' | 'check' | 'migrate' | 'writeUsers' | 'findUser' | 'listUsers' | 'readUsers' | 'prune'> {
  /** How many users each tenant has that has any. */
  tenants: () => Map<string, number>
  /** Deletes users of a tenant, at most `limit`, and returns how many. */
  drop: (tenant: string, limit: number) => number
  assign: TenantStore['assign']
}

/** Users in memory. No write awaits anything, so each is atomic. */
export function memoryUsers (events: MemoryEvents): UserStore {
  const table = userTable()
  const trash = new MemoryTrash()
  const idempotencyRecords = new IdempotencyRecords()

  function find (id: string): UserRecord | null {
    const entry = table.get(id)
    return entry === undefined ? null : userOf(entry.record)
  }

  function create (user: UserRecord, keys: UserKeys, event: NewEvent | null): UserRecord {
    if (table.get(user.id) !== undefined) throw new StorageError('fault', 'another user has the id')
    table.add(user, keys)
    if (event !== null) events.add(userEvent(event, user))
    return userOf(user)
  }

  function update (
    id: string,
    changes: UserChanges,
    updatedAt: string,
    guard: VersionGuard,
    event: NewEvent | null
  ): UserUpdate | null {
    const entry = table.get(id)
    if (entry === undefined) return null
    const { record } = entry
    requireVersion(guard, record)
    const { name = { value: record.name }, email = { value: record.email } } = changes
    const keepsFields = changes.fields === undefined ||
      JSON.stringify(changes.fields) === JSON.stringify(record.fields)
    const { status = record.status, statusReason = record.statusReason } = changes
    const keepsStatus = status === record.status && statusReason === record.statusReason
    if (name.value === record.name && email.value === record.email && keepsFields && keepsStatus) {
      return { user: userOf(record), changed: false }
    }
    const fields = keepsFields ? record.fields : storedFields(changes.fields ?? {})
    const { version } = record
    const changed = {
      ...record,
      name: name.value,
      email: email.value,
      fields,
      status,
      statusReason,
      version: version + 1,
      updatedAt: later(updatedAt, record.updatedAt)
    }
    table.change(entry, changed, changedKeys(keysOf(entry), changes))
    if (event !== null) for (const each of updateEvents(event, record, changed)) events.add(each)
    const types = changed.status === record.status ? {} : { types: updateTypes(record, changed) }
    return { user: userOf(changed), changed: true, ...types }
  }

  function remove (id: string, { guard, event, erase, putAway }: Deletion): UserRecord | null {
    const entry = table.get(id)
    if (entry === undefined) return null
    requireVersion(guard, entry.record)
    table.drop(entry)
    for (const key of entry.idempotencyKeys) idempotencyRecords.deleteOf(id, key)
    if (putAway !== undefined) trash.put({ user: entry.record, keys: keysOf(entry), ...structuredClone(putAway) })
    if (event !== null) events.add(userEvent(event, entry.record))
    if (erase) events.eraseOf(id, entry.record.tenant ?? null)
    return userOf(entry.record)
  }

  function restore (id: string, updatedAt: string, guard: VersionGuard, event: NewEvent | null): UserRecord | null {
    const away = trash.get(id)
    if (away === null) return null
    requireVersion(guard, away.user)
    if (table.get(id) !== undefined) throw new StorageError('field_taken', 'a user has the id again', { field: 'id' })
    const { version, updatedAt: before } = away.user
    const user = { ...away.user, version: version + 1, updatedAt: later(updatedAt, before) }
    const made = create(user, away.keys, event)
    trash.drop(id)
    return made
  }

  function purge (
    id: string,
    guard: VersionGuard,
    event: NewEvent | null,
    { erase, onlyAway }: { erase: boolean, onlyAway: boolean }
  ): PurgedUser | null {
    const away = trash.get(id)
    const removed = onlyAway ? null : remove(id, { guard, event: event && deletionBefore(event), erase: false })
    const user = removed ?? (away === null ? null : userOf(away.user))
    if (user === null) return null
    if (removed === null) requireVersion(guard, user)
    if (away?.user.tenant === user.tenant) trash.drop(id)
    if (event !== null) events.add(purgeEvent(event, user))
    if (erase) events.eraseOf(id, user.tenant ?? null)
    return { user, ...(removed !== null && { types: [...LIVE_PURGE] }) }
  }

  /**
   * Returns a function that restores a user, or its absence, to the present state. Nobody else may hold its keys at
   * that time.
   */
  function keepingUser (id: string): () => void {
    const before = table.get(id)
    const kept = before === undefined ? null : { ...before, records: idempotencyRecords.of(before.idempotencyKeys) }
    const away = trash.get(id)
    return () => {
      if (away === null) trash.drop(id)
      else trash.put(away)
      const entry = table.get(id)
      if (entry !== undefined) table.drop(entry)
      if (kept === null) return
      const { records, ...values } = kept
      table.put(values)
      idempotencyRecords.restore(records)
    }
  }

  function matching (filter: UserFilter): Positions<UserEntry> | null {
    table.indexFields({ filterable: [filter.fields, filter.anyOf ?? {}].flatMap(Object.keys) })
    return table.matching(filter)
  }

  /** Records are replaced, never changed, so a list of them is a snapshot. */
  function recordsOf (
    found: Positions<UserEntry> | null,
    order: PageRequest['order'],
    sort: UserSort | undefined
  ): UserRecord[] {
    const all = { order, limit: (found ?? table.ordered).size, from: { offset: 0 } }
    if (sort !== undefined) return table.orders.page(found, { ...all, sort }).map(({ record }) => record)
    return found === null ? pageOf(table.ordered, all) : pageOf(found, all).map(({ record }) => record)
  }

  return {
    async check (requirements) {
      try {
        table.indexFields(requirements)
        table.indexWords(requirements)
      } catch {
        throw new StorageError('schema_behind', 'users have the same value of a field that must be unique')
      }
    },
    async migrate (requirements) {
      table.indexFields(requirements)
      table.indexWords(requirements)
    },

    writeUsers: memoryWrites({
      find,
      create,
      update,
      remove,
      findDeleted: (id) => trash.get(id),
      restore,
      purge,
      entryOf: (id) => table.get(id) ?? null,
      keepingUser
    }, { events, idempotencyRecords }),

    async prune (now) {
      idempotencyRecords.prune(now)
    },

    trash,
    tenants: () => table.tenantSizes(),
    drop (tenant, limit) {
      const gone = table.ofTenant(tenant).range(0, limit)
      const guard = { ifVersion: null, unlessVersion: [] }
      for (const { id } of gone) remove(id, { guard, event: null, erase: false })
      return gone.length + trash.dropOf(tenant, limit - gone.length)
    },

    assign: memoryAssignment(table, trash, events),

    findUser: async (id) => find(id),

    async listUsers (filter: UserFilter, page: UserPageRequest): Promise<Page<UserRecord>> {
      const found = matching(filter)
      if (page.sort !== undefined) {
        const items = table.orders.page(found, page)
        return { items: items.map(({ record }) => userOf(record)), total: (found ?? table.ordered).size }
      }
      if (found === null) return { items: pageOf(table.ordered, page).map(userOf), total: table.ordered.size }
      return { items: pageOf(found, page).map(({ record }) => userOf(record)), total: found.size }
    },

    async readUsers (filter, order, onPart, sort) {
      const records = recordsOf(matching(filter), order, sort)
      for (let start = 0; start < records.length; start += READ_PART_MAX) {
        await onPart(records.slice(start, start + READ_PART_MAX).map(userOf))
      }
    }
  }
}
