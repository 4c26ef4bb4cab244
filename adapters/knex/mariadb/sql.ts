// SQL text with its values, and pages of what it selects.

/** A part of a statement, with a value for each `?`. */
export interface Sql { sql: string, values: readonly unknown[] }

export type Row = Record<string, string | null>

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

const partOf = ({ columns, from, where, behind, by, order, limit, offset }: Selection, more = ''): Sql => ({
  sql: `SELECT ${columns}${more} FROM ${from.sql} WHERE ${where.sql} AND ${behind.sql} ` +
    `ORDER BY ${by.map((each) => `${each} ${order}`).join(', ')} LIMIT ? OFFSET ?`,
  values: [...from.values, ...where.values, ...behind.values, limit, offset]
})

export async function readPart (query: Query, selection: Selection): Promise<Row[]> {
  const { sql, values } = partOf(selection)
  return (await query(sql, values)).rows
}

/** A page, and the exact number of all that match: one statement reads one snapshot, in any transaction. */
export async function readPage (
  query: Query, selection: Selection, counted?: Sql
): Promise<{ rows: Row[], total: number }> {
  const { from, where, by, order } = selection
  // A derived table has no order of its own.
  const part = partOf(selection, `, 1 AS is_there${by.map((each, i) => `, ${each} AS by_${i}`).join('')}`)
  const all = counted ?? {
    sql: `SELECT count(*) AS total FROM ${from.sql} WHERE ${where.sql}`, values: [...from.values, ...where.values]
  }
  const { rows } = await query(
    `SELECT * FROM (${all.sql}) AS counted LEFT JOIN (${part.sql}) AS part ON 1 = 1 ` +
    `ORDER BY ${by.map((_, i) => `by_${i} ${order}`).join(', ')}`,
    [...all.values, ...part.values]
  )
  return { rows: rows.filter((row) => row['is_there'] !== null), total: Number(rows[0]?.['total']) }
}
