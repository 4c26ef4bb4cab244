import { isObject } from '../core/json.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { type JsonSchema, withNullType } from '../fields/json-schema.ts'
import { TEXT, type Types, typesOf } from '../fields/schema-types.ts'
import { USER_MEMBER_NAMES, USER_MEMBERS } from '../storage/user-members.ts'

/** A column of a table of users. */
export interface Column {
  /** `name`, `plan`, or `address.city`: a member of an object. */
  name: string
  /** The members that lead to the value. */
  path: readonly string[]
  /** What the values may be. */
  types: Types
  /** Whether cells have the JSON text of the value: it is an object or a list, or is not of one type. */
  isJson: boolean
}

const TEXT_OR_NULL: Types = new Set([...TEXT, 'null'] as const)

const TYPES = { text: TEXT, 'text or null': TEXT_OR_NULL, number: new Set(['number'] as const) }
const OWN_TYPES: Readonly<Record<string, Types>> =
  Object.fromEntries(Object.entries(USER_MEMBERS).map(([name, { is }]) => [name, TYPES[is]]))

const BEFORE = ['id', 'name', 'email']
const AFTER = USER_MEMBER_NAMES.filter((name) => !BEFORE.includes(name))

/** The members behind a user's fields. `ofTenants`: users have a tenant. */
const after = (ofTenants: boolean): string[] => ofTenants ? [...AFTER, 'tenant'] : AFTER

/** A column of a field. null beside another type is no type of its own: its cell differs from that of any value. */
function columnOf (path: readonly string[], schema: JsonSchema): Column {
  const types = typesOf(schema)
  const [type, ...others] = [...types].filter((each) => each !== 'null')
  const isJson = others.length > 0 || type === undefined || type === 'object' || type === 'array'
  return { name: path.join('.'), path, types, isJson }
}

/**
 * The names of a user's members: those of every user, and between them those of the host's fields. `ofTenants`: users
 * have a tenant.
 */
export function memberNames ({ properties }: FieldsSchema, ofTenants = false): string[] {
  return [...BEFORE, ...Object.keys(properties), ...after(ofTenants)]
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
  const alone = [columnOf(path, schema)]
  const members = membersOf(schema)
  if (members === null) return alone
  const { required } = schema
  const isShown = members.some(([name, member]) => [required].flat().includes(name) && membersOf(member) === null)
  if (!isShown || members.some(([name]) => name.includes('.'))) return alone
  return members.flatMap(([name, member]) => columnsWithin([...path, name], member))
}

/**
 * The columns of a table of users. Objects of the host's fields are flattened where that loses nothing. `ofTenants`:
 * users have a tenant. `hasGroups`: they can be in groups, which only a table to import names.
 */
export function tableColumns (
  { properties }: Pick<FieldsSchema, 'properties'>, ofTenants = false, hasGroups = false
): Column[] {
  const text = (name: string): Column =>
    ({ name, path: [name], types: OWN_TYPES[name] ?? TEXT, isJson: false })
  const names = Object.keys(properties)
  const own = Object.entries(properties).flatMap(([name, schema]) => {
    const columns = columnsWithin([name], schema)
    // A field may have the name of a column within another one.
    const isAmbiguous = columns.some((column) => column.path.length > 1 && names.includes(column.name))
    return isAmbiguous ? [columnOf([name], schema)] : columns
  })
  return [...BEFORE.map(text), ...own, ...[...after(ofTenants), ...hasGroups ? ['groups'] : []].map(text)]
}
