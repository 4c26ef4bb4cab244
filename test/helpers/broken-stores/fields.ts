import type { Json, JsonObject, UserFilter } from '../../../lib/core/storage.ts'
import type { Is } from './mistakes.ts'
import type { Entry } from './state.ts'

const sorted = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Fields as a broken store keeps them. */
export function storedFields (is: Is, fields: JsonObject): JsonObject {
  if (is('fields are forgotten')) return {}
  if (is('the given fields are stored without a copy')) return fields
  const replace = (_name: string, value: Json) => {
    if (is('numbers are rounded') && typeof value === 'number') return Number(value.toFixed(6))
    return is('null is removed') && value === null ? undefined : value
  }
  return JSON.parse(JSON.stringify(is('fields are sorted') ? sorted(fields) : fields, replace))
}

/** True if two objects of fields count as the same value. */
export function sameFields (is: Is, a: JsonObject, b: JsonObject): boolean {
  const text = (fields: JsonObject) =>
    JSON.stringify(is('the order of fields does not count') ? sorted(fields) : fields)
  return text(a) === text(b)
}

function sameValue (is: Is, a: unknown, b: unknown): boolean {
  if (is('fields are compared as text')) return String(a) === String(b)
  if (typeof a !== 'string' || typeof b !== 'string') return a === b
  if (is('fields are compared in any case')) return a.toLowerCase() === b.toLowerCase()
  return is('filters compare 255 characters') ? a.slice(0, 255) === b.slice(0, 255) : a === b
}

function valueOf (is: Is, fields: JsonObject, name: string): unknown {
  if (is('names of fields have no case')) {
    return Object.entries(fields).find(([each]) => each.toLowerCase() === name.toLowerCase())?.[1]
  }
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** True if a user has the fields of a filter. */
export function hasFields (is: Is, { user, first, indexed }: Entry, wanted: UserFilter['fields']): boolean {
  const { fields } = is('filters compare the fields of the creation') ? first : user
  if (is('filters skip users from before migrate') && Object.keys(wanted).length > 0 && !indexed) return false
  const matches = Object.entries(wanted).map(([name, value]) => sameValue(is, valueOf(is, fields, name), value))
  return is('one of two fields is enough') && matches.length > 0 ? matches.includes(true) : !matches.includes(false)
}
