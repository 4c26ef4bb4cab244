import type { Fault } from '../errors.ts'
import type { JsonObject } from '../storage.ts'
import { copyMembers, FIELDS_MAX, toldOf } from './json.ts'
import { mergePatch } from './merge-patch.ts'
import { type FieldsSchema, readFields } from './schema.ts'
import { compileFields } from './validator.ts'

/** Members of a body by their names, as a stranger sent them. */
export type Members = Readonly<Record<string, unknown>>
export type Checked = { fields: JsonObject } | { faults: Fault[] }

/** The host's own fields: what they may be, and what becomes of them. */
export interface Fields {
  readonly schema: FieldsSchema
  /** Whether the host has declared a field of this name. */
  has (name: string): boolean
  /** The fields of a user that is created, or replaced: checked, with their defaults. */
  whole (members: Members): Checked
  /** A merge patch, as far as it can be judged without knowing the user. */
  patch (members: Members): Checked
  /** A user's fields under a patch that was checked. What it does not touch stays as it is, whatever schema that was written under. */
  patched (before: JsonObject, patch: JsonObject): Checked
  /** Whether stored fields are as the schema says. */
  fits (fields: JsonObject): boolean
}

function outcome (fields: JsonObject, faults: Fault[]): Checked {
  if (faults.length === 0 && Buffer.byteLength(JSON.stringify(fields)) > FIELDS_MAX) faults.push({ pointer: '', code: 'too_large', detail: `must have fields of at most ${FIELDS_MAX / 1024} KiB in all` })
  return faults.length === 0 ? { fields } : { faults: toldOf(faults) }
}

/**
 * Makes fields of the option's schema.
 * @throws TypeError that names what is wrong with it, or with `filterable`
 */
export async function createFields (given: object, filterable: readonly string[]): Promise<Fields> {
  const schema = readFields(given, filterable)
  const judge = await compileFields(schema)
  function copy (members: Members, faults: Fault[]): JsonObject {
    try {
      return copyMembers(Object.entries(members).filter(([, value]) => value !== undefined), '', 1, faults)
    } catch {
      // A getter of the caller's.
      faults.push({ pointer: '', code: 'type', detail: 'must be values of JSON' })
      return {}
    }
  }

  return Object.freeze({
    schema,
    has: (name: string) => Object.hasOwn(schema.properties, name),

    whole (members: Members) {
      const faults: Fault[] = []
      const fields = copy(members, faults)
      if (faults.length === 0) faults.push(...judge.whole(fields))
      // With its defaults, which are the host's.
      if (faults.length === 0) copy(fields, faults)
      return outcome(fields, faults)
    },

    patch (members: Members) {
      const faults: Fault[] = []
      const patch = copy(members, faults)
      return outcome(patch, faults.length === 0 ? judge.patch(patch) : faults)
    },

    patched (before: JsonObject, patch: JsonObject) {
      const faults: Fault[] = []
      const fields = mergePatch(before, patch)
      const names = Object.keys(patch)
      // Merged, it may be larger than each of the two.
      copyMembers(names.filter((name) => Object.hasOwn(fields, name)).map((name) => [name, fields[name]]), '', 1, faults)
      return outcome(fields, faults.length === 0 ? judge.some(fields, names) : faults)
    },

    fits: (fields: JsonObject) => judge.fits(fields)
  })
}
