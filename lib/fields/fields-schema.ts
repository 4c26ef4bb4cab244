import { FIELDS_MEMBERS_MAX } from '../core/limits.ts'
import type { FilterKind, Parameter } from '../core/parameters.ts'
import { isFilterable } from '../storage/storage-rules.ts'
import { isStorable } from '../core/text.ts'
import { type JsonSchema, someSchema } from './json-schema.ts'
import { typesOf } from './schema-types.ts'
import { type FoundBy, searchesNumbers } from './searched-fields.ts'
import { strictSchema } from './strict-schema.ts'

/**
 * The option `fields`: a JSON Schema (draft 7 or 2019-09) of an object. `Type.Object()` of `typebox` 1 and of
 * `@sinclair/typebox` 0.34 make one. A plain schema may declare the type that it describes,
 * `FieldsJsonSchema<{ plan: string }>`; it must then have a schema for each member.
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

/**
 * What `z.toJSONSchema()` of Zod 4 makes of `z.object()`. Its type is that of every JSON Schema, so registration judges
 * whether it is one of an object.
 */
export interface ZodFieldsSchema {
  readonly '~standard': { readonly vendor: string }
  readonly type?: unknown
  readonly properties?: unknown
}

/** The option `fields` as it is read. */
export interface ReadFields {
  properties: Readonly<Record<string, JsonSchema>>
  required: readonly string[]
  /** The fields that lists are filtered by, the filterable and the unique ones, and the type of their values. */
  kinds: ReadonlyMap<string, FilterKind>
  unique: ReadonlySet<string>
  /** The fields of these whose texts are compared without their case and accents. */
  folded: ReadonlySet<string>
  /** The fields whose words a search finds, in the order of the option. */
  searched: readonly string[]
  /** True if a search may be a number of one of the fields, with blanks and signs. */
  searchesNumbers: boolean
}

/** The host's fields as JSON Schema. */
export interface FieldsSchema extends Omit<ReadFields, 'kinds'> {
  /** The fields that lists are filtered by: the filterable and the unique ones. */
  filters: ReadonlyMap<string, Parameter>
}

/** The schema of a host without own fields. */
export const NO_FIELDS: FieldsSchema = Object.freeze<FieldsSchema>({
  properties: {},
  required: [],
  filters: new Map(),
  unique: new Set(),
  folded: new Set(),
  searched: [],
  searchesNumbers: false
})

/** Names that own fields can't have. */
export interface ReservedNames {
  /** The members of every user. */
  members: readonly string[]
  /** The parameters of every list: no filterable field has such a name. */
  parameters: readonly string[]
}

/** Keywords that the outermost object may have beside its fields. */
const ANNOTATIONS = ['type', '$id', '$schema', 'title', 'description', 'examples']
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']
/** TypeBox's functions beside a schema. JSON Schema can't express them; without them it would accept too much. */
const FUNCTIONS = ['~refine', '~codec', Symbol.for('TypeBox.Transform')]

const hasAny = (names: ReadonlyArray<string | symbol>) => (schema: JsonSchema): boolean =>
  names.some((name) => Object.hasOwn(schema, name))

/** The one type of a field's values that are not null, whichever form of the schema says that they may be. */
function kindWithoutNull (schema: JsonSchema): FilterKind | null {
  const [type, ...others] = [...typesOf(schema)].filter((each) => each !== 'null')
  return others.length === 0 && (type === 'string' || type === 'number' || type === 'boolean') ? type : null
}

/** What is wrong with a field that lists are filtered by, or its kind. `option`: the one that names it. */
function readFilter (
  option: string,
  name: string,
  schema: JsonSchema | undefined,
  reserved: readonly string[]
): string | FilterKind[] {
  if (schema === undefined) return `${option} names ${name}, which is not a field`
  if (reserved.includes(name)) return `${name} cannot be ${option}: lists have a parameter of this name`
  if (!isFilterable(name)) return `${name} cannot be ${option}: its name must be 1 to 63 letters, digits and _`
  const kind = kindWithoutNull(schema)
  return kind === null
    ? `${name} cannot be ${option}: its values must all be strings, or all numbers, or all booleans`
    : [kind]
}

function nameProblems (names: readonly string[], members: readonly string[]): string[] {
  const isKept = (name: string) => name !== '' && name !== '__proto__' && isStorable(name)
  return [
    ...names.filter((name) => members.includes(name)).map((name) => `${name} is a member that users have already`),
    ...names.filter((name) => !isKept(name)).map(() => 'a field must have a name that every store can keep'),
    ...(names.length > FIELDS_MEMBERS_MAX ? [`there are ${names.length} fields; at most ${FIELDS_MEMBERS_MAX}`] : [])
  ]
}

/**
 * Reads the option `fields`.
 * @throws TypeError that names everything that is wrong with them
 */
export function readFields (
  given: object,
  { filterable, unique, searchable = [] }: FoundBy,
  reserved: ReservedNames
): ReadFields {
  const asGiven: Readonly<Record<string, JsonSchema>> = Object(given).properties
  const plain: { properties: Record<string, JsonSchema>, required?: string[] } = JSON.parse(JSON.stringify(given))
  const { properties, required = [], ...others } = plain
  const names = Object.keys(properties)
  const isAllowed = (keyword: string, value: unknown) =>
    ANNOTATIONS.includes(keyword) || (keyword === 'additionalProperties' && value === false)
  const problems = [
    ...nameProblems(names, reserved.members),
    ...names.filter((name) => someSchema(Object(properties[name]), hasAny(REFERENCES)))
      .map((name) => `${name} refers to another schema: write that schema in its place`),
    ...names.filter((name) => someSchema(Object(asGiven[name]), hasAny(FUNCTIONS)))
      .map((name) => `${name} has a refinement or a transform, which JSON Schema cannot express: check it in a hook`),
    ...Object.entries(others).filter(([keyword, value]) => !isAllowed(keyword, value))
      .map(([keyword]) => `the outermost object cannot have ${keyword}: use it inside a field`)
  ]
  for (const name of required) {
    if (!names.includes(name)) problems.push(`required names ${name}, which is not a field`)
  }
  const strict = Object.fromEntries(names.map((name) => [name, strictSchema(Object(properties[name]))]))
  const kinds = new Map<string, FilterKind>()
  const filtered = filterable.map(({ field }) => field)
  const folded = new Set(filterable.filter(({ match }) => match === 'folded').map(({ field }) => field))
  for (const [option, listed] of Object.entries({ filterable: filtered, unique })) {
    for (const name of listed) {
      const schema = Object.hasOwn(strict, name) ? strict[name] : undefined
      const result = readFilter(option, name, schema, reserved.parameters)
      if (typeof result === 'string') problems.push(result)
      else for (const kind of result) kinds.set(name, kind)
    }
  }
  for (const name of folded) {
    const kind = kinds.get(name)
    if (kind !== undefined && kind !== 'string') problems.push(`${name} cannot be folded: its values are not strings`)
  }
  if (new Set(filtered).size < filtered.length) problems.push('filterable names a field more than once')
  const searched = searchable.map(({ field }) => field)
  for (const field of searched) {
    if (!names.includes(field)) problems.push(`searchable names ${field}, which is not a field`)
  }
  if (new Set(searched).size < searched.length) {
    problems.push('searchable names a field more than once')
  }
  for (const name of unique) {
    if (kinds.get(name) === 'boolean') problems.push(`${name} cannot be unique: it has two values`)
  }
  if (problems.length > 0) throw new TypeError(`fastify-users: wrong fields:\n- ${problems.join('\n- ')}`)
  return {
    properties: strict,
    required,
    kinds,
    unique: new Set(unique),
    folded,
    searched,
    searchesNumbers: searchesNumbers(searchable)
  }
}
