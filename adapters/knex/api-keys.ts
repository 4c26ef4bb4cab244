import { eventOfSuccessor } from '../../lib/storage/recorded-events.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { requireAnotherKey } from '../../lib/storage/storage-rules.ts'
import type {
  ApiKeyRecord, NewEvent, PageRequest, Revocation, RevokeOptions, Storage
} from '../../lib/storage/storage.ts'
import { isStorable } from '../../lib/core/text.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { EventWrites } from './events/event-writes.ts'
import { pageStatement, toPage } from './pages.ts'
import { API_KEY_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { toApiKeyRecord } from './tables/rows.ts'

type ApiKeyStore = Pick<Storage,
'createApiKey' | 'findApiKey' | 'findApiKeyByStart' | 'listApiKeys' | 'rotateApiKey' | 'revokeApiKey' | 'touchApiKey'>

const INSERTED = [
  'id', 'name', 'scopes', 'start', 'digest', 'created_at', 'expires_at', 'revoked_at', 'last_used_at', 'rotated_from',
  'rotated_at', 'lifetime'
]

/** The statements of API keys. */
function apiKeySql ({ p, select, least, contains }: Dialect, { apiKeys }: Names) {
  const columns = select(API_KEY_COLUMNS)
  const isActiveAt = (n: number) => `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${p(n)})`
  return {
    insert: `INSERT INTO ${apiKeys} (${INSERTED.join(', ')}) VALUES (${INSERTED.map((_, i) => p(i + 1)).join(', ')})`,
    anyKey: `SELECT 1 AS found FROM ${apiKeys} LIMIT 1`,
    findById: `SELECT ${columns} FROM ${apiKeys} WHERE id = ${p(1)}`,
    findByStart: `SELECT ${columns} FROM ${apiKeys} WHERE start = ${p(1)}`,
    /** 1: id, 2: expiry, 3: now. */
    expire: `UPDATE ${apiKeys} SET rotated_at = ${p(3)}, ` +
      `expires_at = ${least(`coalesce(expires_at, ${p(2)})`, p(2))} ` +
      `WHERE id = ${p(1)} AND ${isActiveAt(3)} AND (rotated_at IS NULL OR expires_at > rotated_at) ` +
      `RETURNING ${columns}`,
    /** 1: id, 2: now. */
    revoke: `UPDATE ${apiKeys} SET revoked_at = ${p(2)} WHERE id = ${p(1)} AND revoked_at IS NULL RETURNING ${columns}`,
    /** The key and its successors that are not revoked. 1: id, 2: now. */
    revokeSuccessors: `UPDATE ${apiKeys} SET revoked_at = ${p(2)} WHERE revoked_at IS NULL AND id IN (` +
      `WITH RECURSIVE chain AS (SELECT id FROM ${apiKeys} WHERE id = ${p(1)} UNION ` +
      `SELECT k.id FROM ${apiKeys} AS k JOIN chain ON k.rotated_from = chain.id) SELECT id FROM chain) ` +
      `RETURNING ${columns}`,
    /** Another active key with so many scopes. 1: id, 2: now, from 3 on: each scope between spaces. */
    another: (count: number) => `SELECT ${columns} FROM ${apiKeys} WHERE id <> ${p(1)} AND ${isActiveAt(2)}` +
      Array.from({ length: count }, (_, i) => ` AND ${contains("' ' || scopes || ' '", p(3 + i))}`).join('') +
      ' LIMIT 1',
    /** 1: id, 2: time of use, 3: latest time that it replaces. */
    touch: `UPDATE ${apiKeys} SET last_used_at = ${p(2)} ` +
      `WHERE id = ${p(1)} AND (last_used_at IS NULL OR last_used_at <= ${p(3)})`
  }
}

async function find (query: Query, select: string, value: string): Promise<ApiKeyRecord | null> {
  // A text that can't be stored is no key's.
  if (!isStorable(value)) return null
  const [row] = await query(select, [value])
  return row === undefined ? null : toApiKeyRecord(row)
}

/** API keys in SQL. */
export function knexApiKeys (executor: Executor, names: Names, { recordApiKey }: EventWrites): ApiKeyStore {
  const { query, read, transaction, dialect } = executor
  const sql = apiKeySql(dialect, names)

  async function insert (on: Query, key: ApiKeyRecord): Promise<void> {
    const { id, name, scopes, start, digest, createdAt, expiresAt, revokedAt, lastUsedAt } = key
    const times = [createdAt, expiresAt, revokedAt, lastUsedAt]
    const rotation = [key.rotatedFrom, key.rotatedAt]
    const values = [id, name, scopes.join(' '), start, digest, ...times, ...rotation, key.lifetime]
    await on(sql.insert, values, { savepoint: true })
  }

  async function revoke (
    on: Query,
    id: string,
    revokedAt: string,
    event: NewEvent | null
  ): Promise<Revocation | null> {
    const [row] = await on(sql.revoke, [id, revokedAt], { waitsFor: id })
    if (row !== undefined) {
      const key = toApiKeyRecord(row)
      await recordApiKey(on, event, key)
      return { key, changed: true }
    }
    const key = await find(on, sql.findById, id)
    return key === null ? null : { key, changed: false }
  }

  async function revokeSuccessors (on: Query, id: string, revokedAt: string): Promise<ApiKeyRecord[]> {
    const revoked: ApiKeyRecord[] = []
    // A rotation that it has waited for may have added a key. What is revoked here stays locked, and is not rotated.
    while (true) {
      const rows = await on(sql.revokeSuccessors, [id, revokedAt])
      if (rows.length === 0) return revoked.toSorted((a, b) => a.id < b.id ? -1 : 1)
      revoked.push(...rows.map(toApiKeyRecord))
    }
  }

  /** @throws StorageError `last_admin_key` */
  async function requireAnother (
    on: Query,
    going: readonly ApiKeyRecord[],
    { keepOneWith }: RevokeOptions,
    [id, revokedAt]: [id: string, revokedAt: string]
  ): Promise<void> {
    if (keepOneWith.length === 0) return
    const scopes = keepOneWith.map((scope) => ` ${scope} `)
    const others = await on(sql.another(scopes.length), [id, revokedAt, ...scopes])
    requireAnotherKey(going, others.map(toApiKeyRecord), keepOneWith, revokedAt)
  }

  async function revokeAll (
    on: Query,
    id: string,
    revokedAt: string,
    options: RevokeOptions,
    event: NewEvent | null
  ): Promise<Revocation | null> {
    const before = await find(on, sql.findById, id)
    if (before === null) return null
    const revoked = await revokeSuccessors(on, id, revokedAt)
    await requireAnother(on, revoked.map((key) => ({ ...key, revokedAt: null })), options, [id, revokedAt])
    const all = revoked.map((key) => ({ key, event: key.id === id ? event : eventOfSuccessor(event) }))
    for (const each of all) await recordApiKey(on, each.event, each.key)
    const own = revoked.find((key) => key.id === id)
    const successors = all.filter(({ key }) => key.id !== id)
    return { key: own ?? before, changed: own !== undefined, successors }
  }

  return {
    async createApiKey (key, { onlyFirst }, event = null) {
      if (!onlyFirst && event === null) {
        await insert(query, key)
        return true
      }
      return transaction(async (on) => {
        if (onlyFirst && (await on(sql.anyKey)).length > 0) return false
        await insert(on, key)
        await recordApiKey(on, event, key)
        return true
      }, { exclusive: onlyFirst })
    },

    findApiKey: (id) => find(query, sql.findById, id),

    findApiKeyByStart: (start) => find(read, sql.findByStart, start),

    async listApiKeys (page: PageRequest) {
      const statement = pageStatement(dialect, names.apiKeys, API_KEY_COLUMNS, null, page)
      return toPage(await query(statement.sql, statement.params), API_KEY_COLUMNS, toApiKeyRecord)
    },

    rotateApiKey: (id, successor, { now, expiresAt }, event = null) => transaction(async (on) => {
      const [row] = isStorable(id) ? await on(sql.expire, [id, expiresAt, now]) : []
      if (row === undefined) {
        if (await find(on, sql.findById, id) === null) return null
        throw new StorageError('api_key_inactive', 'the key is not active')
      }
      await insert(on, successor)
      await recordApiKey(on, event, successor)
      return toApiKeyRecord(row)
    }, { waitsFor: id }),

    async revokeApiKey (id, revokedAt, options, event = null) {
      if (!isStorable(id)) return null
      // Exclusive: of two that meet in one chain, each could wait for the other.
      if (options.successors === true) {
        return transaction((on) => revokeAll(on, id, revokedAt, options, event), { exclusive: true })
      }
      if (options.keepOneWith.length === 0) {
        if (event === null) return revoke(query, id, revokedAt, null)
        return transaction((on) => revoke(on, id, revokedAt, event), { waitsFor: id })
      }
      // Exclusive: otherwise two that revoke each other's key would both see another one.
      return transaction(async (on) => {
        const key = await find(on, sql.findById, id)
        if (key === null) return null
        await requireAnother(on, [key], options, [id, revokedAt])
        return revoke(on, id, revokedAt, event)
      }, { exclusive: true })
    },

    async touchApiKey (id, usedAt, ifBefore) {
      if (isStorable(id)) await query(sql.touch, [id, usedAt, ifBefore], { waitsFor: id })
    }
  }
}
