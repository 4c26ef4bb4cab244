import { apiKeyEvent, eventOfSuccessor } from '../../lib/storage/recorded-events.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { ApiKeyOutcome, ApiKeyRecord, ApiKeyWrite, NewEvent, Storage } from '../../lib/storage/storage.ts'
import { apiKeyRefusalOf, requireActive, requireAnotherKey, withSuccessors } from '../../lib/storage/storage-rules.ts'
import type { MemoryEvents } from './event-log.ts'
import { Groups } from './groups.ts'
import { memoryKeyUses } from './key-uses.ts'
import { pageOf } from './positions.ts'
import { SortedMap } from './sorted-map.ts'

interface ApiKeyStore extends Pick<Storage, 'writeApiKey' | 'findApiKey' | 'listApiKeys' | 'keyUses'> {
  drop: (tenant: string) => number
  /** The names of those that have keys. */
  tenants: () => Iterable<string>
}

const notFound = (): ApiKeyOutcome => ({ code: 'not_found' })

const copy = (key: ApiKeyRecord): ApiKeyRecord => structuredClone(key)

/** API keys in memory. No method waits for anything, so each is atomic by itself. */
export function memoryApiKeys (events: MemoryEvents): ApiKeyStore {
  const keys = new Map<string, ApiKeyRecord>()
  const idOfStart = new Map<string, string>()
  const ordered = new SortedMap<ApiKeyRecord>()
  const ofTenant = new Groups<ApiKeyRecord>()
  const { forget, ...keyUses } = memoryKeyUses((id) => keys.has(id))

  function add (key: ApiKeyRecord): void {
    if (keys.has(key.id) || idOfStart.has(key.start)) {
      throw new StorageError('fault', 'another key has the id or the start')
    }
    const own = copy(key)
    keys.set(key.id, own)
    idOfStart.set(key.start, key.id)
    ordered.set(key.id, own)
    if (own.tenant !== undefined) ofTenant.add(own.tenant, own)
  }

  /** Deletes the keys of a tenant, and returns how many. */
  function drop (tenant: string): number {
    const group = ofTenant.get(tenant)
    const gone = group.range(0, group.size)
    for (const key of gone) {
      keys.delete(key.id)
      idOfStart.delete(key.start)
      ordered.delete(key.id)
      ofTenant.delete(tenant, key)
      forget(key.id)
    }
    return gone.length
  }

  function record (event: NewEvent | null, key: ApiKeyRecord): void {
    if (event !== null) events.add(apiKeyEvent(event, key))
  }

  function write (asked: ApiKeyWrite): ApiKeyOutcome {
    if (asked.type === 'create') {
      const { tenant } = asked.key
      const others = tenant === undefined ? keys.size : ofTenant.get(tenant).size
      if (asked.onlyFirst && others > 0) return { code: 'done', changed: false, key: null }
      add(asked.key)
      record(asked.event, asked.key)
      return { code: 'done', changed: true, key: copy(asked.key) }
    }
    const key = keys.get(asked.id)
    if (key === undefined) return notFound()
    if (asked.type === 'touch') {
      const changed = key.lastUsedAt === null || key.lastUsedAt <= asked.ifBefore
      if (changed) key.lastUsedAt = asked.usedAt
      return { code: 'done', changed, key: null }
    }
    if (asked.type === 'rotate') {
      const { successor, now, expiresAt, event } = asked
      requireActive(key, now)
      add(successor)
      if (key.expiresAt === null || key.expiresAt > expiresAt) key.expiresAt = expiresAt
      key.rotatedAt = now
      record(event, successor)
      return { code: 'done', changed: true, key: copy(key) }
    }
    return revoke(key, asked)
  }

  function revoke (key: ApiKeyRecord, asked: ApiKeyWrite & { type: 'revoke' }): ApiKeyOutcome {
    const { revokedAt, keepOneWith, successors, event } = asked
    const going = successors ? withSuccessors(key, keys.values()) : [key]
    requireAnotherKey(going, keys.values(), keepOneWith, revokedAt)
    const revoked = going.filter((each) => each.revokedAt === null).map((each) => {
      const own = each === key ? event : eventOfSuccessor(event)
      each.revokedAt = revokedAt
      record(own, each)
      return { key: copy(each), event: own }
    })
    const others = revoked.filter((each) => each.key.id !== key.id)
    const changed = others.length < revoked.length
    return { code: 'done', changed, key: copy(key), ...(successors && { successors: others }) }
  }

  return {
    async writeApiKey (asked) {
      try {
        return write(asked)
      } catch (error) {
        return apiKeyRefusalOf(error)
      }
    },

    async findApiKey (by) {
      const key = keys.get('id' in by ? by.id : idOfStart.get(by.start) ?? '')
      return key === undefined ? null : copy(key)
    },

    async listApiKeys (page) {
      const found = page.tenant === undefined ? ordered : ofTenant.get(page.tenant)
      return { items: pageOf(found, page).map(copy), total: found.size }
    },

    keyUses,
    drop,
    tenants: () => ofTenant.sizes().keys()
  }
}
