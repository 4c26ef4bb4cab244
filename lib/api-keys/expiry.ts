import type { Fault } from '../core/fault.ts'
import { DATE_TIME, isOnCalendar } from '../core/moments.ts'

const YEAR_SECONDS = 365 * 24 * 60 * 60
// The last moment that ISO text with a four-digit year can express.
const LAST_MOMENT = Date.UTC(10000, 0) - 1

/** ISO text of a moment; null outside the years 1970 to 9999. */
function isoMoment (ms: number): string | null {
  return ms >= 0 && ms <= LAST_MOMENT ? new Date(ms).toISOString() : null
}

/** The expiry of a key that is created now with this lifetime in seconds; `null` if it never expires. */
export function expiryAfter (lifetime: number | null, now: number): string | null {
  return lifetime === null ? null : new Date(Math.min(now + lifetime * 1000, LAST_MOMENT)).toISOString()
}

/** The lifetime in seconds of a key that is created now and expires then; `null` if it never expires. */
export function lifetimeOf (expiresAt: string | null, now: number): number | null {
  return expiresAt === null ? null : Math.ceil((Date.parse(expiresAt) - now) / 1000)
}

function readExpiresAt (expiresAt: string, now: number, faults: Fault[]): string | null {
  const at = DATE_TIME.test(expiresAt) && isOnCalendar(expiresAt) ? isoMoment(Date.parse(expiresAt)) : null
  const pointer = '/expiresAt'
  if (at === null) faults.push({ pointer, code: 'format', detail: 'must be an RFC 3339 date and time, or null' })
  else if (Date.parse(at) <= now) faults.push({ pointer, code: 'past', detail: 'must be in the future' })
  return at
}

interface Expiry { expiresAt?: string | null, expiresIn?: number }

/** The expiry that the input for a key asks for, a year from now by default. Adds the faults that it finds. */
export function readExpiry ({ expiresAt, expiresIn }: Expiry, now: number, faults: Fault[]): string | null {
  const pointer = '/expiresIn'
  if (expiresAt !== undefined && expiresIn !== undefined) {
    faults.push({ pointer, code: 'exclusive', detail: 'cannot be used together with expiresAt' })
  }
  if (expiresAt === null) return null
  if (expiresAt !== undefined) return readExpiresAt(expiresAt, now, faults)
  const seconds = expiresIn ?? YEAR_SECONDS
  const at = Number.isInteger(seconds) && seconds > 0 ? isoMoment(now + seconds * 1000) : null
  if (at === null) {
    const most = Math.floor((LAST_MOMENT - now) / 1000)
    faults.push({ pointer, code: 'range', detail: `must be a whole number of seconds from 1 to ${most}` })
  }
  return at
}
