import { isObject } from '../core/json.ts'
import { type JsonSchema, withNullType } from './json-schema.ts'

const NULL: JsonSchema = { type: 'null' }
/** Keywords that constrain the whole value. A patch is only a part of it. */
const ABOUT_THE_WHOLE = [
  'default', 'required', 'minProperties', 'maxProperties', 'dependencies', 'dependentRequired', 'dependentSchemas',
  'not', 'if', 'then', 'else', 'unevaluatedProperties'
]
const COMBINING = ['anyOf', 'oneOf', 'allOf', 'not', 'if']

const isNull = (schema: unknown): boolean => isObject(schema) && schema['type'] === 'null'
const hasAny = (schema: JsonSchema, keywords: readonly string[]) => keywords.some((each) => Object.hasOwn(schema, each))

/** A schema that accepts `null` too, in a form whose faults still name what is wrong. */
function nullable (schema: JsonSchema): JsonSchema {
  const { const: only, ...others } = schema
  const { type, enum: choices = Object.hasOwn(schema, 'const') ? [only] : undefined, anyOf } = schema
  if (Object.keys(schema).length === 0) return schema
  if (Array.isArray(anyOf) && type === undefined) {
    return anyOf.some(isNull) ? schema : { ...schema, anyOf: [...anyOf, NULL] }
  }
  // Other keywords would still be applied to null.
  if ((type === undefined && choices === undefined) || hasAny(schema, COMBINING)) return { anyOf: [schema, NULL] }
  return {
    ...others,
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(choices) && { enum: [...new Set([...choices, null])] })
  }
}

/** A schema that refuses `null`, which would remove a required member. */
function notNull (schema: JsonSchema): JsonSchema {
  const { anyOf, ...others } = schema
  const { type, enum: choices } = schema
  if (Array.isArray(anyOf) && anyOf.some(isNull)) {
    const rest = anyOf.filter((each) => !isNull(each))
    return notNull(rest.length === 1 ? { ...others, ...rest[0] } : { ...others, anyOf: rest })
  }
  if (Array.isArray(type) && type.includes('null')) {
    return notNull({ ...schema, type: type.filter((each) => each !== 'null') })
  }
  if (Array.isArray(choices) && choices.includes(null)) {
    return notNull({ ...schema, enum: choices.filter((each) => each !== null) })
  }
  const refusesNull = type !== undefined ? type !== 'null' : choices !== undefined
  if (refusesNull) return schema
  return Object.hasOwn(schema, 'not') ? { allOf: [schema, { not: NULL }] } : { ...schema, not: NULL }
}

/** Applies a function to each schema of a list, or to each named schema of an object. */
function mapEach (value: unknown, map: (schema: JsonSchema, name: string) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((each) => map(Object(each), ''))
  return Object.fromEntries(Object.entries(Object(value)).map(([name, each]) => [name, map(Object(each), name)]))
}

/**
 * The schema of a merge patch (RFC 7396) of a value: of an object any of its members, and `null` for optional ones; any
 * other value is replaced. It accepts every patch that can lead to an allowed value; the result is checked once known.
 */
export function patchOf (schema: JsonSchema): JsonSchema {
  const { properties, patternProperties, additionalProperties, anyOf, oneOf, allOf } = schema
  const parts = [properties, patternProperties, additionalProperties, anyOf, oneOf, allOf]
  if (!parts.some((each) => typeof each === 'object')) {
    const { default: usual, ...others } = schema
    return others
  }
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const kept = Object.entries(schema).filter(([keyword]) => !ABOUT_THE_WHOLE.includes(keyword))
  const { oneOf: either, ...rest } = Object.fromEntries(kept)
  const alternatives = [...Array.isArray(anyOf) ? anyOf : [], ...Array.isArray(either) ? either : []]
  const optionalMember = (each: JsonSchema) => patchedMember(each, false)
  return {
    ...rest,
    ...(properties !== undefined && {
      properties: mapEach(properties, (each, name) => patchedMember(each, required.includes(name)))
    }),
    ...(patternProperties !== undefined && { patternProperties: mapEach(patternProperties, optionalMember) }),
    ...(isObject(additionalProperties) && { additionalProperties: optionalMember(additionalProperties) }),
    // A member that was stored under an older schema, or another alternative, can be removed.
    ...(additionalProperties === false && { additionalProperties: NULL }),
    ...(alternatives.length > 0 && { anyOf: mapEach(alternatives, patchOf) }),
    ...(allOf !== undefined && { allOf: mapEach(allOf, patchOf) })
  }
}

/** The schema of a merge patch of a member. */
export function patchedMember (schema: JsonSchema, required: boolean): JsonSchema {
  const patch = withNullType(patchOf(schema))
  return required ? notNull(patch) : nullable(patch)
}
