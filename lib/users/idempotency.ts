import { createHash } from 'node:crypto'
import type { CallerId } from '../core/context.ts'
import { type Fault, unknownOptions } from '../core/fault.ts'
import { canonicalJson } from '../core/json.ts'
import { IDEMPOTENCY_KEY_MAX } from '../core/limits.ts'
import type { Idempotency } from '../storage/storage.ts'

/** The draft leaves the form to the server. Visible ASCII fits in one header value, and every store can keep it. */
export const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX}}$`)

/** Options of a creation. */
export interface CreateOptions {
  /** 1 to 255 visible ASCII characters: a creation repeated with the same key returns the user of the first one. */
  idempotencyKey?: string
}

/** The faults of the options of a creation. */
export function createOptionsFaults ({ idempotencyKey, ...others }: CreateOptions): Fault[] {
  return [...unknownOptions(Object.keys(others)), ...idempotencyKeyFaults(idempotencyKey)]
}

/** The faults of an idempotency key. */
export function idempotencyKeyFaults (key: unknown): Fault[] {
  if (key === undefined || (typeof key === 'string' && IDEMPOTENCY_KEY.test(key))) return []
  const detail = `must be one value of 1 to ${IDEMPOTENCY_KEY_MAX} visible ASCII characters`
  return [{ header: 'idempotency-key', code: 'format', detail }]
}

/**
 * What the storage gets for a creation with a key (draft-ietf-httpapi-idempotency-key-header). Keys are scoped to their
 * owner; null: the host, in process. `ttl`: seconds that the key is kept.
 */
export function idempotencyOf (key: string, body: unknown, owner: CallerId | null, ttl: number): Idempotency {
  const now = Date.now()
  const digest = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('base64url')
  return {
    key: digest([owner === null ? null : [owner.type, owner.id], key]),
    fingerprint: digest(body),
    now: new Date(now).toISOString(),
    expiresAt: new Date(now + ttl * 1000).toISOString(),
    note: null
  }
}
