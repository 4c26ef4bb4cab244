import { LATER } from '../../lib/openapi/component-parts.ts'

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** True for an object whose schema leaves other members open without saying so. */
const isOpen = (schema: Record<string, unknown>): boolean =>
  isObject(schema['properties']) && !('additionalProperties' in schema) && !('unevaluatedProperties' in schema)

/**
 * A schema of an answer as this version keeps it: without unknown members and without words of later versions, both of
 * which the description allows.
 */
export function closed (schema: unknown, part = false): unknown {
  if (Array.isArray(schema)) return schema.map((each) => closed(each))
  if (!isObject(schema)) return schema
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === 'anyOf' && Array.isArray(value)) {
      return [keyword, value.filter((each) => each.description !== LATER).map((each) => closed(each))]
    }
    if (keyword === 'allOf' && Array.isArray(value)) return [keyword, value.map((each) => closed(each, true))]
    if (keyword !== 'properties' || !isObject(value)) return [keyword, closed(value)]
    const members = Object.entries(value).map(([name, member]) => [name, closed(member)] as const)
    return [keyword, Object.fromEntries(members)]
  })
  // A part of a combination does not know the members of the others.
  const members = Object.fromEntries(entries)
  return isOpen(schema) && !part ? { ...members, additionalProperties: false } : members
}
