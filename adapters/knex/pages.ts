import type { Page, PageRequest, TenantPageRequest } from '../../lib/storage/storage.ts'
import { type Dialect, FIRST_ROWS_MAX } from './dialects/dialect.ts'
import type { Param, Statement } from './drivers/driver.ts'
import type { Condition } from './dialects/value-sql.ts'
import type { Column } from './tables/columns.ts'
import type { Names } from './tables/names.ts'
import { type Row, unpacked } from './tables/rows.ts'

/** The condition of a page of what one tenant has; null: of everything. */
export function ofTenant ({ tenant }: Pick<TenantPageRequest, 'tenant'>): Condition | null {
  // The second part lets the planner use the partial indexes.
  return tenant === undefined ? null : { sql: "tenant = ? AND tenant <> ''", values: [tenant] }
}

/** The condition of the members of a group. */
export function ofGroup ({ memberships }: Names, group: string): Condition {
  return { sql: `id IN (SELECT member FROM ${memberships} WHERE group_id = ?)`, values: [group] }
}

/** An order in SQL, and the comparison of an id with one that precedes it. */
function directionOf (order: PageRequest['order']): [direction: string, follows: string] {
  return order === 'asc' ? ['ASC', '>'] : ['DESC', '<']
}

/** The values of a statement, as its text is built. `params`: those of a part that comes before. */
export function createValues (dialect: Dialect, params: Param[] = []) {
  return {
    params,
    /** A condition with the placeholders of the statement. */
    numbered ({ sql, values }: Condition): string {
      let n = params.length
      params.push(...values)
      return sql.replaceAll('?', () => dialect.p(++n))
    },
    limit: (value: number) => dialect.limit(params.push(value)),
    /**
     * What takes `limit` rows of a query behind the first `offset`. `isKept`: PostgreSQL may keep the plan.
     */
    part (limit: number, offset: number, isKept: boolean) {
      const at = params.push(limit)
      const size = dialect.limit(at)
      const skip = offset === 0 ? '0' : dialect.limit(params.push(offset))
      const isFirst = isKept && offset === 0 && limit <= FIRST_ROWS_MAX
      const of = (query: string): string =>
        isFirst ? dialect.firstRows(query, at) : `${query} LIMIT ${size}${offset === 0 ? '' : ` OFFSET ${skip}`}`
      return { size, skip, of }
    }
  }
}

export function whereOf (conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
}

/** The statement that reads a page and the number of all matches: one statement is one snapshot. */
export function pageStatement (
  dialect: Dialect,
  table: string,
  columns: readonly Column[],
  condition: Condition | null,
  { order, limit, from }: PageRequest
): Statement {
  const { params, numbered, limit: placed } = createValues(dialect)
  const countWhere = whereOf(condition === null ? [] : [numbered(condition)])
  const conditions = condition === null ? [] : [numbered(condition)]
  const [direction, follows] = directionOf(order)
  if ('after' in from) conditions.push(numbered({ sql: `id ${follows} ?`, values: [from.after] }))
  const pageWhere = whereOf(conditions)
  const limitValue = placed(limit)
  const offsetValue = placed('offset' in from ? from.offset : 0)
  const rows = `SELECT * FROM ${table}${pageWhere} ORDER BY id ${direction} LIMIT ${limitValue} OFFSET ${offsetValue}`
  const total = `(SELECT count(*) FROM ${table}${countWhere})`
  return { sql: `SELECT ${total} AS total, ${dialect.packed(columns, rows)} AS items`, params }
}

/** The statement that reads a page of the members of a group: it looks up the users of the page alone. */
export function membersStatement (
  dialect: Dialect, { users, userGroups, memberships }: Names, columns: readonly Column[], group: string,
  { order, limit, from }: PageRequest
): Statement {
  const { params, numbered, limit: placed } = createValues(dialect)
  const [direction, follows] = directionOf(order)
  const total = `(SELECT members FROM ${userGroups} WHERE ${numbered({ sql: 'id = ?', values: [group] })})`
  const conditions = [{ sql: 'group_id = ?', values: [group] }]
  if ('after' in from) conditions.push({ sql: `member ${follows} ?`, values: [from.after] })
  const page = `SELECT member FROM ${memberships}${whereOf(conditions.map(numbered))} ORDER BY member ${direction} ` +
    `LIMIT ${placed(limit)} OFFSET ${placed('offset' in from ? from.offset : 0)}`
  const rows = `SELECT u.* FROM (${page}) AS m JOIN ${users} AS u ON u.id = m.member ORDER BY u.id ${direction}`
  return { sql: `SELECT coalesce(${total}, 0) AS total, ${dialect.packed(columns, rows)} AS items`, params }
}

/** Which part of a walk by key: at most `limit` rows behind an id, or from the beginning. */
export interface PartRequest {
  order: PageRequest['order']
  limit: number
  after: string | null
}

/** The statement that reads a part of a walk by key. */
export function partStatement (
  dialect: Dialect,
  table: string,
  columns: readonly Column[],
  condition: Condition | null,
  { order, limit, after }: PartRequest
): Statement {
  const { params, numbered, limit: placed } = createValues(dialect)
  const [direction, follows] = directionOf(order)
  const behind = after === null ? [] : [{ sql: `id ${follows} ?`, values: [after] }]
  const where = whereOf([...condition === null ? [] : [condition], ...behind].map(numbered))
  const sql = `SELECT ${dialect.select(columns)} FROM ${table}${where} ORDER BY id ${direction} LIMIT ${placed(limit)}`
  return { sql, params }
}

/** A search sorts up to so many users. If it finds more, it first looks for those of the page in the order of ids. */
export const SORTED_MAX = 2000
// Among so many users.
const WALKED_MAX = 5000
const ALL = Number.MAX_SAFE_INTEGER

/**
 * The statement that reads a page of a search by words, and the number of all matches. `found`: the condition by the
 * index. `walked`: the same without it, for a search that finds many: in the order of the list, the first of them are
 * soon read, unless all of them are far behind. `numbers`: a query of their numbers alone, if there is one. It is asked
 * once if there are few, which halves the time of a search for two words.
 */
export function searchStatement (
  dialect: Dialect,
  table: string,
  columns: readonly Column[],
  { found, walked, numbers }: { found: Condition, walked: Condition, numbers: Condition | null },
  { order, limit, from }: PageRequest
): Statement {
  const { params, numbered, part, limit: placed } = createValues(dialect)
  const [direction, follows] = directionOf(order)
  const behind = (): string[] => 'after' in from ? [numbered({ sql: `id ${follows} ?`, values: [from.after] })] : []
  const counted = numbers === null
    ? `counted AS MATERIALIZED (SELECT count(*) AS total FROM ${table}${whereOf([numbered(found)])})`
    : `hits AS MATERIALIZED (${numbered(numbers)} LIMIT ${SORTED_MAX + 1}),
      few AS MATERIALIZED (SELECT count(*) AS few FROM hits),
      counted AS MATERIALIZED (SELECT CASE WHEN few <= ${SORTED_MAX} THEN few
        ELSE (SELECT count(*) FROM (${numbered(numbers)})) END AS total FROM few)`
  const offset = 'offset' in from ? from.offset : 0
  const { of } = part(limit, offset, true)
  const size = placed(limit + offset)
  const inOrder = (rows: string): string =>
    dialect.packed(columns, of(`SELECT * FROM ${rows} ORDER BY id ${direction}`))
  // OFFSET keeps the planner from reading in the order of ids until it has found enough.
  const sorted = (isFound: Condition, most: number): string =>
    inOrder(`(SELECT * FROM ${table}${whereOf([numbered(isFound), ...behind()])} LIMIT ${most} OFFSET 0) AS found`)
  const few = numbers === null ? found : { sql: 'number IN (SELECT number FROM hits)', values: [] }
  const all = numbers === null ? found : { sql: `number IN (${numbers.sql})`, values: numbers.values }
  const first = `(SELECT * FROM ${table}${whereOf(behind())} ORDER BY id ${direction} LIMIT ${WALKED_MAX}) AS first`
  const near = `near AS MATERIALIZED (SELECT * FROM ${first} WHERE ${numbered(walked)} LIMIT ${size})`
  const items = `CASE WHEN total <= ${SORTED_MAX} THEN ${sorted(few, SORTED_MAX)}
    WHEN (SELECT count(*) FROM near) = ${size} THEN ${inOrder('near')}
    ELSE ${sorted(all, ALL)} END`
  return { sql: `WITH ${counted}, ${near} SELECT total, ${items} AS items FROM counted`, params }
}

/** Reads the result of a page statement. */
export function toPage<Item> (
  [row]: Row[],
  columns: readonly Column[],
  toItem: (row: Row) => Item
): Page<Item> {
  return { items: unpacked(columns, row?.['items']).map(toItem), total: Number(row?.['total']) }
}

/** The page of a list that has few items. */
export function pageOfFew<Item extends { id: string }> (
  items: readonly Item[],
  { order, limit, from }: PageRequest
): Page<Item> {
  const [before, after] = order === 'asc' ? [-1, 1] : [1, -1]
  const sorted = items.toSorted((a, b) => a.id < b.id ? before : after)
  const follows = ({ id }: Item, place: string) => order === 'asc' ? id > place : id < place
  const rest = 'offset' in from ? sorted.slice(from.offset) : sorted.filter((each) => follows(each, from.after))
  return { items: rest.slice(0, limit), total: items.length }
}
