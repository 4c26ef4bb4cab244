import { LRUCache } from 'lru-cache'

const MAX_CALLERS = 10_000

type Callback = (error: null, result: { current: number, ttl: number }) => void

interface Counted {
  current: number
  /** By `performance.now()`: a clock that is set must not end a window, or keep it open. */
  ends: number
}

// Without fractions, of which a sum may have one more.
const wholeMilliseconds = (): number => Math.floor(performance.now())

function isOpen (count: Counted | undefined, now: number): count is Counted {
  return count !== undefined && now < count.ends
}

/**
 * In-process counters for @fastify/rate-limit. Its own store gives every caller the same object and changes that
 * before it is read: concurrent requests would all get the last number, and all be refused.
 */
export class MemoryCounters {
  readonly #max: number
  readonly #counts: LRUCache<string, Counted>

  constructor (max = MAX_CALLERS) {
    this.#max = max
    this.#counts = new LRUCache({ max })
  }

  incr (key: string, callback: Callback, window: number): void {
    const now = wholeMilliseconds()
    const known = this.#counts.get(key)
    const count = isOpen(known, now) ? known : { current: 0, ends: now + window }
    count.current++
    this.#counts.set(key, count)
    callback(null, { current: count.current, ttl: count.ends - now })
  }

  /** The count without incrementing it. */
  read (key: string, callback: Callback): void {
    const now = wholeMilliseconds()
    const known = this.#counts.get(key)
    callback(null, isOpen(known, now) ? { current: known.current, ttl: known.ends - now } : { current: 0, ttl: 0 })
  }

  child (): MemoryCounters {
    return new MemoryCounters(this.#max)
  }
}
