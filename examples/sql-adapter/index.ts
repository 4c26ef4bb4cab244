// A skeleton for stores in SQL: right first. One lock for all writes makes every method atomic, and the rules are
// decided in JavaScript. Make it faster afterwards, a method at a time, with the conformance kit at hand: a unique
// constraint, or a condition in the statement that writes, takes the place of the lock.
import pg from 'pg'
import {
  type ApiKeyOutcome, type ApiKeyRecord, apiKeyRefusalOf, type ApiKeyWrite, changedKeys, type Idempotency, refusalOf,
  requireActive, requireAnotherKey, requireSameRequest, requireVersion, type Storage, StorageError, updateTypes,
  type UserRecord, type UserWrite, withSuccessors, type WriteOutcome
} from 'fastify-users/storage'
import {
  conditionOf, entriesOf, isRead, keyIn, keysIn, one, openDatabase, pageOf, pageOfEntries, type Query,
  type Row, SNAPSHOT, TABLES, translated, userIn
} from './database.ts'
import { putFields, putUser } from './user-rows.ts'

const READ_PART = 1000

export function sqlStore (config: pg.PoolConfig): Storage {
  const { transaction, read, write, close } = openDatabase(config)

  const findUser = (q: Query, id: string) => one(q, 'SELECT * FROM users WHERE id = $1', id)
  const findKey = async (q: Query, column: string, value: string) => {
    const row = await one(q, `SELECT record FROM api_keys WHERE ${column} = $1`, value)
    return row === null ? null : keyIn(row)
  }
  const addKey = (q: Query, key: ApiKeyRecord) =>
    q('INSERT INTO api_keys VALUES ($1, $2, $3)', key.id, key.start, JSON.stringify(key))
  const putKey = (q: Query, key: ApiKeyRecord) =>
    q('UPDATE api_keys SET record = $2 WHERE id = $1', key.id, JSON.stringify(key))

  /** The user of the first creation with the key, or null. */
  async function kept (q: Query, { key, now, ...request }: Idempotency): Promise<UserRecord | null> {
    const row = await one(q, 'SELECT * FROM requests WHERE key = $1 AND expires_at > $2', key, now)
    if (row === null) return null
    requireSameRequest(String(row['fingerprint']), { key, now, ...request })
    return userIn(row)
  }

  async function create (q: Query, { user, keys }: UserWrite & { type: 'create' }, idempotency: Idempotency | null) {
    if (idempotency !== null) {
      const { key, fingerprint, expiresAt } = idempotency
      await q('DELETE FROM requests WHERE key = $1', key)
      await q('INSERT INTO requests VALUES ($1, $2, $3, $4, $5)', key, fingerprint, expiresAt, user.id,
        JSON.stringify(user))
    }
    if (await findUser(q, user.id) !== null) throw new StorageError('fault', 'another user has the id')
    await putUser(q, user, keys)
    return user
  }

  async function update (q: Query, row: Row, write: UserWrite & { type: 'update' }): Promise<WriteOutcome> {
    const user = userIn(row)
    const changes = typeof write.changes === 'function' ? write.changes(user) : write.changes
    if ('refused' in changes) return { code: 'refused', reason: changes.refused }
    const { name, email, fields, status = user.status, statusReason = user.statusReason } = changes
    const values = {
      name: name?.value ?? user.name,
      email: email?.value ?? user.email,
      fields: fields ?? user.fields,
      status,
      statusReason
    }
    const isSame = values.name === user.name && values.email === user.email && status === user.status &&
      statusReason === user.statusReason && JSON.stringify(values.fields) === JSON.stringify(user.fields)
    if (isSame) return { code: 'done', changed: false, user }
    const updatedAt = write.updatedAt < user.updatedAt ? user.updatedAt : write.updatedAt
    const changed: UserRecord = { ...user, ...values, version: user.version + 1, updatedAt }
    await putUser(q, changed, changedKeys(keysIn(row), changes))
    const types = status === user.status ? {} : { types: updateTypes(user, changed) }
    return { code: 'done', changed: true, user: structuredClone(changed), ...types }
  }

  async function writeUser (q: Query, write: UserWrite, idempotency: Idempotency | null): Promise<WriteOutcome> {
    if (write.type === 'create') {
      return { code: 'done', changed: true, user: structuredClone(await create(q, write, idempotency)) }
    }
    const { id, guard } = write
    const row = await findUser(q, id)
    if (row === null) return { code: 'not_found' }
    requireVersion(guard, userIn(row))
    if (write.type === 'update') return update(q, row, write)
    for (const table of ['field_values', 'requests', 'users']) await q(`DELETE FROM ${table} WHERE id = $1`, id)
    return { code: 'done', changed: true, user: userIn(row) }
  }

  async function revoke (q: Query, asked: ApiKeyWrite & { type: 'revoke' }): Promise<ApiKeyOutcome> {
    const { id, revokedAt, keepOneWith, successors } = asked
    const all = (await q('SELECT record FROM api_keys')).map(keyIn)
    const key = all.find((each) => each.id === id)
    if (key === undefined) return { code: 'not_found' }
    const going = successors ? withSuccessors(key, all) : [key]
    requireAnotherKey(going, all, keepOneWith, revokedAt)
    const revoked = going.filter((each) => each.revokedAt === null).map((each) => ({ ...each, revokedAt }))
    for (const each of revoked) await putKey(q, each)
    const own = revoked.find((each) => each.id === id)
    const others = revoked.filter((each) => each.id !== id).map((each) => ({ key: each, event: null }))
    return {
      code: 'done', changed: own !== undefined, key: own ?? key, ...(successors && { successors: others })
    }
  }

  async function writeKey (q: Query, asked: ApiKeyWrite): Promise<ApiKeyOutcome> {
    if (asked.type === 'revoke') return revoke(q, asked)
    if (asked.type === 'create') {
      const isRefused = asked.onlyFirst && (await q('SELECT id FROM api_keys LIMIT 1')).length > 0
      if (!isRefused) await addKey(q, asked.key)
      return { code: 'done', changed: !isRefused, key: isRefused ? null : structuredClone(asked.key) }
    }
    const key = await findKey(q, 'id', asked.id)
    if (key === null) return { code: 'not_found' }
    if (asked.type === 'touch') {
      const changed = key.lastUsedAt === null || key.lastUsedAt <= asked.ifBefore
      if (changed) await putKey(q, { ...key, lastUsedAt: asked.usedAt })
      return { code: 'done', changed, key: null }
    }
    const { successor, now, expiresAt } = asked
    requireActive(key, now)
    await addKey(q, successor)
    const end = key.expiresAt === null || key.expiresAt > expiresAt ? expiresAt : key.expiresAt
    const old: ApiKeyRecord = { ...key, expiresAt: end, rotatedAt: now }
    await putKey(q, old)
    return { code: 'done', changed: true, key: old }
  }

  return {
    name: 'sql',
    // One write in a step: no batches. A savepoint around each write would make it several.
    singleWrites: true,
    close,

    check: ({ filterable = [], unique = [], searchable } = {}) => read(async (q) => {
      const [tables] = await q("SELECT to_regclass('api_keys') IS NOT NULL AS made")
      const searched = tables?.['made'] === true ? await q('SELECT field, is_unique FROM searched') : null
      const [words] = searched === null ? [] : await q('SELECT key FROM searched_words')
      const has = (name: string, isUnique: boolean) =>
        searched?.some((row) => row['field'] === name && (!isUnique || row['is_unique'] === true))
      const isReady = searched !== null && filterable.every((name) => has(name, false)) &&
        unique.every((name) => has(name, true)) && (searchable?.key ?? words?.['key']) === words?.['key']
      if (!isReady) throw new StorageError('schema_behind', 'call storage.migrate({ filterable, unique, searchable })')
    }),

    async migrate ({ filterable = [], unique = [], searchable } = {}) {
      // A step of its own: an index is made under a lock of its table, with which nobody may wait for the other lock.
      await transaction('BEGIN', async (q) => {
        // The table with the lock is not there yet.
        await q('SELECT pg_advisory_xact_lock(7241)')
        await q(TABLES)
      })
      await write(async (q) => {
        for (const field of [...filterable, ...unique]) {
          await q('INSERT INTO searched VALUES ($1, $2) ON CONFLICT (field) DO UPDATE ' +
            'SET is_unique = searched.is_unique OR $2', field, unique.includes(field))
          const searched = await q('SELECT field, is_unique FROM searched WHERE field = $1', field)
          for (const row of await q('SELECT record FROM users')) await putFields(q, userIn(row), searched)
        }
        if (searchable === undefined) return
        await q('DELETE FROM searched_words')
        await q('INSERT INTO searched_words VALUES ($1)', searchable.key)
        for (const row of await q('SELECT keys, record FROM users')) {
          const user = userIn(row)
          await putUser(q, user, { ...keysIn(row), fieldWords: searchable.wordsOf(user.fields) })
        }
      })
    },

    async writeUsers ([only, ...others], { idempotency }) {
      if (only === undefined || others.length > 0) throw new TypeError('this store makes one write in a step')
      // A refusal is thrown inside, so that the transaction takes back what was begun.
      return write(async (q) => {
        const user = idempotency === null ? null : await kept(q, idempotency)
        const outcome: WriteOutcome = user === null
          ? await writeUser(q, only, idempotency)
          : { code: 'done', changed: true, user }
        return { outcomes: [outcome], note: null, replayed: user !== null }
      }).catch((error: unknown) => ({ outcomes: [refusalOf(error)], note: null, replayed: false }))
    },

    findUser: (id) => read(async (q) => {
      const row = await findUser(q, id)
      return row === null ? null : userIn(row)
    }),

    listUsers: (filter, request) => read(async (q) => {
      if (request.sort === undefined && !isRead(filter)) {
        const { rows, total } = await pageOf(q, 'users', conditionOf(filter), request)
        return { items: rows.map(userIn), total }
      }
      const entries = await entriesOf(q, filter)
      return { items: pageOfEntries(entries, request), total: entries.length }
    }),

    async readUsers (filter, order, onPart, sort) {
      // A connection of its own, since the reader may be slow, and one snapshot until it ends.
      const client = new pg.Client(config)
      client.on('error', () => {})
      const { where, values } = conditionOf(filter)
      const query: Query = async (sql, ...given) => (await client.query<Row>(sql, given)
        .catch((error: unknown) => { throw translated(error) })).rows
      try {
        await client.connect().catch((error: unknown) => { throw translated(error) })
        await query(SNAPSHOT)
        if (sort !== undefined || isRead(filter)) {
          const all = { order, limit: Infinity, from: { offset: 0 } }
          const users = pageOfEntries(await entriesOf(query, filter), sort === undefined ? all : { ...all, sort })
          for (let start = 0; start < users.length; start += READ_PART) {
            await onPart(users.slice(start, start + READ_PART))
          }
          return
        }
        for (let rows = [], after = ''; ; after = String(rows.at(-1)?.['id'])) {
          const follows = after === '' ? 'true' : `id ${order === 'asc' ? '>' : '<'} $${values.length + 1}`
          rows = await query(`SELECT id, record FROM users WHERE ${where} AND ${follows} ORDER BY id ${order} ` +
            `LIMIT ${READ_PART}`, ...values, ...after === '' ? [] : [after])
          if (rows.length > 0) await onPart(rows.map(userIn))
          if (rows.length < READ_PART) return
        }
      } finally {
        await client.end()
      }
    },

    writeApiKey: (asked) => write((q) => writeKey(q, asked)).catch(apiKeyRefusalOf),

    findApiKey: (by) => read((q) => 'id' in by ? findKey(q, 'id', by.id) : findKey(q, 'start', by.start)),

    listApiKeys: (request) => read(async (q) => {
      const { rows, total } = await pageOf(q, 'api_keys', { where: 'true', values: [] }, request)
      return { items: rows.map(keyIn), total }
    }),

    prune: (now) => write(async (q) => { await q('DELETE FROM requests WHERE expires_at <= $1', now) })
  }
}
