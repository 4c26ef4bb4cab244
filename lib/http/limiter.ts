import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { UsersError } from '../errors.ts'
import { requirePeers } from '../peers.ts'
import { callerOf } from './callers.ts'
import type { RateLimitPackage } from './fastify-internals.ts'
import { MemoryCounters } from './memory-counters.ts'

const DEADLINE_MS = 2000
const HOUR_MS = 60 * 60 * 1000

/** How many in how many seconds. */
export interface Quota {
  max: number
  /** Seconds. */
  window: number
}

/** A store of the host's for counters, as @fastify/rate-limit has it. */
export interface CounterStore {
  incr (key: string, callback: (error: Error | null, result?: { current: number, ttl: number }) => void, timeWindow: number, max: number): void
  read? (key: string, callback: (error: Error | null, result?: { current: number, ttl: number }) => void, timeWindow: number, max: number): void
  child (options: object): CounterStore
}

/** Where counters are kept, as @fastify/rate-limit has it (its types are not named here: it need not be installed). In the process by default. */
export interface CounterOptions {
  /** A client of ioredis: the counters of all processes are one. */
  redis?: unknown
  store?: new (options: object) => CounterStore
  /** What the keys in Redis begin with. */
  nameSpace?: string
  /** How many callers are counted at once in the process. */
  cache?: number
  /** Let requests pass while the counters can't be reached; 503 otherwise. */
  skipOnError?: boolean
}

/** How often a key may be used. */
export interface RateLimit extends Quota, CounterOptions {}

export interface LimiterOptions {
  rateLimit: RateLimit | undefined
  authFailures: Quota | undefined
  maxDeletesPerHour: number | undefined
}

/** The limits of the plugin's requests; each method throws UsersError `rate_limited`, or `storage_unavailable` where the counters can't be reached. */
export interface Limiter {
  /** Counts a request of a caller, and tells the caller how many are left. */
  countRequest (request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Refuses an address that has failed too often, before its next key is looked at. */
  refuseGuesser (request: FastifyRequest): Promise<void>
  /** Counts a key that was not good against the address that it came from. */
  countFailure (request: FastifyRequest): Promise<void>
  /** Counts a deletion of a caller. */
  countDeletion (request: FastifyRequest): Promise<void>
}

interface Counted { remaining: number, seconds: number, exceeded: boolean }
type Counter = (request: FastifyRequest, increment?: boolean) => Promise<Counted>

/** A client of Redis may wait for its server for ever. */
function within<Value> (ms: number, answer: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(reject, ms, new Error('the counters do not answer'))
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

async function nothing (): Promise<void> {}

function tooMany (seconds: number, detail: string): UsersError {
  return new UsersError('rate_limited', { detail, headers: { 'retry-after': String(Math.max(1, seconds)) } })
}

/** Makes the counters: with @fastify/rate-limit on an instance of its own, so that they are apart from those of a host that has it too. */
async function counters ({ default: rateLimit }: RateLimitPackage, options: CounterOptions): Promise<(name: string, quota: { max: number, ms: number }, keyOf: (request: FastifyRequest) => string) => Counter> {
  const { fastify } = await import('fastify')
  const own = fastify()
  const { cache, redis, store = class extends MemoryCounters { constructor () { super(cache) } }, nameSpace = 'fastify-users:', skipOnError = false } = options
  await own.register(rateLimit, { ...(redis === undefined ? { store } : { redis }), nameSpace, global: false })
  return (name, { max, ms }, keyOf) => {
    const count = own.createRateLimit({ max, timeWindow: ms, keyGenerator: (request) => `${name}:${keyOf(request)}` })
    return async (request, increment = true) => {
      try {
        // There is no list of those who need not be counted, so these are always there.
        const { remaining, ttlInSeconds, isExceeded } = Object(await within(DEADLINE_MS, count(request, { increment })))
        return { remaining, seconds: ttlInSeconds, exceeded: isExceeded }
      } catch (cause) {
        if (skipOnError) return { remaining: max, seconds: 0, exceeded: false }
        throw new UsersError('storage_unavailable', { cause, detail: 'The limit of requests cannot be checked at the moment. Try again later.', headers: { 'retry-after': '5' } })
      }
    }
  }
}

/**
 * Makes the limits of a mount; null where it has none.
 * @throws Error where a limit is wanted and @fastify/rate-limit is not installed
 */
export async function createLimiter ({ rateLimit, authFailures, maxDeletesPerHour }: LimiterOptions): Promise<Limiter | null> {
  if (rateLimit === undefined && authFailures === undefined && maxDeletesPerHour === undefined) return null
  const limiter: Limiter = { countRequest: nothing, refuseGuesser: nothing, countFailure: nothing, countDeletion: nothing }
  const { max: requests = 0, window = 0, ...kept } = rateLimit ?? {}
  const used: RateLimitPackage = requirePeers('a limit of requests', ['@fastify/rate-limit'])('@fastify/rate-limit')
  const counter = await counters(used, kept)
  const callerKey = (request: FastifyRequest): string => {
    const { principal: { type, id } } = callerOf(request)
    return `${type}:${id}`
  }
  if (rateLimit !== undefined) {
    const count = counter('requests', { max: requests, ms: window * 1000 }, callerKey)
    const policy = `"key";q=${requests};w=${window}`
    limiter.countRequest = async (request, reply) => {
      const { remaining, seconds, exceeded } = await count(request)
      // draft-ietf-httpapi-ratelimit-headers-10.
      reply.headers({ 'ratelimit-policy': policy, ratelimit: `"key";r=${remaining};t=${seconds}` })
      if (exceeded) throw tooMany(seconds, 'The API key has sent too many requests; Retry-After says when to come again.')
    }
  }
  if (authFailures !== undefined) {
    const { max } = authFailures
    // Whoever has an IPv6 address has the 2^64 of its network.
    const count = counter('failures', { max, ms: authFailures.window * 1000 }, ({ ip }) => used.normalizeIP(ip))
    const refuse = (seconds: number) => tooMany(seconds, 'Too many API keys from this address were not good; Retry-After says when to come again.')
    // A request through a Unix socket has no address; one for all of them would let a stranger shut everybody out.
    const known = ({ ip }: FastifyRequest): boolean => typeof ip === 'string' && isIP(ip) !== 0
    limiter.refuseGuesser = async (request) => {
      if (!known(request)) return
      const { remaining, seconds } = await count(request, false)
      if (remaining === 0) throw refuse(seconds)
    }
    limiter.countFailure = async (request) => {
      if (!known(request)) return
      const { exceeded, seconds } = await count(request)
      if (exceeded) throw refuse(seconds)
    }
  }
  if (maxDeletesPerHour !== undefined) {
    const count = counter('deletions', { max: maxDeletesPerHour, ms: HOUR_MS }, callerKey)
    limiter.countDeletion = async (request) => {
      const { exceeded, seconds } = await count(request)
      if (exceeded) throw tooMany(seconds, 'The API key has deleted as many users as it may in an hour; Retry-After says when to come again.')
    }
  }
  return limiter
}
