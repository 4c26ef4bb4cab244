import { StorageError } from '../../lib/errors.ts'
import type { Creation, Idempotency, Page, PageRequest, Storage, UserFilter, UserKeys, UserRecord } from '../../lib/storage.ts'
import { requireSameRequest, requireVersion } from '../../lib/storage-rules.ts'
import { FieldIndex } from './field-index.ts'
import { pageOf, type Positions, positionsOf } from './pages.ts'
import { PrefixIndex } from './prefix-index.ts'
import { SortedMap } from './sorted-map.ts'
import { kept, UserRows, userOf } from './user-rows.ts'

type UserStore = Pick<Storage, 'check' | 'migrate' | 'createUser' | 'pruneIdempotency' | 'findUser' | 'listUsers' | 'updateUser' | 'deleteUser'>
interface Remembered { fingerprint: string, expiresAt: string, user: UserRecord }
interface Entry extends UserRecord, UserKeys { idempotencyKeys: string[] }

const keysOf = ({ nameKey, emailKey }: UserKeys): string[] => [nameKey, emailKey]

/** Users in memory. No method waits for anything, so each is atomic by itself. */
export function memoryUsers (): UserStore {
  const entries = new Map<string, Entry>()
  const idOfEmail = new Map<string, string>()
  const remembered = new Map<string, Remembered>()
  // Once more, in order: to look twenty up in a large map costs more than the page.
  const rows = new UserRows()
  const prefixes = new PrefixIndex<Entry>()
  const byField = new FieldIndex<Entry>()
  // Keys of idempotency, by when the record ends, NUL, the key.
  const ends = new SortedMap<string>()

  function claimEmail (emailKey: string, id: string): void {
    const holder = idOfEmail.get(emailKey)
    if (holder !== undefined && holder !== id) throw new StorageError('email_taken', 'another user has the e-mail key')
    idOfEmail.set(emailKey, id)
  }

  function remember (key: string, record: Remembered): void {
    forget(key)
    remembered.set(key, record)
    ends.set(`${record.expiresAt}\0${key}`, key)
  }

  function forget (key: string): void {
    const record = remembered.get(key)
    if (record === undefined) return
    remembered.delete(key)
    ends.delete(`${record.expiresAt}\0${key}`)
  }

  /** The user that the same creation made before, or null where this is the first. */
  function recall (key: string | null, idempotency: Idempotency | null): UserRecord | null {
    const known = key === null ? undefined : remembered.get(key)
    if (known === undefined || idempotency === null || known.expiresAt <= idempotency.now) return null
    requireSameRequest(known.fingerprint, idempotency)
    return known.user
  }

  function indexFields (names: Iterable<string> = []): void {
    byField.index(names, () => entries.values())
  }

  /** What each part of a filter leaves. */
  function partsOf ({ emailKey, prefix, fields }: UserFilter): Array<Positions<Entry>> {
    indexFields(Object.keys(fields))
    const parts = Object.entries(fields).map(([name, value]) => byField.matching(name, value))
    if (prefix !== null) parts.push(prefixes.matching(prefix))
    if (emailKey !== null) {
      const entry = entries.get(idOfEmail.get(emailKey) ?? '')
      parts.push(positionsOf(entry === undefined ? [] : [entry]))
    }
    return parts
  }

  function fits (entry: Entry, { emailKey, prefix, fields }: UserFilter): boolean {
    return (emailKey === null || entry.emailKey === emailKey) && (prefix === null || keysOf(entry).some((key) => key.startsWith(prefix))) &&
      Object.entries(fields).every(([name, value]) => Object.hasOwn(entry.fields, name) && entry.fields[name] === value)
  }

  /** What a filter leaves; null where there is nothing in it. */
  function matching (filter: UserFilter): Positions<Entry> | null {
    const [first, ...others] = partsOf(filter).sort((a, b) => a.size - b.size)
    if (first === undefined) return null
    // The part that leaves the fewest is gone through, where there are several.
    return others.length === 0 ? first : positionsOf(first.range(0, first.size).filter((entry) => fits(entry, filter)))
  }

  return {
    async check ({ filterable } = {}) { indexFields(filterable) },
    async migrate ({ filterable } = {}) { indexFields(filterable) },

    async createUser (user: UserRecord, keys: UserKeys, idempotency: Idempotency | null): Promise<Creation> {
      const key = idempotency === null ? null : idempotency.key
      const before = recall(key, idempotency)
      if (before !== null) return { user: userOf(before), replayed: true }
      if (entries.has(user.id)) throw new StorageError('fault', 'the id is taken')
      const { name, email, version, createdAt, updatedAt } = user
      const fields = kept(user.fields)
      claimEmail(keys.emailKey, user.id)
      // Member by member: what a spread with more members makes is ten times slower to read.
      const entry: Entry = { id: user.id, name, email, fields, version, createdAt, updatedAt, nameKey: keys.nameKey, emailKey: keys.emailKey, idempotencyKeys: [] }
      entries.set(user.id, entry)
      rows.set(entry)
      prefixes.move(entry, [], keysOf(entry))
      byField.move(entry, {}, fields)
      if (key !== null && idempotency !== null) {
        remember(key, { fingerprint: idempotency.fingerprint, expiresAt: idempotency.expiresAt, user: userOf(user) })
        entry.idempotencyKeys.push(key)
      }
      return { user: userOf(user), replayed: false }
    },

    async pruneIdempotency (now) {
      for (const key of ends.range(0, ends.rank(`${now}\u0001`))) forget(key)
    },

    async findUser (id) {
      const entry = entries.get(id)
      return entry === undefined ? null : userOf(entry)
    },

    async listUsers (filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>> {
      const found = matching(filter)
      return found === null ? { items: pageOf(rows, page), total: rows.size } : { items: pageOf(found, page).map(userOf), total: found.size }
    },

    async updateUser (id, changes, updatedAt, guard) {
      const entry = entries.get(id)
      if (entry === undefined) return null
      requireVersion(guard, entry)
      const { name = { value: entry.name, key: entry.nameKey }, email = { value: entry.email, key: entry.emailKey } } = changes
      const fields = changes.fields === undefined || JSON.stringify(changes.fields) === JSON.stringify(entry.fields) ? entry.fields : kept(changes.fields)
      if (name.value === entry.name && email.value === entry.email && fields === entry.fields) return { user: userOf(entry), changed: false }
      claimEmail(email.key, id)
      if (email.key !== entry.emailKey) idOfEmail.delete(entry.emailKey)
      const before = keysOf(entry)
      byField.move(entry, entry.fields, fields)
      Object.assign(entry, { name: name.value, nameKey: name.key, email: email.value, emailKey: email.key, fields, version: entry.version + 1, updatedAt })
      rows.set(entry)
      prefixes.move(entry, before, keysOf(entry))
      return { user: userOf(entry), changed: true }
    },

    async deleteUser (id, guard) {
      const entry = entries.get(id)
      if (entry === undefined) return null
      requireVersion(guard, entry)
      prefixes.move(entry, keysOf(entry), [])
      byField.move(entry, entry.fields, {})
      entries.delete(id)
      idOfEmail.delete(entry.emailKey)
      rows.delete(id)
      for (const key of entry.idempotencyKeys) {
        // A key that has expired may be another user's by now.
        if (remembered.get(key)?.user.id === id) forget(key)
      }
      return userOf(entry)
    }
  }
}
