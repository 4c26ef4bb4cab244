import type { Static, TSchema } from '@sinclair/typebox'
import { type Fault, type FaultReason, reasonFor } from './fault.ts'
import { FAULTS_MAX } from './limits.ts'
import { mistyped } from './nearest.ts'
import { Check, Errors, ValueErrorType } from './typebox.ts'

/** TypeBox's error as the JSON Schema keyword that is violated. The `title` of a schema says what a value must be. */
function reasonOf ({ type, schema }: { type: ValueErrorType, schema: TSchema }): FaultReason {
  if (type === ValueErrorType.ObjectRequiredProperty) return reasonFor('required')
  if (type === ValueErrorType.ObjectAdditionalProperties) return reasonFor('additionalProperties')
  if (schema['title'] !== undefined) return { code: 'type', detail: `must be ${schema['title']}` }
  return schema['type'] === undefined ? reasonFor('invalid') : reasonFor('type', { type: schema['type'] })
}

/** For a member that is not known: which one may be meant. */
function hintOf (
  { type, schema, path }: { type: ValueErrorType, schema: TSchema, path: string }, others: readonly string[]
): string {
  if (type !== ValueErrorType.ObjectAdditionalProperties) return ''
  const [name = ''] = path.split('/').slice(-1)
  const known = mistyped(name, [...Object.keys(Object(schema['properties'])), ...others])
  return known === undefined ? '' : `; the nearest is ${known}`
}

/**
 * Makes a check of a TypeBox schema that lists every fault of a body, one for each place, as
 * `{ pointer, code, detail }`. Nothing is coerced, defaulted or removed, and no fault repeats a value. `others`: names
 * of members that are checked elsewhere, one of which may be meant.
 */
export function shapeCheck (schema: TSchema): (value: unknown, others?: readonly string[]) => Fault[] {
  const read = bodyReader(schema)
  return (value, others) => {
    const result = read(value, others)
    return 'faults' in result ? result.faults : []
  }
}

/** The same check, which gives the typed value if there is no fault. */
export function bodyReader<Schema extends TSchema> (
  schema: Schema
): (value: unknown, others?: readonly string[]) => { value: Static<Schema> } | { faults: Fault[] } {
  return (value, others = []) => {
    if (Check(schema, value)) return { value }
    const faults = new Map<string, Fault>()
    for (const error of Errors(schema, value)) {
      // TypeBox reports a missing member twice: first as missing, then as of the wrong type.
      if (faults.has(error.path)) continue
      const hint = faults.size < FAULTS_MAX ? hintOf(error, others) : ''
      const { code, detail } = reasonOf(error)
      faults.set(error.path, { pointer: error.path, code, detail: `${detail}${hint}` })
    }
    return { faults: [...faults.values()] }
  }
}
