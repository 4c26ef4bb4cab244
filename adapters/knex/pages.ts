import type { Page, PageRequest } from '../../lib/storage.ts'
import type { Dialect } from './dialect.ts'
import type { Param, Row, Statement } from './drivers/driver.ts'
import { type Column, packed, unpacked } from './rows.ts'

/** A condition of SQL text with `?` for each of its values. */
export interface Condition {
  sql: string
  values: readonly Param[]
}

/** The first text, in the order of code points (that of UTF-8 bytes), behind all that begin with this one; null where there is none. */
export function behindPrefix (prefix: string): string | null {
  const characters = [...prefix]
  while (characters.at(-1) === '\u{10ffff}') characters.pop()
  const last = characters.pop()
  if (last === undefined) return null
  // The surrogates are no characters of their own.
  const next = last === '\ud7ff' ? '\ue000' : String.fromCodePoint(Number(last.codePointAt(0)) + 1)
  return characters.join('') + next
}

/** The condition that a column begins with a text, in a form that an index on it serves and in which every character stands for itself. */
export function beginsWith (column: string, prefix: string): Condition {
  const end = behindPrefix(prefix)
  return end === null
    ? { sql: `${column} >= ?`, values: [prefix] }
    : { sql: `(${column} >= ? AND ${column} < ?)`, values: [prefix, end] }
}

/** An order in SQL, and how what comes behind an id compares with it. */
function directionOf (order: PageRequest['order']): [direction: string, behind: string] {
  return order === 'asc' ? ['ASC', '>'] : ['DESC', '<']
}

/** Builds the one statement that gives a page and the number of all matching rows: one statement is one snapshot on both databases. */
export function pageStatement (dialect: Dialect, table: string, columns: readonly Column[], condition: Condition | null, { order, limit, from }: PageRequest): Statement {
  const params: Param[] = []
  const numbered = ({ sql, values }: Condition): string => {
    let n = params.length
    params.push(...values)
    return sql.replaceAll('?', () => dialect.p(++n))
  }
  const countWhere = condition === null ? '' : ` WHERE ${numbered(condition)}`
  const conditions = condition === null ? [] : [numbered(condition)]
  const [direction, behind] = directionOf(order)
  if ('after' in from) conditions.push(numbered({ sql: `id ${behind} ?`, values: [from.after] }))
  const pageWhere = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const bounds = `LIMIT ${dialect.bound(params.push(limit))} OFFSET ${dialect.bound(params.push('offset' in from ? from.offset : 0))}`
  const sql = `SELECT (SELECT count(*) FROM ${table}${countWhere}) AS total, ${packed(dialect, columns, `SELECT * FROM ${table}${pageWhere} ORDER BY id ${direction} ${bounds}`)} AS items`
  return { sql, params }
}

/** How many rows a search for few finds of each column. */
export const FEW = 64

/**
 * Builds the statement, for PostgreSQL, that gives a page, and the number, of the rows of which one of these columns begins with a text, if it finds few: where the number is more
 * than {@link FEW} it is not that of all. It reads a bounded part of each column's index, whatever the text is, so it can go with other short reads; and PostgreSQL
 * keeps its plan: planning is most of a search that finds few (of database time 384 became 106 µs). null for the one text that has no end behind it.
 */
export function searchStatement (dialect: Dialect, table: string, columns: readonly Column[], searched: readonly string[], prefix: string, { order, limit, from }: PageRequest): Statement | null {
  const end = behindPrefix(prefix)
  if (end === null) return null
  const params: Param[] = [prefix, end]
  const place = (value: Param): number => params.push(value)
  // A value that the planner does not see: it would plan anew for each.
  const unseen = (n: number) => `(SELECT ${dialect.p(n)}::text)`
  const range = (column: string) => `SELECT id FROM ${table} WHERE ${column} >= ${unseen(1)} AND ${column} < ${unseen(2)} LIMIT ${FEW + 1}`
  const found = searched.map((column) => `SELECT id FROM (${range(column)}) AS by_${column}`).join(' UNION ')
  const [direction, behind] = directionOf(order)
  const after = 'after' in from ? ` WHERE id ${behind} ${dialect.p(place(from.after))}` : ''
  const bounds = `LIMIT ${dialect.bound(place(limit))} OFFSET ${dialect.bound(place('offset' in from ? from.offset : 0))}`
  const page = `SELECT * FROM ${table} WHERE id IN (SELECT id FROM found${after} ORDER BY id ${direction} ${bounds}) ORDER BY id ${direction}`
  const total = '(SELECT count(*) FROM found)'
  return { sql: `WITH found AS MATERIALIZED (${found}) SELECT ${total} AS total, CASE WHEN ${total} <= ${FEW} THEN ${packed(dialect, columns, page)} END AS items`, params }
}

/** Reads the answer to a page statement. */
export function toPage<Item> ([row]: Row[], columns: readonly Column[], toItem: (row: Row) => Item): Page<Item> {
  return { items: unpacked(columns, row?.['items']).map(toItem), total: Number(row?.['total']) }
}

/** The page, and the number, of the one item that a filter leaves, or of none. */
export function pageOfOne<Item extends { id: string }> (item: Item | null, { order, from }: PageRequest): Page<Item> {
  if (item === null) return { items: [], total: 0 }
  const shown = 'offset' in from ? from.offset === 0 : order === 'asc' ? item.id > from.after : item.id < from.after
  return { items: shown ? [item] : [], total: 1 }
}
