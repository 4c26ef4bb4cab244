import { apiKeyEvent, eventOfSuccessor } from '../../lib/storage/recorded-events.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { ApiKeyRecord, NewEvent, Storage } from '../../lib/storage/storage.ts'
import { requireActive, requireAnotherKey, withSuccessors } from '../../lib/storage/storage-rules.ts'
import type { MemoryEvents } from './event-log.ts'
import { pageOf } from './positions.ts'
import { SortedMap } from './sorted-map.ts'

type ApiKeyStore = Pick<Storage,
'createApiKey' | 'findApiKey' | 'findApiKeyByStart' | 'listApiKeys' | 'rotateApiKey' | 'revokeApiKey' | 'touchApiKey'>

const copy = (key: ApiKeyRecord): ApiKeyRecord => ({ ...key, scopes: [...key.scopes] })
const copyOrNull = (key: ApiKeyRecord | undefined): ApiKeyRecord | null => key === undefined ? null : copy(key)

/** API keys in memory. No method waits for anything, so each is atomic by itself. */
export function memoryApiKeys (events: MemoryEvents): ApiKeyStore {
  const keys = new Map<string, ApiKeyRecord>()
  const idOfStart = new Map<string, string>()
  const ordered = new SortedMap<ApiKeyRecord>()

  function add (key: ApiKeyRecord): void {
    if (keys.has(key.id) || idOfStart.has(key.start)) {
      throw new StorageError('fault', 'another key has the id or the start')
    }
    const own = copy(key)
    keys.set(key.id, own)
    idOfStart.set(key.start, key.id)
    ordered.set(key.id, own)
  }

  function record (event: NewEvent | null, key: ApiKeyRecord): void {
    if (event !== null) events.add(apiKeyEvent(event, key))
  }

  return {
    async createApiKey (key, { onlyFirst }, event = null) {
      if (onlyFirst && keys.size > 0) return false
      add(key)
      record(event, key)
      return true
    },

    async findApiKey (id) {
      return copyOrNull(keys.get(id))
    },

    async findApiKeyByStart (start) {
      return copyOrNull(keys.get(idOfStart.get(start) ?? ''))
    },

    async listApiKeys (page) {
      return { items: pageOf(ordered, page).map(copy), total: ordered.size }
    },

    async rotateApiKey (id, successor, { now, expiresAt }, event = null) {
      const key = keys.get(id)
      if (key === undefined) return null
      requireActive(key, now)
      add(successor)
      if (key.expiresAt === null || key.expiresAt > expiresAt) key.expiresAt = expiresAt
      key.rotatedAt = now
      record(event, successor)
      return copy(key)
    },

    async revokeApiKey (id, revokedAt, { keepOneWith, successors = false }, event = null) {
      const key = keys.get(id)
      if (key === undefined) return null
      const going = successors ? withSuccessors(key, keys.values()) : [key]
      requireAnotherKey(going, keys.values(), keepOneWith, revokedAt)
      const revoked = going.filter((each) => each.revokedAt === null).map((each) => {
        const own = each === key ? event : eventOfSuccessor(event)
        each.revokedAt = revokedAt
        record(own, each)
        return { key: copy(each), event: own }
      })
      const others = revoked.filter((each) => each.key.id !== id)
      return { key: copy(key), changed: others.length < revoked.length, ...(successors && { successors: others }) }
    },

    async touchApiKey (id, usedAt, ifBefore) {
      const key = keys.get(id)
      if (key !== undefined && (key.lastUsedAt === null || key.lastUsedAt <= ifBefore)) key.lastUsedAt = usedAt
    }
  }
}
