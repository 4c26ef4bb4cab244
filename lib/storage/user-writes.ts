import type { Idempotency, Json, NewEvent, UserChanges, UserKeys, UserRecord, VersionGuard } from './records.ts'

/** A write of a user, as data. */
export type UserWrite =
  /**
   * Adds a user. `email_taken`: another user has the e-mail key. `field_taken`: another user has the value of a unique
   * field. Of concurrent creations with the same value, one succeeds.
   */
  | { type: 'create', user: UserRecord, keys: UserKeys, event: NewEvent | null }
  /**
   * Sets the given values, adds 1 to `version` and sets `updatedAt`, which stays if the given time is earlier: the
   * clock of another process may be ahead. If every given value is stored already (fields: the same JSON text, so
   * another order of members is another value; keys are not compared), or none is given, nothing is written and
   * `changed` is false. The guard is checked first, `version_mismatch`: of many updates with one `ifVersion` one
   * succeeds. Also refused like a creation.
   */
  | {
    type: 'update'
    id: string
    changes: UserChanges | ChangesOf
    updatedAt: string
    guard: VersionGuard
    event: NewEvent | null
    /** A user of another tenant, or of none, is `not_found`. */
    tenant?: string
  }
  /**
   * Deletes a user for good. Its e-mail key is free immediately. `version_mismatch`: the guard does not hold. With
   * `erase`, all of its events are erased in the same step, that of the deletion too. `tenant`: as for an update.
   */
  | { type: 'delete', id: string, guard: VersionGuard, event: NewEvent | null, erase: boolean, tenant?: string }

/**
 * Makes changes of the user as the write meets it, or refuses it. It may be called more than once, changes nothing and
 * throws nothing.
 */
export type ChangesOf = (user: UserRecord) => UserChanges | { refused: Json }

/** What became of a write. All but `done` have changed nothing. */
export type WriteOutcome =
  /**
   * `user`: after it; of a deletion the last state. null, only in a repetition: the user is deleted since, or by this
   * write.
   */
  | { code: 'done', changed: boolean, user: UserRecord | null }
  | { code: 'not_found' | 'email_taken' | 'version_mismatch' }
  | { code: 'field_taken', field: string }
  /** By `ChangesOf`, and why. */
  | { code: 'refused', reason: Json }

/** How writes are made together. */
export interface WritesOptions {
  /** All writes or none. */
  atomic: boolean
  /** Identifies repetitions of the call; null: every call is another one. */
  idempotency: Idempotency | null
}

/** The outcomes of a call, or those of the first one with its idempotency key. */
export interface WritesResult {
  /** In the order of the writes. Of an atomic call that is undone, those up to the first that is not `done`. */
  outcomes: WriteOutcome[]
  /** The `note` of the call that produced these outcomes. */
  note: Json
  replayed: boolean
}
