import type { Idempotency, Json, NewEvent, UserChanges, UserKeys, UserRecord, VersionGuard } from './records.ts'

/** A write of a batch, as data: the arguments of the method that makes it alone. */
export type UserWrite =
  | { type: 'create', user: UserRecord, keys: UserKeys, event: NewEvent | null }
  | {
    type: 'update'
    id: string
    /** null: what `ChangesOf` makes of the user. */
    changes: UserChanges | null
    updatedAt: string
    guard: VersionGuard
    event: NewEvent | null
  }
  | { type: 'delete', id: string, guard: VersionGuard, event: NewEvent | null }

/**
 * Makes the changes of the update at this index of the user that it meets, or refuses it. It may be called more than
 * once, changes nothing and throws nothing.
 */
export type ChangesOf = (index: number, user: UserRecord) => UserChanges | { refused: Json }

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

export interface BatchOptions {
  /** All writes or none. */
  atomic: boolean
  /** Identifies repetitions; null: every call is another batch. `note` is kept with the outcomes. */
  idempotency: Idempotency & { note: Json } | null
}

/** The outcome of a batch, or that of the first one with its idempotency key. */
export interface BatchResult {
  /** In the order of the writes. Of an atomic batch that is undone, those up to the first that is not `done`. */
  outcomes: WriteOutcome[]
  /** The `note` of the batch that produced these outcomes. */
  note: Json
  replayed: boolean
}
