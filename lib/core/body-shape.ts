import type { Static, TSchema } from '@sinclair/typebox'
import { type Fault, type FaultReason, reasonFor } from './fault.ts'
import { Check, Errors, ValueErrorType } from './typebox.ts'

/** TypeBox's error as the JSON Schema keyword that is violated. */
function reasonOf ({ type, schema }: { type: ValueErrorType, schema: TSchema }): FaultReason {
  if (type === ValueErrorType.ObjectRequiredProperty) return reasonFor('required')
  if (type === ValueErrorType.ObjectAdditionalProperties) return reasonFor('additionalProperties')
  return schema['type'] === undefined ? reasonFor('invalid') : reasonFor('type', { type: schema['type'] })
}

/**
 * Makes a check of a TypeBox schema that lists every fault of a body, one for each place, as
 * `{ pointer, code, detail }`. Nothing is coerced, defaulted or removed, and no fault repeats a value.
 */
export function shapeCheck (schema: TSchema): (value: unknown) => Fault[] {
  const read = bodyReader(schema)
  return (value) => {
    const result = read(value)
    return 'faults' in result ? result.faults : []
  }
}

/** The same check, which gives the typed value if there is no fault. */
export function bodyReader<Schema extends TSchema> (
  schema: Schema
): (value: unknown) => { value: Static<Schema> } | { faults: Fault[] } {
  return (value) => {
    if (Check(schema, value)) return { value }
    const faults = new Map<string, Fault>()
    for (const error of Errors(schema, value)) {
      // TypeBox reports a missing member twice: first as missing, then as of the wrong type.
      if (!faults.has(error.path)) faults.set(error.path, { pointer: error.path, ...reasonOf(error) })
    }
    return { faults: [...faults.values()] }
  }
}
