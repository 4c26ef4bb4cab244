import { isOnCalendar } from './calendar.ts'

/** A date and time (RFC 3339 section 5.6). */
export const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** A moment in RFC 3339 text, in epoch milliseconds: what is finer is cut off. null: it is none. */
export function readMoment (text: string): number | null {
  if (!DATE_TIME.test(text) || !isOnCalendar(text)) return null
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : time
}
