import { StorageError } from '../../lib/errors.ts'
import { requireOther } from '../../lib/storage-rules.ts'
import type { ApiKeyRecord, PageRequest, Storage } from '../../lib/storage.ts'
import type { Names } from './names.ts'
import { pageStatement, toPage } from './pages.ts'
import { API_KEY_COLUMNS, listed, toApiKeyRecord } from './rows.ts'
import type { Run, Session } from './session.ts'

type ApiKeyStore = Pick<Storage, 'createApiKey' | 'findApiKey' | 'findApiKeyByStart' | 'listApiKeys' | 'rotateApiKey' | 'revokeApiKey' | 'touchApiKey'>

/** API keys in SQL. */
export function knexApiKeys ({ run, read, attempt, dialect, atomically, exclusively }: Session, { apiKeys }: Names): ApiKeyStore {
  const { p } = dialect
  const columns = listed(dialect, API_KEY_COLUMNS)
  const insert = `INSERT INTO ${apiKeys} (id, name, scopes, start, digest, created_at, expires_at, revoked_at, last_used_at, rotated_from, lifetime) ` +
    `VALUES (${p(1)}, ${p(2)}, ${p(3)}, ${p(4)}, ${p(5)}, ${p(6)}, ${p(7)}, ${p(8)}, ${p(9)}, ${p(10)}, ${p(11)})`
  const anyKey = `SELECT 1 AS found FROM ${apiKeys} LIMIT 1`
  const selectById = `SELECT ${columns} FROM ${apiKeys} WHERE id = ${p(1)}`
  const selectByStart = `SELECT ${columns} FROM ${apiKeys} WHERE start = ${p(1)}`
  const expire = `UPDATE ${apiKeys} SET expires_at = ${dialect.least(`coalesce(expires_at, ${p(2)})`, p(2))} ` +
    `WHERE id = ${p(1)} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${p(3)}) RETURNING ${columns}`
  const revoke = `UPDATE ${apiKeys} SET revoked_at = ${p(2)} WHERE id = ${p(1)} AND revoked_at IS NULL RETURNING ${columns}`
  const another = `SELECT ${columns} FROM ${apiKeys} WHERE id <> ${p(1)} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${p(2)}) ` +
    `AND ' ' || scopes || ' ' LIKE ${p(3)} LIMIT 1`
  const touch = `UPDATE ${apiKeys} SET last_used_at = ${p(2)} WHERE id = ${p(1)} AND (last_used_at IS NULL OR last_used_at <= ${p(3)})`

  async function add (on: Run, key: ApiKeyRecord): Promise<void> {
    const { id, name, scopes, start, digest, createdAt, expiresAt, revokedAt, lastUsedAt, rotatedFrom, lifetime } = key
    await on(insert, [id, name, scopes.join(' '), start, digest, createdAt, expiresAt, revokedAt, lastUsedAt, rotatedFrom, lifetime])
  }

  async function find (on: Run, select: string, value: string): Promise<ApiKeyRecord | null> {
    const [row] = await on(select, [value])
    return row === undefined ? null : toApiKeyRecord(row)
  }

  async function end (on: Run, id: string, revokedAt: string): Promise<{ key: ApiKeyRecord, changed: boolean } | null> {
    const [row] = await on(revoke, [id, revokedAt])
    if (row !== undefined) return { key: toApiKeyRecord(row), changed: true }
    const key = await find(on, selectById, id)
    return key === null ? null : { key, changed: false }
  }

  return {
    async createApiKey (key, { onlyFirst }) {
      if (!onlyFirst) {
        await add(attempt, key)
        return true
      }
      return exclusively(async (on) => {
        if ((await on(anyKey)).length > 0) return false
        await add(on, key)
        return true
      })
    },

    findApiKey: (id) => find(run, selectById, id),

    findApiKeyByStart: (start) => find(read, selectByStart, start),

    async listApiKeys (page: PageRequest) {
      const { sql, params } = pageStatement(dialect, apiKeys, API_KEY_COLUMNS, null, page)
      return toPage(await run(sql, params), API_KEY_COLUMNS, toApiKeyRecord)
    },

    rotateApiKey: (id, successor, { now, expiresAt }) => atomically(async (on) => {
      const [row] = await on(expire, [id, expiresAt, now])
      if (row === undefined) {
        if (await find(on, selectById, id) === null) return null
        throw new StorageError('api_key_inactive', 'the key is not active')
      }
      await add(on, successor)
      return toApiKeyRecord(row)
    }),

    revokeApiKey: (id, revokedAt, { keepOneWith }) => keepOneWith === null
      ? end(run, id, revokedAt)
      // Apart from the others: each of two that end each other's key would still see both.
      : exclusively(async (on) => {
        const key = await find(on, selectById, id)
        if (key === null) return null
        requireOther(key, (await on(another, [id, revokedAt, `% ${keepOneWith} %`])).map(toApiKeyRecord), keepOneWith, revokedAt)
        return end(on, id, revokedAt)
      }),

    async touchApiKey (id, usedAt, ifBefore) {
      await run(touch, [id, usedAt, ifBefore])
    }
  }
}
