import { eventOfSuccessor } from '../../lib/storage/recorded-events.ts'
import { apiKeyRefusalOf, requireAnotherKey } from '../../lib/storage/storage-rules.ts'
import type {
  ApiKeyOutcome, ApiKeyRecord, ApiKeyWrite, ApiKeyWritten, Storage
} from '../../lib/storage/storage.ts'
import { isStorable } from '../../lib/core/text.ts'
import type { Executor, Query } from './connection/executor.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { EventWrites } from './events/event-writes.ts'
import { ofTenant, pageStatement, toPage } from './pages.ts'
import { API_KEY_COLUMNS } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { toApiKeyRecord } from './tables/rows.ts'

type ApiKeyStore = Pick<Storage, 'writeApiKey' | 'findApiKey' | 'listApiKeys'>

type Revocation = ApiKeyWrite & { type: 'revoke' }

const notFound = (): ApiKeyOutcome => ({ code: 'not_found' })

const INSERTED = [
  'id', 'name', 'scopes', 'start', 'digest', 'created_at', 'expires_at', 'revoked_at', 'last_used_at', 'rotated_from',
  'rotated_at', 'lifetime', 'tenant', 'owner', 'addresses', 'rate_limit_max', 'rate_limit_window'
]

/** The statements of API keys. */
function apiKeySql ({ p, select, least, contains, returning }: Dialect, { apiKeys }: Names) {
  const columns = select(API_KEY_COLUMNS)
  const isActiveAt = (n: number) => `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${p(n)})`
  return {
    insert: `INSERT INTO ${apiKeys} (${INSERTED.join(', ')}) VALUES (${INSERTED.map((_, i) => p(i + 1)).join(', ')})`,
    anyKey: `SELECT 1 AS found FROM ${apiKeys} LIMIT 1`,
    anyKeyOf: `SELECT 1 AS found FROM ${apiKeys} WHERE tenant = ${p(1)} LIMIT 1`,
    findById: `SELECT ${columns} FROM ${apiKeys} WHERE id = ${p(1)}`,
    findByStart: `SELECT ${columns} FROM ${apiKeys} WHERE start = ${p(1)}`,
    /** 1: id, 2: expiry, 3: now. */
    expire: returning(`UPDATE ${apiKeys} SET rotated_at = ${p(3)}, ` +
      `expires_at = ${least(`coalesce(expires_at, ${p(2)})`, p(2))} ` +
      `WHERE id = ${p(1)} AND ${isActiveAt(3)} AND (rotated_at IS NULL OR expires_at > rotated_at)`, columns),
    /** 1: id, 2: now. */
    revoke: returning(`UPDATE ${apiKeys} SET revoked_at = ${p(2)} WHERE id = ${p(1)} AND revoked_at IS NULL`, columns),
    /** The key and its successors that are not revoked. 1: id, 2: now. */
    revokeSuccessors: returning(`UPDATE ${apiKeys} SET revoked_at = ${p(2)} WHERE revoked_at IS NULL AND id IN (` +
      `WITH RECURSIVE chain AS (SELECT id FROM ${apiKeys} WHERE id = ${p(1)} UNION ` +
      `SELECT k.id FROM ${apiKeys} AS k JOIN chain ON k.rotated_from = chain.id) SELECT id FROM chain)`, columns),
    /** Another active key with so many scopes. 1: id, 2: now, from 3 on: each scope between spaces. */
    another: (count: number) => `SELECT ${columns} FROM ${apiKeys} WHERE id <> ${p(1)} AND ${isActiveAt(2)} ` +
      `AND tenant = (SELECT tenant FROM ${apiKeys} WHERE id = ${p(1)})` +
      Array.from({ length: count }, (_, i) => ` AND ${contains("' ' || scopes || ' '", p(3 + i))}`).join('') +
      ' LIMIT 1',
    /** 1: id, 2: time of use, 3: latest time that it replaces. */
    touch: `UPDATE ${apiKeys} SET last_used_at = ${p(2)} ` +
      `WHERE id = ${p(1)} AND (last_used_at IS NULL OR last_used_at <= ${p(3)}) RETURNING 1 AS touched`
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
    const { id, name, scopes, start, digest, createdAt, expiresAt, revokedAt, lastUsedAt, rateLimit } = key
    const times = [createdAt, expiresAt, revokedAt, lastUsedAt]
    const rotation = [key.rotatedFrom, key.rotatedAt]
    const bounds = [key.owner, key.addresses?.join(' '), rateLimit?.max, rateLimit?.window].map((each) => each ?? null)
    const values = [
      id, name, scopes.join(' '), start, digest, ...times, ...rotation, key.lifetime, key.tenant ?? '', ...bounds
    ]
    await on(sql.insert, values, { savepoint: true })
  }

  /** Revokes a key alone. */
  async function revokeOne (on: Query, { id, revokedAt, event }: Revocation): Promise<ApiKeyOutcome> {
    const [row] = await on(sql.revoke, [id, revokedAt], { waitsFor: id })
    if (row !== undefined) {
      const key = toApiKeyRecord(row)
      await recordApiKey(on, event, key)
      return { code: 'done', key, changed: true }
    }
    const key = await find(on, sql.findById, id)
    return key === null ? notFound() : { code: 'done', key, changed: false }
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
    { id, revokedAt, keepOneWith }: Revocation
  ): Promise<void> {
    if (keepOneWith.length === 0) return
    const scopes = keepOneWith.map((scope) => ` ${scope} `)
    const others = await on(sql.another(scopes.length), [id, revokedAt, ...scopes])
    requireAnotherKey(going, others.map(toApiKeyRecord), keepOneWith, revokedAt)
  }

  async function revokeAll (on: Query, asked: Revocation): Promise<ApiKeyOutcome> {
    const { id, revokedAt, event } = asked
    const before = await find(on, sql.findById, id)
    if (before === null) return notFound()
    const revoked = await revokeSuccessors(on, id, revokedAt)
    await requireAnother(on, revoked.map((key) => ({ ...key, revokedAt: null })), asked)
    const all = revoked.map((key) => ({ key, event: key.id === id ? event : eventOfSuccessor(event) }))
    for (const each of all) await recordApiKey(on, each.event, each.key)
    const own = revoked.find((key) => key.id === id)
    const successors = all.filter(({ key }) => key.id !== id)
    return { code: 'done', key: own ?? before, changed: own !== undefined, successors }
  }

  async function create ({ key, onlyFirst, event }: ApiKeyWrite & { type: 'create' }): Promise<ApiKeyOutcome> {
    const added: ApiKeyWritten = { code: 'done', changed: true, key }
    if (!onlyFirst && event === null) {
      await insert(query, key)
      return added
    }
    return transaction(async (on) => {
      const { tenant } = key
      const others = !onlyFirst ? [] : await (tenant === undefined ? on(sql.anyKey) : on(sql.anyKeyOf, [tenant]))
      if (others.length > 0) return { ...added, changed: false, key: null }
      await insert(on, key)
      await recordApiKey(on, event, key)
      return added
    }, { exclusive: onlyFirst })
  }

  function rotate (asked: ApiKeyWrite & { type: 'rotate' }): Promise<ApiKeyOutcome> {
    const { id, successor, now, expiresAt, event } = asked
    return transaction(async (on): Promise<ApiKeyOutcome> => {
      const [row] = await on(sql.expire, [id, expiresAt, now])
      if (row === undefined) {
        return await find(on, sql.findById, id) === null ? notFound() : { code: 'api_key_inactive' }
      }
      await insert(on, successor)
      await recordApiKey(on, event, successor)
      return { code: 'done', changed: true, key: toApiKeyRecord(row) }
    }, { waitsFor: id })
  }

  async function revoke (asked: Revocation): Promise<ApiKeyOutcome> {
    const { id, keepOneWith, successors, event } = asked
    // Exclusive: of two that meet in one chain, each could wait for the other.
    if (successors) return transaction((on) => revokeAll(on, asked), { exclusive: true })
    if (keepOneWith.length === 0) {
      if (event === null) return revokeOne(query, asked)
      return transaction((on) => revokeOne(on, asked), { waitsFor: id })
    }
    // Exclusive: otherwise two that revoke each other's key would both see another one.
    return transaction(async (on) => {
      const key = await find(on, sql.findById, id)
      if (key === null) return notFound()
      await requireAnother(on, [key], asked)
      return revokeOne(on, asked)
    }, { exclusive: true })
  }

  async function touch ({ id, usedAt, ifBefore }: ApiKeyWrite & { type: 'touch' }): Promise<ApiKeyOutcome> {
    const [row] = await query(sql.touch, [id, usedAt, ifBefore], { waitsFor: id })
    return { code: 'done', changed: row !== undefined, key: null }
  }

  async function write (asked: ApiKeyWrite): Promise<ApiKeyOutcome> {
    if (asked.type === 'create') return create(asked)
    if (!isStorable(asked.id)) return notFound()
    switch (asked.type) {
      case 'rotate': return rotate(asked)
      case 'revoke': return revoke(asked)
      case 'touch': return touch(asked)
    }
  }

  return {
    writeApiKey: (asked) => write(asked).catch(apiKeyRefusalOf),

    findApiKey: (by) => 'id' in by ? find(query, sql.findById, by.id) : find(read, sql.findByStart, by.start),

    async listApiKeys (page) {
      const statement = pageStatement(dialect, names.apiKeys, API_KEY_COLUMNS, ofTenant(page), page)
      return toPage(await query(statement.sql, statement.params), API_KEY_COLUMNS, toApiKeyRecord)
    }
  }
}
