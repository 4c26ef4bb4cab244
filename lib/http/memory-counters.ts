import { LRUCache } from 'lru-cache'

const MOST_CALLERS = 10_000

type Callback = (error: null, result: { current: number, ttl: number }) => void

/**
 * Counters of @fastify/rate-limit in the process. Its own store hands everybody the same object, which goes on counting before it is read: of many requests at
 * once all would be told the last number, and none would pass.
 */
export class MemoryCounters {
  readonly #most: number
  readonly #counts: LRUCache<string, { current: number, ends: number }>

  constructor (most = MOST_CALLERS) {
    this.#most = most
    this.#counts = new LRUCache({ max: most })
  }

  incr (key: string, callback: Callback, window: number): void {
    const now = Date.now()
    const known = this.#counts.get(key)
    const count = known !== undefined && now < known.ends ? known : { current: 0, ends: now + window }
    count.current++
    this.#counts.set(key, count)
    callback(null, { current: count.current, ttl: count.ends - now })
  }

  /** The same without counting. */
  read (key: string, callback: Callback): void {
    const now = Date.now()
    const known = this.#counts.get(key)
    callback(null, known !== undefined && now < known.ends ? { current: known.current, ttl: known.ends - now } : { current: 0, ttl: 0 })
  }

  child (): MemoryCounters {
    return new MemoryCounters(this.#most)
  }
}
