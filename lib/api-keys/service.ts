import { isDeepStrictEqual } from 'node:util'
import { type Claim, unclaimed } from '../core/claim.ts'
import { type Call, type Context, FROM_PROCESS, type ReadCall } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import { isApiKeyId, newId } from '../core/ids.ts'
import type { Repository } from '../storage/repository.ts'
import type { MakeEvent } from '../storage/recorded-events.ts'
import { type ListedPage, type PageSize, readPage } from '../core/paging.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { ApiKeyWrite, ApiKeyWritten } from '../storage/api-key-writes.ts'
import type { ApiKeyRecord, DayUses, NewEvent } from '../storage/storage.ts'
import { boundsOf, type KeyBounds } from './bounds.ts'
import {
  type Delegation, earlier, requireNoStronger, requireOwnBounds, requireOwnExpiry, requireOwnScopes, scopesToKeep
} from './delegation.ts'
import { digestSecret, generateKey } from './key-text.ts'
import { type ApiKey, type KeyEventType, toApiKey } from './record.ts'
import { expiryAfter, lifetimeOf } from './expiry.ts'
import { filteredKeys, keyListQueryCheck } from './key-list.ts'
import { checkApiKeyInput, checkRevokeOptions, checkRotateOptions } from './rules.ts'
import { ADMIN_SCOPE, type Scope } from './scopes.ts'
import type { Verifier } from './verifier.ts'

/** A new key: its record, and its text, which is not stored. */
export type NewApiKey = ApiKey & { key: string }

/** A revoked key. `successors`: the keys that were revoked with it, if the call asked for that. */
export type RevokedApiKey = ApiKey & { successors?: ApiKey[] }

/** A call, and what its caller may grant; `null` if anything, as for calls in process. */
export interface KeyCall extends Call {
  delegation: Delegation | null
  /** Claims its `Idempotency-Key`. */
  claim: Claim
}

export interface ApiKeysServiceOptions {
  repository: Repository
  verifier: Verifier
  /** Stores the uses that this process has counted; null if they are not counted. */
  flushUses: (() => Promise<void>) | null
  pageSize: PageSize
  keyPrefix: string
  pepper: string | undefined
  /** Publishes each change, in the order of the changes. */
  publish: (event: KeyEventType, key: ApiKey, context: Context, recorded: NewEvent | null) => void
  /** Creates the event that the storage records for a change. */
  makeEvent: MakeEvent
  /** The scopes that a new key may have. */
  scopes: readonly Scope[]
}

/** A revocation. `keepOne`: `null` if no other key has to remain, as for calls in process. */
export interface RevokeCall extends Omit<KeyCall, 'priorFaults' | 'claim'> {
  keepOne: KeptKeys | null
}

/** The scopes of each static key. Static keys count as well as stored ones. */
export interface KeptKeys {
  staticScopes: ReadonlyArray<readonly string[]>
}

/** A call of the host in process, which may revoke any key. */
export const UNGUARDED: RevokeCall = Object.freeze({ ...FROM_PROCESS, delegation: null, keepOne: null })
/** A call of the host in process, which may give anything. */
export const UNBOUNDED: KeyCall = Object.freeze({ ...FROM_PROCESS, delegation: null, claim: unclaimed })

export type ApiKeysService = ReturnType<typeof createApiKeysService>

type NewKeyValues = KeyBounds &
Pick<ApiKeyRecord, 'name' | 'scopes' | 'expiresAt' | 'rotatedFrom' | 'lifetime' | 'tenant'>

/**
 * The operations on API keys, without HTTP. Every change goes through here, so that the verifier drops what it cached.
 * Every method takes unchecked input and throws only UsersError. It checks in this order: validation, existence, what
 * the caller may grant, state.
 */
export function createApiKeysService (options: ApiKeysServiceOptions) {
  const { repository, verifier, flushUses, pageSize, keyPrefix, pepper, publish, makeEvent, scopes: known } = options
  const { apiKeys, keyUses, storage } = repository
  const checkListQuery = keyListQueryCheck(pageSize)
  const notFound = () => new UsersError('api_key_not_found')

  /** Makes a write. @throws UsersError for an outcome that is not `done` */
  async function write (asked: ApiKeyWrite, tenant: string | undefined): Promise<ApiKeyWritten> {
    verifier.clear()
    try {
      const outcome = await fromStorage(() => apiKeys.write(asked, tenant))
      if (outcome.code === 'done') return outcome
      throw outcome.code === 'not_found' ? notFound() : new UsersError(outcome.code)
    } finally {
      verifier.clear()
    }
  }

  /** @throws UsersError `api_key_exists` if there is a key with this id that is not this record */
  async function requireFirst (
    id: string, record: ApiKeyRecord | null, tenant: string | undefined
  ): Promise<void> {
    const known = await fromStorage(() => apiKeys.find({ id }, tenant))
    if (known === null || known.start === record?.start) return
    const made = `The first request with this Idempotency-Key created the API key ${id}`
    throw new UsersError('api_key_exists', { detail: `${made}, which cannot be shown again. Rotate or revoke it.` })
  }

  /**
   * Makes a write that adds a key. Requests with one idempotency key add keys of one id, so that the storage lets one
   * of them add its own.
   */
  async function addOnce (
    { claim, tenant }: KeyCall, request: unknown, made: ApiKeyRecord, writeOf: (record: ApiKeyRecord) => ApiKeyWrite
  ): Promise<{ record: ApiKeyRecord, written: ApiKeyWritten }> {
    const { note: id, isFirst } = await claim(request, made.id)
    const record = { ...made, id }
    if (!isFirst) await requireFirst(id, null, tenant)
    try {
      return { record, written: await write(writeOf(record), tenant) }
    } catch (error) {
      if (claim !== unclaimed) await requireFirst(id, record, tenant)
      throw error
    }
  }

  function make (values: NewKeyValues, now: number): { record: ApiKeyRecord, text: string } {
    const { start, secret, text } = generateKey(keyPrefix)
    const digest = digestSecret(secret, pepper)
    const createdAt = new Date(now).toISOString()
    const unused = { revokedAt: null, lastUsedAt: null, rotatedAt: null }
    const record = { id: newId('key'), ...values, start, digest, createdAt, ...unused }
    return { record, text }
  }

  async function add (input: unknown, onlyFirst: boolean, call: KeyCall): Promise<NewApiKey | null> {
    const { context, priorFaults, delegation } = call
    const now = Date.now()
    const { bounds, ...values } = checkApiKeyInput(input, now, delegation, priorFaults, known)
    const { record: made, text } = make({ ...values, ...bounds, rotatedFrom: null }, now)
    const event = makeEvent('api_key.created', context)
    const { record, written: { changed, key } } = await addOnce(call, ['api_key', input], made, (record) =>
      ({ type: 'create', key: record, onlyFirst, event }))
    if (!changed) return null
    await requireKept(record, call)
    publish('api_key.created', toApiKey(key ?? record), context, event)
    return { ...toApiKey(key ?? record), key: text }
  }

  /** A store that was written before there were such members would let the key work from anywhere. */
  async function requireKept (record: ApiKeyRecord, { tenant }: KeyCall): Promise<void> {
    if (record.addresses === undefined && record.rateLimit === undefined) return
    const kept = await fromStorage(() => apiKeys.find({ id: record.id }, tenant))
    if (kept === null || isDeepStrictEqual(boundsOf(kept), boundsOf(record))) return
    await revoke(record.id, {}, { ...UNGUARDED, tenant })
    const cause = new TypeError(`the storage ${storage.name} does not keep the addresses and the limit of an API key`)
    throw new UsersError('internal', { cause })
  }

  async function find (id: string, tenant: string | undefined): Promise<ApiKeyRecord> {
    const record = isApiKeyId(id) ? await fromStorage(() => apiKeys.find({ id }, tenant)) : null
    if (record === null) throw notFound()
    return record
  }

  async function create (input: unknown, call = UNBOUNDED): Promise<NewApiKey> {
    const added = await add(input, false, call)
    if (added !== null) return added
    throw new UsersError('internal', { cause: new Error('the storage refused a key without a reason') })
  }

  async function createFirst (input: unknown, call = UNBOUNDED): Promise<NewApiKey | null> {
    return add(input, true, call)
  }

  async function get (id: string, tenant?: string): Promise<ApiKey> {
    return toApiKey(await find(id, tenant))
  }

  async function list (
    query: Readonly<Record<string, unknown>>,
    { priorFaults = [], tenant }: ReadCall = {}
  ): Promise<ListedPage<ApiKey>> {
    const { paging, filter } = checkListQuery(query, priorFaults)
    const page = await readPage(paging, (request) => fromStorage(() => filteredKeys(apiKeys, filter, request, tenant)))
    return { ...page, items: page.items.map(toApiKey) }
  }

  async function rotate (id: string, options: unknown = {}, call = UNBOUNDED): Promise<NewApiKey> {
    const { context, priorFaults, delegation } = call
    const now = Date.now()
    const { overlap, chosen } = checkRotateOptions(options, now, priorFaults)
    const old = await find(id, call.tenant)
    const { name, scopes, expiresAt: end, tenant } = old
    const bounds = boundsOf(old)
    // The caller gets the successor's text: without these bounds, it could obtain any key by rotating it.
    if (delegation !== null) {
      requireOwnScopes(delegation, scopes, () => '')
      requireOwnBounds(delegation, bounds, false)
      // A key that can manage keys must not be replaced by one that ends sooner: it may be the last.
      if (scopes.includes(ADMIN_SCOPE)) requireOwnExpiry(delegation, end, '')
      if (chosen !== null) requireOwnExpiry(delegation, chosen.expiresAt, chosen.pointer)
    }
    const lifetime = chosen === null ? old.lifetime : lifetimeOf(chosen.expiresAt, now)
    const most = delegation === null ? null : delegation.expiresAt
    const expiresAt = chosen === null ? earlier(expiryAfter(lifetime, now), most) : chosen.expiresAt
    const values = { name, scopes, lifetime, expiresAt, rotatedFrom: id, ...bounds }
    const { record: made, text } = make(tenant === undefined ? values : { ...values, tenant }, now)
    const event = makeEvent('api_key.rotated', context)
    const { record } = await addOnce(call, ['rotate', id, options], made, (successor) => ({
      type: 'rotate',
      id,
      successor,
      now: new Date(now).toISOString(),
      expiresAt: new Date(now + overlap * 1000).toISOString(),
      event
    }))
    publish('api_key.rotated', toApiKey(record), context, event)
    return { ...toApiKey(record), key: text }
  }

  async function revoke (id: string, options: unknown = {}, call = UNGUARDED): Promise<RevokedApiKey> {
    const successors = checkRevokeOptions(options)
    const { context, delegation, keepOne, tenant } = call
    const { scopes } = await find(id, tenant)
    if (delegation !== null) requireNoStronger(delegation, scopes)
    const keepOneWith = keepOne === null ? [] : scopesToKeep(scopes, keepOne.staticScopes)
    const event = makeEvent('api_key.revoked', context)
    const revokedAt = new Date().toISOString()
    const { key, changed, successors: others = [] } =
      await write({ type: 'revoke', id, revokedAt, keepOneWith, successors, event }, tenant)
    if (key === null) throw notFound()
    const revoked = [...changed ? [{ key, event }] : [], ...others]
    for (const each of revoked) publish('api_key.revoked', toApiKey(each.key), context, each.event)
    return { ...toApiKey(key), ...(successors && { successors: others.map(({ key }) => toApiKey(key)) }) }
  }

  async function uses (id: string, tenant?: string): Promise<DayUses[]> {
    await find(id, tenant)
    await flushUses?.()
    return fromStorage(() => keyUses.list(id))
  }

  /** `uses`: null if they are not counted. */
  return { create, createFirst, get, list, rotate, revoke, uses: flushUses && uses }
}
