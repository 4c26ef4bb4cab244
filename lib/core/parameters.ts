import { type Fault, type FaultReason, unknownParameters } from './fault.ts'
import { SEARCH_MAX, SEARCH_MIN, SEARCH_WORDS_MAX } from './limits.ts'
import { readMoment } from './moments.ts'
import { hasAtMost, isStorable } from './text.ts'
import { isLetterWord, searchedWords } from './words.ts'

/** A JSON Schema, as it appears in descriptions. */
export type ParameterSchema = Readonly<Record<string, unknown>> & {
  readonly type: 'integer' | 'number' | 'boolean' | 'string'
}

/** The one declaration of a query parameter: parsing over HTTP, check and description follow from it. */
export interface Parameter {
  schema: ParameterSchema
  /** How its text is read, if not as the schema's type says. */
  readAs?: FilterKind
  /** Reads its text, if it is none of these types. */
  parse? (text: string): unknown
  /** What is wrong with a value; `null` if it is valid. */
  problem (value: unknown): FaultReason | null
}

export type Parameters = Readonly<Record<string, Parameter>>

/** A whole number between two bounds. */
export function integerParameter (minimum: number, maximum: number, usual: number, description: string): Parameter {
  const fault = { code: 'range', detail: `must be a whole number from ${minimum} to ${maximum}` }
  const noNumber = { ...fault, code: 'type' }
  return {
    schema: { type: 'integer', minimum, maximum, default: usual, description },
    problem (value) {
      if (typeof value !== 'number') return noNumber
      return Number.isInteger(value) && value >= minimum && value <= maximum ? null : fault
    }
  }
}

/** One of several words, or none. */
export function wordParameter (words: readonly string[], description: string): Parameter {
  const fault = { code: 'choice', detail: `must be ${words.join(' or ')}` }
  return {
    schema: { type: 'string', enum: words, description },
    problem: (value) => words.some((word) => word === value) ? null : fault
  }
}

/** One of several words; the first is the default. */
export function choiceParameter (choices: readonly string[], description: string): Parameter {
  const { schema, problem } = wordParameter(choices, description)
  return { schema: { ...schema, default: choices[0] }, problem }
}

/** `true` or `false`; false by default. */
export function flagParameter (description: string): Parameter {
  return {
    schema: { type: 'boolean', default: false, description },
    problem: (value) => typeof value === 'boolean' ? null : { code: 'choice', detail: 'must be true or false' }
  }
}

/** An id of the list's records. */
export function idParameter (pattern: RegExp, description: string): Parameter {
  return {
    schema: { type: 'string', pattern: pattern.source, description },
    problem: (value) => typeof value === 'string' && pattern.test(value)
      ? null
      : { code: 'format', detail: 'must be the id of a record of this list' }
  }
}

/** A date and time. */
export function momentParameter (description: string): Parameter {
  const detail = 'must be an RFC 3339 date and time, such as 2026-01-31T12:00:00Z; in a URL a + is written %2B'
  return {
    schema: { type: 'string', format: 'date-time', description },
    problem: (value) => typeof value === 'string' && readMoment(value) !== null ? null : { code: 'format', detail }
  }
}

function searchProblem (value: unknown): FaultReason | null {
  if (typeof value !== 'string' || !isStorable(value)) {
    return { code: 'characters', detail: 'must be well-formed Unicode without NUL' }
  }
  if (!hasAtMost(value, SEARCH_MAX)) {
    return { code: 'too_long', detail: `must have at most ${SEARCH_MAX} characters` }
  }
  const [words = []] = searchedWords(value, false)
  if (words.length > SEARCH_WORDS_MAX) {
    return { code: 'too_long', detail: `must have at most ${SEARCH_WORDS_MAX} words` }
  }
  if (words.some(isLetterWord) || [...words.join('')].length >= SEARCH_MIN) return null
  return {
    code: 'too_short', detail: `must have at least ${SEARCH_MIN} letters or digits, or 1 letter of Han, Hangul or kana`
  }
}

/** The words of a search. `description`: what is found, and by which words. */
export function searchParameter (description: string): Parameter {
  const least = `At least ${SEARCH_MIN} letters or digits; 1 letter of Han, Hangul or kana is enough.`
  return {
    schema: { type: 'string', minLength: 1, maxLength: SEARCH_MAX, description: `${description} ${least}` },
    problem: searchProblem
  }
}

/** The type of value that a filter by one of the host's own fields compares. */
export type FilterKind = 'string' | 'number' | 'boolean'

const FILTERS: Record<FilterKind, { accepts: (value: unknown) => boolean, detail: string }> = {
  string: {
    accepts: (value) => typeof value === 'string' && isStorable(value),
    detail: 'must be well-formed Unicode without NUL'
  },
  number: { accepts: (value) => typeof value === 'number' && Number.isFinite(value), detail: 'must be a number' },
  boolean: { accepts: (value) => typeof value === 'boolean', detail: 'must be true or false' }
}

/** A filter by one of the host's own fields. `problem` checks a value of the right type by its schema. */
export function filterParameter (
  kind: FilterKind,
  field: string,
  schema: ParameterSchema,
  problem: Parameter['problem']
): Parameter {
  const { accepts, detail } = FILTERS[kind]
  return {
    schema: { ...schema, description: `Only users whose \`${field}\` has this value.` },
    readAs: kind,
    problem (value) {
      if (!accepts(value)) return { code: 'type', detail }
      const found = problem(value)
      return found && { code: found.code, detail: found.detail }
    }
  }
}

/** A filter by the text of one of the host's own fields, which is compared without case and accents. */
export function foldedParameter (field: string): Parameter {
  const { accepts, detail } = FILTERS.string
  return {
    schema: { type: 'string', description: `Only users whose \`${field}\` is this, ignoring case and accents.` },
    problem: (value) => accepts(value) ? null : { code: 'type', detail }
  }
}

function isRight (declared: Parameters, name: string, value: unknown): boolean {
  return Object.hasOwn(declared, name) && (value === undefined || declared[name]?.problem(value) === null)
}

/** Every fault of the given parameters: unknown names first, then wrong values in the order of declaration. */
export function parameterFaults (declared: Parameters, query: Readonly<Record<string, unknown>>): Fault[] {
  const names = Object.keys(query)
  // The usual case first: it needs no list of the declared parameters.
  if (names.every((name) => isRight(declared, name, query[name]))) return []
  const faults = unknownParameters(names.filter((name) => !Object.hasOwn(declared, name)))
  for (const [parameter, { problem }] of Object.entries(declared)) {
    const value = Object.hasOwn(query, parameter) ? query[parameter] : undefined
    const reason = value === undefined ? null : problem(value)
    if (reason !== null) faults.push({ parameter, ...reason })
  }
  return faults
}

const DECIMAL = /^(?:0|[1-9]\d*)$/
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * A parameter's text in its declared type: integers as decimal digits, numbers and booleans as JSON writes them. Text
 * in any other form stays as it is, or becomes NaN for an integer; the check then refuses it.
 */
export function parseParameter (text: string, parameter: Parameter | undefined): unknown {
  if (parameter?.parse !== undefined) return parameter.parse(text)
  switch (parameter?.readAs ?? parameter?.schema.type) {
    case 'integer': return DECIMAL.test(text) ? Number(text) : NaN
    case 'number': return JSON_NUMBER.test(text) ? Number(text) : text
    case 'boolean': return text === 'true' || text === 'false' ? text === 'true' : text
    default: return text
  }
}
