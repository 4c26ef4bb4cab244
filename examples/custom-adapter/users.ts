import { type Idempotency, type Page, type PageRequest, requireSameRequest, requireVersion, type Storage, StorageError, type UserFilter, type UserKeys, type UserRecord } from 'fastify-users'
import { isKey, type LmdbDatabase, pageOf, requireKeys, type UserEntry } from './database.ts'

type UserStore = Pick<Storage, 'createUser' | 'pruneIdempotency' | 'findUser' | 'listUsers' | 'updateUser' | 'deleteUser'>

/** Users in LMDB. Every write checks and writes in one transaction, of which there is one at a time. */
export function lmdbUsers ({ users, emails, prefixes, creations, read, write }: LmdbDatabase): UserStore {
  /** Takes the place of an entry, or the first place of a new one. */
  function put (entry: UserEntry, before?: UserEntry): void {
    const { user: { id }, keys: { nameKey, emailKey } } = entry
    requireKeys(nameKey, emailKey)
    if ((emails.get(emailKey) ?? id) !== id) throw new StorageError('email_taken', 'another user has the e-mail key')
    if (before !== undefined) remove(before)
    users.putSync(id, entry)
    emails.putSync(emailKey, id)
    for (const key of [nameKey, emailKey]) prefixes.putSync([key, id], null)
  }

  function remove ({ user: { id }, keys: { nameKey, emailKey } }: UserEntry): void {
    users.removeSync(id)
    emails.removeSync(emailKey)
    for (const key of [nameKey, emailKey]) prefixes.removeSync([key, id])
  }

  /** The ids that a filter matches, in order. */
  function matching ({ emailKey, prefix }: UserFilter): string[] {
    const found = new Set<string>()
    if (emailKey !== null) {
      const id = emails.get(emailKey)
      const keys = id === undefined ? undefined : users.get(id)?.keys
      if (id !== undefined && keys !== undefined && [keys.nameKey, keys.emailKey].some((key) => key.startsWith(prefix ?? ''))) found.add(id)
    } else if (prefix !== null && isKey(prefix)) {
      for (const [key, id] of prefixes.getKeys({ start: [prefix] })) {
        if (!key.startsWith(prefix)) break
        found.add(id)
      }
    }
    return [...found].sort()
  }

  function pageOfMatches (filter: UserFilter, { order, limit, from }: PageRequest): Page<UserRecord> {
    const ids = matching(filter)
    const total = ids.length
    if (order === 'desc') ids.reverse()
    const rest = 'offset' in from ? ids.slice(from.offset) : ids.filter((id) => order === 'asc' ? id > from.after : id < from.after)
    return { items: rest.slice(0, limit).flatMap((id) => users.get(id)?.user ?? []), total }
  }

  return {
    createUser: (user: UserRecord, keys: UserKeys, idempotency: Idempotency | null) => write(() => {
      const creation = idempotency === null ? null : idempotency.key
      const known = creation === null ? undefined : creations.get(creation)
      if (known !== undefined && idempotency !== null && known.expiresAt > idempotency.now) {
        requireSameRequest(known.fingerprint, idempotency)
        return { user: known.user, replayed: true }
      }
      if (users.doesExist(user.id)) throw new StorageError('fault', 'the id is taken')
      put({ user, keys, creations: creation === null ? [] : [creation] })
      if (creation !== null && idempotency !== null) creations.putSync(creation, { fingerprint: idempotency.fingerprint, expiresAt: idempotency.expiresAt, user })
      return { user, replayed: false }
    }),

    pruneIdempotency: (now) => write(() => {
      for (const { key, value } of [...creations.getRange()]) {
        if (value.expiresAt <= now) creations.removeSync(key)
      }
    }),

    findUser: (id) => read(() => users.get(id)?.user ?? null),

    listUsers: (filter, page) => read(() => filter.emailKey !== null || filter.prefix !== null
      ? pageOfMatches(filter, page)
      : { items: pageOf(users, page).map(({ user }) => user), total: users.getKeysCount() }),

    updateUser: (id, { name, email }, updatedAt, guard) => write(() => {
      const entry = users.get(id)
      if (entry === undefined) return null
      const { user, keys } = entry
      requireVersion(guard, user)
      if ((name?.value ?? user.name) === user.name && (email?.value ?? user.email) === user.email) return { user, changed: false }
      const changed = { ...user, name: name?.value ?? user.name, email: email?.value ?? user.email, version: user.version + 1, updatedAt }
      put({ ...entry, user: changed, keys: { nameKey: name?.key ?? keys.nameKey, emailKey: email?.key ?? keys.emailKey } }, entry)
      return { user: changed, changed: true }
    }),

    deleteUser: (id, guard) => write(() => {
      const entry = users.get(id)
      if (entry === undefined) return null
      requireVersion(guard, entry.user)
      remove(entry)
      for (const creation of entry.creations) {
        // One that has expired may be another user's by now.
        if (creations.get(creation)?.user.id === id) creations.removeSync(creation)
      }
      return entry.user
    })
  }
}
