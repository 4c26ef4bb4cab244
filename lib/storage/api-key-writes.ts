import type { ApiKeyRecord, NewEvent } from './records.ts'

/** A write of an API key, as data. */
export type ApiKeyWrite =
  /**
   * Adds a key. With `onlyFirst` it is added only if the store has no key at all, or if it has a tenant, only if that
   * has none; else nothing changes: of many concurrent processes one adds it. A revoked or expired key is a key.
   */
  | { type: 'create', key: ApiKeyRecord, onlyFirst: boolean, event: NewEvent | null }
  /**
   * Adds the successor, lets the old key expire at `expiresAt` or at its own earlier expiry, and sets its `rotatedAt`
   * to `now`. `api_key_inactive`: the old key is revoked, or expired at `now` or at its `rotatedAt`. Rotations of one
   * key count in the order in which they are made, whatever their `now`: a key that expired at its `rotatedAt` is
   * expired for every later one.
   */
  | {
    type: 'rotate'
    id: string
    successor: ApiKeyRecord
    now: string
    expiresAt: string
    event: NewEvent | null
  }
  /**
   * Marks a key as revoked at `revokedAt`, which is the present. A key that was revoked before keeps its first
   * `revokedAt`, and `changed` is false. With scopes in `keepOneWith`, an active key that has all of them is revoked
   * only if another active key of the same tenant has all of them, else `last_admin_key`: of many keys that are revoked
   * concurrently, one stays. An empty list keeps none. With `successors` the keys that came from it by rotation go in
   * the same step, whether or not it was revoked before: one that a concurrent rotation adds goes too, or the rotation
   * is refused. None of them counts as another key. `eventOfSuccessor` makes the event of each.
   */
  | {
    type: 'revoke'
    id: string
    revokedAt: string
    keepOneWith: readonly string[]
    successors: boolean
    event: NewEvent | null
  }
  /** Sets `lastUsedAt`, unless the key has one that is later than `ifBefore`. */
  | { type: 'touch', id: string, usedAt: string, ifBefore: string }

/** What became of a write of an API key. All but `done` have changed nothing. */
export type ApiKeyOutcome =
  | ApiKeyWritten
  /** `not_found`: there is no key with this id. */
  | { code: 'not_found' | 'api_key_inactive' | 'last_admin_key' }

/** The outcome of a write that was made, or had nothing to do. */
export interface ApiKeyWritten {
  code: 'done'
  changed: boolean
  /** The key that the write names, after it: of a rotation the old one. null: after `touch`, or nothing was added. */
  key: ApiKeyRecord | null
  /**
   * Only of a revocation with `successors`: those that this call has revoked, each with what was recorded of it, in the
   * order of their ids.
   */
  successors?: Array<{ key: ApiKeyRecord, event: NewEvent | null }>
}
