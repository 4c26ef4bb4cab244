import type { FilterKind } from '../core/parameters.ts'
import { isObject } from '../core/json.ts'
import { type FieldsSchema, kindOf } from '../fields/fields-schema.ts'
import { type JsonSchema, withNullType } from '../fields/json-schema.ts'

/** A column of a table of users. */
export interface Column {
  /** `name`, `plan`, or `address.city`: a member of an object. */
  name: string
  /** The members that lead to the value. */
  path: readonly string[]
  /** The type of its values: text of a cell is read by it. null: the cell has the JSON text of the value. */
  kind: FilterKind | null
}

const BEFORE = ['id', 'name', 'email']
const AFTER = ['createdAt', 'updatedAt']

/** The names of a user's members: those of every user, and between them those of the host's fields. */
export function memberNames ({ properties }: FieldsSchema): string[] {
  return [...BEFORE, ...Object.keys(properties), ...AFTER]
}

/** The members of an object that has no others; null if it may have others, or its schema is of another form. */
function membersOf (schema: JsonSchema): Array<[string, JsonSchema]> | null {
  const { type, properties, additionalProperties } = withNullType(schema)
  if (type !== 'object' || additionalProperties !== false || !isObject(properties)) return null
  return Object.entries(properties).map(([name, member]) => [name, Object(member)])
}

/**
 * The columns of an object. It is shown as one column of JSON if columns could not: if its members have dots in their
 * names, or none of them is always there, since it would then look as if it were not there itself.
 */
function columnsWithin (path: readonly string[], schema: JsonSchema): Column[] {
  const alone = [{ name: path.join('.'), path, kind: kindOf(withNullType(schema)) }]
  const members = membersOf(schema)
  if (members === null) return alone
  const { required } = schema
  const isShown = members.some(([name, member]) => [required].flat().includes(name) && membersOf(member) === null)
  if (!isShown || members.some(([name]) => name.includes('.'))) return alone
  return members.flatMap(([name, member]) => columnsWithin([...path, name], member))
}

/** The columns of a table of users. Objects of the host's fields are flattened where that loses nothing. */
export function tableColumns ({ properties }: Pick<FieldsSchema, 'properties'>): Column[] {
  const text = (name: string): Column => ({ name, path: [name], kind: 'string' })
  const names = Object.keys(properties)
  const own = Object.entries(properties).flatMap(([name, schema]) => {
    const columns = columnsWithin([name], schema)
    // A field may have the name of a column within another one.
    const isAmbiguous = columns.some((column) => column.path.length > 1 && names.includes(column.name))
    return isAmbiguous ? [{ name, path: [name], kind: null }] : columns
  })
  return [...BEFORE.map(text), ...own, ...AFTER.map(text)]
}
