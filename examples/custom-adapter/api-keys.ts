import {
  apiKeyEvent, type ApiKeyRecord, eventOfSuccessor, type NewEvent, requireActive, requireAnotherKey, type Storage,
  StorageError, withSuccessors
} from 'fastify-users'
import { type LmdbDatabase, pageOf } from './database.ts'
import type { LmdbEvents } from './events.ts'

type ApiKeyStore = Pick<
  Storage,
  | 'createApiKey'
  | 'findApiKey'
  | 'findApiKeyByStart'
  | 'listApiKeys'
  | 'rotateApiKey'
  | 'revokeApiKey'
  | 'touchApiKey'
>

/** API keys in LMDB. */
export function lmdbApiKeys (
  { apiKeys, starts, read, write }: LmdbDatabase,
  events: Pick<LmdbEvents, 'add'>
): ApiKeyStore {
  const record = (event: NewEvent | null, key: ApiKeyRecord) => events.add(event && apiKeyEvent(event, key))
  const find = (id: string): ApiKeyRecord | null => apiKeys.get(id) ?? null

  function add (key: ApiKeyRecord): void {
    if (apiKeys.doesExist(key.id) || starts.doesExist(key.start)) {
      throw new StorageError('fault', 'the id or the start of the key is taken')
    }
    apiKeys.putSync(key.id, key)
    starts.putSync(key.start, key.id)
  }

  return {
    createApiKey: (key, { onlyFirst }, event = null) =>
      write(() => {
        if (onlyFirst && apiKeys.getKeysCount({ limit: 1 }) > 0) return false
        add(key)
        record(event, key)
        return true
      }),

    findApiKey: (id) => read(() => find(id)),

    findApiKeyByStart: (start) =>
      read(() => {
        const id = starts.get(start)
        return id === undefined ? null : find(id)
      }),

    listApiKeys: (page) => read(() => ({ items: pageOf(apiKeys, page), total: apiKeys.getKeysCount() })),

    rotateApiKey: (id, successor, { now, expiresAt }, event = null) =>
      write(() => {
        const key = find(id)
        if (key === null) return null
        requireActive(key, now)
        add(successor)
        const old = {
          ...key,
          expiresAt: key.expiresAt === null || key.expiresAt > expiresAt ? expiresAt : key.expiresAt,
          rotatedAt: now
        }
        apiKeys.putSync(id, old)
        record(event, successor)
        return old
      }),

    revokeApiKey: (id, revokedAt, { keepOneWith, successors = false }, event = null) =>
      write(() => {
        const key = find(id)
        if (key === null) return null
        const all = [...apiKeys.getRange().map(({ value }) => value)]
        const going = successors ? withSuccessors(key, all) : [key]
        requireAnotherKey(going, all, keepOneWith, revokedAt)
        const revoked = going
          .filter((each) => each.revokedAt === null)
          .map((each) => ({
            key: { ...each, revokedAt },
            event: each === key ? event : eventOfSuccessor(event)
          }))
        for (const each of revoked) {
          apiKeys.putSync(each.key.id, each.key)
          record(each.event, each.key)
        }
        const own = revoked.find((each) => each.key.id === id)
        return {
          key: own?.key ?? key,
          changed: own !== undefined,
          ...(successors && { successors: revoked.filter((each) => each !== own) })
        }
      }),

    touchApiKey: (id, usedAt, ifBefore) =>
      write(() => {
        const key = find(id)
        if (key !== null && (key.lastUsedAt === null || key.lastUsedAt <= ifBefore)) {
          apiKeys.putSync(id, { ...key, lastUsedAt: usedAt })
        }
      })
  }
}
