import {
  requireActive, requireAnotherKey, requireSameRequest, requireVersion
} from '../../lib/storage/storage-rules.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type {
  ApiKeyRecord, DeletedUser, Idempotency, Page, PageRequest, UserFilter, UserKeys, UserRecord, VersionGuard
} from '../../lib/storage/storage.ts'
import type { Callable } from './calls.ts'
import { meetsAll, pageInOrder } from './model-order.ts'
import { keysOf, withWords } from './user-keys.ts'

interface State {
  users: Array<{ user: UserRecord, keys: UserKeys }>
  deleted: Array<DeletedUser & { keys: UserKeys }>
  apiKeys: ApiKeyRecord[]
  /** With the user as it was created. */
  creations: Array<Idempotency & { user: UserRecord }>
}

/** A store on plain lists that says what another store must answer, and that can be copied. */
export interface Model extends Callable {
  copy (): Model
}

/** True if the keys and fields of a user match. */
function matches (
  { user, keys }: State['users'][number],
  { emailKey, words, fields, status, ...rest }: UserFilter
): boolean {
  const { nameWords = [], emailWords = [], fieldWords = [] } = keys
  const own = [...nameWords, ...emailWords, ...fieldWords]
  return (emailKey === null || keys.emailKey === emailKey) &&
    (words === null || words.some((list) => list.every((word) => own.some((each) => each.startsWith(word))))) &&
    (status === undefined || user.status === status) && meetsAll(user, rest) &&
    Object.entries(fields).every(([name, value]) => Object.hasOwn(user.fields, name) && user.fields[name] === value)
}

/** A part of a list, in the order of ids. */
function pageOf<Item extends { id: string }> (all: Item[], { order, limit, from }: PageRequest): Page<Item> {
  const sorted = all.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (order === 'desc') sorted.reverse()
  const isBehind = (id: string, after: string) => (order === 'asc' ? id > after : id < after)
  const rest = 'offset' in from ? sorted.slice(from.offset) : sorted.filter(({ id }) => isBehind(id, from.after))
  return { items: structuredClone(rest.slice(0, limit)), total: all.length }
}

function isSame (stored: unknown, given: unknown): boolean {
  return JSON.stringify(stored) === JSON.stringify(given)
}

/** The next version of a user. */
function next (user: UserRecord, updatedAt: string): UserRecord {
  return { ...user, version: user.version + 1, updatedAt: updatedAt < user.updatedAt ? user.updatedAt : updatedAt }
}

/** Where a user is in the list of those that are put away: the greatest first. */
const placeOf = ({ deletedAt, user: { id } }: DeletedUser): string => `${deletedAt} ${id}`

const shown = ({ user, deletedAt, deletedBy }: DeletedUser): DeletedUser =>
  structuredClone({ user, deletedAt, deletedBy })

/** Makes a model. Without a state it is empty. */
export function createModel (given: State = { users: [], deleted: [], apiKeys: [], creations: [] }): Model {
  const state = structuredClone(given)
  const entryOf = (id: string) => state.users.find(({ user }) => user.id === id)
  const keyOf = (id: string) => state.apiKeys.find((key) => key.id === id)

  const deletedOf = (id: string) => state.deleted.find(({ user }) => user.id === id)

  function dropDeleted (id: string): void {
    state.deleted = state.deleted.filter(({ user }) => user.id !== id)
  }

  function remove (id: string, guard: VersionGuard): State['users'][number] | null {
    const entry = entryOf(id)
    if (entry === undefined) return null
    requireVersion(guard, entry.user)
    state.users = state.users.filter((other) => other !== entry)
    state.creations = state.creations.filter(({ user }) => user.id !== id)
    return structuredClone(entry)
  }

  function requireFreeAddress (emailKey: string, id: string): void {
    const isTaken = state.users.some(({ user, keys }) => keys.emailKey === emailKey && user.id !== id)
    if (isTaken) throw new StorageError('email_taken', 'another user has the e-mail key')
  }

  function requireFreeKey ({ id, start }: ApiKeyRecord): void {
    const isTaken = state.apiKeys.some((key) => key.id === id || key.start === start)
    if (isTaken) throw new StorageError('fault', 'another key has the id or the start')
  }

  return {
    copy: () => createModel(state),

    async createUser (user, givenKeys, idempotency) {
      const keys = { ...keysOf(user), ...givenKeys }
      const known = state.creations.find(({ key }) => key === idempotency?.key)
      if (idempotency !== null && known !== undefined && known.expiresAt > idempotency.now) {
        requireSameRequest(known.fingerprint, idempotency)
        return structuredClone({ user: known.user, replayed: true })
      }
      requireFreeAddress(keys.emailKey, user.id)
      if (entryOf(user.id) !== undefined) throw new StorageError('fault', 'another user has the id')
      state.users.push(structuredClone({ user, keys }))
      if (idempotency !== null) {
        state.creations = state.creations.filter(({ key }) => key !== idempotency.key)
        state.creations.push(structuredClone({ ...idempotency, user }))
      }
      return structuredClone({ user, replayed: false })
    },

    async prune (now) {
      state.creations = state.creations.filter(({ expiresAt }) => expiresAt > now)
    },

    async findUser (id) {
      return structuredClone(entryOf(id)?.user ?? null)
    },

    async listUsers (filter, page) {
      const found = state.users.filter((entry) => matches(entry, filter))
      return page.sort === undefined ? pageOf(found.map(({ user }) => user), page) : pageInOrder(found, page)
    },

    async updateUser (id, given, updatedAt, guard) {
      const { name, email, fields, fieldWords, ...standing } = withWords(given)
      const entry = entryOf(id)
      if (entry === undefined) return null
      const { user, keys } = entry
      requireVersion(guard, user)
      const changes = {
        ...name !== undefined && { name: name.value },
        ...email !== undefined && { email: email.value },
        ...fields !== undefined && { fields },
        ...standing
      }
      const changed = !isSame({ ...user, ...changes }, user)
      if (changed) {
        if (email !== undefined) requireFreeAddress(email.key, id)
        entry.user = { ...next(user, updatedAt), ...structuredClone(changes) }
        entry.keys = {
          ...keys,
          ...name !== undefined && { nameKey: name.key, nameWords: name.words ?? [] },
          ...email !== undefined && { emailKey: email.key, emailWords: email.words ?? [] },
          ...fields !== undefined && { fieldWords: fieldWords ?? [] }
        }
      }
      return structuredClone({ user: entry.user, changed })
    },

    deleteUser: async (id, guard) => remove(id, guard)?.user ?? null,

    async putAwayUser (id, guard, putAway) {
      const entry = remove(id, guard)
      if (entry === null) return null
      dropDeleted(id)
      state.deleted.push({ ...structuredClone(entry), ...structuredClone(putAway) })
      return entry.user
    },

    async restoreUser (id, updatedAt, guard) {
      const away = deletedOf(id)
      if (away === undefined) return null
      requireVersion(guard, away.user)
      if (entryOf(id) !== undefined) throw new StorageError('field_taken', 'there is a user with the id')
      requireFreeAddress(away.keys.emailKey, id)
      dropDeleted(id)
      const user = next(away.user, updatedAt)
      state.users.push(structuredClone({ user, keys: away.keys }))
      return structuredClone(user)
    },

    async purgeUser (id, guard, putAwayBefore) {
      const removed = putAwayBefore === null ? remove(id, guard) : null
      const away = deletedOf(id)
      const user = removed?.user ?? away?.user
      if (user === undefined || (away !== undefined && putAwayBefore !== null && away.deletedAt > putAwayBefore)) {
        return null
      }
      if (removed === null) requireVersion(guard, user)
      dropDeleted(id)
      return structuredClone(user)
    },

    async findDeletedUser (id) {
      const away = deletedOf(id)
      return away === undefined ? null : shown(away)
    },

    async listDeletedUsers ({ offset, limit }) {
      const all = state.deleted.toSorted((a, b) => placeOf(a) < placeOf(b) ? 1 : -1)
      return { items: all.slice(offset, offset + limit).map(shown), total: all.length }
    },

    async createApiKey (key, { onlyFirst }) {
      if (onlyFirst && state.apiKeys.length > 0) return false
      requireFreeKey(key)
      state.apiKeys.push(structuredClone(key))
      return true
    },

    async findApiKey (by) {
      const key = 'id' in by ? keyOf(by.id) : state.apiKeys.find(({ start }) => start === by.start)
      return structuredClone(key ?? null)
    },

    async listApiKeys (page) {
      return pageOf(state.apiKeys, page)
    },

    async rotateApiKey (id, successor, { now, expiresAt }) {
      const key = keyOf(id)
      if (key === undefined) return null
      requireActive(key, now)
      requireFreeKey(successor)
      if (key.expiresAt === null || key.expiresAt > expiresAt) key.expiresAt = expiresAt
      key.rotatedAt = now
      state.apiKeys.push(structuredClone(successor))
      return structuredClone(key)
    },

    async revokeApiKey (id, revokedAt, { keepOneWith }) {
      const key = keyOf(id)
      if (key === undefined) return null
      requireAnotherKey([key], state.apiKeys, keepOneWith, revokedAt)
      const changed = key.revokedAt === null
      if (changed) key.revokedAt = revokedAt
      return structuredClone({ key, changed })
    },

    async touchApiKey (id, usedAt, ifBefore) {
      const key = keyOf(id)
      if (key !== undefined && (key.lastUsedAt === null || key.lastUsedAt <= ifBefore)) key.lastUsedAt = usedAt
    }
  }
}
