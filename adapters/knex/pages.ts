import type { Page, PageRequest } from '../../lib/storage.ts'
import type { Dialect } from './dialect.ts'
import type { Param, Row, Statement } from './drivers.ts'
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
  if ('after' in from) conditions.push(numbered({ sql: order === 'asc' ? 'id > ?' : 'id < ?', values: [from.after] }))
  const pageWhere = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const direction = order === 'asc' ? 'ASC' : 'DESC'
  const bounds = `LIMIT ${dialect.bound(params.push(limit))} OFFSET ${dialect.bound(params.push('offset' in from ? from.offset : 0))}`
  const sql = `SELECT (SELECT count(*) FROM ${table}${countWhere}) AS total, ${packed(dialect, columns, `SELECT * FROM ${table}${pageWhere} ORDER BY id ${direction} ${bounds}`)} AS items`
  return { sql, params }
}

/** Reads the answer to a page statement. */
export function toPage<Item> ([row]: Row[], columns: readonly Column[], toItem: (row: Row) => Item): Page<Item> {
  return { items: unpacked(columns, row?.['items']).map(toItem), total: Number(row?.['total']) }
}
