import {
  type Idempotency,
  type NewEvent,
  type Page,
  type PageRequest,
  requireSameRequest,
  requireVersion,
  type Storage,
  StorageError,
  updateEvent,
  userEvent,
  type UserFilter,
  type UserKeys,
  type UserRecord
} from 'fastify-users'
import { isKey, type LmdbDatabase, pageOf, requireKeys, type UserEntry, valueKey } from './database.ts'
import type { LmdbEvents } from './events.ts'

type UserStore = Pick<
  Storage,
  'check' | 'migrate' | 'createUser' | 'pruneIdempotency' | 'findUser' | 'listUsers' | 'updateUser' | 'deleteUser'
>

/** Users in LMDB. Every write checks and writes in one transaction, of which there is one at a time. */
export function lmdbUsers ({
  users,
  emails,
  prefixes,
  filterable,
  fields,
  creations,
  read,
  write
}: LmdbDatabase, events: Pick<LmdbEvents, 'add' | 'eraseOf'>): UserStore {
  /** What a user is found by of its fields. */
  function fieldKeys (
    { user }: UserEntry,
    names: Iterable<string> = filterable.getKeys()
  ): Array<[string, string, string]> {
    return [...names].flatMap((name) => {
      const value = Object.hasOwn(user.fields, name) ? user.fields[name] : null
      return typeof value === 'object' || value === undefined ? [] : [[name, valueKey(value), user.id]]
    })
  }

  /** Takes the place of an entry, or the first place of a new one. */
  function put (entry: UserEntry, before?: UserEntry): void {
    const {
      user: { id },
      keys: { nameKey, emailKey }
    } = entry
    requireKeys(nameKey, emailKey)
    if ((emails.get(emailKey) ?? id) !== id) {
      throw new StorageError('email_taken', 'another user has the e-mail key')
    }
    if (before !== undefined) remove(before)
    users.putSync(id, entry)
    emails.putSync(emailKey, id)
    for (const key of [nameKey, emailKey]) prefixes.putSync([key, id], null)
    for (const key of fieldKeys(entry)) fields.putSync(key, null)
  }

  function remove (entry: UserEntry): void {
    const {
      user: { id },
      keys: { nameKey, emailKey }
    } = entry
    users.removeSync(id)
    emails.removeSync(emailKey)
    for (const key of [nameKey, emailKey]) prefixes.removeSync([key, id])
    for (const key of fieldKeys(entry)) fields.removeSync(key)
  }

  /** The ids whose keys begin with this text, in the order of keys. */
  function * beginningWith (prefix: string): Generator<string> {
    if (!isKey(prefix)) return
    for (const [key, id] of prefixes.getKeys({ start: [prefix] })) {
      if (!key.startsWith(prefix)) return
      yield id
    }
  }

  function * withValue (name: string, value: string | number | boolean): Generator<string> {
    const wanted = valueKey(value)
    for (const [field, key, id] of fields.getKeys({ start: [name, wanted] })) {
      if (field !== name || key !== wanted) return
      yield id
    }
  }

  /** The ids that a filter matches, in order: those of one part that all other parts match too. */
  function matching (filter: UserFilter): string[] {
    const { emailKey, prefix } = filter
    const parts = Object.entries(filter.fields).map(([name, value]) => new Set(withValue(name, value)))
    if (emailKey !== null) parts.push(new Set([emails.get(emailKey) ?? []].flat()))
    if (prefix !== null) parts.push(new Set(beginningWith(prefix)))
    const [first = new Set<string>(), ...others] = parts.sort((a, b) => a.size - b.size)
    return [...first].filter((id) => others.every((part) => part.has(id))).sort()
  }

  function pageOfMatches (filter: UserFilter, { order, limit, from }: PageRequest): Page<UserRecord> {
    const ids = matching(filter)
    const total = ids.length
    if (order === 'desc') ids.reverse()
    const rest =
      'offset' in from
        ? ids.slice(from.offset)
        : ids.filter((id) => (order === 'asc' ? id > from.after : id < from.after))
    return { items: rest.slice(0, limit).flatMap((id) => users.get(id)?.user ?? []), total }
  }

  return {
    // The databases are made when they are opened, and this is the first version of what is in them.
    migrate: ({ filterable: wanted = [] } = {}) =>
      write(() => {
        const names = wanted.filter((name) => !filterable.doesExist(name))
        for (const name of names) filterable.putSync(name, null)
        for (const { value } of names.length === 0 ? [] : users.getRange()) {
          for (const key of fieldKeys(value, names)) fields.putSync(key, null)
        }
      }),

    check: ({ filterable: wanted = [] } = {}) =>
      read(() => {
        if (!wanted.every((name) => filterable.doesExist(name))) {
          throw new StorageError(
            'schema_behind',
            'lists can not be filtered by these fields yet: call storage.migrate({ filterable })'
          )
        }
      }),

    createUser: (user: UserRecord, keys: UserKeys, idempotency: Idempotency | null, event: NewEvent | null = null) =>
      write(() => {
        const creation = idempotency === null ? null : idempotency.key
        const known = creation === null ? undefined : creations.get(creation)
        if (known !== undefined && idempotency !== null && known.expiresAt > idempotency.now) {
          requireSameRequest(known.fingerprint, idempotency)
          return { user: known.user, replayed: true }
        }
        if (users.doesExist(user.id)) throw new StorageError('fault', 'the id is taken')
        put({ user, keys, creations: creation === null ? [] : [creation] })
        if (creation !== null && idempotency !== null) {
          creations.putSync(creation, {
            fingerprint: idempotency.fingerprint,
            expiresAt: idempotency.expiresAt,
            user
          })
        }
        events.add(event && userEvent(event, user))
        return { user, replayed: false }
      }),

    pruneIdempotency: (now) =>
      write(() => {
        for (const { key, value } of [...creations.getRange()]) {
          if (value.expiresAt <= now) creations.removeSync(key)
        }
      }),

    findUser: (id) => read(() => users.get(id)?.user ?? null),

    listUsers: (filter, page) =>
      read(() =>
        filter.emailKey !== null || filter.prefix !== null || Object.keys(filter.fields).length > 0
          ? pageOfMatches(filter, page)
          : { items: pageOf(users, page).map(({ user }) => user), total: users.getKeysCount() }
      ),

    updateUser: (id, { name, email, fields = null }, updatedAt, guard, event = null) =>
      write(() => {
        const entry = users.get(id)
        if (entry === undefined) return null
        const { user, keys } = entry
        requireVersion(guard, user)
        if (
          (name?.value ?? user.name) === user.name &&
          (email?.value ?? user.email) === user.email &&
          JSON.stringify(fields ?? user.fields) === JSON.stringify(user.fields)
        ) { return { user, changed: false } }
        const changed = {
          ...user,
          name: name?.value ?? user.name,
          email: email?.value ?? user.email,
          fields: fields ?? user.fields,
          version: user.version + 1,
          updatedAt
        }
        put(
          {
            ...entry,
            user: changed,
            keys: { nameKey: name?.key ?? keys.nameKey, emailKey: email?.key ?? keys.emailKey }
          },
          entry
        )
        events.add(event && updateEvent(event, user, changed))
        return { user: changed, changed: true }
      }),

    deleteUser: (id, guard, event = null) =>
      write(() => {
        const entry = users.get(id)
        if (entry === undefined) return null
        requireVersion(guard, entry.user)
        remove(entry)
        for (const creation of entry.creations) {
          // One that has expired may be another user's by now.
          if (creations.get(creation)?.user.id === id) creations.removeSync(creation)
        }
        events.add(event && userEvent(event, entry.user))
        if (event?.erase === true) events.eraseOf(id)
        return entry.user
      })
  }
}
