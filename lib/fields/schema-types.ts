import { type JsonSchema, withNullType } from './json-schema.ts'

const TYPES = ['string', 'number', 'boolean', 'object', 'array', 'null'] as const

/** A type of JSON. Integers are numbers. */
export type JsonType = (typeof TYPES)[number]

/** What a member may be. */
export type Types = ReadonlySet<JsonType>

export const TEXT: Types = new Set<JsonType>(['string'])

function typeOf (value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The types that a schema’s type keywords allow. The list can include a type that another keyword forbids. */
export function typesOf (given: JsonSchema): Types {
  const schema = withNullType(given)
  const { type, enum: choices, const: only } = schema
  let types = TYPES.filter((each) => type === undefined ||
    [type].flat().some((name) => name === each || (name === 'integer' && each === 'number')))
  if (Array.isArray(choices)) types = types.filter((each) => choices.some((choice) => typeOf(choice) === each))
  if (only !== undefined) types = types.filter((each) => typeOf(only) === each)
  const within = (keyword: string): Types[] => [schema[keyword] ?? []].flat().map((inner) => typesOf(Object(inner)))
  for (const alternatives of [within('anyOf'), within('oneOf')]) {
    if (alternatives.length > 0) types = types.filter((each) => alternatives.some((allowed) => allowed.has(each)))
  }
  return new Set(types.filter((each) => within('allOf').every((allowed) => allowed.has(each))))
}
