// The places of a user that attributes of SCIM have.

import { isObject } from '../core/json.ts'
import { scimError } from './errors.ts'
import { conjuncts, type FilterValue, isValue, namedValues, parsePath, type Path } from './filter.ts'
import { ENTERPRISE_KEY, USER_SCHEMA } from './schemas.ts'

/** Where the value of a slot is kept: a member of users, or a field of the host's own. */
type Target = { member: 'name' | 'email' | 'active' } | { field: string }

/** An attribute that has a place. */
export interface Slot {
  key: string
  /** The names as they are shown. */
  schema: string
  name: string
  sub: string
  /** Of a multi-valued attribute: the type of the value. Empty: the attribute has one value. */
  type: string
  target: Target
}

/** The attributes that have several values, each with its type. */
export const MULTI = [
  'emails', 'phonenumbers', 'ims', 'photos', 'addresses', 'entitlements', 'roles', 'x509certificates'
]
const NAMES = new Map([
  'userName', 'displayName', 'nickName', 'profileUrl', 'userType', 'preferredLanguage', 'externalId', 'phoneNumbers',
  'x509Certificates', 'givenName', 'familyName', 'middleName', 'honorificPrefix', 'honorificSuffix', 'employeeNumber',
  'costCenter', 'streetAddress', 'postalCode'
].map((name) => [name.toLowerCase(), name]))
/** The sub-attribute that a complex attribute is, where its value is no object. */
const MAIN_SUBS = new Map([['manager', 'value'], ['name', 'formatted']])
const shown = (name: string): string => NAMES.get(name) ?? name
const keyOf = (schema: string, name: string, sub: string, type: string): string =>
  `${schema === ENTERPRISE_KEY ? 'enterprise:' : ''}${name}${type === '' ? '' : `[${type}]`}.${sub}`

/** The type that a filter of a path names, and no more than that; empty: it names none, or more. */
export function typeIn ({ filter }: Path): string {
  let named = ''
  for (const each of filter === null ? [] : conjuncts(filter)) {
    const [type] = namedValues(each, ({ name }) => name === 'type') ?? []
    const [primary] = namedValues(each, ({ name }) => name === 'primary') ?? []
    if (type === undefined && primary !== true) return ''
    if (type !== undefined) named = String(type).toLowerCase()
    else if (named === '') named = 'primary'
  }
  return named
}

export function slotOf (path: string, target: Target): Slot {
  const { schema, name, sub, filter } = parsePath(path)
  const isMulti = MULTI.includes(name)
  const type = isMulti ? typeIn({ schema, name, sub, filter }) || 'work' : ''
  const main = isMulti ? 'value' : MAIN_SUBS.get(name) ?? ''
  const key = keyOf(schema, name, sub || main, type)
  return { key, schema: schema || USER_SCHEMA, name: shown(name), sub: shown(sub || main), type, target }
}

/** Booleans as some clients write them, in lower case. */
export const TRUTH = new Map<unknown, boolean>([['true', true], ['false', false]])

/** A value of a client: Entra sends booleans as texts, and simple values in lists of one object. */
export function simpleValue (value: unknown, slot: Slot, isBoolean: boolean): FilterValue {
  const [only, ...more] = Array.isArray(value) ? value : [value]
  if (more.length > 0) throw scimError('invalidValue', `${slot.name} has one value.`)
  const bare: unknown = isObject(only) && Object.hasOwn(only, 'value') ? only['value'] : only
  if (bare === undefined) return null
  if (!isValue(bare)) throw scimError('invalidValue', `${slot.name} has a simple value.`)
  return isBoolean && typeof bare === 'string' ? TRUTH.get(bare.toLowerCase()) ?? bare : bare
}
