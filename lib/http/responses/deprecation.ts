import type { FastifyInstance } from 'fastify'
import { isOnCalendar } from '../../core/moments.ts'

// Dates of HTTP have four digits for the year.
const LAST_MOMENT = Date.UTC(10_000, 0) - 1

/** When a version is deprecated, when it ends, and where clients read about it. Dates as `Date` or ISO 8601 text. */
export interface Deprecated {
  since: Date | string
  /** Not before `since`. */
  sunset?: Date | string
  /** A URI, absolute or relative to the request. */
  link?: string
}

/** What is wrong between the members of the option. */
export function deprecationFaults ({ since, sunset = since }: Deprecated): string[] {
  const [from, to] = [Number(new Date(since)), Number(new Date(sunset))]
  const exists = [since, sunset].every((date) => typeof date !== 'string' || isOnCalendar(date))
  if (!exists || !(from >= 0) || !(to >= 0 && to <= LAST_MOMENT)) {
    return ['deprecated must have valid dates, from 1970 to 9999']
  }
  // RFC 9745 section 4.
  return to < from ? ['deprecated.sunset must not be before deprecated.since'] : []
}

/** Adds Deprecation (RFC 9745), Sunset (RFC 8594) and a link to every response of the scope. */
export function announceDeprecation (scope: FastifyInstance, { since, sunset, link }: Deprecated): void {
  const headers = {
    // A date of RFC 9651 section 3.3.7: whole seconds.
    deprecation: `@${Math.floor(Number(new Date(since)) / 1000)}`,
    ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() })
  }
  const relations = ['deprecation', ...(sunset === undefined ? [] : ['sunset'])]
  const links = link === undefined ? [] : relations.map((rel) => `<${link}>; rel="${rel}"`)
  scope.addHook('onSend', async (_request, reply) => {
    reply.headers(headers)
    const before = reply.getHeader('link')
    if (links.length > 0) reply.header('link', [...(before === undefined ? [] : [before]), ...links].join(', '))
  })
}
