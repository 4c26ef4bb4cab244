import type { Row, RowKey } from '../../lib/storage/storage.ts'
import { wordsOfUser } from '../../lib/storage/storage-rules.ts'
import type { SchemaRequirements, UserFilter, UserKeys, UserRecord, UserStatus } from '../../lib/storage/storage.ts'
import { FieldIndex } from './field-index.ts'
import { Groups } from './groups.ts'
import { type Positions, positionsOf } from './positions.ts'
import { PrefixIndex } from './prefix-index.ts'
import { SortedMap } from './sorted-map.ts'
import type { Refusal } from './table.ts'
import { keysOf, rowOf, storedUser, type UserEntry } from './user-entry.ts'
import { matching, type Memberships } from './user-filter.ts'
import { UserOrders } from './user-orders.ts'

export type UserTable = ReturnType<typeof userTable>

/** The users that are there, with the indexes that find them. */
export function userTable () {
  const entries = new Map<string, UserEntry>()
  // By tenant and e-mail key.
  const idOfEmail = new Map<string, string>()
  // Of users with a tenant: another tenant may have the address too.
  const ofEmail = new Groups<UserEntry>()
  const ofTenant = new Groups<UserEntry>()
  const ofStatus = new Groups<UserEntry>()
  const ordered = new SortedMap<UserRecord>()
  const byWord = new PrefixIndex<UserEntry>()
  const byField = new FieldIndex<UserEntry>()
  const orders = new UserOrders(() => entries.values())
  const byTenant = (tenant: string) => ofTenant.get(tenant)
  const indexes = { byEmailKey, byTenant, byStatus, byIds, all, byWord, byField }

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

  function byIds (ids: readonly string[]): Positions<UserEntry> {
    return positionsOf([...new Set(ids)].sort().flatMap((id) => entries.get(id) ?? []))
  }

  /** Every user, in the order of ids. */
  function all (): UserEntry[] {
    return ordered.range(0, ordered.size).flatMap(({ id }) => entries.get(id) ?? [])
  }

  function byStatus (status: UserStatus): Positions<UserEntry> {
    // Most users are active, and the list of them is long: it is made of all when it is asked for.
    if (status !== 'active') return ofStatus.get(status)
    return positionsOf(all().filter(({ record }) => record.status === status))
  }

  function enterStatus (entry: UserEntry): void {
    if (entry.record.status !== 'active') ofStatus.add(entry.record.status, entry)
  }

  function leaveStatus (entry: UserEntry): void {
    if (entry.record.status !== 'active') ofStatus.delete(entry.record.status, entry)
  }

  /** What refuses a user with these values; null: nothing. */
  function refusalOf ({ record: { id, fields, tenant }, keys }: Row<'users'>): Refusal | null {
    const entry = entries.get(id)
    const { emailKey = entry?.emailKey ?? '' } = keys
    if (entry?.emailKey !== emailKey || entry.record.tenant !== tenant) {
      const holder = idOfEmail.get(placeOf(emailKey, tenant))
      if (holder !== undefined && holder !== id) return { code: 'taken', member: 'emailKey' }
    }
    const field = byField.takenIn(id, fields, tenant)
    return field === null ? null : { code: 'taken', member: { field } }
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

  function enter (entry: UserEntry): void {
    const { id, record, emailKey } = entry
    entries.set(id, entry)
    enterEmail(entry, emailKey)
    if (record.tenant !== undefined) ofTenant.add(record.tenant, entry)
    enterStatus(entry)
    ordered.set(id, record)
    byWord.move(entry, [], wordsOfUser(entry))
    byField.move(entry, {}, record.fields)
    orders.enter(entry)
  }

  function drop (id: string): void {
    const entry = entries.get(id)
    if (entry === undefined) return
    orders.leave(entry)
    byWord.move(entry, wordsOfUser(entry), [])
    byField.move(entry, entry.record.fields, {})
    entries.delete(id)
    leaveEmail(entry)
    leaveStatus(entry)
    if (entry.record.tenant !== undefined) ofTenant.delete(entry.record.tenant, entry)
    ordered.delete(id)
  }

  /** Gives a user new values, and the keys of them. Takes both over. */
  function change (entry: UserEntry, record: UserRecord, keys: Required<UserKeys>): void {
    const before = wordsOfUser(entry)
    if (keys.emailKey !== entry.emailKey) {
      leaveEmail(entry)
      enterEmail(entry, keys.emailKey)
    }
    orders.leave(entry)
    byField.move(entry, entry.record.fields, record.fields)
    leaveStatus(entry)
    entry.record = record
    enterStatus(entry)
    Object.assign(entry, keys)
    ordered.set(entry.id, record)
    byWord.move(entry, before, wordsOfUser(entry))
    orders.enter(entry)
  }

  /** Writes a row that nothing refuses. */
  function put (row: Row<'users'>): void {
    // Copying may throw, so it comes before anything is changed.
    const record = storedUser(row.record)
    const entry = entries.get(record.id)
    const keys = keysOf(row.keys, entry)
    if (entry !== undefined && entry.record.tenant === record.tenant) return change(entry, record, keys)
    drop(record.id)
    enter({ id: record.id, record, ...keys })
  }

  let searchedBy = ''

  /** Makes the words of the fields of every user anew, if those of other fields are asked for. */
  function indexWords ({ searchable }: SchemaRequirements = {}): void {
    if (searchable === undefined || searchable.key === searchedBy) return
    searchedBy = searchable.key
    for (const entry of entries.values()) {
      const before = wordsOfUser(entry)
      entry.fieldWords = searchable.wordsOf(entry.record.fields)
      byWord.move(entry, before, wordsOfUser(entry))
    }
  }

  return {
    present: (id: string) => entries.get(id)?.record ?? null,
    find (key: RowKey): Row<'users'> | null {
      const entry = 'id' in key ? entries.get(key.id) : undefined
      return entry === undefined ? null : rowOf(entry)
    },
    refusalOf,
    put,
    drop,
    ordered,
    orders,
    indexFields,
    indexWords,
    ofTenant: (tenant: string) => ofTenant.get(tenant),
    tenantSizes: () => ofTenant.sizes(),
    /** Those that a filter matches; null: it has no condition. */
    matching: (filter: UserFilter, memberships: Memberships) => matching(filter, { ...indexes, memberships })
  }
}
