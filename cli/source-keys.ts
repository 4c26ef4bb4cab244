import type { Knex } from 'knex'

/** The key of a row, as it is compared. */
export interface Key {
  value: Knex.Value
  /** SQLite: the value is the text of an integer. */
  isInteger: boolean
}

/** Narrows a query to the rows whose key is that of a row, or greater. */
export function whereKey (query: Knex.QueryBuilder, column: string, is: '=' | '>', key: Key): Knex.QueryBuilder {
  // Without the plus sign, text in a column without a type would be compared as a number.
  return query.whereRaw(`?? ${is} ${key.isInteger ? '+CAST(? AS INTEGER)' : '?'}`, [column, key.value])
}

/** Text that PostgreSQL takes for bytes. */
const BYTES = /^\\x((?:[\da-f]{2})*)$/i
const INTEGER = /^\s*[+-]?\d+\s*$/

/** A key in a form that `--after` takes. */
export function textOfKey (key: unknown): string {
  return key instanceof Uint8Array ? `\\x${Buffer.from(key).toString('hex')}` : String(key)
}

/**
 * The key that `--after` gives, as SQLite is to compare it: a column of an expression or without a type turns no text
 * into a number. `smallest`: the SQL type of the smallest key, which is a number if any is, and is bytes if all are.
 */
export function sqliteKey (text: string, smallest: unknown): Key {
  const [, hex] = BYTES.exec(text) ?? []
  if (smallest === 'blob' && hex !== undefined) return { value: Buffer.from(hex, 'hex'), isInteger: false }
  const isNumber = (smallest === 'integer' || smallest === 'real') && text.trim() !== ''
  if (isNumber && INTEGER.test(text)) return { value: text, isInteger: true }
  return { value: isNumber && Number.isFinite(Number(text)) ? Number(text) : text, isInteger: false }
}
