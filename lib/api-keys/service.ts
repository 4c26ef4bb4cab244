import { IN_PROCESS } from '../context.ts'
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

/** What can be done with API keys in process; every method throws UsersError alone. */
export interface ApiKeysService {
  /** Makes a key. Its text is in `key`, this once. @throws `validation_failed`, `storage_unavailable` */
  create (input: ApiKeyInput): Promise<NewApiKey>
  /**
   * Makes the first key of a store: null where there is one already, whoever made it. Of many processes at once exactly one gets a key.
   * @throws `validation_failed`, `storage_unavailable`
   */
  createFirst (input: ApiKeyInput): Promise<NewApiKey | null>
  /** @throws `api_key_not_found`, `storage_unavailable` */
  get (id: string): Promise<ApiKey>
  /** A page of all keys, the revoked and expired ones too, oldest first, with the exact total. @throws `validation_failed`, `storage_unavailable` */
  list (query?: { page?: number, limit?: number }): Promise<{ data: ApiKey[], meta: { page: number, limit: number, total: number } }>
  /**
   * Makes a successor with the same name, scopes and lifetime; the old key goes on working for `overlap` seconds (a day).
   * @throws `validation_failed`, `api_key_not_found`, `api_key_inactive`, `storage_unavailable`
   */
  rotate (id: string, options?: RotateOptions): Promise<NewApiKey>
  /**
   * Ends a key for good: at once in this process, within `keyCache` seconds in others. Again on a revoked key: nothing changes.
   * @throws `api_key_not_found`, `storage_unavailable`
   */
  revoke (id: string): Promise<ApiKey>
}

export interface ApiKeysServiceOptions {
  storage: Storage
  verifier: Verifier
  limits: Limits
  keyPrefix: string
  pepper: string | undefined
  publish: Publish
}

/** What can be done with API keys, without HTTP. Every change passes here, so that the verifier forgets what it knew. */
export function createApiKeysService ({ storage, verifier, limits, keyPrefix, pepper, publish }: ApiKeysServiceOptions): ApiKeysService {
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

  async function add (input: ApiKeyInput, onlyFirst: boolean): Promise<NewApiKey | null> {
    const now = Date.now()
    const { record, text } = make({ ...checkApiKeyInput(input, now), rotatedFrom: null }, now)
    const added = await changing(() => storage.createApiKey(record, { onlyFirst }))
    if (!added) return null
    publish('api_key.created', toApiKey(record), IN_PROCESS)
    return { ...toApiKey(record), key: text }
  }

  async function find (id: string): Promise<ApiKeyRecord> {
    const record = isApiKeyId(id) ? await fromStorage(() => storage.findApiKey(id)) : null
    if (record === null) throw notFound()
    return record
  }

  async function create (input: ApiKeyInput): Promise<NewApiKey> {
    const added = await add(input, false)
    if (added === null) throw new UsersError('internal', { cause: new Error('the storage refused a key without a reason') })
    return added
  }

  async function createFirst (input: ApiKeyInput): Promise<NewApiKey | null> {
    return add(input, true)
  }

  async function get (id: string): Promise<ApiKey> {
    return toApiKey(await find(id))
  }

  async function list (query: { page?: number, limit?: number } = {}) {
    const { page, limit } = checkKeyListQuery({ ...query }, limits)
    const { items, total } = await fromStorage(() => storage.listApiKeys({ order: 'asc', limit, from: { offset: (page - 1) * limit } }))
    return { data: items.map(toApiKey), meta: { page, limit, total } }
  }

  async function rotate (id: string, options: RotateOptions = {}): Promise<NewApiKey> {
    const overlap = checkRotateOptions(options)
    const old = await find(id)
    const now = Date.now()
    const { name, scopes, lifetime } = old
    const { record, text } = make({ name, scopes, lifetime, expiresAt: expiryAfter(lifetime, now), rotatedFrom: id }, now)
    const times = { now: new Date(now).toISOString(), expiresAt: new Date(now + overlap * 1000).toISOString() }
    if (await changing(() => storage.rotateApiKey(id, record, times)) === null) throw notFound()
    publish('api_key.rotated', toApiKey(record), IN_PROCESS)
    return { ...toApiKey(record), key: text }
  }

  async function revoke (id: string): Promise<ApiKey> {
    if (!isApiKeyId(id)) throw notFound()
    const result = await changing(() => storage.revokeApiKey(id, new Date().toISOString()))
    if (result === null) throw notFound()
    if (result.changed) publish('api_key.revoked', toApiKey(result.key), IN_PROCESS)
    return toApiKey(result.key)
  }

  return { create, createFirst, get, list, rotate, revoke }
}
