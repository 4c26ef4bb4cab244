import { UsersError } from '../errors.ts'
import { isApiKeyId, newId } from '../ids.ts'
import { fromStorage } from '../storage-errors.ts'
import type { ApiKeyRecord, Storage } from '../storage.ts'
import { checkListQuery, type Limits } from '../users/list-query.ts'
import { digestSecret, generateKey } from './key-text.ts'
import { type ApiKey, toApiKey } from './record.ts'
import { type ApiKeyInput, checkApiKeyInput, checkRotateOptions, type RotateOptions } from './rules.ts'
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
}

/** What can be done with API keys, without HTTP. Every change passes here, so that the verifier forgets what it knew. */
export function createApiKeysService ({ storage, verifier, limits, keyPrefix, pepper }: ApiKeysServiceOptions) {
  const notFound = () => new UsersError('api_key_not_found')

  async function changing<Value> (change: () => Promise<Value>): Promise<Value> {
    verifier.forget()
    try {
      return await fromStorage(change())
    } finally {
      verifier.forget()
    }
  }

  function make (values: { name: string, scopes: string[], expiresAt: string | null, rotatedFrom: string | null }, now: number): { record: ApiKeyRecord, text: string } {
    const { start, secret, text } = generateKey(keyPrefix)
    const digest = digestSecret(secret, pepper)
    const record = { id: newId('key'), ...values, start, digest, createdAt: new Date(now).toISOString(), revokedAt: null, lastUsedAt: null }
    return { record, text }
  }

  async function add (input: ApiKeyInput, onlyFirst: boolean): Promise<NewApiKey | null> {
    const now = Date.now()
    const { record, text } = make({ ...checkApiKeyInput(input, now), rotatedFrom: null }, now)
    const added = await changing(() => storage.createApiKey(record, { onlyFirst }))
    return added ? { ...toApiKey(record), key: text } : null
  }

  async function find (id: string): Promise<ApiKeyRecord> {
    const record = isApiKeyId(id) ? await fromStorage(storage.findApiKey(id)) : null
    if (record === null) throw notFound()
    return record
  }

  async function create (input: ApiKeyInput): Promise<NewApiKey> {
    const added = await add(input, false)
    if (added === null) throw new UsersError('internal', { cause: new Error('the storage refused a key without a reason') })
    return added
  }

  /** The first key of a store: null where there is one already, whoever made it. Of many processes at once exactly one gets a key. */
  async function createFirst (input: ApiKeyInput): Promise<NewApiKey | null> {
    return add(input, true)
  }

  async function get (id: string): Promise<ApiKey> {
    return toApiKey(await find(id))
  }

  async function list ({ page = 1, limit = limits.default }: { page?: number, limit?: number } = {}) {
    const checked = checkListQuery({ page, limit }, limits)
    const offset = (page - 1) * limit
    const { items, total } = await fromStorage(storage.listApiKeys({ order: checked.order, limit, from: { offset } }))
    return { data: items.map(toApiKey), meta: { page, limit, total } }
  }

  async function rotate (id: string, options: RotateOptions = {}): Promise<NewApiKey> {
    const overlap = checkRotateOptions(options)
    const old = await find(id)
    const now = Date.now()
    // The successor lives as long as the old key was meant to, or for ever like it.
    const lifetime = old.expiresAt === null ? null : Date.parse(old.expiresAt) - Date.parse(old.createdAt)
    const expiresAt = lifetime === null ? null : new Date(now + lifetime).toISOString()
    const { record, text } = make({ name: old.name, scopes: old.scopes, expiresAt, rotatedFrom: id }, now)
    const times = { now: new Date(now).toISOString(), expiresAt: new Date(now + overlap * 1000).toISOString() }
    if (await changing(() => storage.rotateApiKey(id, record, times)) === null) throw notFound()
    return { ...toApiKey(record), key: text }
  }

  async function revoke (id: string): Promise<ApiKey> {
    if (!isApiKeyId(id)) throw notFound()
    const result = await changing(() => storage.revokeApiKey(id, new Date().toISOString()))
    if (result === null) throw notFound()
    return toApiKey(result.key)
  }

  return { create, createFirst, get, list, rotate, revoke }
}
