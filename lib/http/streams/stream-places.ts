import { UsersError } from '../../core/errors.ts'
import { OVERLOAD } from '../limits/concurrency-limit.ts'

/** How many streams of events may be open. */
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

/** Makes the function that takes places. */
export function createStreamPlaces ({ perKey, total }: StreamBounds): TakePlace {
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
      const detail = `The API key has ${perKey} streams of events open, and may have no more.`
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
