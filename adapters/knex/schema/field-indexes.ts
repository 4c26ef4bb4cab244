import { createHash } from 'node:crypto'
import { isStorageError, StorageError } from '../../../lib/storage/storage-error.ts'
import { isFilterable } from '../../../lib/storage/storage-rules.ts'
import { SORT_LENGTH } from '../../../lib/storage/user-order.ts'
import type { JsonObject, SchemaRequirements, UserValue } from '../../../lib/storage/storage.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Condition } from '../dialects/value-sql.ts'
import { isNamed, type Names, UNIQUE_INDEX } from '../tables/names.ts'

// With this much of the field in it, a name has the 63 bytes that PostgreSQL keeps, or fewer.
const READABLE_LENGTH = 11

/** @throws TypeError for a name that can't be a part of SQL text */
function requireFilterable (field: string): void {
  if (isFilterable(field)) return
  throw new TypeError('fastify-users: a filterable field has a name of 1 to 63 letters, digits and _')
}

/** The expressions that a field is found and ordered by. */
export function fieldValue ({ value }: Dialect, field: string): { number: string, text: string } {
  requireFilterable(field)
  return value('fields', field)
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

/**
 * Creates an index, if there is none. The id in it keeps users with one value in the order of lists. An index entry of
 * PostgreSQL has at most 2700 bytes, so it has the beginning of longer texts. Unique ones are shorter.
 */
export function createFieldIndex (dialect: Dialect, names: Names, { field, isUnique, name }: FieldIndex): string {
  const { number, text } = fieldValue(dialect, field)
  // Any number of users may have no value: the first expression is NULL then.
  const [kind, last] = isUnique ? ['UNIQUE INDEX', 'tenant'] : ['INDEX', 'id']
  return `CREATE ${kind} IF NOT EXISTS "${name}" ON ${names.users} (${number}, ${text}, ${last})`
}

/** A value as the two expressions have it. */
export function placed ({ bounds, given }: Dialect, value: UserValue): { number: Condition, text: Condition } {
  switch (typeof value) {
    case 'number': {
      const values = [JSON.stringify(value)]
      return { number: { sql: given, values }, text: { sql: '?', values } }
    }
    case 'boolean':
      return { number: { sql: bounds.booleans, values: [] }, text: { sql: '?', values: [String(value)] } }
    default: {
      const start = [...value].slice(0, SORT_LENGTH).join('')
      return { number: { sql: bounds.texts, values: [] }, text: { sql: '?', values: [start] } }
    }
  }
}

/**
 * The condition that a field has this value, of this type, in a form that uses its index. Fields are stored as
 * `JSON.stringify` writes them.
 */
export function fieldIs (dialect: Dialect, field: string, value: UserValue): Condition {
  const of = fieldValue(dialect, field)
  const { number, text } = placed(dialect, value)
  const start: Condition = {
    sql: `${of.number} = ${number.sql} AND ${of.text} = ${text.sql}`, values: [...number.values, ...text.values]
  }
  if (typeof value !== 'string' || [...value].length < SORT_LENGTH) return start
  const whole = `${start.sql} AND ${dialect.member('fields', field)} = ?`
  return { sql: whole, values: [...start.values, JSON.stringify(value)] }
}
