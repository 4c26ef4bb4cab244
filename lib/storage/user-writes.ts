import type {
  Actor, GroupChange, Idempotency, Json, JsonObject, NewEvent, UserChanges, UserKeys, UserRecord, VersionGuard, Words
} from './records.ts'

/** A write of a user, as data. */
export type UserWrite =
  /**
   * Adds a user. `email_taken`: another user has the e-mail key. `field_taken`: another user has the value of a unique
   * field. Of concurrent creations with the same value, one succeeds. `joins`: groups of its tenant whose member it
   * is then; one that is not there any more is passed over.
   */
  | { type: 'create', user: UserRecord, keys: UserKeys, event: NewEvent | null, joins?: readonly string[] }
  /**
   * Sets the given values, adds 1 to `version` and sets `updatedAt`, which stays if the given time is earlier: the
   * clock of another process may be ahead. If every given value is stored already (fields: the same JSON text, so
   * another order of members is another value; keys are not compared), or none is given, nothing is written and
   * `changed` is false. The guard is checked first, `version_mismatch`: of many updates with one `ifVersion` one
   * succeeds. Also refused like a creation. `joins`: as of a creation; it is no change of the user.
   */
  | {
    type: 'update'
    id: string
    changes: UserChanges | ChangesOf
    updatedAt: string
    guard: VersionGuard
    event: NewEvent | null
    joins?: readonly string[]
    /** A user of another tenant, or of none, is `not_found`. */
    tenant?: string
  }
  /**
   * Deletes a user. Its e-mail key and unique values are free immediately. `version_mismatch`: the guard does not hold.
   * With `erase`, all of its events are erased in the same step, that of the deletion too. `tenant`: as for an update.
   * With `putAway`, which is never together with `erase`, the user is kept in the trash, in place of another one with
   * its id. Otherwise it is gone for good.
   */
  | {
    type: 'delete'
    id: string
    guard: VersionGuard
    event: NewEvent | null
    erase: boolean
    putAway?: PutAway
    tenant?: string
  }
  /**
   * Gives back a user that was put away, with its values and keys, 1 added to `version`, and `updatedAt` as an update
   * sets it. Its idempotency keys stay deleted. `not_found`: it is not put away. `email_taken`, `field_taken`: as a
   * creation is refused; `field_taken` with the field `id`: there is a user with its id again. The guard and `tenant`:
   * as for an update.
   */
  | {
    type: 'restore'
    id: string
    updatedAt: string
    guard: VersionGuard
    event: NewEvent | null
    tenant?: string
  }
  /**
   * Deletes a user for good, also one that is put away; where the id was given again in its tenant, both, and the
   * guard is for the one that is there. With `putAwayBefore`, only one that was put away at that moment or before. The
   * event has no values of the user (it is `purgeEvent` of the package); if the user was not put away, a
   * `user.deleted`, as `deletionBefore` of the package makes it, comes before it. The guard, `erase` and `tenant`: as
   * for a deletion.
   */
  | {
    type: 'purge'
    id: string
    putAwayBefore: string | null
    guard: VersionGuard
    event: NewEvent | null
    erase: boolean
    tenant?: string
  }

/** When a user is put away, and by whom; null: the host, in process. */
export interface PutAway {
  deletedAt: string
  deletedBy: Actor | null
}

/**
 * Makes changes of the user as the write meets it, or refuses it. It may be called more than once, changes nothing and
 * throws nothing.
 */
export type ChangesOf = (user: UserRecord) => UserChanges | { refused: Json }

/** The types of events that a write may stand for, beside the one that it was given. */
export type ChangeType = 'user.updated' | 'user.activated' | 'user.suspended' | 'user.deleted' | 'user.purged'

/** What became of a write. All but `done` have changed nothing. */
export type WriteOutcome =
  /**
   * `user`: after it; of a deletion the last state. null, only in a repetition: the user is deleted since, or by this
   * write. `types`: the types of its events, recorded or not, where they are not the usual one: of an update that
   * changed the status those that `updateTypes` of the package gives, of a purge of a user that was not put away
   * `user.deleted` and `user.purged`. A repetition does not have it.
   */
  | { code: 'done', changed: boolean, user: UserRecord | null, types?: ChangeType[] }
  | { code: 'not_found' | 'email_taken' | 'version_mismatch' }
  | { code: 'field_taken', field: string }
  /** By `ChangesOf`, and why. */
  | { code: 'refused', reason: Json }

/** The words of own fields that users are found by. */
export type WordsOf = (fields: JsonObject) => Words

/** What holds for all writes of a caller. */
export interface WriteScope {
  /** The tenant that the caller is bound to: users of others are not there, and new ones belong to it. */
  tenant?: string | undefined
  /** Absent: own fields are not searched. */
  wordsOf?: WordsOf | undefined
  /** Takes what the writes have changed of groups, once it is committed. Absent: there are no groups. */
  onGroups?: ((changes: readonly GroupChange[]) => void) | undefined
}

/** How writes are made together. */
export interface WritesOptions extends WriteScope {
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
