/**
 * All that is relied on beyond what Fastify, pino and @fastify/rate-limit document. Read in fastify 5.12.8 and 6.0.0-alpha.4, pino 10.3 and @fastify/rate-limit
 * 11.2; `test/fastify-internals.test.ts` fails where one of it goes, and says what to do then.
 */
import type { FastifyBaseLogger } from 'fastify'

/** Where pino keeps its serialisers, on a logger and on its children. */
export const SERIALIZERS = Symbol.for('pino.serializers')

/** Whether it is no logger at all: where a host has none, Fastify's (abstract-logging) has one function for every level, with nothing in it. */
export function isNoLogger ({ info, error }: FastifyBaseLogger): boolean {
  return info === error && /\{\s*\}$/.test(String(info))
}

/** @fastify/rate-limit with what its types leave out: an address as it is counted, of IPv6 the network. */
export type RateLimitPackage = typeof import('@fastify/rate-limit') & { normalizeIP: (ip: string) => string }
