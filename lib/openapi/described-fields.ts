import { isDeepStrictEqual } from 'node:util'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { type JsonSchema, mapSchemas, withNullType } from '../fields/json-schema.ts'
import { patchedMember } from '../fields/patch-schema.ts'
import type { Schema } from './component-parts.ts'

/** The host's fields as a description has them: members of a user, and of the bodies that create and change one. */
export interface DescribedFields {
  user: Readonly<Record<string, Schema>>
  patch: Readonly<Record<string, Schema>>
  /** Members that a response may omit. */
  optional: readonly string[]
  /** Members that a body may omit. */
  omissible: readonly string[]
  /** An example of the required members; undefined if a schema has none. */
  example: Readonly<Record<string, unknown>> | undefined
}

// Keywords by which other schemas know members of the same object.
const COMBINING = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependencies', 'dependentSchemas']

/**
 * Generators make `{ [key: string]: null }` of members that may only be null, which the types of the others contradict.
 * They leave out the other keyword, which says the same of an object that one schema describes.
 */
function withoutNullIndex (schema: JsonSchema): JsonSchema {
  const { additionalProperties, ...others } = schema
  const isNull = isDeepStrictEqual(additionalProperties, { type: 'null' })
  if (!isNull || COMBINING.some((keyword) => Object.hasOwn(schema, keyword))) return schema
  return { ...others, unevaluatedProperties: additionalProperties }
}

/**
 * Translates draft 7 and what Ajv reads beside it to OpenAPI 3.1: a tuple has `prefixItems` there, and what may be null
 * has no `nullable`, but one type more.
 */
function translated (schema: JsonSchema): JsonSchema {
  const { items, additionalItems, ...others } = withoutNullIndex(withNullType(mapSchemas(schema, translated)))
  if (!Array.isArray(items)) return items === undefined ? others : { ...others, items }
  return { ...others, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) }
}

function exampleOf ({ examples, default: usual, enum: choices, const: only }: JsonSchema): unknown {
  const [example] = [examples, choices].flatMap((each) => Array.isArray(each) ? each.slice(0, 1) : [])
  return example ?? usual ?? only
}

/** Describes the host's fields. */
export function describeFields ({ properties, required }: FieldsSchema): DescribedFields {
  const names = Object.keys(properties)
  const each = (describe: (name: string, schema: JsonSchema) => JsonSchema) =>
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, translated(describe(name, schema))]))
  const hasDefault = (name: string) => Object.hasOwn(Object(properties[name]), 'default')
  const examples = required.map((name) => [name, exampleOf(Object(properties[name]))] as const)
  return {
    user: each((_name, schema) => schema),
    patch: each((name, schema) => patchedMember(schema, required.includes(name))),
    optional: names.filter((name) => !required.includes(name)),
    omissible: names.filter((name) => !required.includes(name) || hasDefault(name)),
    example: examples.every(([, example]) => example !== undefined) ? Object.fromEntries(examples) : undefined
  }
}
