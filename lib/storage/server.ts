import type {
  OnUsers, Page, PageRequest, UserFilter, UserPageRequest, UserRecord, UserSort
} from './records.ts'

/** The reads of users, which a standby can serve too. */
export interface UserReads {
  /** The user with this id, or `null`. `atLeast`: a version that the caller has seen: an older one is no answer. */
  find (id: string, atLeast?: number): Promise<UserRecord | null>
  /**
   * A page of the users that match the filter, ordered by id or by {@link UserSort}, with their exact number, both from
   * one snapshot.
   */
  list (filter: UserFilter, page: UserPageRequest): Promise<Page<UserRecord>>
  /**
   * Reads every user that matches the filter, in the same orders, all from one snapshot, and gives them in parts of at
   * most 1,000 and never none. Waits for `onPart` before it gives the next part, however long that takes; no writer
   * waits for it, and what it keeps in memory does not grow with the number of users. If `onPart` rejects, it ends with
   * that error; after `close` it gives all, or ends with `unavailable`. In any case it frees what it holds. Inside
   * a transaction each part is what the transaction sees at that moment.
   * May throw `unavailable` if more than two calls run already.
   */
  walk (filter: UserFilter, order: PageRequest['order'], onPart: OnUsers, sort?: UserSort): Promise<void>
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

/** The server behind a store. A member that is there must work. */
export interface Server {
  /** The driver of the database and its version, such as `better-sqlite3 12.11.1`, for the log. */
  readonly driver?: string
  /**
   * How many requests that read, and how many that write, the store serves best at a time, such as four for each
   * connection: more wait in the plugin, and are refused if that would take long. Without it, and without the option
   * `limits.inFlight`, they all reach the store.
   */
  readonly concurrency?: number
  /** Servers beside the database that are read too. Without it every read is of the database itself. */
  readonly standbys?: Standbys
  /**
   * What the operator should know about the database's settings, such as that it does not wait for its disk: one
   * sentence each, for the log. Called once, at start.
   */
  warnings? (): Promise<readonly string[]>
  /**
   * How many connections of the pool are used and free, and how many calls wait for one that others use. It is asked
   * for gauges, and by requests: while calls wait, the store is not only slow but overloaded.
   */
  connections? (): { used: number, free: number, waiting: number }
  /**
   * True while the database answers and accepts no writes, as a standby does, or one whose disk is full. Without it the
   * store is taken for one that accepts them.
   */
  isReadOnly? (): Promise<boolean>
  /** Work of the store's own that may wait, such as giving up what is no longer needed. Called every ten minutes. */
  upkeep? (): Promise<void>
}
