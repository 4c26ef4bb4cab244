// What a write of an API key means on rows, for every store, and how it is made.

import { apiKeyEvent, eventOfSuccessor } from './recorded-events.ts'
import type { ApiKeyOutcome, ApiKeyWrite } from './api-key-writes.ts'
import type { ApiKeyRecord, EventRecord, NewEvent, Page, PageRequest, TenantPageRequest } from './records.ts'
import type { Row, RowKey, RowWrite, Storage } from './storage.ts'
import { StorageError } from './storage-error.ts'
import { apiKeyRefusalOf, belongsTo, requireActive, requireAnotherKey, withSuccessors } from './storage-rules.ts'
import { pauseBefore } from './attempts.ts'

type KeyRow = Row<'apiKeys'>
type Of<Type extends ApiKeyWrite['type']> = ApiKeyWrite & { type: Type }

/** A write's outcome, and what it commits. */
interface Decision { outcome: ApiKeyOutcome, writes: RowWrite[], events: EventRecord[] }

const READ_TOGETHER = 100

/** The record of a key without its version. */
export function keyIn ({ record: { version, ...key } }: KeyRow): ApiKeyRecord {
  return key
}

const recorded = (event: NewEvent | null, key: ApiKeyRecord): EventRecord[] =>
  event === null ? [] : [apiKeyEvent(event, key)]

const rowOf = (key: ApiKeyRecord, was: KeyRow | null): KeyRow =>
  ({ record: { ...key, version: (was?.record.version ?? 0) + 1 }, keys: null, of: null })

const putOf = (key: ApiKeyRecord, was: KeyRow | null): RowWrite => ({ in: 'apiKeys', put: rowOf(key, was), was })

function unchanged (key: ApiKeyRecord | null): Decision {
  return { outcome: { code: 'done', changed: false, key }, writes: [], events: [] }
}

function rotate ({ successor, now, expiresAt, event }: Of<'rotate'>, was: KeyRow): Decision {
  const key = keyIn(was)
  requireActive(key, now)
  const end = key.expiresAt === null || key.expiresAt > expiresAt ? expiresAt : key.expiresAt
  const old = { ...key, expiresAt: end, rotatedAt: now }
  return {
    outcome: { code: 'done', changed: true, key: old },
    writes: [putOf(old, was), putOf(successor, null)],
    events: recorded(event, successor)
  }
}

function touch ({ usedAt, ifBefore }: Of<'touch'>, was: KeyRow): Decision {
  const key = keyIn(was)
  if (key.lastUsedAt !== null && key.lastUsedAt > ifBefore) return unchanged(null)
  const writes = [putOf({ ...key, lastUsedAt: usedAt }, was)]
  return { outcome: { code: 'done', changed: true, key: null }, writes, events: [] }
}

/** `going`: the key and, if they go too, its successors. */
function revoke ({ revokedAt, event, successors, id }: Of<'revoke'>, going: readonly KeyRow[]): Decision {
  const made = going.filter(({ record }) => record.revokedAt === null).map((was) => {
    const key = { ...keyIn(was), revokedAt }
    return { was, key, event: key.id === id ? event : eventOfSuccessor(event) }
  })
  const own = made.find(({ key }) => key.id === id)
  const before = going.find(({ record }) => record.id === id)
  const others = made.filter((each) => each !== own).map(({ key, event }) => ({ key, event }))
  const key = own?.key ?? (before === undefined ? null : keyIn(before))
  return {
    outcome: { code: 'done', changed: own !== undefined, key, ...(successors && { successors: others }) },
    writes: made.map(({ key, was }) => putOf(key, was)),
    events: made.flatMap(({ key, event }) => recorded(event, key))
  }
}

/** Makes what writes and reads API keys on a store. */
export function createKeys (store: Storage) {
  /** Moves the row that all must name whose rule is about several keys of a tenant. */
  async function markMoved (rule: string, tenant: string | undefined): Promise<RowWrite> {
    const id = `${rule}/${tenant ?? ''}`
    const [was = null] = await store.find('marks', [{ id }])
    return { in: 'marks', put: { record: { id, version: (was?.record.version ?? 0) + 1 }, keys: null, of: null }, was }
  }

  /** The key, and all that came from it by rotation. */
  async function withFollowing (first: KeyRow): Promise<KeyRow[]> {
    const found = new Map([[first.record.id, first]])
    let ids = [first.record.id]
    while (ids.length > 0) {
      const rows: KeyRow[] = []
      for (let offset = 0; ; offset += READ_TOGETHER) {
        const { items, total } = await store.list('apiKeys', {
          where: { member: 'rotatedFrom', values: ids },
          page: { order: 'asc', limit: READ_TOGETHER, from: { offset } }
        })
        rows.push(...items)
        if (offset + items.length >= total || items.length === 0) break
      }
      const more = rows.filter(({ record: { id } }) => !found.has(id))
      for (const row of more) found.set(row.record.id, row)
      ids = more.map(({ record: { id } }) => id)
    }
    const following = withSuccessors(first.record, [...found.values()].map(({ record }) => record))
    return following.flatMap(({ id }) => found.get(id) ?? [])
  }

  /** @throws StorageError `last_admin_key` */
  async function requireOther (
    going: readonly KeyRow[], { keepOneWith, revokedAt }: Of<'revoke'>
  ): Promise<RowWrite[]> {
    const keys = going.map(({ record }) => record)
    const isNeeded = (others: ApiKeyRecord[]): boolean => {
      try {
        requireAnotherKey(keys, others, keepOneWith, revokedAt)
        return false
      } catch {
        return true
      }
    }
    if (!isNeeded([])) return []
    const tenant = keys[0]?.tenant
    // Before the keys are read: who moves it meanwhile has another one revoked.
    const mark = await markMoved('admin-key', tenant)
    let after: string | null = null
    while (true) {
      const from: { after: string } | { offset: number } = after === null ? { offset: 0 } : { after }
      const page: PageRequest = { order: 'asc', limit: READ_TOGETHER, from }
      const { items }: Page<KeyRow> = await store.list('apiKeys', { tenant: tenant ?? null, page })
      const others: ApiKeyRecord[] = items.map(({ record }) => record)
      if (!isNeeded(others)) return [mark]
      after = others.at(-1)?.id ?? null
      if (after === null) requireAnotherKey(keys, [], keepOneWith, revokedAt)
    }
  }

  /** `isAgain`: something that the first attempt went by was not so. */
  async function decide (asked: ApiKeyWrite, isAgain: boolean): Promise<Decision> {
    const added = asked.type === 'create' ? asked.key : asked.type === 'rotate' ? asked.successor : null
    if (added !== null && isAgain && (await store.find('apiKeys', [{ id: added.id }]))[0] != null) {
      throw new StorageError('fault', 'another key has the id')
    }
    if (asked.type === 'create') {
      const { key, onlyFirst, event } = asked
      const marks = onlyFirst ? [await markMoved('first-key', key.tenant)] : []
      const page = { order: 'asc', limit: 1, from: { offset: 0 } } as const
      const of = key.tenant === undefined ? {} : { tenant: key.tenant }
      if (onlyFirst && (await store.list('apiKeys', { ...of, page })).total > 0) return unchanged(null)
      return {
        outcome: { code: 'done', changed: true, key },
        writes: [putOf(key, null), ...marks],
        events: recorded(event, key)
      }
    }
    const [was] = await store.find('apiKeys', [{ id: asked.id }])
    if (was == null) return { outcome: { code: 'not_found' }, writes: [], events: [] }
    if (asked.type === 'rotate') return rotate(asked, was)
    if (asked.type === 'touch') return touch(asked, was)
    const going = asked.successors ? await withFollowing(was) : [was]
    const marks = await requireOther(going, asked)
    const decision = revoke(asked, going)
    return { ...decision, writes: decision.writes.length === 0 ? [] : [...decision.writes, ...marks] }
  }

  async function find (by: RowKey, tenant?: string): Promise<ApiKeyRecord | null> {
    const [row] = await store.find('apiKeys', [by])
    return row == null || !belongsTo(row.record, tenant) ? null : keyIn(row)
  }

  /** The write of a caller that is bound to a tenant; null: it is about a key of another. */
  async function writeIn (asked: ApiKeyWrite, tenant: string): Promise<ApiKeyWrite | null> {
    if (asked.type === 'create') return { ...asked, key: { ...asked.key, tenant } }
    // A key never changes its tenant, so nothing can come between.
    if (await find({ id: asked.id }, tenant) === null) return null
    return asked.type === 'rotate' ? { ...asked, successor: { ...asked.successor, tenant } } : asked
  }

  async function writeNow (asked: ApiKeyWrite): Promise<ApiKeyOutcome> {
    const since = performance.now()
    for (let attempt = 0; ; attempt++) {
      await pauseBefore(attempt, since)
      try {
        const { outcome, writes, events } = await decide(asked, attempt > 0)
        if (writes.length === 0) return structuredClone(outcome)
        const [made] = await store.commit([{ writes, events, rewrites: [] }])
        if (made?.code === 'ok') return structuredClone(outcome)
        if (made?.code === 'taken') throw new StorageError('fault', 'another key has the start')
      } catch (error) {
        return apiKeyRefusalOf(error)
      }
    }
  }

  return {
    /** The key with this id, or whose `start` is exactly this text; or `null`. */
    find,

    /** A page of the keys, ordered by id, with their exact number. */
    async list ({ tenant, ...page }: TenantPageRequest): Promise<Page<ApiKeyRecord>> {
      const { items, total } = await store.list('apiKeys', { page, ...(tenant !== undefined && { tenant }) })
      return { items: items.map(keyIn), total }
    },

    /**
     * Makes a write of an API key: {@link ApiKeyWrite} says what each does. `tenant`: the caller's.
     * @throws StorageError `fault` if another key has the id or the start of a new one; then nothing changes
     */
    async write (asked: ApiKeyWrite, tenant?: string): Promise<ApiKeyOutcome> {
      const own = tenant === undefined ? asked : await writeIn(asked, tenant)
      return own === null ? { code: 'not_found' } : writeNow(own)
    }
  }
}
