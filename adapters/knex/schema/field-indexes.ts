import { createHash } from 'node:crypto'
import { isStorageError, StorageError } from '../../../lib/storage/storage-error.ts'
import { isFilterable } from '../../../lib/storage/storage-rules.ts'
import type { JsonObject, SchemaRequirements } from '../../../lib/storage/storage.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Param } from '../drivers/driver.ts'
import { isNamed, type Names, UNIQUE_INDEX } from '../tables/names.ts'

// An index entry of PostgreSQL has at most 2700 bytes, so an index has the beginning of longer values. Unique ones are
// shorter.
const INDEXED_LENGTH = 256

// With this much of the field in it, a name has the 63 bytes that PostgreSQL keeps, or fewer.
const READABLE_LENGTH = 11

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

/** The bare name of an index: readable, and unique on a database that ignores case. */
function indexName ({ bare }: Names, start: string, field: string): string {
  requireFilterable(field)
  const digest = createHash('sha256').update(field).digest('hex').slice(0, 8)
  return bare(`${start}${field.slice(0, READABLE_LENGTH).toLowerCase()}_${digest}`)
}

/** Runs a write of these fields. If one of them is taken, the error names it: the database knows only its index. */
export async function namingTakenField<Value> (
  names: Names,
  fields: JsonObject,
  write: () => Promise<Value>
): Promise<Value> {
  try {
    return await write()
  } catch (error) {
    if (!isStorageError(error) || error.code !== 'field_taken') throw error
    const field = Object.keys(fields).find((name) =>
      isFilterable(name) && isNamed(error.field ?? '', indexName(names, UNIQUE_INDEX, name)))
    throw new StorageError('field_taken', error.message, { field })
  }
}

/** An index that a host requires. */
export interface FieldIndex {
  field: string
  isUnique: boolean
  /** Its bare name. */
  name: string
}

/** The indexes of fields that are required. Lists that are filtered by a unique field use its unique index. */
export function fieldIndexes (names: Names, { filterable = [], unique = [] }: SchemaRequirements): FieldIndex[] {
  return [
    ...filterable.filter((field) => !unique.includes(field))
      .map((field) => ({ field, isUnique: false, name: indexName(names, 'field_', field) })),
    ...unique.map((field) => ({ field, isUnique: true, name: indexName(names, UNIQUE_INDEX, field) }))
  ]
}

/** Creates an index, if there is none. The id in it keeps users with one value in the order of lists. */
export function createFieldIndex (dialect: Dialect, names: Names, { field, isUnique, name }: FieldIndex): string {
  const member = memberOf(dialect, field)
  // Null is no value: any number of users may have it.
  const [kind, id] = isUnique
    ? ['UNIQUE INDEX', `tenant, (CASE WHEN ${member} = 'null' THEN id ELSE '' END)`]
    : ['INDEX', 'id']
  const start = `substr(${member}, 1, ${INDEXED_LENGTH})`
  return `CREATE ${kind} IF NOT EXISTS "${name}" ON ${names.users} (${start}, ${id})`
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
