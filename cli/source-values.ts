import type { FilterKind } from '../lib/core/parameters.ts'

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

function jsonOf (value: unknown): unknown {
  if (typeof value === 'bigint') return numberOf(value)
  if (typeof value !== 'string' || typeof numberOf(value) === 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/**
 * The value of a column as one of a field: drivers give numbers as text, booleans as numbers, and JSON as text. An
 * integer that a double can not hold stays text, so that a field of numbers refuses it.
 */
export function fieldValueOf (value: unknown, kind: FilterKind | null): unknown {
  switch (kind) {
    case 'boolean': return TRUE.includes(value) ? true : FALSE.includes(value) ? false : value
    case 'number': {
      const number = typeof value === 'string' || typeof value === 'bigint' ? numberOf(value) : value
      return Number.isNaN(number) ? value : number
    }
    case 'string': return typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
    default: return jsonOf(value)
  }
}
