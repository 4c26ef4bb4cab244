import type { Fault } from '../core/fault.ts'
import { canonicalJson } from '../core/json.ts'
import { FIELDS_MAX, UNIQUE_MAX } from '../core/limits.ts'
import { filterParameter, foldedParameter, type Parameter } from '../core/parameters.ts'
import type { JsonObject, Searchable } from '../storage/storage.ts'
import { boundedFaults, copyMembers, withOtherPlaces } from './checked-json.ts'
import { type FieldsSchema, readFields, type ReadFields, type ReservedNames } from './fields-schema.ts'
import { compileFields, type FieldsValidator } from './fields-validator.ts'
import { mergePatch } from './merge-patch.ts'
import { type FoundBy, searchableOf } from './searched-fields.ts'

/** Members of a body by name, unchecked. */
export type Members = Readonly<Record<string, unknown>>
export type CheckedFields = { fields: JsonObject } | { faults: Fault[] }

/** The host's own fields: what they may be, and how they change. */
export interface HostFields {
  readonly schema: FieldsSchema
  /** True if the host has declared a field of this name. */
  has (name: string): boolean
  /** The fields of a user that is created or replaced: checked, with defaults. */
  whole (members: Members): CheckedFields
  /** A merge patch, as far as it can be checked without the user. */
  patch (members: Members): CheckedFields
  /**
   * A user's fields after a checked patch. Fields that it does not name stay, whatever schema they were stored under.
   */
  patched (before: JsonObject, patch: JsonObject): CheckedFields
  /** A user's fields with these checked ones instead of those of the same names. */
  replaced (before: JsonObject, fields: JsonObject): CheckedFields
  /** Those that users are found by; null: none. */
  readonly searchable: Searchable | null
  /** True if stored fields match the schema. */
  matches (fields: JsonObject): boolean
}

const isTooLarge = (text: string): boolean => Buffer.byteLength(text) > FIELDS_MAX

const TOO_LARGE: Fault = {
  pointer: '',
  code: 'too_large',
  detail: `must have fields of at most ${FIELDS_MAX / 1024} KiB in all`
}

/** The fields in the order of their names: stores compare texts, and another order is no change. */
function outcome (fields: JsonObject, faults: Fault[]): CheckedFields {
  if (faults.length > 0) return { faults: boundedFaults(faults) }
  const text = canonicalJson(fields)
  return isTooLarge(text) ? { faults: [TOO_LARGE] } : { fields: JSON.parse(text) }
}

function copyGiven (members: Members, faults: Fault[]): JsonObject {
  try {
    return copyMembers(Object.entries(members).filter(([, value]) => value !== undefined), '', 1, faults)
  } catch {
    // A getter of the caller's threw.
    faults.push({ pointer: '', code: 'type', detail: 'must be JSON values' })
    return {}
  }
}

/**
 * Makes the host's fields from the option `fields`.
 * @throws TypeError that names what is wrong with them
 */
export async function createHostFields (
  { schema: given, ...found }: FoundBy & { schema: object },
  reserved: ReservedNames
): Promise<HostFields> {
  const read = readFields(given, found, reserved)
  const check = await compileFields(read)
  const { kinds, ...rest } = read
  const schema = { ...rest, filters: filterParameters(read, check) }

  /** Indexes have the whole text of a unique value. */
  function uniqueFaults (fields: JsonObject): Fault[] {
    const isLong = (name: string) =>
      Object.hasOwn(fields, name) && JSON.stringify(fields[name]).length > UNIQUE_MAX
    const detail = `must have at most ${UNIQUE_MAX} characters as JSON`
    return [...schema.unique].filter(isLong).map((name) => ({ pointer: `/${name}`, code: 'too_long', detail }))
  }

  /** One fault for each place, of the limits that all JSON has, of the schema, and of the indexes. */
  function allFaults (fields: JsonObject, ofLimits: readonly Fault[], ofSchema: readonly Fault[]): Fault[] {
    return withOtherPlaces(withOtherPlaces(ofLimits, ofSchema), uniqueFaults(fields))
  }

  return Object.freeze({
    schema,
    searchable: searchableOf(found),
    has: (name: string) => Object.hasOwn(schema.properties, name),

    whole (members: Members) {
      const faults: Fault[] = []
      const fields = copyGiven(members, faults)
      // Before the host's schema: some of its keywords take quadratic time.
      if (isTooLarge(JSON.stringify(fields))) return outcome(fields, [...faults, TOO_LARGE])
      const all = allFaults(fields, faults, check.whole(fields))
      // Once more with the host's defaults.
      if (all.length === 0) copyGiven(fields, all)
      return outcome(fields, all)
    },

    patch (members: Members) {
      const faults: Fault[] = []
      const patch = copyGiven(members, faults)
      return outcome(patch, allFaults(patch, faults, check.patch(patch)))
    },

    patched (before: JsonObject, patch: JsonObject) {
      const faults: Fault[] = []
      const fields = mergePatch(before, patch)
      const names = Object.keys(patch)
      // The result may exceed limits that both parts keep.
      const changed = names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]] as const)
      copyMembers(changed, '', 1, faults)
      return outcome(fields, allFaults(fields, faults, check.some(fields, names)))
    },

    replaced (before: JsonObject, given: JsonObject) {
      const fields = { ...before, ...given }
      return outcome(fields, uniqueFaults(fields))
    },

    matches: (fields: JsonObject) => check.matches(fields)
  })
}

/**
 * Declares the parameters of lists that are fields of the host's. A value that the schema gives to no user is refused:
 * it would find nobody, and most are mistakes.
 */
export function filterParameters (
  { properties, kinds, folded }: ReadFields,
  { some }: Pick<FieldsValidator, 'some'>
): ReadonlyMap<string, Parameter> {
  return new Map([...kinds].map(([name, kind]) => {
    const { default: usual, examples, nullable, type, enum: choices, ...schema } = Object(properties[name])
    // Of what the schema demands, another case may have nothing.
    if (folded.has(name)) return [name, foldedParameter(name)] as const
    const described = {
      ...schema,
      type: [type].flat().includes('integer') ? 'integer' : kind,
      ...(Array.isArray(choices) && { enum: choices.filter((choice) => choice !== null) })
    }
    const problem = (value: unknown) => some({ [name]: value }, [name])[0] ?? null
    return [name, filterParameter(kind, name, described, problem)] as const
  }))
}
