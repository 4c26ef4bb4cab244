import { LATER } from '../../lib/openapi/component-parts.ts'

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

// A part of a combination does not know the members of the others.
const COMBINING: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']

/** True for an object whose schema leaves other members open without saying so. */
function isOpen (schema: Record<string, unknown>): boolean {
  const saysSo = ['additionalProperties', 'unevaluatedProperties', ...COMBINING].some((keyword) => keyword in schema)
  return isObject(schema['properties']) && !saysSo
}

const isOfThisVersion = (alternative: unknown): boolean => Object(alternative).description !== LATER

/**
 * A schema of an answer as this version keeps it: without unknown members and without words of later versions, both of
 * which the description allows.
 */
export function closed (schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.filter(isOfThisVersion).map((each) => closed(each, isPart))
  if (!isObject(schema)) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword !== 'properties' || !isObject(value)) return [keyword, closed(value, COMBINING.includes(keyword))]
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]))]
  }))
  return isOpen(schema) && !isPart ? { ...members, additionalProperties: false } : members
}
