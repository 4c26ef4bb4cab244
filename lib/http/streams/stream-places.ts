import type { FastifyReply, FastifyRequest } from 'fastify'
import { UsersError } from '../../core/errors.ts'
import { shareOf } from '../caller.ts'
import { OVERLOAD } from '../limits/concurrency-limit.ts'

/** How many streams of one kind may be open. */
export interface StreamBounds {
  /** Of one caller. */
  perKey: number
  /** Of all callers of a mount. */
  total: number
}

// Nobody knows when a stream ends. A client that has lost its connection holds its place until the next comment.
const headers = { 'retry-after': '15' }

/** Takes a place for a stream of a caller, and returns what gives it back. */
export type TakePlace = (caller: string) => () => void

/** Makes the function that takes places. `what` they are for, such as `streams of events open`. */
export function createStreamPlaces ({ perKey, total }: StreamBounds, what = 'streams of events open'): TakePlace {
  const open = new Map<string, number>()
  let all = 0

  function add (caller: string, count: 1 | -1): void {
    all += count
    const own = (open.get(caller) ?? 0) + count
    if (own === 0) open.delete(caller)
    else open.set(caller, own)
  }

  return (caller) => {
    if (open.get(caller) === perKey) {
      const detail = `The API key has ${perKey} ${what}, which is the maximum.`
      throw new UsersError('rate_limited', { detail, headers })
    }
    if (all === total) {
      const detail = 'Too many streams of events are open. Try again later.'
      throw new UsersError('storage_unavailable', { detail, headers, cause: OVERLOAD })
    }
    add(caller, 1)
    return () => add(caller, -1)
  }
}

/** Takes a place for the response of a request until that is over. @throws UsersError `rate_limited` */
export type HoldPlace = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * Makes the function that gives each caller a share of what all callers have in common, so that none of them holds all
 * of it.
 */
export function createShares (perKey: number, what: string): HoldPlace {
  const take = createStreamPlaces({ perKey, total: Infinity }, what)
  return (request, { raw }) => {
    const release = take(shareOf(request))
    if (raw.closed) release()
    else raw.once('close', release)
  }
}
