import type { TSchema } from '@sinclair/typebox'
import { Check } from './typebox.ts'

/** One row for each option: its schema, and the words for a value that doesn't fit. The words never repeat the value, which may be a secret. */
export type OptionRows<Options> = { [Name in keyof Required<Options>]: { schema: TSchema, words: string | ((value: unknown) => string), required?: true } }

/** Whether the value fits, and so does a copy: what a closed group inherits, as an instance with getters does, would be checked here and lost in the copy. */
function fits (schema: TSchema, value: unknown): boolean {
  if (!Check(schema, value)) return false
  return schema['additionalProperties'] !== false || Object.keys(Object(schema['properties'])).every((name) => !(name in Object(value)) || Object.prototype.propertyIsEnumerable.call(value, name))
}

/**
 * A check of options by rows, that throws one TypeError with every problem: unknown names, missing ones, wrong values. `more` adds problems that lie between
 * options; it is asked only where each of them fits. Nothing is compiled: what is checked once takes longer to compile than to check.
 */
export function optionCheck<Options extends object> (rows: OptionRows<Options>): (subject: string, given: Options, more?: () => string[]) => void {
  return (subject, given, more = () => []) => {
    const values: Record<string, unknown> = Object.fromEntries(Object.entries(Object(given)))
    const problems = Object.keys(values).filter((name) => !Object.hasOwn(rows, name)).map((name) => `${name} is not a known option`)
    for (const [name, { schema, words, required }] of Object.entries<OptionRows<Options>[keyof Options]>(rows)) {
      if (values[name] === undefined ? required === true : !fits(schema, values[name])) problems.push(`${name} ${typeof words === 'string' ? words : words(values[name])}`)
    }
    if (problems.length === 0) problems.push(...more())
    if (problems.length > 0) throw new TypeError(`${subject}: ${problems.length} wrong ${problems.length === 1 ? 'option' : 'options'}:\n- ${problems.join('\n- ')}`)
  }
}
