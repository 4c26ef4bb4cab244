import { isObject, type Json, type Schema } from '../api/types.ts'

/** How a value is edited, after its schema. */
export type Kind =
  | { is: 'object', properties: Readonly<Record<string, Schema>>, required: readonly string[] }
  | { is: 'choice', choices: readonly Json[] }
  | { is: 'flag' | 'number' | 'date' | 'moment' | 'lines' | 'json' }
  | { is: 'text', inputMode: 'text' | 'email' | 'url', isLong: boolean, lineBreak: '\n' | '\r\n' }

/** The kind of a value that has one control. */
export type SingleKind = Exclude<Kind, { is: 'object' }>
export type ObjectKind = Extract<Kind, { is: 'object' }>

const LONG = 200

function textKind ({ format, maxLength }: Schema): Kind {
  if (format === 'date') return { is: 'date' }
  if (format === 'date-time') return { is: 'moment' }
  // The keyboard alone: an input of such a type would change what is typed, such as the letters of a domain.
  const inputMode = format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text'
  const isLong = typeof maxLength === 'number' && maxLength > LONG && inputMode === 'text'
  return { is: 'text', inputMode, isLong, lineBreak: '\n' }
}

const listOf = (schemas: unknown): Schema[] => Array.isArray(schemas) ? schemas.filter(isObject) : []

/** True if a value of the schema may be null. */
export function allowsNull ({ type, nullable, enum: choices, const: only, anyOf, oneOf }: Schema): boolean {
  return nullable === true || only === null || [type].flat().includes('null') ||
    (Array.isArray(choices) && choices.includes(null)) || [anyOf, oneOf].flatMap(listOf).some(allowsNull)
}

/** True if the schema names every member that an object may have. */
function isClosed (schema: Schema): boolean {
  const { properties, patternProperties, allOf, anyOf, oneOf, then, else: otherwise } = schema
  const parts = [allOf, anyOf, oneOf, [then, otherwise]].flatMap(listOf)
  return isObject(properties) && Object.keys(properties).length > 0 && patternProperties === undefined &&
    (schema['additionalProperties'] === false || schema['unevaluatedProperties'] === false) &&
    !parts.some((part) => part['properties'] !== undefined)
}

/** What has no control of its own is edited as JSON: nothing that a schema allows is out of reach. */
export function kindOf (schema: Schema): Kind {
  const { type, enum: choices, const: only, anyOf, oneOf, items } = schema
  if (Array.isArray(choices)) return { is: 'choice', choices }
  if (only !== undefined) return { is: 'choice', choices: JSON.parse(JSON.stringify([only])) }
  const alternatives = listOf(anyOf ?? oneOf).filter(({ type }) => type !== 'null')
  if (alternatives.length > 0 && alternatives.every((each) => each['const'] !== undefined)) {
    return { is: 'choice', choices: JSON.parse(JSON.stringify(alternatives.map((each) => each['const']))) }
  }
  const [alternative] = alternatives.length === 1 ? alternatives : []
  if (alternative !== undefined) return kindOf(alternative)
  const [kind] = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null')
  if (Array.isArray(type) && type.filter((each) => each !== 'null').length > 1) return { is: 'json' }
  switch (kind) {
    case 'string': return textKind(schema)
    case 'integer':
    case 'number': return { is: 'number' }
    case 'boolean': return { is: 'flag' }
    case 'object': return isClosed(schema) ? objectKind(schema) : { is: 'json' }
    case 'array': return isObject(items) && items['type'] === 'string' && items['enum'] === undefined
      ? { is: 'lines' }
      : { is: 'json' }
    default: return { is: 'json' }
  }
}

function objectKind ({ properties, required }: Schema): Kind {
  const entries = Object.entries(Object(properties)).map(([name, schema]) => [name, isObject(schema) ? schema : {}])
  return {
    is: 'object',
    properties: Object.fromEntries(entries),
    required: Array.isArray(required) ? required.map(String) : []
  }
}

/** The name of a field for people. */
export function labelOf (name: string, { title }: Schema): string {
  return typeof title === 'string' && title !== '' ? title : name
}
