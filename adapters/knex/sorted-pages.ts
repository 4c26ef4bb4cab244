import type { Page, SortedPageRequest, UserPlace, UserRecord, UserSort } from '../../lib/storage/storage.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Statement } from './drivers/driver.ts'
import { createValues, whereOf } from './pages.ts'
import type { Condition } from './dialects/value-sql.ts'
import { fieldValue, placed } from './schema/field-indexes.ts'
import { type Column, USER_COLUMNS } from './tables/columns.ts'
import { type Row, toUser, unpacked } from './tables/rows.ts'

/** What users are ordered by before their ids. */
interface SortSql {
  keys: readonly string[]
  /** What is NULL of users without a value; null: every user has one. */
  lacking: string | null
  /** The keys of a value. */
  placed (value: NonNullable<UserPlace['value']>): Condition[]
}

const COLUMNS = { nameKey: 'name_key', emailKey: 'email_key', updatedAt: 'updated_at' } as const

function sortSql (dialect: Dialect, sort: UserSort): SortSql {
  if (typeof sort === 'string') {
    return { keys: [COLUMNS[sort]], lacking: null, placed: (value) => [{ sql: '?', values: [String(value)] }] }
  }
  const { number, text } = fieldValue(dialect, sort.field)
  return {
    keys: [number, text],
    lacking: number,
    placed (value) {
      const place = placed(dialect, value)
      return [place.number, place.text]
    }
  }
}

type Order = SortedPageRequest['order']

/** The end of a query: what users are ordered by. `of`: the name of what has the columns, with a point. */
function orderBy (keys: readonly string[], order: Order, of = ''): string {
  return ` ORDER BY ${[...keys, 'id'].map((key) => `${of}${key} ${order === 'asc' ? 'ASC' : 'DESC'}`).join(', ')}`
}

const follows = (order: Order): '>' | '<' => order === 'asc' ? '>' : '<'
const some = (...conditions: Array<Condition | null>): Condition[] => conditions.filter((each) => each !== null)

/** The condition of users behind a place, by columns that an index begins with. */
function behind (keys: readonly string[], places: readonly Condition[], order: Order): Condition {
  const sql = `(${keys.join(', ')}) ${follows(order)} (${places.map(({ sql }) => sql).join(', ')})`
  return { sql, values: places.flatMap(({ values }) => values) }
}

function compared (key: string, comparison: string, { sql, values }: Condition): Condition {
  return { sql: `${key} ${comparison} ${sql}`, values }
}

/** Users behind a place that are one part of an index, and what they are ordered by. */
interface Part { condition: Condition, keys: readonly string[] }

/**
 * The parts that are behind a place. SQLite compares several expressions with
 * a place only by reading all that comes before: so those of the same number, and those of others, are found apart.
 */
function partsBehind ({ keys, placed }: SortSql, { value, id }: UserPlace, order: Order): Part[] {
  if (value === null) return []
  const [first, ...others] = placed(value)
  const [key = '', ...rest] = keys
  const at = { sql: '?', values: [id] }
  const [second] = others
  if (first === undefined || second === undefined) {
    return [{ condition: behind([...keys, 'id'], some(first ?? null, at), order), keys }]
  }
  const same = [
    compared(key, '=', first),
    compared(String(rest[0]), `${follows(order)}=`, second),
    behind([...rest, 'id'], [second, at], order)
  ]
  const all = { sql: same.map(({ sql }) => sql).join(' AND '), values: same.flatMap(({ values }) => values) }
  return [{ condition: all, keys: rest }, { condition: compared(key, follows(order), first), keys }]
}

type Values = ReturnType<typeof createValues>

/** What a walk reads. `size`: how many, as SQL; `first`: the first so many of a query. */
interface Walk {
  table: string
  condition: Condition | null
  order: Order
  size: string
  first (query: string): string
}

/** The query of users that have a value, in order, behind a place or from the beginning. */
function valued (
  values: Values, sql: SortSql, { table, condition, order, size, first: firstOf }: Walk, place: UserPlace | null
): string {
  const has = sql.lacking === null ? null : { sql: `${sql.lacking} IS NOT NULL`, values: [] }
  const end = orderBy(sql.keys, order)
  const select = (part: Condition | null, keys = sql.keys) => firstOf(
    `SELECT * FROM ${table}${whereOf(some(condition, has, part).map(values.numbered))}${orderBy(keys, order)}`)
  if (place === null) return select(null)
  const [first, ...others] = partsBehind(sql, place, order).map((part) => select(part.condition, part.keys))
  if (others.length === 0) return String(first)
  const parts = [first, ...others].map((part, i) => `SELECT * FROM (${part}) AS part${i}`).join(' UNION ALL ')
  return `SELECT * FROM (${parts}) AS parts${end} LIMIT ${size}`
}

/** The query of those that have none, in the order of their ids and behind one of them; null: from the first. */
function unvalued (
  values: Values, lacking: SortSql, { table, condition, order, size }: Walk, id: string | null, offset: string
): string {
  // All have the second expression: with it, the index has them in the order of ids.
  const [number, text] = lacking.keys
  const none = { sql: `${number} IS NULL AND ${text} = ''`, values: [] }
  const from = id === null ? null : { sql: `id ${follows(order)} ?`, values: [id] }
  return `SELECT * FROM ${table}${whereOf(some(condition, none, from).map(values.numbered))}${orderBy([], order)} ` +
    `LIMIT ${size} OFFSET ${offset}`
}

/**
 * What a page in an order is made of. `counted`: a statement that counts all users; null: those that match are.
 * `isSearch`: the index of words finds those that match.
 */
interface SortedList {
  condition: Condition | null
  page: SortedPageRequest
  counted: Statement | null
  isSearch: boolean
}

/** The same order by the columns `key_0` and `key_1` of what a search has found. */
function inColumns ({ keys, lacking, placed }: SortSql): SortSql {
  const named = keys.map((_, i) => `key_${i}`)
  return { keys: named, lacking: named[keys.findIndex((key) => key === lacking)] ?? null, placed }
}

/**
 * The statement that reads a page in an order, and the number of all matches. Users without a value are read apart, as
 * `rest`: so both directions walk the same index, and they are last in both. A search is asked once, for ids and what
 * they are ordered by: a planner that does not know how few have a word would look for them along the index of the
 * order, which takes seconds among a million users.
 */
export function sortedStatement (
  dialect: Dialect,
  table: string,
  { condition, page: { order, limit, from, sort }, counted, isSearch }: SortedList
): Statement {
  const values = createValues(dialect, [...counted?.params ?? []])
  const given = sortSql(dialect, sort)
  const sql = isSearch ? inColumns(given) : given
  const place = 'behind' in from ? from.behind : null
  const offset = 'offset' in from ? from.offset : 0
  const part = values.part(limit, offset, condition === null)
  const { size, skip } = part
  const source = isSearch ? { table: 'found', condition: null } : { table, condition }
  const walk: Walk = { ...source, order, size, first: part.of }
  const queries = counted === null ? [] : [`counted AS MATERIALIZED (${counted.sql})`]
  if (isSearch && condition !== null) {
    const columns = given.keys.map((key, i) => `${key} AS key_${i}`)
    queries.push(`found AS MATERIALIZED (SELECT id, ${columns.join(', ')} FROM ${table} ` +
      `WHERE ${values.numbered(condition)})`)
  }
  const count = (...conditions: Array<Condition | null>) =>
    `(SELECT count(*) FROM ${source.table}${whereOf(some(source.condition, ...conditions).map(values.numbered))})`
  const totals = counted === null
    ? `${count()} AS total`
    : '(SELECT counted + tail FROM counted) AS total, (SELECT tail FROM counted) AS tail, ' +
      '(SELECT changes FROM counted) AS changes'
  const whole = (query: string, keys: readonly string[]) => isSearch
    ? `SELECT u.* FROM (${query}) AS placed JOIN ${table} AS u ON u.id = placed.id${orderBy(keys, order, 'placed.')}`
    : query
  const packed = (query: string, keys = sql.keys) => dialect.packed(USER_COLUMNS, whole(query, keys))
  const answer = (columns: string): Statement => ({
    sql: `${queries.length === 0 ? '' : `WITH ${queries.join(', ')} `}SELECT ${totals}, ${columns}`,
    params: values.params
  })
  if (place?.value === null) return answer(`${packed(unvalued(values, sql, walk, place.id, '0'), [])} AS items`)
  const rows = valued(values, sql, walk, place)
  if (sql.lacking === null) return answer(`${packed(rows)} AS items`)
  queries.push(`valued AS MATERIALIZED (${rows})`)
  const here = '(SELECT count(*) FROM valued)'
  // Only behind the last page of those with a value some of the others are skipped.
  const before = () => count({ sql: `${sql.lacking} IS NOT NULL`, values: [] })
  const skipped = offset === 0 ? '0' : `CASE WHEN ${here} > 0 THEN 0 ELSE ${skip} - ${before()} END`
  const rest = unvalued(values, sql, { ...walk, size: `${size} - ${here}` }, null, skipped)
  return answer(`${packed(`SELECT * FROM valued${orderBy(sql.keys, order)}`)} AS items, ${packed(rest, [])} AS rest`)
}

/** Reads the result of such a statement. */
export function toSortedPage ([row]: Row[]): Page<UserRecord> {
  const lists = [row?.['items'], row?.['rest']].filter((each) => each !== undefined)
  const items = lists.flatMap((each) => unpacked(USER_COLUMNS, each))
  return { items: items.map(toUser), total: Number(row?.['total']) }
}

const KEY_COLUMNS: readonly Column[] = [
  { name: 'nameKey', column: 'name_key', kind: 'plain' }, { name: 'emailKey', column: 'email_key', kind: 'plain' }
]

/** Where a part of a walk in an order begins; `id: null` with `value: null`: at the first user without a value. */
export interface SortedStart { value: UserPlace['value'], id: string | null }

/** The statement that reads a part of a walk in an order. The users of a part have all a value, or none has. */
export function sortedPart (
  dialect: Dialect,
  table: string,
  condition: Condition | null,
  { sort, order, limit, start }: { sort: UserSort, order: Order, limit: number, start: SortedStart | null }
): Statement {
  const values = createValues(dialect)
  const sql = sortSql(dialect, sort)
  const { size, of: first } = values.part(limit, 0, false)
  const walk: Walk = { table, condition, order, size, first }
  const isRest = start !== null && start.value === null
  const rows = isRest
    ? unvalued(values, sql, walk, start.id, '0')
    : valued(values, sql, walk, start === null ? null : { value: start.value, id: String(start.id) })
  const columns = dialect.select([...USER_COLUMNS, ...KEY_COLUMNS])
  const end = orderBy(isRest ? [] : sql.keys, order)
  return { sql: `SELECT ${columns} FROM (${rows}) AS walked${end}`, params: values.params }
}
