import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler, ValueErrorType } from './typebox.ts'
import type { Fault } from './errors.ts'

const WORDS = new Map<ValueErrorType, { code: string, detail: string }>([
  [ValueErrorType.ObjectRequiredProperty, { code: 'required', detail: 'is required' }],
  [ValueErrorType.ObjectAdditionalProperties, { code: 'unknown', detail: 'is not a known member' }],
  [ValueErrorType.Object, { code: 'type', detail: 'must be an object' }],
  [ValueErrorType.String, { code: 'type', detail: 'must be a string' }],
  [ValueErrorType.Number, { code: 'type', detail: 'must be a number' }],
  [ValueErrorType.Array, { code: 'type', detail: 'must be an array' }],
  [ValueErrorType.Boolean, { code: 'type', detail: 'must be true or false' }]
])
const OTHER = { code: 'invalid', detail: 'is not valid' }

/**
 * Compiles a TypeBox schema into a check that lists every fault of a value, one for each place, as `{ pointer, code, detail }`.
 * Nothing is coerced, defaulted or removed, and no fault repeats a value.
 */
export function compileShape (schema: TSchema): (value: unknown) => Fault[] {
  const read = compileReader(schema)
  return (value) => {
    const answer = read(value)
    return 'faults' in answer ? answer.faults : []
  }
}

/** The same, for who goes on with the value: it comes back with its type, or the faults do. */
export function compileReader<Schema extends TSchema> (schema: Schema): (value: unknown) => { value: Static<Schema> } | { faults: Fault[] } {
  const compiled = TypeCompiler.Compile(schema)
  return (value) => {
    if (compiled.Check(value)) return { value }
    const faults = new Map<string, Fault>()
    for (const error of compiled.Errors(value)) {
      // A missing member is reported twice, first as missing and then as of the wrong type.
      if (!faults.has(error.path)) faults.set(error.path, { pointer: error.path, ...(WORDS.get(error.type) ?? OTHER) })
    }
    return { faults: [...faults.values()] }
  }
}
