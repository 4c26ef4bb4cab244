import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from './typebox.ts'

/** One row for each option: its schema, and the words for a value that doesn't fit. The words never repeat the value, which may be a secret. */
export type OptionRows<Options> = { [Name in keyof Required<Options>]: { schema: TSchema, words: string | ((value: unknown) => string), required?: true } }

/**
 * Compiles rows into a check of options that throws one TypeError with every problem: unknown names, missing ones, wrong values. `more` adds problems that lie
 * between options; it is asked only where each of them fits.
 */
export function compileOptions<Options extends object> (rows: OptionRows<Options>): (subject: string, given: Options, more?: () => string[]) => void {
  const checks = Object.entries<OptionRows<Options>[keyof Options]>(rows).map(([name, { schema, words, required }]) => ({ name, words, required, fits: TypeCompiler.Compile(schema) }))
  return (subject, given, more = () => []) => {
    const values: Record<string, unknown> = Object.fromEntries(Object.entries(Object(given)))
    const problems = Object.keys(values).filter((name) => !Object.hasOwn(rows, name)).map((name) => `${name} is not a known option`)
    for (const { name, words, required, fits } of checks) {
      if (values[name] === undefined ? required === true : !fits.Check(values[name])) problems.push(`${name} ${typeof words === 'string' ? words : words(values[name])}`)
    }
    if (problems.length === 0) problems.push(...more())
    if (problems.length > 0) throw new TypeError(`${subject}: ${problems.length} wrong ${problems.length === 1 ? 'option' : 'options'}:\n- ${problems.join('\n- ')}`)
  }
}
