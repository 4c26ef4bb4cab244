import type {
  OnUsers, Page, PageRequest, UserFilter, UserPageRequest, UserRecord, UserSort
} from './records.ts'

/** The reads that a standby can serve. They do what those of a storage do. */
export interface UserReads {
  /** `atLeast`: a version that the caller has seen, so that an older one is no answer. */
  findUser (id: string, atLeast?: number): Promise<UserRecord | null>
  listUsers (filter: UserFilter, page: UserPageRequest): Promise<Page<UserRecord>>
  readUsers (filter: UserFilter, order: PageRequest['order'], onPart: OnUsers, sort?: UserSort): Promise<void>
}

/**
 * Reads that a standby serves, for one request. What the standby can't answer, the primary does: a failure of the
 * standby is never one of the read, unless parts of a snapshot have been given already.
 */
export interface StandbyReads extends UserReads {
  /** A position behind everything that these reads have seen. @throws StorageError `unavailable` */
  seen (): Promise<string>
}

/** What became of a standby. */
export interface StandbyReport {
  /** Such as `replicas[0]`: an address may hold a password. */
  name: string
  /** Why it is left alone, as the end of a sentence; null: it is read again. */
  problem: string | null
}

/** Standbys of the database, which follow it at some distance. */
export interface Standbys {
  /** A text for everything that is committed now. @throws StorageError `unavailable` */
  position (): Promise<string>
  /**
   * Reads on a standby that has come up to a position, which it may be waited for a moment; or, without a position, one
   * that is no further behind than the store's bound. Null: the primary must be read, as for a position of no known
   * form.
   */
  reads (position?: string): Promise<StandbyReads | null>
  /** Calls the listener whenever a standby is left alone, and when it is right again. */
  watch (listener: (report: StandbyReport) => void): void
}
