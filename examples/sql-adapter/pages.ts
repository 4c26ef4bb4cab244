import type { Query, Row, Values } from './database.ts'

/** A part of a statement, with its values. */
export interface Sql { sql: string, values: Values }

export const sqlOf = (sql: string, ...values: unknown[]): Sql => ({ sql, values })

export const allOf = (parts: readonly Sql[]): Sql =>
  ({ sql: ['1 = 1', ...parts.map(({ sql }) => sql)].join(' AND '), values: parts.flatMap(({ values }) => values) })

/** The condition that a column has one of these values. */
export const isIn = (column: string, values: Values): Sql =>
  values.length === 0 ? sqlOf('1 = 0') : { sql: `${column} IN (${values.map(() => '?').join(', ')})`, values }

/** What a page is made of. */
export interface Selection {
  columns: string
  from: Sql
  where: Sql
  /** What comes behind the place where the page begins. */
  behind: Sql
  order: string
  limit: number
  offset: number
}

// MySQL, MariaDB: a window is computed for all rows, so leave ROW_NUMBER out of the parts of a walk.
const partOf = ({ columns, from, where, behind, order, limit, offset }: Selection): Sql => ({
  sql: `SELECT ${columns}, ROW_NUMBER() OVER (ORDER BY ${order}) AS place FROM ${from.sql} ` +
    `WHERE ${where.sql} AND ${behind.sql} ORDER BY place LIMIT ? OFFSET ?`,
  values: [...from.values, ...where.values, ...behind.values, limit, offset]
})

export async function readPart (query: Query, selection: Selection): Promise<Row[]> {
  const { sql, values } = partOf(selection)
  return (await query(sql, values)).rows
}

/** A page, and the exact number of all that match: one statement reads one snapshot, in any transaction. */
export async function readPage (query: Query, selection: Selection): Promise<{ rows: Row[], total: number }> {
  const { from, where } = selection
  const part = partOf(selection)
  const { rows } = await query(
    `SELECT * FROM (SELECT count(*) AS total FROM ${from.sql} WHERE ${where.sql}) AS counted ` +
    `LEFT JOIN (${part.sql}) AS part ON 1 = 1 ORDER BY place`,
    [...from.values, ...where.values, ...part.values]
  )
  return { rows: rows.filter(({ place }) => place !== null), total: Number(rows[0]?.['total']) }
}
