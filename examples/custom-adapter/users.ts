import {
  changedKeys, type Deletion, deletionBefore, LIVE_PURGE, type NewEvent, purgeEvent, requireVersion, sortedPage,
  type Storage, StorageError, type SynchronousWrites, updateEvents, updateTypes, type UserChanges, userEvent,
  type UserFilter, type UserKeys, type UserRecord, type UserSort, type UserUpdate, type VersionGuard, wordsOfUser
} from 'fastify-users/storage'
import { type LmdbDatabase, pageOf, pageOfIds, requireKeys, type UserEntry } from './database.ts'
import type { LmdbEvents } from './events.ts'
import { forget } from './requests.ts'
import type { LmdbTrash } from './trash.ts'
import { userSearch } from './user-search.ts'
import { lmdbWrites } from './user-writes.ts'

interface UserStore extends Pick<Storage,
'check' | 'migrate' | 'writeUsers' | 'findUser' | 'listUsers' | 'readUsers' | 'prune'> {
  /** Deletes a user, in the write of the removal of its tenant. */
  drop (id: string): void
  /** Gives a user to a tenant. @throws StorageError `email_taken`, `field_taken` */
  assign (id: string, tenant: string): void
}

/** The most users that are read together. */
const READ_PART = 1000

/** Users in LMDB. Every write checks and writes in one transaction, of which there is one at a time. */
export function lmdbUsers (
  database: LmdbDatabase,
  events: Pick<LmdbEvents, 'add' | 'eraseOf'>,
  deletions: Pick<LmdbTrash, 'keep' | 'forget'>
): UserStore {
  const { users, emails, words, searched, found, fields, suspended, deleted, requests, tenantUsers, read, write } =
    database
  const { fieldKeys, isTaken, isFilter, matching } = userSearch(database)

  /** Takes the place of an entry, or the first place of a new one. */
  function put (entry: UserEntry, before?: UserEntry): void {
    const {
      user: { id, tenant = '' },
      keys: { nameKey, emailKey }
    } = entry
    requireKeys(nameKey, emailKey)
    if ((emails.get([emailKey, tenant]) ?? id) !== id) {
      throw new StorageError('email_taken', 'another user has the e-mail key')
    }
    const holder = [...found.getRange()].filter(({ value: { isUnique } }) => isUnique)
      .find(({ key: field }) => isTaken(entry, field))
    if (holder !== undefined) {
      throw new StorageError('field_taken', 'another user has the value of a unique field', { field: holder.key })
    }
    if (before !== undefined) drop(before)
    users.putSync(id, entry)
    emails.putSync([emailKey, tenant], id)
    if (tenant !== '') tenantUsers.putSync([tenant, id], null)
    if (entry.user.status === 'suspended') suspended.putSync(id, null)
    for (const word of wordsOfUser(entry.keys)) words.putSync([word, id], null)
    for (const key of fieldKeys(entry)) fields.putSync(key, null)
  }

  function drop (entry: UserEntry): void {
    const {
      user: { id, tenant = '' },
      keys: { emailKey }
    } = entry
    users.removeSync(id)
    suspended.removeSync(id)
    emails.removeSync([emailKey, tenant])
    tenantUsers.removeSync([tenant, id])
    for (const word of wordsOfUser(entry.keys)) words.removeSync([word, id])
    for (const key of fieldKeys(entry)) fields.removeSync(key)
  }

  const find = (id: string): UserRecord | null => users.get(id)?.user ?? null

  function create (user: UserRecord, keys: UserKeys, event: NewEvent | null): UserRecord {
    if (users.doesExist(user.id)) throw new StorageError('fault', 'the id is taken')
    put({ user, keys, requests: [] })
    events.add(event && userEvent(event, user))
    return user
  }

  function update (
    id: string,
    changes: UserChanges,
    updatedAt: string,
    guard: VersionGuard,
    event: NewEvent | null
  ): UserUpdate | null {
    const entry = users.get(id)
    if (entry === undefined) return null
    const { user, keys } = entry
    const { name, email, fields, fieldWords: _words, ...standing } = changes
    requireVersion(guard, user)
    if (
      (name?.value ?? user.name) === user.name &&
      (email?.value ?? user.email) === user.email &&
      JSON.stringify(fields ?? user.fields) === JSON.stringify(user.fields) &&
      (standing.status ?? user.status) === user.status &&
      (standing.statusReason === undefined || standing.statusReason === user.statusReason)
    ) { return { user, changed: false } }
    const changed = {
      ...user,
      name: name?.value ?? user.name,
      email: email?.value ?? user.email,
      fields: fields ?? user.fields,
      ...standing,
      version: user.version + 1,
      updatedAt: updatedAt < user.updatedAt ? user.updatedAt : updatedAt
    }
    put(
      {
        ...entry,
        user: changed,
        keys: changedKeys(keys, changes)
      },
      entry
    )
    for (const each of event === null ? [] : updateEvents(event, user, changed)) events.add(each)
    const types = changed.status === user.status ? {} : { types: updateTypes(user, changed) }
    return { user: changed, changed: true, ...types }
  }

  function remove (id: string, { guard, event, erase, putAway }: Deletion): UserRecord | null {
    const entry = users.get(id)
    if (entry === undefined) return null
    requireVersion(guard, entry.user)
    drop(entry)
    for (const key of entry.requests) forget(database, key, id)
    if (putAway !== undefined) deletions.keep({ user: entry.user, keys: entry.keys, ...putAway })
    events.add(event && userEvent(event, entry.user))
    if (erase) events.eraseOf(id, entry.user.tenant)
    return entry.user
  }

  function restore (id: string, updatedAt: string, guard: VersionGuard, event: NewEvent | null): UserRecord | null {
    const away = deleted.get(id)
    if (away === undefined) return null
    requireVersion(guard, away.user)
    if (users.doesExist(id)) throw new StorageError('field_taken', 'a user has the id again', { field: 'id' })
    const { version, updatedAt: before } = away.user
    const user = { ...away.user, version: version + 1, updatedAt: updatedAt < before ? before : updatedAt }
    create(user, away.keys, event)
    deletions.forget(id)
    return user
  }

  const purge: SynchronousWrites['purge'] = (id, guard, event, { erase, onlyAway }) => {
    const away = deleted.get(id)?.user
    const removed = onlyAway ? null : remove(id, { guard, event: event && deletionBefore(event), erase: false })
    const user = removed ?? away
    if (user === undefined) return null
    if (removed === null) requireVersion(guard, user)
    if (away?.tenant === user.tenant) deletions.forget(id)
    events.add(event && purgeEvent(event, user))
    if (erase) events.eraseOf(id, user.tenant)
    return { user, ...(removed !== null && { types: [...LIVE_PURGE] }) }
  }

  const idsMatching = (filter: UserFilter): string[] => isFilter(filter) ? matching(filter) : [...users.getKeys()]
  const entriesOf = (filter: UserFilter): UserEntry[] => idsMatching(filter).flatMap((id) => users.get(id) ?? [])

  /** The ids of everybody who matches, in an order. Orders other than that of ids are made of all of them. */
  function idsOf (filter: UserFilter, order: 'asc' | 'desc', sort: UserSort | undefined): string[] {
    if (sort === undefined) return order === 'asc' ? idsMatching(filter) : idsMatching(filter).reverse()
    const all = { sort, order, limit: Infinity, from: { offset: 0 } }
    return sortedPage(entriesOf(filter), all).map(({ user }) => user.id)
  }

  return {
    // The databases are made when they are opened, and this is the first version of what is in them.
    migrate: ({ filterable = [], unique = [], searchable } = {}) =>
      write(() => {
        const names = [...filterable, ...unique].filter((name) => !found.doesExist(name))
        for (const name of names) found.putSync(name, { isUnique: false })
        for (const { value } of names.length === 0 ? [] : users.getRange()) {
          for (const key of fieldKeys(value, names)) fields.putSync(key, null)
        }
        for (const name of unique) {
          for (const { value } of found.get(name)?.isUnique === true ? [] : users.getRange()) {
            if (!isTaken(value, name)) continue
            throw new StorageError('field_taken', 'users have the same value of a field', { field: name })
          }
          found.putSync(name, { isUnique: true })
        }
        if (searchable === undefined || searched.get('key') === searchable.key) return
        searched.putSync('key', searchable.key)
        for (const { value } of [...users.getRange()]) {
          put({ ...value, keys: { ...value.keys, fieldWords: searchable.wordsOf(value.user.fields) } }, value)
        }
      }),

    check: ({ filterable = [], unique = [], searchable } = {}) =>
      read(() => {
        const isReady = filterable.every((name) => found.doesExist(name)) &&
          unique.every((name) => found.get(name)?.isUnique === true) &&
          (searchable === undefined || searched.get('key') === searchable.key)
        if (!isReady) {
          throw new StorageError(
            'schema_behind',
            'these fields are not indexed yet: call storage.migrate({ filterable, unique, searchable })'
          )
        }
      }),

    writeUsers: lmdbWrites(database, {
      find, create, update, remove, findDeleted: (id) => deleted.get(id) ?? null, restore, purge
    }),
    drop: (id) => { remove(id, { guard: { ifVersion: null, unlessVersion: [] }, event: null, erase: false }) },
    assign (id, tenant) {
      const entry = users.get(id)
      if (entry !== undefined) put({ ...entry, user: { ...entry.user, tenant } }, entry)
    },

    prune: (now) =>
      write(() => {
        for (const { key, value } of [...requests.getRange()]) {
          if (value.expiresAt <= now) requests.removeSync(key)
        }
      }),

    findUser: (id) => read(() => find(id)),

    listUsers: (filter, page) =>
      read(() => {
        if (page.sort !== undefined) {
          const entries = entriesOf(filter)
          return { items: sortedPage(entries, page).map(({ user }) => user), total: entries.length }
        }
        return isFilter(filter)
          ? pageOfIds(matching(filter), page, find)
          : { items: pageOf(users, page).map(({ user }) => user), total: users.getKeysCount() }
      }),

    async readUsers (filter, order, onPart, sort) {
      // Ids of this moment, whose users are read in a transaction that stays at this moment.
      const { ids, transaction } = await read(() => ({
        ids: idsOf(filter, order, sort),
        transaction: users.useReadTransaction()
      }))
      try {
        for (let start = 0; start < ids.length; start += READ_PART) {
          const part = ids.slice(start, start + READ_PART)
          await onPart(part.flatMap((id) => users.get(id, { transaction })?.user ?? []))
        }
      } finally {
        transaction.done()
      }
    }
  }
}
