import { createHash } from 'node:crypto'
import type { Context } from '../context.ts'
import type { Fault } from '../errors.ts'
import type { Idempotency } from '../storage.ts'

// The draft leaves the form to the server: visible ASCII keeps a key one header value that every store can keep.
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

/** JSON text that does not depend on the order of members: the same after parsing is the same text. */
function canonical (value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => typeof member === 'object' && member !== null && !Array.isArray(member)
    ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => a < b ? -1 : 1))
    : member)
}

/** Options of a creation. */
export interface CreateOptions {
  /** 1 to 255 visible ASCII characters: a creation repeated under the same key gives the first one's user. */
  idempotencyKey?: string
}

/** The faults of the options of a creation. */
export function judgeCreateOptions ({ idempotencyKey, ...others }: CreateOptions): Fault[] {
  const faults: Fault[] = Object.keys(others).map((parameter) => ({ parameter, code: 'unknown', detail: 'is not a known option' }))
  if (idempotencyKey !== undefined && !(typeof idempotencyKey === 'string' && IDEMPOTENCY_KEY.test(idempotencyKey))) {
    faults.push({ header: 'idempotency-key', code: 'format', detail: 'must be one value of 1 to 255 visible ASCII characters' })
  }
  return faults
}

/** What the storage is told of a creation under a key (draft-ietf-httpapi-idempotency-key-header). Keys are scoped to the caller. */
export function idempotencyOf (key: string, body: unknown, { actor }: Context, ttl: number): Idempotency {
  const now = Date.now()
  const digest = (value: unknown): string => createHash('sha256').update(canonical(value)).digest('base64url')
  return {
    key: digest([actor === null ? null : [actor.type, actor.id], key]),
    fingerprint: digest(body),
    now: new Date(now).toISOString(),
    expiresAt: new Date(now + ttl * 1000).toISOString()
  }
}
