import { isUtf8 } from 'node:buffer'
import type { Knex } from 'knex'
import type { SourceDatabase } from './source-database.ts'
import { JsonText } from './source-values.ts'

// Drivers put it in the place of bytes that are no UTF-8, and a text may have it of its own.
const REPLACEMENT = '\ufffd'

/** True if the driver may have replaced bytes of the value, so that its bytes must be checked. */
export function mayBeAltered (value: unknown): boolean {
  if (typeof value === 'string') return value.includes(REPLACEMENT)
  if (value instanceof JsonText) return value.text.includes(REPLACEMENT)
  return Array.isArray(value) && JSON.stringify(value).includes(REPLACEMENT)
}

// Any other encoding has no such bytes.
const POSTGRES_BYTES = `pg_catalog.convert_to(??::text,
  CASE pg_catalog.getdatabaseencoding() WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END)`
const SQLITE_BYTES = "CASE (SELECT encoding FROM pragma_encoding) WHEN 'UTF-8' THEN CAST(?? AS BLOB) END"

/** Which of these columns of the one row of a query have bytes that are no UTF-8. undefined: there is no such row. */
export async function brokenColumns (
  { knex, kind }: SourceDatabase,
  row: Knex.QueryBuilder,
  columns: readonly string[]
): Promise<string[] | undefined> {
  const bytesOf = (column: string) => knex.raw(kind === 'postgres' ? POSTGRES_BYTES : SQLITE_BYTES, [column])
  const [found] = await row.select(Object.fromEntries(columns.map((column, i) => [`b${i}`, bytesOf(column)])))
  if (found === undefined) return undefined
  return columns.filter((_, i) => {
    const bytes: unknown = Reflect.get(found, `b${i}`)
    return bytes instanceof Uint8Array && !isUtf8(bytes)
  })
}
