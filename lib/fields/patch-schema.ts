import { isObject } from '../json.ts'
import type { JsonSchema } from './schema.ts'

const NULL: JsonSchema = { type: 'null' }
// What says something of the whole, of which a patch is a part.
const OF_THE_WHOLE = ['default', 'required', 'minProperties', 'maxProperties', 'dependencies', 'dependentRequired', 'dependentSchemas', 'not', 'if', 'then', 'else', 'unevaluatedProperties']

const isNull = (schema: unknown): boolean => isObject(schema) && schema['type'] === 'null'

/** A schema that allows `null` too, in words by which a fault names what is wrong and not that nothing fits. */
function nullable (schema: JsonSchema): JsonSchema {
  const { const: only, ...others } = schema
  const { type, enum: choices = Object.hasOwn(schema, 'const') ? [only] : undefined, anyOf } = schema
  if (Object.keys(schema).length === 0) return schema
  if (Array.isArray(anyOf) && type === undefined) return anyOf.some(isNull) ? schema : { ...schema, anyOf: [...anyOf, NULL] }
  // Other words would go on judging null as well.
  if ((type === undefined && choices === undefined) || ['anyOf', 'oneOf', 'allOf', 'not', 'if'].some((keyword) => Object.hasOwn(schema, keyword))) return { anyOf: [schema, NULL] }
  return { ...others, ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }), ...(Array.isArray(choices) && { enum: [...new Set([...choices, null])] }) }
}

/** A schema that `null` does not fit, which would remove what is required. */
function notNull (schema: JsonSchema): JsonSchema {
  const { anyOf, ...others } = schema
  const { type, enum: choices } = schema
  if (Array.isArray(anyOf) && anyOf.some(isNull)) {
    const rest = anyOf.filter((each) => !isNull(each))
    return notNull(rest.length === 1 ? { ...others, ...rest[0] } : { ...others, anyOf: rest })
  }
  if (Array.isArray(type) && type.includes('null')) return notNull({ ...schema, type: type.filter((each) => each !== 'null') })
  if (Array.isArray(choices) && choices.includes(null)) return notNull({ ...schema, enum: choices.filter((each) => each !== null) })
  const refused = type !== undefined ? type !== 'null' : choices !== undefined
  if (refused) return schema
  return Object.hasOwn(schema, 'not') ? { allOf: [schema, { not: NULL }] } : { ...schema, not: NULL }
}

/** Each schema of a list, or each that stands under a name, as a patch. */
function patches (value: unknown, write: (schema: JsonSchema, name: string) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((each) => write(Object(each), ''))
  return Object.fromEntries(Object.entries(Object(value)).map(([name, each]) => [name, write(Object(each), name)]))
}

/**
 * What a merge patch (RFC 7396) of a value may be: of an object any of its members, and `null` for those that need not be there; anything else takes the whole
 * value's place. Whatever leads to what the schema allows is allowed; what a patch leads to is judged once it is known.
 */
export function patchOf (schema: JsonSchema): JsonSchema {
  const { properties, patternProperties, additionalProperties, anyOf, oneOf, allOf } = schema
  if (![properties, patternProperties, additionalProperties, anyOf, oneOf, allOf].some((each) => typeof each === 'object')) {
    const { default: usual, ...others } = schema
    return others
  }
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const { oneOf: either, ...rest } = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !OF_THE_WHOLE.includes(keyword)))
  const alternatives = [...Array.isArray(anyOf) ? anyOf : [], ...Array.isArray(either) ? either : []]
  return {
    ...rest,
    ...(properties !== undefined && { properties: patches(properties, (each, name) => patchedMember(each, required.includes(name))) }),
    ...(patternProperties !== undefined && { patternProperties: patches(patternProperties, (each) => patchedMember(each, false)) }),
    ...(isObject(additionalProperties) && { additionalProperties: patchedMember(additionalProperties, false) }),
    // What is there from an older schema, or another alternative, can be removed.
    ...(additionalProperties === false && { additionalProperties: NULL }),
    ...(alternatives.length > 0 && { anyOf: patches(alternatives, patchOf) }),
    ...(allOf !== undefined && { allOf: patches(allOf, patchOf) })
  }
}

/** The same of a member of an object. */
export function patchedMember (schema: JsonSchema, required: boolean): JsonSchema {
  const patch = patchOf(schema)
  return required ? notNull(patch) : nullable(patch)
}
