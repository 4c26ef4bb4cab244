import type { JsonType, Types } from '../lib/fields/schema-types.ts'
import { jsonOf, valueOfText } from '../lib/transfer/values.ts'

/** The text of a value that a database keeps as JSON. */
export class JsonText {
  readonly text: string

  constructor (text: string) {
    this.text = text
  }
}

const NUMBER: Types = new Set<JsonType>(['number'])

function fromNumber (value: number | bigint, types: Types, pointer: string): unknown {
  if (types.has('number')) return typeof value === 'number' ? value : valueOfText(String(value), NUMBER, pointer)
  if (types.has('boolean') && (Number(value) === 0 || Number(value) === 1)) return Number(value) === 1
  return types.has('string') ? String(value) : value
}

/**
 * The value of a column as one of a field that may have these types: drivers give numbers as text, booleans as numbers,
 * and JSON as text. An integer that a double cannot hold stays text, so that a field of numbers refuses it.
 * @throws UsersError `validation_failed` for JSON that no body may have
 */
export function fieldValueOf (value: unknown, types: Types, pointer: string): unknown {
  if (value instanceof JsonText) {
    const parsed = jsonOf(value.text, pointer)
    return typeof parsed === 'number' ? fromNumber(parsed, types, pointer) : parsed
  }
  if (typeof value === 'string') return valueOfText(value, types, pointer)
  return typeof value === 'number' || typeof value === 'bigint' ? fromNumber(value, types, pointer) : value
}
