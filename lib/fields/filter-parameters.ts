import { filterParameter, type Parameter } from '../core/parameters.ts'
import type { ReadFields } from './fields-schema.ts'
import type { FieldsValidator } from './fields-validator.ts'

/**
 * Declares the parameters of lists that are fields of the host's. A value that the schema gives to no user is refused:
 * it would find nobody, and most are mistakes.
 */
export function filterParameters (
  { properties, kinds }: ReadFields,
  { some }: Pick<FieldsValidator, 'some'>
): ReadonlyMap<string, Parameter> {
  return new Map([...kinds].map(([name, kind]) => {
    const { default: usual, examples, nullable, type, enum: choices, ...schema } = Object(properties[name])
    const described = {
      ...schema,
      type: [type].flat().includes('integer') ? 'integer' : kind,
      ...(Array.isArray(choices) && { enum: choices.filter((choice) => choice !== null) })
    }
    const problem = (value: unknown) => some({ [name]: value }, [name])[0] ?? null
    return [name, filterParameter(kind, name, described, problem)] as const
  }))
}
