import {
  apiKeyEvent, type ApiKeyOutcome, type ApiKeyRecord, apiKeyRefusalOf, type ApiKeyWrite, eventOfSuccessor,
  type NewEvent, requireActive, requireAnotherKey, type Storage, StorageError, withSuccessors
} from 'fastify-users/storage'
import { idsBehind, type LmdbDatabase, pageOf, pageOfIds } from './database.ts'
import type { LmdbEvents } from './events.ts'

interface ApiKeyStore extends Pick<Storage, 'writeApiKey' | 'findApiKey' | 'listApiKeys'> {
  /** Deletes the keys of a tenant, in the write of its removal, and returns how many. */
  dropOf (tenant: string): number
}

/** API keys in LMDB. */
export function lmdbApiKeys (
  { apiKeys, starts, keyUses, tenantKeys, read, write }: LmdbDatabase,
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
    if (key.tenant !== undefined) tenantKeys.putSync([key.tenant, key.id], null)
  }

  function hasKey (tenant: string | undefined): boolean {
    return tenant === undefined
      ? apiKeys.getKeysCount({ limit: 1 }) > 0
      : idsBehind(tenantKeys, tenant).next().done === false
  }

  function dropOf (tenant: string): number {
    const ids = [...idsBehind(tenantKeys, tenant)]
    for (const id of ids) {
      const key = find(id)
      if (key !== null) starts.removeSync(key.start)
      apiKeys.removeSync(id)
      tenantKeys.removeSync([tenant, id])
      for (const day of [...keyUses.getKeys({ start: [id, ''], end: [id, '~'] })]) keyUses.removeSync(day)
    }
    return ids.length
  }

  function create ({ key, onlyFirst, event }: ApiKeyWrite & { type: 'create' }): ApiKeyOutcome {
    if (onlyFirst && hasKey(key.tenant)) return { code: 'done', changed: false, key: null }
    add(key)
    record(event, key)
    return { code: 'done', changed: true, key }
  }

  function rotate (key: ApiKeyRecord, asked: ApiKeyWrite & { type: 'rotate' }): ApiKeyOutcome {
    const { successor, now, expiresAt, event } = asked
    requireActive(key, now)
    add(successor)
    const end = key.expiresAt === null || key.expiresAt > expiresAt ? expiresAt : key.expiresAt
    const old = { ...key, expiresAt: end, rotatedAt: now }
    apiKeys.putSync(key.id, old)
    record(event, successor)
    return { code: 'done', changed: true, key: old }
  }

  function revoke (key: ApiKeyRecord, asked: ApiKeyWrite & { type: 'revoke' }): ApiKeyOutcome {
    const { revokedAt, keepOneWith, successors, event } = asked
    const all = [...apiKeys.getRange().map(({ value }) => value)]
    const going = successors ? withSuccessors(key, all) : [key]
    requireAnotherKey(going, all, keepOneWith, revokedAt)
    const revoked = going
      .filter((each) => each.revokedAt === null)
      .map((each) => ({ key: { ...each, revokedAt }, event: each === key ? event : eventOfSuccessor(event) }))
    for (const each of revoked) {
      apiKeys.putSync(each.key.id, each.key)
      record(each.event, each.key)
    }
    const own = revoked.find((each) => each.key.id === key.id)
    const others = revoked.filter((each) => each !== own)
    return {
      code: 'done', changed: own !== undefined, key: own?.key ?? key, ...(successors && { successors: others })
    }
  }

  function touch (key: ApiKeyRecord, { usedAt, ifBefore }: ApiKeyWrite & { type: 'touch' }): ApiKeyOutcome {
    const changed = key.lastUsedAt === null || key.lastUsedAt <= ifBefore
    if (changed) apiKeys.putSync(key.id, { ...key, lastUsedAt: usedAt })
    return { code: 'done', changed, key: null }
  }

  function make (asked: ApiKeyWrite): ApiKeyOutcome {
    if (asked.type === 'create') return create(asked)
    const key = find(asked.id)
    if (key === null) return { code: 'not_found' }
    switch (asked.type) {
      case 'rotate': return rotate(key, asked)
      case 'revoke': return revoke(key, asked)
      case 'touch': return touch(key, asked)
    }
  }

  return {
    writeApiKey: (asked) => write(() => make(asked)).catch(apiKeyRefusalOf),

    findApiKey: (by) => read(() => {
      const id = 'id' in by ? by.id : starts.get(by.start)
      return id === undefined ? null : find(id)
    }),

    listApiKeys: (page) => read(() => page.tenant === undefined
      ? { items: pageOf(apiKeys, page), total: apiKeys.getKeysCount() }
      : pageOfIds([...idsBehind(tenantKeys, page.tenant)], page, find)),

    dropOf
  }
}
