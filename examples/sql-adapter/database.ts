import pg from 'pg'
import {
  type ApiKeyRecord, meets, type PageRequest, sortedPage, StorageError, type UserFilter, type UserKeys,
  type UserPageRequest, type UserRecord
} from 'fastify-users/storage'

export type Row = Record<string, unknown>
export type Query = (sql: string, ...values: unknown[]) => Promise<Row[]>

// Records are JSON text, which keeps every text and the order of members. What is searched has columns of its own,
// which are compared byte by byte.
export const TABLES = `
  CREATE TABLE IF NOT EXISTS lock (one integer PRIMARY KEY);
  INSERT INTO lock VALUES (1) ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS users (id text COLLATE "C" PRIMARY KEY, email_key text COLLATE "C" NOT NULL UNIQUE,
    keys text NOT NULL, words text[] COLLATE "C" NOT NULL, record text NOT NULL, status text NOT NULL);
  CREATE TABLE IF NOT EXISTS searched (field text PRIMARY KEY, is_unique boolean NOT NULL);
  CREATE TABLE IF NOT EXISTS searched_words (key text PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS field_values (field text, value text COLLATE "C", id text COLLATE "C",
    PRIMARY KEY (field, value, id));
  CREATE TABLE IF NOT EXISTS requests (key text PRIMARY KEY, fingerprint text NOT NULL, expires_at text COLLATE "C"
    NOT NULL, id text NOT NULL, record text NOT NULL);
  CREATE TABLE IF NOT EXISTS api_keys (id text COLLATE "C" PRIMARY KEY, start text COLLATE "C" NOT NULL UNIQUE,
    record text NOT NULL);`
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** True of what the database can keep unchanged. */
export const isText = (value: unknown): boolean =>
  typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))
export const userIn = (row: Row): UserRecord => JSON.parse(String(row['record']))
export const keysIn = (row: Row): UserKeys => JSON.parse(String(row['keys']))
export const keyIn = (row: Row): ApiKeyRecord => JSON.parse(String(row['record']))

/** What a driver says, without its text, which may hold values. Class 08, 53 and 57: the server can't be reached. */
export function translated (error: unknown): unknown {
  if (error instanceof StorageError || error instanceof TypeError) return error
  const code = String(Object(error).code)
  const isFault = /^(?!08|53|57)[0-9A-Z]{5}$/.test(code) && !code.startsWith('E')
  return isFault
    ? new StorageError('fault', 'the database refused a statement', { driverCode: code })
    : new StorageError('unavailable', 'the database does not answer', { driverCode: code })
}

/** A condition with its values. */
export interface Condition { where: string, values: unknown[] }

/** The condition of a filter. A text that can't be stored is found nowhere. */
export function conditionOf ({ emailKey, words, fields, status }: UserFilter): Condition {
  const values: unknown[] = []
  const p = (value: unknown) => `$${values.push(value)}`
  const parts = ['true']
  if (![emailKey, ...words?.flat() ?? []].every(isText)) parts.push('false')
  else {
    if (emailKey !== null) parts.push(`email_key = ${p(emailKey)}`)
    const has = (word: string) => `EXISTS (SELECT FROM unnest(words) AS w WHERE starts_with(w, ${p(word)}))`
    if (words !== null) parts.push(`(${words.map((list) => `(${list.map(has).join(' AND ')})`).join(' OR ')})`)
  }
  if (status !== undefined) parts.push(`status = ${p(status)}`)
  for (const [field, value] of Object.entries(fields)) {
    const isIt = `field = ${p(field)} AND value = ${p(JSON.stringify(value))}`
    parts.push(`id IN (SELECT id FROM field_values WHERE ${isIt})`)
  }
  return { where: parts.join(' AND '), values }
}

/** The connections of a store, and its two kinds of transactions. */
export function openDatabase (config: pg.PoolConfig) {
  const pool = new pg.Pool(config)
  // Lost while idle: the pool opens another one.
  pool.on('error', () => {})
  let closed: Promise<void> | undefined

  async function transaction<Result> (begin: string, work: (q: Query) => Promise<Result>): Promise<Result> {
    const client = await pool.connect().catch((error: unknown) => { throw translated(error) })
    const q: Query = async (sql, ...values) => (await client.query<Row>(sql, values)).rows
    try {
      await q(begin)
      const result = await work(q)
      await q('COMMIT')
      client.release()
      return result
    } catch (error) {
      await q('ROLLBACK').then(() => client.release(), () => client.release(true))
      throw translated(error)
    }
  }

  return {
    transaction,
    /** Reads one snapshot. */
    read: <Result>(work: (q: Query) => Promise<Result>) => transaction(SNAPSHOT, work),
    /** Writes under the one lock: nothing comes between the reads and the writes of `work`. */
    write: <Result>(work: (q: Query) => Promise<Result>) => transaction('BEGIN', async (q) => {
      await q('SELECT one FROM lock FOR UPDATE')
      return work(q)
    }),
    close: (): Promise<void> => (closed ??= pool.end())
  }
}

/** The first row, or null; a text that can't be stored is found nowhere. */
export async function one (q: Query, sql: string, ...values: unknown[]): Promise<Row | null> {
  return values.every(isText) ? (await q(sql, ...values))[0] ?? null : null
}

/** The records of a page, and the number of all matches. */
export async function pageOf (
  q: Query,
  table: string,
  { where, values }: Condition,
  { order, limit, from }: PageRequest
): Promise<{ rows: Row[], total: number }> {
  const [counted] = await q(`SELECT count(*) AS total FROM ${table} WHERE ${where}`, ...values)
  const total = Number(counted?.['total'])
  const after = 'after' in from ? from.after : null
  if (!isText(after)) return { rows: [], total }
  const follows = after === null ? 'true' : `id ${order === 'asc' ? '>' : '<'} $${values.push(after)}`
  const rows = await q(`SELECT record FROM ${table} WHERE ${where} AND ${follows} ORDER BY id ${order} ` +
    `LIMIT ${limit} OFFSET ${'offset' in from ? from.offset : 0}`, ...values)
  return { rows, total }
}

/** A user with its keys. */
interface Entry { user: UserRecord, keys: UserKeys }

/** True if a filter has conditions that are decided in JavaScript: every user is read. */
export const isRead = ({ ids, emailKeys, anyOf, exists, ranges }: UserFilter): boolean =>
  [ids, emailKeys, anyOf, exists, ranges].some((each) => each !== undefined)

/** Everybody who matches, in the order of ids. */
export async function entriesOf (q: Query, filter: UserFilter): Promise<Entry[]> {
  const { where, values } = conditionOf(filter)
  const rows = await q(`SELECT record, keys FROM users WHERE ${where} ORDER BY id`, ...values)
  return rows.map((row): Entry => ({ user: userIn(row), keys: keysIn(row) })).filter(({ user }) => meets(user, filter))
}

/** A page of all that match. */
export function pageOfEntries (entries: readonly Entry[], page: UserPageRequest): UserRecord[] {
  if (page.sort !== undefined) return sortedPage(entries, page).map(({ user }) => user)
  const { order, limit, from } = page
  const users = entries.map(({ user }) => user)
  if (order === 'desc') users.reverse()
  if ('offset' in from) return users.slice(from.offset, from.offset + limit)
  return users.filter(({ id }) => order === 'asc' ? id > from.after : id < from.after).slice(0, limit)
}
