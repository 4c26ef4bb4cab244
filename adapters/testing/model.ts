import {
  requireActive, requireAnotherKey, requireSameRequest, requireVersion
} from '../../lib/storage/storage-rules.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type {
  ApiKeyRecord, Idempotency, Page, PageRequest, UserFilter, UserKeys, UserRecord
} from '../../lib/storage/storage.ts'
import type { Callable } from './calls.ts'

interface State {
  users: Array<{ user: UserRecord, keys: UserKeys }>
  apiKeys: ApiKeyRecord[]
  /** With the user as it was created. */
  creations: Array<Idempotency & { user: UserRecord }>
}

/** A store on plain lists that says what another store must answer, and that can be copied. */
export interface Model extends Callable {
  copy (): Model
}

/** True if the keys and fields of a user match. */
function matches ({ user, keys }: State['users'][number], { emailKey, prefix, fields }: UserFilter): boolean {
  const begins = (text: string) => prefix === null || text.startsWith(prefix)
  return (emailKey === null || keys.emailKey === emailKey) &&
    (begins(keys.nameKey) || begins(keys.emailKey)) &&
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

/** Makes a model. Without a state it is empty. */
export function createModel (given: State = { users: [], apiKeys: [], creations: [] }): Model {
  const state = structuredClone(given)
  const entryOf = (id: string) => state.users.find(({ user }) => user.id === id)
  const keyOf = (id: string) => state.apiKeys.find((key) => key.id === id)

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

    async createUser (user, keys, idempotency) {
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
      return pageOf(state.users.filter((entry) => matches(entry, filter)).map(({ user }) => user), page)
    },

    async updateUser (id, { name, email, fields }, updatedAt, guard) {
      const entry = entryOf(id)
      if (entry === undefined) return null
      const { user, keys } = entry
      requireVersion(guard, user)
      const changes = {
        ...name !== undefined && { name: name.value },
        ...email !== undefined && { email: email.value },
        ...fields !== undefined && { fields }
      }
      const changed = !isSame({ ...user, ...changes }, user)
      if (changed) {
        if (email !== undefined) requireFreeAddress(email.key, id)
        const time = updatedAt < user.updatedAt ? user.updatedAt : updatedAt
        entry.user = { ...user, ...structuredClone(changes), version: user.version + 1, updatedAt: time }
        entry.keys = { emailKey: email?.key ?? keys.emailKey, nameKey: name?.key ?? keys.nameKey }
      }
      return structuredClone({ user: entry.user, changed })
    },

    async deleteUser (id, guard) {
      const entry = entryOf(id)
      if (entry === undefined) return null
      requireVersion(guard, entry.user)
      state.users = state.users.filter((other) => other !== entry)
      state.creations = state.creations.filter(({ user }) => user.id !== id)
      return structuredClone(entry.user)
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
