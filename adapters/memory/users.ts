import { READ_PART_MAX } from '../../lib/core/limits.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { updateEvent, userEvent } from '../../lib/storage/recorded-events.ts'
import type { UserUpdate } from '../../lib/storage/make-write.ts'
import { requireVersion } from '../../lib/storage/storage-rules.ts'
import type {
  NewEvent, Page, PageRequest, SchemaRequirements, Storage, UserChanges, UserFilter, UserKeys, UserRecord, VersionGuard
} from '../../lib/storage/storage.ts'
import type { MemoryEvents } from './event-log.ts'
import { FieldIndex } from './field-index.ts'
import { Groups } from './groups.ts'
import { IdempotencyRecords } from './idempotency-records.ts'
import { pageOf, type Positions, positionsOf } from './positions.ts'
import { PrefixIndex } from './prefix-index.ts'
import { SortedMap } from './sorted-map.ts'
import { searchKeysOf, storedFields, type UserEntry, userOf } from './user-entry.ts'
import { matching } from './user-filter.ts'
import { memoryWrites } from './user-writes.ts'

interface UserStore extends Pick<Storage,
'check' | 'migrate' | 'writeUsers' | 'findUser' | 'listUsers' | 'readUsers' | 'prune'> {
  /** How many users each tenant has that has any. */
  tenants: () => Map<string, number>
  /** Deletes users of a tenant, at most `limit`, and returns how many. */
  drop: (tenant: string, limit: number) => number
}

/** Users in memory. No write awaits anything, so each is atomic. */
export function memoryUsers (events: MemoryEvents): UserStore {
  const entries = new Map<string, UserEntry>()
  // By tenant and e-mail key.
  const idOfEmail = new Map<string, string>()
  // Of users with a tenant: another tenant may have the address too.
  const ofEmail = new Groups<UserEntry>()
  const ofTenant = new Groups<UserEntry>()
  const ordered = new SortedMap<UserRecord>()
  const idempotencyRecords = new IdempotencyRecords()
  const byPrefix = new PrefixIndex<UserEntry>()
  const byField = new FieldIndex<UserEntry>()
  const indexes = { byEmailKey, byTenant: (tenant: string) => ofTenant.get(tenant), byPrefix, byField }

  const placeOf = (emailKey: string, tenant = ''): string => `${tenant}/${emailKey}`

  function holderOf (emailKey: string, tenant: string | undefined): UserEntry[] {
    const holder = entries.get(idOfEmail.get(placeOf(emailKey, tenant)) ?? '')
    return holder === undefined ? [] : [holder]
  }

  function byEmailKey (emailKey: string, tenant: string | undefined): Positions<UserEntry> {
    const inTenants = ofEmail.get(emailKey)
    if (tenant !== undefined || inTenants.size === 0) return positionsOf(holderOf(emailKey, tenant))
    const all = [...holderOf(emailKey, undefined), ...inTenants.range(0, inTenants.size)]
    return positionsOf(all.sort((a, b) => a.id < b.id ? -1 : 1))
  }

  function requireEmail (emailKey: string, id: string, tenant: string | undefined): void {
    const holder = idOfEmail.get(placeOf(emailKey, tenant))
    if (holder !== undefined && holder !== id) throw new StorageError('email_taken', 'another user has the e-mail key')
  }

  function indexFields (requirements: SchemaRequirements = {}): void {
    byField.index(requirements, () => entries.values())
  }

  function enterEmail (entry: UserEntry, emailKey: string): void {
    const { id, record: { tenant } } = entry
    idOfEmail.set(placeOf(emailKey, tenant), id)
    if (tenant !== undefined) ofEmail.add(emailKey, entry)
  }

  function leaveEmail (entry: UserEntry): void {
    const { emailKey, record: { tenant } } = entry
    idOfEmail.delete(placeOf(emailKey, tenant))
    if (tenant !== undefined) ofEmail.delete(emailKey, entry)
  }

  function put (entry: UserEntry): void {
    const { id, record, emailKey } = entry
    entries.set(id, entry)
    enterEmail(entry, emailKey)
    if (record.tenant !== undefined) ofTenant.add(record.tenant, entry)
    ordered.set(id, record)
    byPrefix.move(entry, [], searchKeysOf(entry))
    byField.move(entry, {}, record.fields)
  }

  function drop (entry: UserEntry): void {
    byPrefix.move(entry, searchKeysOf(entry), [])
    byField.move(entry, entry.record.fields, {})
    entries.delete(entry.id)
    leaveEmail(entry)
    if (entry.record.tenant !== undefined) ofTenant.delete(entry.record.tenant, entry)
    ordered.delete(entry.id)
  }

  function add (user: UserRecord, { nameKey, emailKey }: UserKeys): void {
    const { id, name, email, fields, version, createdAt, updatedAt, tenant } = user
    // Copying may throw, so it comes before anything is changed.
    const values = { id, name, email, fields: storedFields(fields), version, createdAt, updatedAt }
    const record = tenant === undefined ? values : Object.assign(values, { tenant })
    requireEmail(emailKey, id, tenant)
    byField.requireFree(id, record.fields, tenant)
    put({ id, record, nameKey, emailKey, idempotencyKeys: [] })
  }

  /** Gives a user new values and keys. */
  function replace (entry: UserEntry, record: UserRecord, keys: UserKeys): void {
    const before = searchKeysOf(entry)
    byField.move(entry, entry.record.fields, record.fields)
    entry.record = record
    entry.nameKey = keys.nameKey
    entry.emailKey = keys.emailKey
    ordered.set(entry.id, record)
    byPrefix.move(entry, before, searchKeysOf(entry))
  }

  function find (id: string): UserRecord | null {
    const entry = entries.get(id)
    return entry === undefined ? null : userOf(entry.record)
  }

  function create (user: UserRecord, keys: UserKeys, event: NewEvent | null): UserRecord {
    if (entries.has(user.id)) throw new StorageError('fault', 'another user has the id')
    add(user, keys)
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
    const entry = entries.get(id)
    if (entry === undefined) return null
    const { record } = entry
    requireVersion(guard, record)
    const name = changes.name ?? { value: record.name, key: entry.nameKey }
    const email = changes.email ?? { value: record.email, key: entry.emailKey }
    const keepsFields = changes.fields === undefined ||
      JSON.stringify(changes.fields) === JSON.stringify(record.fields)
    if (name.value === record.name && email.value === record.email && keepsFields) {
      return { user: userOf(record), changed: false }
    }
    const fields = keepsFields ? record.fields : storedFields(changes.fields ?? {})
    const { version, tenant } = record
    requireEmail(email.key, id, tenant)
    byField.requireFree(id, fields, tenant)
    leaveEmail(entry)
    enterEmail(entry, email.key)
    const changed = {
      ...record,
      name: name.value,
      email: email.value,
      fields,
      version: version + 1,
      updatedAt: updatedAt < record.updatedAt ? record.updatedAt : updatedAt
    }
    replace(entry, changed, { nameKey: name.key, emailKey: email.key })
    if (event !== null) events.add(updateEvent(event, record, changed))
    return { user: userOf(changed), changed: true }
  }

  function remove (id: string, guard: VersionGuard, event: NewEvent | null, erase: boolean): UserRecord | null {
    const entry = entries.get(id)
    if (entry === undefined) return null
    requireVersion(guard, entry.record)
    drop(entry)
    for (const key of entry.idempotencyKeys) idempotencyRecords.deleteOf(id, key)
    if (event !== null) events.add(userEvent(event, entry.record))
    if (erase) events.eraseOf(id)
    return userOf(entry.record)
  }

  /**
   * Returns a function that restores a user, or its absence, to the present state. Nobody else may hold its keys at
   * that time.
   */
  function keepingUser (id: string): () => void {
    const before = entries.get(id)
    const kept = before === undefined ? null : { ...before, records: idempotencyRecords.of(before.idempotencyKeys) }
    return () => {
      const entry = entries.get(id)
      if (entry !== undefined) drop(entry)
      if (kept === null) return
      const { records, ...values } = kept
      put(values)
      idempotencyRecords.restore(records)
    }
  }

  return {
    async check (requirements) {
      try {
        indexFields(requirements)
      } catch {
        throw new StorageError('schema_behind', 'users have the same value of a field that must be unique')
      }
    },
    async migrate (requirements) { indexFields(requirements) },

    writeUsers: memoryWrites({
      find, create, update, remove, entryOf: (id) => entries.get(id) ?? null, keepingUser
    }, { events, idempotencyRecords }),

    async prune (now) {
      idempotencyRecords.prune(now)
    },

    tenants: () => ofTenant.sizes(),
    drop (tenant, limit) {
      const gone = ofTenant.get(tenant).range(0, limit)
      for (const { id } of gone) remove(id, { ifVersion: null, unlessVersion: [] }, null, false)
      return gone.length
    },

    findUser: async (id) => find(id),

    async listUsers (filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>> {
      indexFields({ filterable: Object.keys(filter.fields) })
      const found = matching(filter, indexes)
      if (found === null) return { items: pageOf(ordered, page).map(userOf), total: ordered.size }
      return { items: pageOf(found, page).map(({ record }) => userOf(record)), total: found.size }
    },

    async readUsers (filter, order, onPart) {
      indexFields({ filterable: Object.keys(filter.fields) })
      const found = matching(filter, indexes)
      // Records are replaced, never changed, so a list of them is a snapshot.
      const records = found === null
        ? ordered.range(0, ordered.size)
        : found.range(0, found.size).map(({ record }) => record)
      if (order === 'desc') records.reverse()
      for (let start = 0; start < records.length; start += READ_PART_MAX) {
        await onPart(records.slice(start, start + READ_PART_MAX).map(userOf))
      }
    }
  }
}
