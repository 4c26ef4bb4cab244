import type { Page, UserRecord } from './records.ts'
import type { PutAway } from './user-writes.ts'

/** A user that is put away, as it was at its deletion. */
export interface DeletedUser extends PutAway {
  user: UserRecord
}

/** Which users that are put away are read. */
export interface TrashRequest {
  offset: number
  limit: number
  /** Only those of this tenant. */
  tenant?: string
}

/**
 * The users that were deleted and can be restored. They are in no list, look-up or total, and hold no address and no
 * value of a unique field.
 */
export interface Trash {
  /** The user that is put away under this id, or `null`. */
  find (id: string): Promise<DeletedUser | null>

  /**
   * A page of the users that are put away, the latest first (of one moment, by id, the greatest first), with their
   * exact number, both from one snapshot.
   */
  list (request: TrashRequest): Promise<Page<DeletedUser>>

  /** The ids of at most `limit` users that were put away at this moment or before, the oldest first. */
  expired (before: string, limit: number): Promise<string[]>
}
