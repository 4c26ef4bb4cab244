/**
 * One fault of a request: where it is (exactly one of `pointer`, `parameter`, `header`) and what is wrong. It never
 * holds a value that was sent.
 */
export interface Fault {
  /** JSON Pointer (RFC 6901) into the body. */
  pointer?: string
  /** Name of the query parameter, or of the option in process. */
  parameter?: string
  /** Name of the request header, in lower case. */
  header?: string
  /** Stable word for the kind of fault, such as `required`, `type`, `unknown`, `too_long`, `format`, `taken`. */
  code: string
  /** One sentence for people. */
  detail: string
}

/** What is wrong, without the place. */
export type FaultReason = Pick<Fault, 'code' | 'detail'>

const TYPE_NAMES = new Map<unknown, string>([
  ['object', 'an object'],
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['array', 'an array'],
  ['boolean', 'true or false'],
  ['null', 'null']
])

function typeNames (types: unknown): string {
  return [types].flat().map((type) => TYPE_NAMES.get(type) ?? String(type)).join(' or ')
}

function choices (values: unknown): string {
  return [values].flat().map((value) => JSON.stringify(value)).join(', ')
}

const count = (limit: unknown, thing: string): string => `${limit} ${thing}${limit === 1 ? '' : 's'}`

/**
 * The fault for a JSON Schema keyword that a value violates. Both validators use this one table. `params` is what the
 * keyword demands, under Ajv's names.
 */
export function reasonFor (keyword: string, params: Readonly<Record<string, unknown>> = {}): FaultReason {
  const { type, limit, comparison, allowedValues, allowedValue, format, multipleOf } = params
  switch (keyword) {
    case 'required': return { code: 'required', detail: 'is required' }
    case 'additionalProperties':
    case 'unevaluatedProperties': return { code: 'unknown', detail: 'is not a known member' }
    case 'type': return { code: 'type', detail: `must be ${typeNames(type)}` }
    case 'enum': return { code: 'choice', detail: `must be one of ${choices(allowedValues)}` }
    case 'const': return { code: 'choice', detail: `must be ${JSON.stringify(allowedValue)}` }
    case 'minLength': return { code: 'too_short', detail: `must have at least ${count(limit, 'character')}` }
    case 'maxLength': return { code: 'too_long', detail: `must have at most ${count(limit, 'character')}` }
    case 'minItems': return { code: 'too_few', detail: `must have at least ${count(limit, 'item')}` }
    case 'maxItems': return { code: 'too_many', detail: `must have at most ${count(limit, 'item')}` }
    case 'uniqueItems': return { code: 'duplicate', detail: 'must not have an item twice' }
    case 'format': return { code: 'format', detail: `must have the format ${format}` }
    case 'pattern': return { code: 'format', detail: 'must match the pattern of this field' }
    case 'anyOf':
    case 'oneOf': return { code: 'choice', detail: 'must have one of the forms of this field' }
    case 'multipleOf': return { code: 'range', detail: `must be a multiple of ${multipleOf}` }
    default: return comparison === undefined
      ? { code: 'invalid', detail: 'is not valid' }
      : { code: 'range', detail: `must be ${comparison} ${limit}` }
  }
}

/** One `unknown` fault for each parameter that does not exist. */
export function unknownParameters (names: readonly string[]): Fault[] {
  return names.map((parameter) => ({ parameter, code: 'unknown', detail: 'is not a known parameter' }))
}

/** One `unknown` fault for each option that does not exist. */
export function unknownOptions (names: readonly string[]): Fault[] {
  return names.map((parameter) => ({ parameter, code: 'unknown', detail: 'is not a known option' }))
}
