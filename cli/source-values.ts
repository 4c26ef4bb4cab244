import { UsersError } from '../lib/core/errors.ts'
import { parseJsonText } from '../lib/core/strict-json.ts'
import type { Types } from '../lib/fields/schema-types.ts'

/** The text of a value that a database keeps as JSON. */
export class JsonText {
  readonly text: string

  constructor (text: string) {
    this.text = text
  }
}

// A text that a database has for a moment: a day, perhaps a time, perhaps a time zone.
const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?(?:\s*(Z|[+-]\d{2}(?::?\d{2})?))?$/i
// Of fewer digits it may be a day.
const NUMERIC = /^-?\d{9,}(?:\.\d+)?$/
// In milliseconds that is 1973, in seconds 5138.
const SECONDS_MAX = 1e11

/** A moment of a database as RFC 3339; without a time zone it is in UTC. Any other value stays as it is. */
export function momentOf (value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString()
  if (typeof value === 'number' || typeof value === 'bigint') {
    const time = Number(value)
    const date = new Date(Math.abs(time) < SECONDS_MAX ? time * 1000 : time)
    return Number.isNaN(date.getTime()) ? value : date.toISOString()
  }
  if (NUMERIC.test(String(value))) return momentOf(Number(value))
  const [, day, time = '00:00:00', zone = 'Z'] = MOMENT.exec(String(value)) ?? []
  if (day === undefined) return value
  const seconds = time.length === 5 ? `${time}:00` : time
  const offset = /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`
  return `${day}T${seconds}${offset}`
}

const TRUE: readonly unknown[] = [1, 1n, '1', 't', 'true']
const FALSE: readonly unknown[] = [0, 0n, '0', 'f', 'false']

const WHOLE = /^[+-]?\d+$/

/** The number of a text or a 64-bit integer. Text: a double can not hold that integer. NaN: it is no number. */
function numberOf (value: string | bigint): number | string {
  const text = String(value).trim()
  const number = text === '' ? NaN : Number(text)
  return WHOLE.test(text) && !Number.isSafeInteger(number) ? text : number
}

/** The value of a JSON text; what is none stays text. @throws UsersError `validation_failed` as in a body */
function jsonOf (text: string, pointer: string): unknown {
  try {
    return parseJsonText(text, pointer)
  } catch (error) {
    if (error instanceof UsersError && error.code === 'malformed_json') return text
    throw error
  }
}

function fromText (text: string, types: Types, pointer: string): unknown {
  if (types.has('string')) return text
  const number = types.has('number') ? numberOf(text) : NaN
  if (!Number.isNaN(number)) return number
  if (types.has('boolean') && TRUE.includes(text)) return true
  if (types.has('boolean') && FALSE.includes(text)) return false
  return types.has('object') || types.has('array') ? jsonOf(text, pointer) : text
}

function fromNumber (value: number | bigint, types: Types): unknown {
  if (types.has('number')) return typeof value === 'bigint' ? numberOf(value) : value
  if (types.has('boolean') && TRUE.includes(value)) return true
  if (types.has('boolean') && FALSE.includes(value)) return false
  return types.has('string') ? String(value) : value
}

/**
 * The value of a column as one of a field that may have these types: drivers give numbers as text, booleans as numbers,
 * and JSON as text. Where the field may be a string, text is what it says. An integer that a double can not hold stays
 * text, so that a field of numbers refuses it.
 * @throws UsersError `validation_failed` for JSON that no body may have
 */
export function fieldValueOf (value: unknown, types: Types, pointer: string): unknown {
  if (value instanceof JsonText) {
    const parsed = jsonOf(value.text, pointer)
    return typeof parsed === 'number' ? fromNumber(parsed, types) : parsed
  }
  if (typeof value === 'string') return fromText(value, types, pointer)
  return typeof value === 'number' || typeof value === 'bigint' ? fromNumber(value, types) : value
}
