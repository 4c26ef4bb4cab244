import { type Context, IN_PROCESS } from '../context.ts'
import { UsersError } from '../errors.ts'
import type { Publish } from '../events.ts'
import { isApiKeyId, newId } from '../ids.ts'
import { fromStorage } from '../storage-errors.ts'
import type { ApiKeyRecord, Storage } from '../storage.ts'
import type { Limits } from '../users/list-query.ts'
import { digestSecret, generateKey } from './key-text.ts'
import { type ApiKey, toApiKey } from './record.ts'
import { type ApiKeyInput, checkApiKeyInput, checkKeyListQuery, checkRotateOptions, expiryAfter, type RotateOptions } from './rules.ts'
import type { Verifier } from './verifier.ts'

/** A new key: its record, and its text, which can't be had again. */
export type NewApiKey = ApiKey & { key: string }

export type ApiKeysService = ReturnType<typeof createApiKeysService>

export interface ApiKeysServiceOptions {
  storage: Storage
  verifier: Verifier
  limits: Limits
  keyPrefix: string
  pepper: string | undefined
  publish: Publish
}

/** What can be done with API keys, without HTTP. Every change passes here, so that the verifier forgets what it knew. */
export function createApiKeysService ({ storage, verifier, limits, keyPrefix, pepper, publish }: ApiKeysServiceOptions) {
  const notFound = () => new UsersError('api_key_not_found')

  async function changing<Value> (change: () => Promise<Value>): Promise<Value> {
    verifier.forget()
    try {
      return await fromStorage(change)
    } finally {
      verifier.forget()
    }
  }

  function make (values: Pick<ApiKeyRecord, 'name' | 'scopes' | 'expiresAt' | 'rotatedFrom' | 'lifetime'>, now: number): { record: ApiKeyRecord, text: string } {
    const { start, secret, text } = generateKey(keyPrefix)
    const digest = digestSecret(secret, pepper)
    const record = { id: newId('key'), ...values, start, digest, createdAt: new Date(now).toISOString(), revokedAt: null, lastUsedAt: null }
    return { record, text }
  }

  async function add (input: ApiKeyInput, onlyFirst: boolean, context: Context): Promise<NewApiKey | null> {
    const now = Date.now()
    const { record, text } = make({ ...checkApiKeyInput(input, now), rotatedFrom: null }, now)
    const added = await changing(() => storage.createApiKey(record, { onlyFirst }))
    if (!added) return null
    publish('api_key.created', toApiKey(record), context)
    return { ...toApiKey(record), key: text }
  }

  async function find (id: string): Promise<ApiKeyRecord> {
    const record = isApiKeyId(id) ? await fromStorage(() => storage.findApiKey(id)) : null
    if (record === null) throw notFound()
    return record
  }

  async function create (input: ApiKeyInput, context = IN_PROCESS): Promise<NewApiKey> {
    const added = await add(input, false, context)
    if (added === null) throw new UsersError('internal', { cause: new Error('the storage refused a key without a reason') })
    return added
  }

  /** The first key of a store: null where there is one already, whoever made it. Of many processes at once exactly one gets a key. */
  async function createFirst (input: ApiKeyInput): Promise<NewApiKey | null> {
    return add(input, true, IN_PROCESS)
  }

  async function get (id: string): Promise<ApiKey> {
    return toApiKey(await find(id))
  }

  async function list (query: { page?: number, limit?: number } = {}) {
    const { page, limit } = checkKeyListQuery({ ...query }, limits)
    const { items, total } = await fromStorage(() => storage.listApiKeys({ order: 'asc', limit, from: { offset: (page - 1) * limit } }))
    return { data: items.map(toApiKey), meta: { page, limit, total } }
  }

  async function rotate (id: string, options: RotateOptions = {}, context = IN_PROCESS): Promise<NewApiKey> {
    const overlap = checkRotateOptions(options)
    const old = await find(id)
    const now = Date.now()
    const { name, scopes, lifetime } = old
    const { record, text } = make({ name, scopes, lifetime, expiresAt: expiryAfter(lifetime, now), rotatedFrom: id }, now)
    const times = { now: new Date(now).toISOString(), expiresAt: new Date(now + overlap * 1000).toISOString() }
    if (await changing(() => storage.rotateApiKey(id, record, times)) === null) throw notFound()
    publish('api_key.rotated', toApiKey(record), context)
    return { ...toApiKey(record), key: text }
  }

  async function revoke (id: string, context = IN_PROCESS): Promise<ApiKey> {
    if (!isApiKeyId(id)) throw notFound()
    const result = await changing(() => storage.revokeApiKey(id, new Date().toISOString()))
    if (result === null) throw notFound()
    if (result.changed) publish('api_key.revoked', toApiKey(result.key), context)
    return toApiKey(result.key)
  }

  return { create, createFirst, get, list, rotate, revoke }
}
