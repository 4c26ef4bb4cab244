import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { headerLines } from '../header-fields.ts'

const MAX_ENTRIES = 10_000
const REMEMBERED_MS = 60 * 60 * 1000

/** The credentials that were accepted in the last hour, by their digests. */
export interface FamiliarKeys {
  has (request: FastifyRequest): boolean
  /** Notes whether the credentials of a request were accepted. */
  note (request: FastifyRequest, accepted: boolean): void
}

function digestOf (request: FastifyRequest): string {
  return createHash('sha256').update(headerLines(request, 'authorization').join('\n')).digest('base64')
}

/**
 * Remembers accepted credentials, so that somebody who guesses keys does not lock out the keys that are in use at the
 * same address: all clients behind an untrusted proxy share one address.
 */
export function createFamiliarKeys (): FamiliarKeys {
  const accepted = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: REMEMBERED_MS, ttlResolution: 0 })
  return {
    has: (request) => accepted.has(digestOf(request)),
    note (request, isAccepted) {
      const digest = digestOf(request)
      if (isAccepted) accepted.set(digest, true)
      else accepted.delete(digest)
    }
  }
}
