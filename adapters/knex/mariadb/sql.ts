// SQL text with its values, and pages of what it selects.

/** A part of a statement, with a value for each `?`. */
export interface Sql { sql: string, values: readonly unknown[] }

export type Row = Record<string, string | number | null>

/** Runs a statement: its rows, and how many rows it has written. @throws StorageError, Violation */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<{ rows: Row[], count: number }>

export const sqlOf = (sql: string, ...values: unknown[]): Sql => ({ sql, values })

export const allOf = (parts: readonly Sql[]): Sql =>
  ({ sql: ['1 = 1', ...parts.map(({ sql }) => sql)].join(' AND '), values: parts.flatMap(({ values }) => values) })

/** The condition that a column has one of these values. */
export const isIn = (column: string, values: readonly unknown[]): Sql =>
  values.length === 0 ? sqlOf('1 = 0') : { sql: `${column} IN (${values.map(() => '?').join(', ')})`, values }

/** The condition that a tenant's rows fulfil; undefined: all do. */
export const ofTenant = (tenant: string | undefined): Sql =>
  tenant === undefined ? sqlOf('1 = 1') : sqlOf('tenant = ?', tenant)

/** The rows of an insertion. */
export const listOf = (rows: ReadonlyArray<readonly unknown[]>): Sql =>
  ({ sql: rows.map((row) => `(${row.map(() => '?').join(', ')})`).join(', '), values: rows.flat() })

// Most characters of the values of one statement. As hexadecimal digits they become two million, and the smallest
// `max_allowed_packet` that is accepted is 4 MiB.
const CHARACTERS_MAX = 1_000_000

/** Rows of values, divided so that each part fits a statement. */
export function partsOf<Item> (
  items: readonly Item[], valuesOf: (item: Item) => readonly unknown[], most = 1000
): Item[][] {
  const parts: Item[][] = []
  let size = 0
  for (const item of items) {
    const own = valuesOf(item).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
    const last = parts.at(-1)
    if (last === undefined || last.length >= most || size + own > CHARACTERS_MAX) {
      parts.push([item])
      size = own
    } else {
      last.push(item)
      size += own
    }
  }
  return parts
}

/** What a page is made of. */
export interface Selection {
  columns: string
  from: Sql
  where: Sql
  /** What comes behind the place where the page begins. */
  behind: Sql
  /** The expressions that rows are sorted by. */
  by: readonly string[]
  order: 'asc' | 'desc'
  limit: number
  offset: number
  /** The table that `u` stands for, where rows are large. */
  rowsOf?: string
}

/** Behind a place in an order of several columns. A comparison of rows would use no index. */
export function isBehind (by: readonly string[], order: 'asc' | 'desc', values: readonly unknown[]): Sql {
  const comparison = order === 'asc' ? '>' : '<'
  const each = by.map((column, i) => allOf([
    ...by.slice(0, i).map((before, n) => sqlOf(`${before} = ?`, values[n])),
    sqlOf(`${column} ${comparison} ?`, values[i])
  ]))
  return { sql: `(${each.map(({ sql }) => sql).join(' OR ')})`, values: each.flatMap((part) => part.values) }
}

// Rows before a page that are read whole: more of them are passed by their ids, at half the cost.
const SKIPPED_WHOLE = 200

function partOf ({ columns, from, where, behind, by, order, limit, offset, rowsOf }: Selection): Sql {
  const ordered = (names: readonly string[]): string => names.map((each) => `${each} ${order}`).join(', ')
  const select = (what: string): string => `SELECT ${what} FROM ${from.sql} WHERE ${where.sql} AND ${behind.sql} ` +
    `ORDER BY ${ordered(by)} LIMIT ? OFFSET ?`
  const values = [...from.values, ...where.values, ...behind.values, limit, offset]
  if (rowsOf === undefined || offset < SKIPPED_WHOLE) return { sql: select(columns), values }
  const places = by.map((each, i) => `${each} AS by_${i}`)
  return {
    sql: `SELECT ${columns} FROM (${select(`u.id, ${places.join(', ')}`)}) AS page ` +
      `JOIN ${rowsOf} AS u ON u.id = page.id ORDER BY ${ordered(by.map((_, i) => `by_${i}`))}`,
    values
  }
}

export async function readPart (query: Query, selection: Selection): Promise<Row[]> {
  const { sql, values } = partOf(selection)
  return (await query(sql, values)).rows
}

/**
 * A page, and the exact number of all that match: one statement reads one snapshot, in any transaction. `counted`: what
 * counts them, if it is no count of the rows.
 */
export async function readPage (
  query: Query, selection: Selection, counted?: Sql
): Promise<{ rows: Row[], total: number }> {
  const { from, where, behind, offset } = selection
  const all = counted ??
    { sql: `SELECT count(*) FROM ${from.sql} WHERE ${where.sql}`, values: [...from.values, ...where.values] }
  const part = partOf({ ...selection, columns: `${selection.columns}, (${all.sql}) AS total` })
  const { rows } = await query(part.sql, [...all.values, ...part.values])
  const [first] = rows
  if (first !== undefined) return { rows, total: Number(first['total']) }
  if (offset === 0 && behind.values.length === 0) return { rows, total: 0 }
  // The page is behind the last row. By derived tables every page would take 0.5 ms longer.
  const { rowsOf: _, ...ids } = selection
  const ones = partOf({ ...ids, columns: '1 AS one' })
  const { rows: [found] } = await query(
    `SELECT (${all.sql}) AS total, (SELECT count(*) FROM (${ones.sql}) AS part) AS count`,
    [...all.values, ...ones.values]
  )
  // Where rows have come meanwhile, the number is of another moment.
  return Number(found?.['count']) === 0
    ? { rows, total: Number(found?.['total']) }
    : readPage(query, selection, counted)
}
