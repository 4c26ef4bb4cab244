import { type Call, type Context, FROM_PROCESS } from '../context.ts'
import { type Fault, UsersError } from '../errors.ts'
import type { KeyEventType, Publish } from '../events.ts'
import { isApiKeyId, newId } from '../ids.ts'
import { fromStorage } from '../storage-errors.ts'
import { type Limits, type ListedPage, readPage } from '../paging.ts'
import type { ApiKeyRecord, Storage } from '../storage.ts'
import { earlier, type Grant, requireExpiry, requireScopes } from './grant.ts'
import { digestSecret, generateKey } from './key-text.ts'
import { type ApiKey, toApiKey } from './record.ts'
import { checkApiKeyInput, checkKeyListQuery, checkRotateOptions, expiryAfter } from './rules.ts'
import type { Scope } from './scopes.ts'
import type { Verifier } from './verifier.ts'

/** A new key: its record, and its text, which can't be had again. */
export type NewApiKey = ApiKey & { key: string }

/** Who asks, and what that caller can give: anything, in process. */
export interface KeyCall extends Call {
  grant: Grant | null
}

export interface ApiKeysServiceOptions {
  storage: Storage
  verifier: Verifier
  limits: Limits
  keyPrefix: string
  pepper: string | undefined
  publish: Publish
  /** Told of each change, in the order of the changes. */
  log: (event: KeyEventType, key: ApiKey, context: Context) => void
}

const NO_LIMITS: KeyCall = Object.freeze({ ...FROM_PROCESS, grant: null })
// Whoever has it can make keys: of these one must be left.
const ADMIN_SCOPE: Scope = 'keys:write'

export type ApiKeysService = ReturnType<typeof createApiKeysService>

/**
 * What can be done with API keys, without HTTP. Every change passes here, so that the verifier forgets what it knew. Every method takes what a stranger sent and
 * throws UsersError alone; the order is validation → existence → what the caller can give → state.
 */
export function createApiKeysService ({ storage, verifier, limits, keyPrefix, pepper, publish, log }: ApiKeysServiceOptions) {
  const notFound = () => new UsersError('api_key_not_found')

  function tell (event: KeyEventType, record: ApiKeyRecord, context: Context): void {
    const key = toApiKey(record)
    log(event, key, context)
    publish(event, key, context)
  }

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

  async function add (input: unknown, onlyFirst: boolean, { context, found, grant }: KeyCall): Promise<NewApiKey | null> {
    const now = Date.now()
    const { record, text } = make({ ...checkApiKeyInput(input, now, grant, found), rotatedFrom: null }, now)
    const added = await changing(() => storage.createApiKey(record, { onlyFirst }))
    if (!added) return null
    tell('api_key.created', record, context)
    return { ...toApiKey(record), key: text }
  }

  async function find (id: string): Promise<ApiKeyRecord> {
    const record = isApiKeyId(id) ? await fromStorage(() => storage.findApiKey(id)) : null
    if (record === null) throw notFound()
    return record
  }

  async function create (input: unknown, call = NO_LIMITS): Promise<NewApiKey> {
    const added = await add(input, false, call)
    if (added === null) throw new UsersError('internal', { cause: new Error('the storage refused a key without a reason') })
    return added
  }

  async function createFirst (input: unknown): Promise<NewApiKey | null> {
    return add(input, true, NO_LIMITS)
  }

  async function get (id: string): Promise<ApiKey> {
    return toApiKey(await find(id))
  }

  async function list (query: Readonly<Record<string, unknown>>, found: readonly Fault[] = []): Promise<ListedPage<ApiKey>> {
    const page = await readPage(checkKeyListQuery(query, limits, found), (page) => fromStorage(() => storage.listApiKeys(page)))
    return { ...page, items: page.items.map(toApiKey) }
  }

  async function rotate (id: string, options: unknown = {}, { context, found, grant } = NO_LIMITS): Promise<NewApiKey> {
    const overlap = checkRotateOptions(options, found)
    const { name, scopes, lifetime, expiresAt: end } = await find(id)
    // The successor's text goes to the caller: without these bounds it could make itself any key by rotating that.
    if (grant !== null) {
      requireScopes(grant, scopes, () => '')
      // A key that can manage keys must not be replaced by one that ends sooner: it may be the last.
      if (scopes.includes(ADMIN_SCOPE)) requireExpiry(grant, end, '')
    }
    const now = Date.now()
    const expiresAt = earlier(expiryAfter(lifetime, now), grant === null ? null : grant.expiresAt)
    const { record, text } = make({ name, scopes, lifetime, expiresAt, rotatedFrom: id }, now)
    const times = { now: new Date(now).toISOString(), expiresAt: new Date(now + overlap * 1000).toISOString() }
    if (await changing(() => storage.rotateApiKey(id, record, times)) === null) throw notFound()
    tell('api_key.rotated', record, context)
    return { ...toApiKey(record), key: text }
  }

  /** `keepOne`: refuse where no other active key could manage keys after it. */
  async function revoke (id: string, { keepOne, context } = { keepOne: false, context: FROM_PROCESS.context }): Promise<ApiKey> {
    if (!isApiKeyId(id)) throw notFound()
    const result = await changing(() => storage.revokeApiKey(id, new Date().toISOString(), { keepOneWith: keepOne ? ADMIN_SCOPE : null }))
    if (result === null) throw notFound()
    if (result.changed) tell('api_key.revoked', result.key, context)
    return toApiKey(result.key)
  }

  return { create, createFirst, get, list, rotate, revoke }
}
