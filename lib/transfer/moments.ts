// A text that a database has for a moment: a day, perhaps a time, perhaps a time zone.
const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?(?:\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?))?$/i
// At least nine digits: a shorter number could be a day.
const NUMERIC = /^-?\d{9,}(?:\.\d+)?$/
// In milliseconds that is 1973, in seconds 5138.
const SECONDS_MAX = 1e11

/**
 * A moment as RFC 3339, from the forms in which databases and other systems write it: a day is its beginning, without a
 * time zone it is in UTC, and a number is one of seconds or milliseconds since 1970. Any other value stays as it is.
 */
export function momentOf (value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString()
  if (typeof value === 'number' || typeof value === 'bigint') {
    const time = Number(value)
    const date = new Date(Math.abs(time) < SECONDS_MAX ? time * 1000 : time)
    return Number.isNaN(date.getTime()) ? value : date.toISOString()
  }
  if (typeof value !== 'string') return value
  if (NUMERIC.test(value)) return momentOf(Number(value))
  const [, day, time = '00:00:00', zone = 'Z'] = MOMENT.exec(value.trim()) ?? []
  if (day === undefined) return value
  const seconds = time.length === 5 ? `${time}:00` : time
  const offset = /^[zu]/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`
  return `${day}T${seconds}${offset}`
}
