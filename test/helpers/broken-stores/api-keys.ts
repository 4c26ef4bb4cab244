import { StorageError } from '../../../lib/core/storage-error.ts'
import type { ApiKeyRecord, Storage } from '../../../lib/core/storage.ts'
import type { Is } from './mistakes.ts'
import { otherCalls, type State } from './state.ts'

type ApiKeyStore = Pick<Storage,
'createApiKey' | 'findApiKey' | 'findApiKeyByStart' | 'listApiKeys' | 'rotateApiKey' | 'revokeApiKey' | 'touchApiKey'>

const copyOf = (key: ApiKeyRecord): ApiKeyRecord => ({ ...key, scopes: [...key.scopes] })

/** A key as a broken store keeps it. */
function stored (is: Is, key: ApiKeyRecord): ApiKeyRecord {
  return {
    ...key,
    scopes: is('scopes are shared') ? key.scopes : is('scopes are sorted') ? key.scopes.toSorted() : [...key.scopes],
    ...(is('names of keys are trimmed') && { name: key.name.trim() }),
    ...(is('the expiry of keys is dropped') && { expiresAt: null })
  }
}

/** True if another active key has the scope. */
function hasAnother (is: Is, keys: ApiKeyRecord[], key: ApiKeyRecord, scope: string, now: string): boolean {
  return keys.some((other) => {
    const isRevoked = other.revokedAt !== null && !is('a revoked key counts as another')
    const isExpired = other.expiresAt !== null && other.expiresAt <= now && !is('an expired key counts as another')
    return other !== key && !isRevoked && !isExpired && hasScope(is, other, scope)
  })
}

function hasScope (is: Is, { scopes }: ApiKeyRecord, scope: string): boolean {
  return is('a part of a scope counts as the scope') ? scopes.join(' ').includes(scope) : scopes.includes(scope)
}

function isActive ({ revokedAt, expiresAt }: ApiKeyRecord, now: string): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now)
}

/** API keys of a broken store. */
export function brokenApiKeys (state: State): ApiKeyStore {
  const { is } = state
  const keyWithId = (id: string) => state.apiKeys.find((key) => key.id === id)

  return {
    async createApiKey (key, { onlyFirst }) {
      const counts = ({ revokedAt, expiresAt }: ApiKeyRecord) =>
        (revokedAt === null || !is('a revoked key is no key')) &&
        (expiresAt === null || !is('an expired key is no key'))
      const hasKey = state.apiKeys.some(counts)
      if (is('the first key is counted before an await')) await otherCalls()
      if (onlyFirst && hasKey) return false
      const hasStart = (start: string) => start === key.start && !is('a taken start is accepted')
      if (state.apiKeys.some(({ id, start }) => id === key.id || hasStart(start))) {
        throw new StorageError('fault', 'another key has the id or the start')
      }
      state.apiKeys.push(stored(is, key))
      return true
    },

    async findApiKey (id) {
      const key = keyWithId(id)
      if (key === undefined) return null
      return is('scopes are shared') ? { ...key } : copyOf(key)
    },

    async findApiKeyByStart (start) {
      const key = state.apiKeys.find((each) => each.start === start)
      if (key === undefined) return null
      return { ...copyOf(key), ...(is('rotation leaves the copy that is found by start') && { expiresAt: null }) }
    },

    async listApiKeys ({ order, limit, from }) {
      const byId = (a: ApiKeyRecord, b: ApiKeyRecord) => (a.id < b.id ? -1 : 1)
      const isUnordered = is('keys are listed in the order of creation')
      const ascending = isUnordered ? [...state.apiKeys] : state.apiKeys.toSorted(byId)
      const all = order === 'asc' ? ascending : ascending.reverse()
      const isBehind = (id: string, after: string) => (order === 'asc' ? id > after : id < after)
      const items = 'offset' in from ? all.slice(from.offset) : all.filter(({ id }) => isBehind(id, from.after))
      return { items: items.slice(0, limit).map(copyOf), total: all.length }
    },

    async rotateApiKey (id, successor, { now, expiresAt }) {
      const key = keyWithId(id)
      if (key === undefined) return null
      const wasActive = isActive(key, now)
      if (is('rotation is checked before an await')) await otherCalls()
      if (!wasActive && !is('rotation accepts an inactive key')) {
        throw new StorageError('api_key_inactive', 'the key is not active')
      }
      if (is('the old key expires before the successor is added')) key.expiresAt = expiresAt
      if (state.apiKeys.some(({ start }) => start === successor.start)) {
        throw new StorageError('fault', 'another key has the start')
      }
      state.apiKeys.push(copyOf(successor))
      if (key.expiresAt === null || key.expiresAt > expiresAt || is('rotation extends an expiry')) {
        key.expiresAt = expiresAt
      }
      return copyOf(key)
    },

    async revokeApiKey (id, revokedAt, { keepOneWith }) {
      const key = keyWithId(id)
      if (key === undefined) return null
      const mustKeep = keepOneWith !== null && isActive(key, revokedAt) && hasScope(is, key, keepOneWith)
      if (mustKeep && !is('the last key is revoked')) {
        if (!hasAnother(is, state.apiKeys, key, keepOneWith, revokedAt)) {
          throw new StorageError('last_admin_key', 'no other active key has the scope')
        }
        if (is('the last key is checked before an await')) await otherCalls()
      }
      const changed = key.revokedAt === null
      if (is('a revocation is checked before an await')) await otherCalls()
      if (changed || is('a repeated revocation sets a new time')) key.revokedAt = revokedAt
      return { key: copyOf(key), changed }
    },

    async touchApiKey (id, usedAt, ifBefore) {
      const overwrites = is('an older time of use overwrites a later one')
      const isEarlier = ({ lastUsedAt }: ApiKeyRecord) => lastUsedAt === null || lastUsedAt <= ifBefore || overwrites
      state.apiKeys = state.apiKeys.map((key) =>
        key.id === id && isEarlier(key) ? { ...key, lastUsedAt: usedAt } : key
      )
    }
  }
}
