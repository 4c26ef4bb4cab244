import { StorageError } from '../../lib/errors.ts'
import type { Creation, Idempotency, Page, PageRequest, Storage, UserFilter, UserKeys, UserRecord } from '../../lib/storage.ts'
import { requireSameRequest, requireVersion } from '../../lib/storage-rules.ts'
import { pageOf, pick, type Positions, positionsOf } from './pages.ts'
import { PrefixIndex } from './prefix-index.ts'
import { SortedSet } from './sorted-set.ts'

type UserStore = Pick<Storage, 'createUser' | 'pruneIdempotency' | 'findUser' | 'listUsers' | 'updateUser' | 'deleteUser'>
interface Remembered { fingerprint: string, expiresAt: string, user: UserRecord }
interface Entry { user: UserRecord, keys: UserKeys, idempotencyKeys: string[] }

/** Users in memory. No method waits for anything, so each is atomic by itself. */
export function memoryUsers (): UserStore {
  const entries = new Map<string, Entry>()
  const idOfEmail = new Map<string, string>()
  const remembered = new Map<string, Remembered>()
  const ids = new SortedSet()
  const prefixes = new PrefixIndex()
  // When a record ends, NUL, its key.
  const ends = new SortedSet()

  function claimEmail (emailKey: string, id: string): void {
    const holder = idOfEmail.get(emailKey)
    if (holder !== undefined && holder !== id) throw new StorageError('email_taken', 'another user has the e-mail key')
    idOfEmail.set(emailKey, id)
  }

  const keysOf = ({ keys }: Entry): string[] => [keys.nameKey, keys.emailKey]

  function remember (key: string, record: Remembered): void {
    forget(key)
    remembered.set(key, record)
    ends.add(`${record.expiresAt}\0${key}`)
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

  function matching ({ emailKey, prefix }: UserFilter): Positions {
    if (emailKey === null) return prefix === null ? ids : prefixes.matching(prefix)
    const entry = entries.get(idOfEmail.get(emailKey) ?? '')
    const fits = entry !== undefined && (prefix === null || keysOf(entry).some((key) => key.startsWith(prefix)))
    return positionsOf(fits ? [entry.user.id] : [])
  }

  return {
    async createUser (user: UserRecord, keys: UserKeys, idempotency: Idempotency | null): Promise<Creation> {
      const key = idempotency === null ? null : idempotency.key
      const before = recall(key, idempotency)
      if (before !== null) return { user: { ...before }, replayed: true }
      if (entries.has(user.id)) throw new StorageError('fault', 'the id is taken')
      claimEmail(keys.emailKey, user.id)
      const entry: Entry = { user: { ...user }, keys: { ...keys }, idempotencyKeys: [] }
      entries.set(user.id, entry)
      ids.add(user.id)
      prefixes.add(user.id, keysOf(entry))
      if (key !== null && idempotency !== null) {
        remember(key, { fingerprint: idempotency.fingerprint, expiresAt: idempotency.expiresAt, user: { ...user } })
        entry.idempotencyKeys.push(key)
      }
      return { user: { ...user }, replayed: false }
    },

    async pruneIdempotency (now) {
      for (const end of ends.range(0, ends.rank(`${now}\u0001`))) forget(end.slice(end.indexOf('\0') + 1))
    },

    async findUser (id) {
      const entry = entries.get(id)
      return entry === undefined ? null : { ...entry.user }
    },

    async listUsers (filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>> {
      const matches = matching(filter)
      return { items: pick(entries, pageOf(matches, page), ({ user }) => ({ ...user })), total: matches.size }
    },

    async updateUser (id, changes, updatedAt, guard) {
      const entry = entries.get(id)
      if (entry === undefined) return null
      const { user, keys } = entry
      requireVersion(guard, user)
      const { name = { value: user.name, key: keys.nameKey }, email = { value: user.email, key: keys.emailKey } } = changes
      if (name.value === user.name && email.value === user.email) return { user: { ...user }, changed: false }
      claimEmail(email.key, id)
      if (email.key !== keys.emailKey) idOfEmail.delete(keys.emailKey)
      prefixes.delete(id, keysOf(entry))
      entry.user = { ...user, name: name.value, email: email.value, version: user.version + 1, updatedAt }
      entry.keys = { nameKey: name.key, emailKey: email.key }
      prefixes.add(id, keysOf(entry))
      return { user: { ...entry.user }, changed: true }
    },

    async deleteUser (id, guard) {
      const entry = entries.get(id)
      if (entry === undefined) return null
      requireVersion(guard, entry.user)
      prefixes.delete(id, keysOf(entry))
      entries.delete(id)
      idOfEmail.delete(entry.keys.emailKey)
      ids.delete(id)
      for (const key of entry.idempotencyKeys) {
        // A key that has expired may be another user's by now.
        if (remembered.get(key)?.user.id === id) forget(key)
      }
      return entry.user
    }
  }
}
