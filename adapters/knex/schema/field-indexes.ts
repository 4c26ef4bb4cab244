import { createHash } from 'node:crypto'
import { isFilterable } from '../../../lib/core/storage-rules.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Param } from '../drivers/driver.ts'
import type { Names } from '../tables/names.ts'

// An index entry of PostgreSQL has at most 2700 bytes, so an index has the beginning of longer values.
const INDEXED_LENGTH = 256

/** A condition in SQL, with `?` for each of its values. */
export interface Condition {
  sql: string
  values: readonly Param[]
}

/** @throws TypeError for a name that can't be a part of SQL text */
function requireFilterable (field: string): void {
  if (isFilterable(field)) return
  throw new TypeError('fastify-users: a filterable field has a name of 1 to 63 letters, digits and _')
}

/** The JSON text of a field. */
function memberOf (dialect: Dialect, field: string): string {
  requireFilterable(field)
  return dialect.member('fields', field)
}

/** The bare name of a field's index: readable, and unique on a database that ignores case. */
export function fieldIndex ({ bare }: Names, field: string): string {
  requireFilterable(field)
  const digest = createHash('sha256').update(field).digest('hex').slice(0, 8)
  return bare(`field_${field.slice(0, 12).toLowerCase()}_${digest}`)
}

/** Creates a field's index, if there is none. The id in it keeps users with one value in the order of lists. */
export function createFieldIndex (dialect: Dialect, names: Names, field: string): string {
  const start = `substr(${memberOf(dialect, field)}, 1, ${INDEXED_LENGTH})`
  return `CREATE INDEX IF NOT EXISTS "${fieldIndex(names, field)}" ON ${names.users} (${start}, id)`
}

/**
 * The condition that a field has this value, of this type, in a form that uses its index. Fields are stored as
 * `JSON.stringify` writes them.
 */
export function fieldIs (dialect: Dialect, field: string, value: string | number | boolean): Condition {
  const text = JSON.stringify(value)
  const member = memberOf(dialect, field)
  const start = [...text].slice(0, INDEXED_LENGTH).join('')
  const indexed = `substr(${member}, 1, ${INDEXED_LENGTH}) = ?`
  if ([...text].length < INDEXED_LENGTH) return { sql: indexed, values: [start] }
  return { sql: `${indexed} AND ${member} = ?`, values: [start, text] }
}
