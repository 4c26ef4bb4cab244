import { isObject } from '../core/json.ts'

/** A JSON Schema, as TypeBox makes it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A schema in which `nullable: true`, which Ajv reads beside the standard, is one type more. */
export function withNullType ({ nullable, ...schema }: JsonSchema): JsonSchema {
  return nullable === true ? { ...schema, type: [...new Set([schema['type'], 'null'].flat())] } : schema
}

/** Keywords that hold a list of alternatives or parts. */
export const LIST_KEYWORDS = ['anyOf', 'oneOf', 'allOf']
const NAMED_KEYWORDS = ['properties', 'patternProperties', 'definitions', '$defs']
const SINGLE_KEYWORDS = [
  'items', 'additionalItems', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'contains', 'not',
  'if', 'then', 'else', 'propertyNames'
]

/**
 * Applies a function to each schema directly inside a schema. The function gets the keyword that the schema is under.
 */
export function mapSchemas (schema: JsonSchema, map: (inner: JsonSchema, keyword: string) => unknown): JsonSchema {
  const mapped = (value: unknown, keyword: string): unknown => isObject(value) ? map(value, keyword) : value
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => {
    if (NAMED_KEYWORDS.includes(keyword) && isObject(value)) {
      const named = Object.entries(value).map(([name, inner]) => [name, mapped(inner, keyword)] as const)
      return [keyword, Object.fromEntries(named)]
    }
    if (Array.isArray(value) && (LIST_KEYWORDS.includes(keyword) || keyword === 'items')) {
      return [keyword, value.map((inner) => mapped(inner, keyword))]
    }
    return [keyword, SINGLE_KEYWORDS.includes(keyword) ? mapped(value, keyword) : value]
  }))
}

/** True if the schema, or one inside it, satisfies the condition. */
export function someSchema (schema: JsonSchema, condition: (schema: JsonSchema) => boolean): boolean {
  if (condition(schema)) return true
  let found = false
  mapSchemas(schema, (inner) => { found ||= someSchema(inner, condition) })
  return found
}
