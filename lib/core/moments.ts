/** A date and time (RFC 3339 section 5.6). `Date` would take an hour 24 too, and knows no leap seconds. */
export const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/

// PostgreSQL has no year 0, and years of five digits are no RFC 3339 text.
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * A moment in RFC 3339 text, in epoch milliseconds: what is finer is cut off. null: it is none, or not in one of the
 * years from 1 to 9999.
 */
export function readMoment (text: string): number | null {
  if (!DATE_TIME.test(text) || !isOnCalendar(text)) return null
  const time = Date.parse(text)
  return time >= FIRST && time <= LAST ? time : null
}

/**
 * The first millisecond that is not before a moment in RFC 3339 text, in UTC with milliseconds: whatever is compared by
 * it has no finer time. null: as {@link readMoment}.
 */
export function firstMillisecond (text: string): string | null {
  const time = readMoment(text)
  if (time === null) return null
  return new Date(/\.\d{3}\d*[1-9]/.test(text) ? Math.min(time + 1, LAST) : time).toISOString()
}

/** True if ISO 8601 text names a day that its month has: Date would turn 30 February into 2 March. */
export function isOnCalendar (text: string): boolean {
  return new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() === Number(text.slice(8, 10))
}
