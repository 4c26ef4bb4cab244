import { isObject } from '../json.ts'
import { isFilterable } from '../storage-rules.ts'
import { MEMBERS_MAX } from './json.ts'

/** A JSON Schema, as TypeBox makes it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * The option `fields`: a JSON Schema (draft 7 or 2019-09) of an object. `Type.Object()` of `typebox` 1 and of `@sinclair/typebox` 0.34 make one; a plain schema
 * may say what it describes, `FieldsJsonSchema<{ plan: string }>`, and then must have a schema for each member.
 */
export interface FieldsJsonSchema<Fields = Record<string, unknown>> {
  readonly type: 'object'
  readonly properties: { readonly [Name in keyof Fields]-?: object }
  readonly required?: ReadonlyArray<keyof Fields & string> | undefined
  readonly additionalProperties?: unknown
  readonly $id?: string | undefined
  readonly $schema?: string | undefined
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly examples?: unknown
}

/** What a filter compares. */
export type FilterKind = 'string' | 'number' | 'boolean'

/** The host's fields as JSON Schema. */
export interface FieldsSchema {
  properties: Readonly<Record<string, JsonSchema>>
  required: readonly string[]
  filters: ReadonlyMap<string, FilterKind>
}

/** Those of a host that has none. */
export const NO_FIELDS: FieldsSchema = Object.freeze({ properties: {}, required: [], filters: new Map() })

const OURS = ['id', 'name', 'email', 'version', 'createdAt', 'updatedAt']
const PARAMETERS = ['page', 'limit', 'sort', 'after', 'email', 'q']
// What the outermost object may have beside its fields.
const ANNOTATIONS = ['type', '$id', '$schema', 'title', 'description', 'examples']
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']
const OF_MANY = ['anyOf', 'oneOf', 'allOf']
const OF_NAMED = ['properties', 'patternProperties', 'definitions', '$defs']
const OF_ONE = ['items', 'additionalItems', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'contains', 'not', 'if', 'then', 'else', 'propertyNames']

/** A schema with each schema directly in it put through a function, which is told the keyword that it stands under. */
export function mapSchemas (schema: JsonSchema, map: (inner: JsonSchema, keyword: string) => unknown): JsonSchema {
  const each = (value: unknown, keyword: string): unknown => isObject(value) ? map(value, keyword) : value
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => {
    if (OF_NAMED.includes(keyword) && isObject(value)) return [keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner, keyword)]))]
    if (Array.isArray(value) && (OF_MANY.includes(keyword) || keyword === 'items')) return [keyword, value.map((inner) => each(inner, keyword))]
    return [keyword, OF_ONE.includes(keyword) ? each(value, keyword) : value]
  }))
}

/** Choices as one list, as faults and descriptions tell them best: TypeBox writes a schema for each. */
function withChoices (schema: JsonSchema): JsonSchema {
  const { anyOf, ...others } = schema
  if (!Array.isArray(anyOf) || !anyOf.every((each) => isObject(each) && Object.hasOwn(each, 'const'))) return schema
  const types = new Set(anyOf.map(({ type }) => type))
  const [type] = types
  return { ...others, ...(types.size === 1 && typeof type === 'string' && { type }), enum: anyOf.map(({ const: value }) => value) }
}

const COMBINING = ['allOf', 'anyOf', 'oneOf', 'if']
const SAYS_MORE = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']
/** Where a schema does not say what a value is, but what it must not be, or on what terms: to close it would change what it says. */
const ON_TERMS = ['not', 'if', 'then', 'else', 'contains', 'propertyNames']

/** A schema without what names it among others. */
function nameless (schema: JsonSchema): JsonSchema {
  const { $id, $schema, ...plain } = withChoices(schema)
  return mapSchemas(plain, nameless)
}

/**
 * A schema of the host's, as bodies are judged by it: an object has no members but those that are named, unless it says otherwise. Where several schemas speak of one
 * object, all that they name is known (`unevaluatedProperties`), and none of them alone can close it. `alone`: no other speaks of the same object.
 */
function strict (given: JsonSchema, alone = true): JsonSchema {
  const { $id, $schema, ...schema } = withChoices(given)
  const has = (keyword: string) => Object.hasOwn(schema, keyword)
  const named = isObject(schema['properties'])
  const combined = has('allOf') || (named && COMBINING.some(has))
  const mapped = mapSchemas(schema, (inner, keyword) => {
    if (ON_TERMS.includes(keyword)) return nameless(inner)
    return strict(inner, OF_MANY.includes(keyword) ? alone && !combined : true)
  })
  if (!alone || SAYS_MORE.some(has) || !(named || combined)) return mapped
  return { ...mapped, [combined ? 'unevaluatedProperties' : 'additionalProperties']: false }
}

function refersTo (schema: JsonSchema): boolean {
  if (REFERENCES.some((keyword) => Object.hasOwn(schema, keyword))) return true
  let found = false
  mapSchemas(schema, (inner) => { found ||= refersTo(inner) })
  return found
}

// What TypeBox keeps beside a schema, and JSON Schema has no word for: left out, it would let pass what the host refuses.
const CODE = ['~refine', '~codec', Symbol.for('TypeBox.Transform')]

/** Whether a schema, or one in it, asks functions of the host's. */
function asksCode (schema: JsonSchema): boolean {
  if (CODE.some((name) => Object.hasOwn(schema, name))) return true
  let found = false
  mapSchemas(schema, (inner) => { found ||= asksCode(inner) })
  return found
}

function kindOf ({ type, enum: choices, const: only }: JsonSchema): FilterKind | null {
  const types = Array.isArray(choices) ? choices.map((each) => typeof each) : only !== undefined ? [typeof only] : [type === 'integer' ? 'number' : type]
  const [first] = types
  if (!types.every((each) => each === first)) return null
  return first === 'string' || first === 'number' || first === 'boolean' ? first : null
}

/**
 * Takes the option `fields` apart.
 * @throws TypeError that names what is wrong with it, or with `filterable`
 */
export function readFields (given: object, filterable: readonly string[]): FieldsSchema {
  const asGiven: Readonly<Record<string, JsonSchema>> = Object(given).properties
  // As JSON: what else TypeBox adds is for types.
  const { properties, required = [], ...others }: { properties: Record<string, JsonSchema>, required?: string[] } = JSON.parse(JSON.stringify(given))
  const names = Object.keys(properties)
  const filters = new Map<string, FilterKind>()
  const problems = [
    ...names.filter((name) => OURS.includes(name)).map((name) => `${name} is a member that users have already`),
    ...names.filter((name) => name === '' || name === '__proto__' || !name.isWellFormed() || name.includes('\0')).map(() => 'a field must have a name that every store can keep'),
    ...names.filter((name) => refersTo(Object(properties[name]))).map((name) => `${name} refers to another schema: put that in its place`),
    ...names.filter((name) => asksCode(Object(asGiven[name]))).map((name) => `${name} has a refinement or a transform, which JSON Schema can not say: judge it in a hook of yours`),
    ...Object.entries(others).filter(([keyword, value]) => !ANNOTATIONS.includes(keyword) && !(keyword === 'additionalProperties' && value === false))
      .map(([keyword]) => `the outermost object can not have ${keyword}: say it of its fields`),
    ...(names.length > MEMBERS_MAX ? [`there are ${names.length} fields, and may be ${MEMBERS_MAX}`] : [])
  ]
  const strictOnes = Object.fromEntries(names.map((name) => [name, strict(Object(properties[name]))]))
  for (const name of filterable) {
    const kind = kindOf(strictOnes[name] ?? {})
    if (!Object.hasOwn(strictOnes, name)) problems.push(`filterable names ${name}, which is no field`)
    else if (PARAMETERS.includes(name)) problems.push(`${name} can not be filterable, since lists have a parameter of this name`)
    else if (!isFilterable(name)) problems.push(`${name} can not be filterable: its name must be 1 to 63 letters, digits and _`)
    else if (kind === null) problems.push(`${name} can not be filterable: it must be text, a number, or true or false, and always the same of them`)
    else filters.set(name, kind)
  }
  if (problems.length > 0) throw new TypeError(`fastify-users: wrong fields:\n- ${problems.join('\n- ')}`)
  return { properties: strictOnes, required, filters }
}
