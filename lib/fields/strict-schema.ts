import { isObject } from '../core/json.ts'
import { type JsonSchema, LIST_KEYWORDS, mapSchemas } from './json-schema.ts'

const COMBINING = ['allOf', 'anyOf', 'oneOf', 'if']
const OPEN_OR_CLOSED = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']
/** Keywords whose schemas state conditions, not the form of a value: closing them would change what they say. */
const CONDITIONS = ['not', 'if', 'then', 'else', 'contains', 'propertyNames']

/** Turns the union of constants that TypeBox writes into an `enum`, which faults and descriptions show best. */
function withEnum (schema: JsonSchema): JsonSchema {
  const { anyOf, ...others } = schema
  if (!Array.isArray(anyOf) || !anyOf.every((each) => isObject(each) && Object.hasOwn(each, 'const'))) return schema
  const types = new Set(anyOf.map(({ type }) => type))
  const [type] = types
  const oneType = types.size === 1 && typeof type === 'string'
  return { ...others, ...(oneType && { type }), enum: anyOf.map(({ const: value }) => value) }
}

/** A schema without `$id` and `$schema`. */
function withoutIdentity (schema: JsonSchema): JsonSchema {
  const { $id, $schema, ...plain } = withEnum(schema)
  return mapSchemas(plain, withoutIdentity)
}

/**
 * The schema that bodies are checked by: an object accepts only the members that are named, unless the schema says
 * otherwise. If several schemas describe one object, the members of all are known (`unevaluatedProperties`), and none
 * of them can close it. `alone`: no other schema describes the same object.
 */
export function strictSchema (given: JsonSchema, alone = true): JsonSchema {
  const { $id, $schema, ...schema } = withEnum(given)
  const has = (keyword: string) => Object.hasOwn(schema, keyword)
  const hasProperties = isObject(schema['properties'])
  const combined = has('allOf') || (hasProperties && COMBINING.some(has))
  const mapped = mapSchemas(schema, (inner, keyword) => {
    if (CONDITIONS.includes(keyword)) return withoutIdentity(inner)
    return strictSchema(inner, LIST_KEYWORDS.includes(keyword) ? alone && !combined : true)
  })
  if (!alone || OPEN_OR_CLOSED.some(has) || !(hasProperties || combined)) return mapped
  return { ...mapped, [combined ? 'unevaluatedProperties' : 'additionalProperties']: false }
}
