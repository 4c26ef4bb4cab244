type CounterCallback = (error: Error | null, result?: { current: number, ttl: number }) => void

/** A host's own store of counters, as in @fastify/rate-limit. */
export interface CounterStore {
  incr (key: string, callback: CounterCallback, timeWindow: number, max: number): void
  read? (key: string, callback: CounterCallback, timeWindow: number, max: number): void
  child (options: object): CounterStore
}

/**
 * Where counters are kept: in the process by default. The options are those of @fastify/rate-limit, whose types are not
 * named here, since it need not be installed.
 */
export interface CounterOptions {
  /** A client of ioredis: all processes share their counters. */
  redis?: unknown
  store?: new (options: object) => CounterStore
  /** Prefix of the keys in Redis. */
  nameSpace?: string
  /** Maximum number of callers that are counted in the process. */
  cache?: number
  /** Accept requests while the counters can't be reached, instead of answering 503. */
  skipOnError?: boolean
}

/** At most `max` in `window` seconds. */
export interface Quota {
  max: number
  /** Seconds. */
  window: number
}

/** What is limited, each if it is, and where it is counted. */
export interface RateLimitOptions {
  requests: Quota | undefined
  failures: Quota | undefined
  deletions: Quota | undefined
  counters: CounterOptions
}
