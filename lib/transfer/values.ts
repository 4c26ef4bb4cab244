import { UsersError } from '../core/errors.ts'
import { parseJsonText } from '../core/strict-json.ts'
import type { Types } from '../fields/schema-types.ts'

const TRUE = /^(?:true|t|1)$/i
const FALSE = /^(?:false|f|0)$/i

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
// More than any number needs that a double holds.
const DECIMAL_MAX = 400

/** The digits of a decimal number without zeros around them, and its power of ten: `12e-1` for `01.20`. */
function digitsOf (decimal: string): string {
  const [mantissa = '', power = '0'] = decimal.toLowerCase().replace(/^[+-]/, '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const bare = digits.replace(/0+$/, '')
  return bare === '' ? '0' : `${bare}e${Number(power) - fraction.length + digits.length - bare.length}`
}

/** The number of a text. The text itself: a double cannot hold that number exactly. null: it is no number. */
function numberOf (text: string): number | string | null {
  const trimmed = text.trim()
  if (!DECIMAL.test(trimmed)) return null
  const number = Number(trimmed)
  const isExact = trimmed.length <= DECIMAL_MAX && Number.isFinite(number) &&
    digitsOf(trimmed) === digitsOf(String(number))
  return isExact ? number : text
}

/** The value of a JSON text; what is none stays text. @throws UsersError `validation_failed` as in a body */
export function jsonOf (text: string, pointer: string): unknown {
  try {
    return parseJsonText(text, pointer)
  } catch (error) {
    if (error instanceof UsersError && error.code === 'malformed_json') return text
    throw error
  }
}

/**
 * The value that a text stands for in a field that may have these types, whatever system it comes from. Where the field
 * may be a string, that is the text itself. What is of no such type stays text: the rules of the field refuse it.
 * @throws UsersError `validation_failed` for JSON that no body may have
 */
export function valueOfText (text: string, types: Types, pointer: string): unknown {
  if (types.has('string')) return text
  const number = types.has('number') ? numberOf(text) : null
  if (number !== null) return number
  if (types.has('boolean') && TRUE.test(text)) return true
  if (types.has('boolean') && FALSE.test(text)) return false
  return types.has('object') || types.has('array') ? jsonOf(text, pointer) : text
}
