import { patchedMember } from '../fields/patch-schema.ts'
import { type FieldsSchema, type JsonSchema, mapSchemas } from '../fields/schema.ts'
import { isObject } from '../json.ts'
import type { Schema } from './schemas.ts'

/** The host's fields as a description has them: members of the user, and of the bodies that make and change one. */
export interface DescribedFields {
  user: Readonly<Record<string, Schema>>
  patch: Readonly<Record<string, Schema>>
  /** Those that an answer may lack. */
  optional: readonly string[]
  /** Those that a body may lack. */
  omissible: readonly string[]
  /** An example of those that are required; undefined where the schemas give none. */
  example: Readonly<Record<string, unknown>> | undefined
}

// What OpenAPI 3.0 has no word for: a description may leave it out, since the service judges by it all the same.
const NEW_WORDS = ['$comment', 'additionalItems', 'contains', 'contentEncoding', 'contentMediaType', 'dependencies', 'dependentRequired', 'dependentSchemas', 'else', 'if', 'patternProperties', 'prefixItems', 'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties']

/** `null` in the words of OpenAPI 3.0. */
const NULL: JsonSchema = { type: 'string', nullable: true, enum: [null] }

/** A schema of draft 7, as TypeBox writes it and Ajv reads it, in the words of OpenAPI 3.1: a tuple has `prefixItems` there. */
function current (schema: JsonSchema): JsonSchema {
  const { items, additionalItems, ...others } = mapSchemas(schema, current)
  if (Array.isArray(items)) return { ...others, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) }
  return items === undefined ? others : { ...others, items }
}

/** A schema in the words of OpenAPI 3.0. */
function old (schema: JsonSchema): JsonSchema {
  const { const: only, exclusiveMinimum, exclusiveMaximum, ...mapped } = mapSchemas(schema, old)
  const plain = Object.fromEntries(Object.entries(mapped).filter(([keyword]) => !NEW_WORDS.includes(keyword)))
  const types = [plain['type'] ?? []].flat()
  const named = types.filter((type) => type !== 'null')
  if (types.length > 0 && named.length === 0) return NULL
  if (named.length > 1) {
    const { type, ...rest } = plain
    const either = types.map((each) => ({ type: each }))
    return old(Object.hasOwn(rest, 'anyOf') ? { allOf: [rest, { anyOf: either }] } : { ...rest, anyOf: either })
  }
  return {
    ...plain,
    ...(named.length === 1 && { type: named[0] }),
    ...(types.length > 1 && { nullable: true }),
    ...(schema['patternProperties'] !== undefined && { additionalProperties: true }),
    ...(named[0] === 'array' && !isObject(plain['items']) && { items: {} }),
    ...(only !== undefined && { enum: [only] }),
    ...(exclusiveMinimum !== undefined && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(exclusiveMaximum !== undefined && { maximum: exclusiveMaximum, exclusiveMaximum: true })
  }
}

function exampleOf ({ examples, default: usual, enum: choices, const: only }: JsonSchema): unknown {
  const [example] = [examples, choices].flatMap((each) => Array.isArray(each) ? each.slice(0, 1) : [])
  return example ?? usual ?? only
}

/** Describes the host's fields. `version`: of OpenAPI, 3.0 or a later one. */
export function describeFields ({ properties, required }: FieldsSchema, version: 'old' | 'current'): DescribedFields {
  const worded = (schema: JsonSchema): JsonSchema => version === 'old' ? old(schema) : current(schema)
  const each = (write: (name: string, schema: JsonSchema) => JsonSchema) => Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, worded(write(name, schema))]))
  const names = Object.keys(properties)
  const omissible = names.filter((name) => !required.includes(name) || Object.hasOwn(Object(properties[name]), 'default'))
  const needed = required.map((name) => [name, exampleOf(Object(properties[name]))] as const)
  return {
    user: each((_name, schema) => schema),
    patch: each((name, schema) => patchedMember(schema, required.includes(name))),
    optional: names.filter((name) => !required.includes(name)),
    omissible,
    example: needed.every(([, example]) => example !== undefined) ? Object.fromEntries(needed) : undefined
  }
}
