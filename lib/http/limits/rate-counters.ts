import type { FastifyRequest } from 'fastify'
import { UsersError } from '../../core/errors.ts'
import type { RateLimitPackage } from '../fastify-internals.ts'
import { MemoryCounters } from './memory-counters.ts'
import type { CounterOptions } from './rate-limit-options.ts'

const DEADLINE_MS = 2000

/** The state of a counter. */
export interface Counted { remaining: number, seconds: number, exceeded: boolean }

/** Counts a request; with `increment` false it only reads. */
export type Count = (request: FastifyRequest, increment?: boolean) => Promise<Counted>

type CreateCounter = (
  name: string,
  quota: { max: number, ms: number },
  keyOf: (request: FastifyRequest) => string,
  /** The quota of a request that has another one. */
  ownOf?: (request: FastifyRequest) => { max: number, ms: number } | undefined
) => Count

/** A Redis client may wait for its server without limit. */
function withDeadline<Value> (ms: number, answer: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(reject, ms, new Error('the counters do not answer'))
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/**
 * Makes counters with @fastify/rate-limit. Its documented interface is a decorator on a Fastify instance, and the
 * host's instance may have that decorator with settings of its own, so it gets a private one. That costs 2 ms at start
 * and nothing per request.
 */
export async function createCounters (
  { default: rateLimit }: RateLimitPackage,
  { cache, redis, store, nameSpace = 'fastify-users:', skipOnError = false }: CounterOptions
): Promise<CreateCounter> {
  const { default: fastify } = await import('fastify')
  const instance = fastify()
  const inProcess = class extends MemoryCounters { constructor () { super(cache) } }
  const where = redis === undefined ? { store: store ?? inProcess } : { redis }
  await instance.register(rateLimit, { ...where, nameSpace, global: false })

  return (name, quota, keyOf, ownOf = () => undefined) => {
    const keyGenerator = (request: FastifyRequest) => `${name}:${keyOf(request)}`
    const max = (request: FastifyRequest) => (ownOf(request) ?? quota).max
    const timeWindow = (request: FastifyRequest) => (ownOf(request) ?? quota).ms
    const count = instance.createRateLimit({ max, timeWindow, keyGenerator })
    return async (request, increment = true) => {
      try {
        // These members are absent only with an allow list, and there is none.
        const result = await withDeadline(DEADLINE_MS, count(request, { increment }))
        const { remaining, ttlInSeconds, isExceeded } = Object(result)
        return { remaining, seconds: ttlInSeconds, exceeded: isExceeded }
      } catch (cause) {
        if (skipOnError) return { remaining: max(request), seconds: 0, exceeded: false }
        const detail = 'The rate limit cannot be checked at the moment. Try again later.'
        throw new UsersError('storage_unavailable', { cause, detail, headers: { 'retry-after': '5' } })
      }
    }
  }
}
