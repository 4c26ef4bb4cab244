import type { FastifyReply, FastifyRequest } from 'fastify'
import { UsersError } from '../../core/errors.ts'
import { requireOptional } from '../../core/optional-packages.ts'
import { addressOf, callerKey, callerOf } from '../caller.ts'
import { createFamiliarKeys, type FamiliarKeys } from './familiar-keys.ts'
import type { RateLimitPackage } from '../fastify-internals.ts'
import { type Count, createCounters } from './rate-counters.ts'
import type { Quota, RateLimitOptions } from './rate-limit-options.ts'

/**
 * The rate limits of a mount. Each method throws UsersError `rate_limited`, or `storage_unavailable` if the counters
 * can't be reached.
 */
export interface RateLimits {
  /** Counts a request of a caller, and sets the headers that say how many are left. */
  countRequest (request: FastifyRequest, reply: Pick<FastifyReply, 'headers'>): Promise<void>
  /** Refuses an address with too many failures, before its next key is checked, unless that was accepted lately. */
  refuseGuesser (request: FastifyRequest): Promise<void>
  /** Notes that the key of a request was accepted. */
  noteSuccess (request: FastifyRequest): void
  /** Counts a refused key against the address it came from. */
  countFailure (request: FastifyRequest): Promise<void>
  /** Counts a deletion of a caller. */
  countDeletion (request: FastifyRequest): Promise<void>
}

async function nothing (): Promise<void> {}

function tooMany (seconds: number, reason: string): UsersError {
  const detail = `${reason}; Retry-After says when to try again.`
  return new UsersError('rate_limited', { detail, headers: { 'retry-after': String(Math.max(1, seconds)) } })
}

/**
 * A request through a Unix socket has no address. One counter for all of them would let a stranger lock everybody out.
 */
const hasAddress = (request: FastifyRequest): boolean => addressOf(request) !== null

/** The limit of a caller's own key, in place of that of all. */
function ownLimit (request: FastifyRequest): Quota | undefined {
  return callerOf(request).rateLimit
}

function requestLimit (count: Count, usual: Quota): RateLimits['countRequest'] {
  return async (request, reply) => {
    const { max, window } = ownLimit(request) ?? usual
    const policy = `"key";q=${max};w=${window}`
    const { remaining, seconds, exceeded } = await count(request)
    // draft-ietf-httpapi-ratelimit-headers-10.
    reply.headers({ 'ratelimit-policy': policy, ratelimit: `"key";r=${remaining};t=${seconds}` })
    if (exceeded) throw tooMany(seconds, 'The API key has sent too many requests')
  }
}

type FailureLimit = Pick<RateLimits, 'refuseGuesser' | 'noteSuccess' | 'countFailure'>

function failureLimit (count: Count, familiar: FamiliarKeys): FailureLimit {
  const refuse = (seconds: number) => tooMany(seconds, 'Too many API keys from this address were refused')
  return {
    async refuseGuesser (request) {
      if (!hasAddress(request)) return
      const { remaining, seconds } = await count(request, false)
      if (remaining === 0 && !familiar.has(request)) throw refuse(seconds)
    },
    noteSuccess (request) {
      familiar.note(request, true)
    },
    async countFailure (request) {
      familiar.note(request, false)
      if (!hasAddress(request)) return
      const { exceeded, seconds } = await count(request)
      if (exceeded) throw refuse(seconds)
    }
  }
}

function deletionLimit (count: Count): RateLimits['countDeletion'] {
  return async (request) => {
    const { exceeded, seconds } = await count(request)
    if (exceeded) throw tooMany(seconds, 'The API key has deleted as many users as it may in this time')
  }
}

/**
 * Makes the rate limits of a mount; null if it has none.
 * @throws Error if a limit is wanted and @fastify/rate-limit is not installed
 */
export async function createRateLimits (
  options: RateLimitOptions, requestsName = 'requests'
): Promise<RateLimits | null> {
  const { requests, failures, deletions, counters } = options
  if ([requests, failures, deletions].every((quota) => quota === undefined)) return null
  const name = '@fastify/rate-limit'
  const rateLimitPackage: RateLimitPackage = requireOptional('a rate limit', [name])(name)
  const createCounter = await createCounters(rateLimitPackage, counters)
  const counted = ({ max, window }: Quota) => ({ max, ms: window * 1000 })
  const counter = (name: string, quota: Quota, keyOf: (request: FastifyRequest) => string) =>
    createCounter(name, counted(quota), keyOf)
  const limits: RateLimits = {
    countRequest: nothing,
    refuseGuesser: nothing,
    noteSuccess () {},
    countFailure: nothing,
    countDeletion: nothing
  }
  if (requests !== undefined) {
    const ownOf = (request: FastifyRequest) => {
      const own = ownLimit(request)
      return own && counted(own)
    }
    limits.countRequest = requestLimit(createCounter(requestsName, counted(requests), callerKey, ownOf), requests)
  }
  if (failures !== undefined) {
    // An IPv6 client has the 2^64 addresses of its network.
    const addressKey = (request: FastifyRequest) => rateLimitPackage.normalizeIP(addressOf(request) ?? '')
    Object.assign(limits, failureLimit(counter('failures', failures, addressKey), createFamiliarKeys()))
  }
  if (deletions !== undefined) {
    limits.countDeletion = deletionLimit(counter('deletions', deletions, callerKey))
  }
  return limits
}

/**
 * The limits of a server beside the routes of a mount: those of the mount, so that nobody guesses or deletes more by
 * using both, but with a limit of requests of its own. `name` tells its counters from those of others.
 */
export async function createServerLimits (
  ofMount: RateLimits | null, { name, ...options }: Pick<RateLimitOptions, 'requests' | 'counters'> & { name: string }
): Promise<RateLimits | null> {
  const own = await createRateLimits({ ...options, failures: undefined, deletions: undefined }, `requests:${name}`)
  if (ofMount === null) return own
  return { ...ofMount, countRequest: own?.countRequest ?? nothing }
}
