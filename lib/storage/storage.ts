/**
 * The storage interface: what a store must do so that the HTTP contract holds on it.
 *
 * Rules for every method:
 * - It is atomic: no step of another writer comes between its check and its write.
 * - A look-up that finds nothing gives `null`. What becomes of a write is an outcome, as data: all but `done` have
 *   changed nothing. Everything else is a `StorageError` with a code that the method names: a store that is
 *   unreachable or full throws `unavailable`. Other errors of a driver are `fault`, without their text; only mistakes
 *   of the program are rethrown. Methods reject; only `joinTransaction` throws.
 * - Other writers are no reason to refuse: what they make fail is repeated, for some seconds at least, before
 *   `unavailable` is thrown. Twenty concurrent calls on one record all end as some order of them does.
 * - Records are plain values. Times are ISO 8601 text in UTC with milliseconds (`2026-01-31T09:30:00.000Z`) on every
 *   store. The caller may change what is returned: it shares nothing with the store.
 * - Values to write are checked already. Ids are `usr_` or `key_` and 26 characters of lower-case base32
 *   (`/^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$/`): a store may refuse any other. Names have 1 to 200 code points, e-mail
 *   addresses and their keys 1 to 254 characters, and keys of names 1 to 254 code points. Times are of the years 0001
 *   to 9999. A key has 1 to 16 different scopes of visible ASCII without spaces. Fields are plain JSON of at most
 *   16 KiB: up to 7 levels and 64 members of an object, none of them named `__proto__`, without NUL and lone
 *   surrogates, and whole numbers are safe integers. A version is at most 2,147,483,647 (32 bits).
 * - A field that `migrate` was asked to keep unique is unique from then on, whoever writes: its value, of text or a
 *   number, has a JSON text of at most 255 characters.
 * - A look-up may be by any text of up to 1,000 bytes, also one with NUL, and a prefix may be of any length. What can't
 *   be stored is found nowhere: the result is `null`, or an empty page.
 * - A call that breaks two rules (an address and an id that are taken) may be refused by either of them, except where
 *   a method says which is judged first.
 * - Text comes back exactly as it was given. A store that can't keep a text (NUL, a lone surrogate) throws `fault` and
 *   never alters it.
 * - `version` and `total` are JavaScript numbers.
 * - A write with an `event` records it in the same step if it changes something: a write that is refused, finds nothing
 *   to do, or repeats an earlier one records none. A store without an event log is never given one.
 */

import type { ApiKeyOutcome, ApiKeyWrite } from './api-key-writes.ts'
import type { OptionalMembers } from './optional-members.ts'
import type {
  ApiKeyRecord, OnUsers, Page, PageRequest, SchemaRequirements, TenantPageRequest, UserFilter, UserPageRequest,
  UserRecord, UserSort
} from './records.ts'
import type { UserWrite, WritesOptions, WritesResult } from './user-writes.ts'

export type * from './api-key-writes.ts'
export type * from './event-log.ts'
export type * from './key-use-store.ts'
export type * from './optional-members.ts'
export type * from './records.ts'
export type * from './standbys.ts'
export type * from './tenant-store.ts'
export type * from './trash.ts'
export type * from './user-writes.ts'
export type * from './webhook-store.ts'

/**
 * A store inside a transaction of the host's. Closing it does nothing. It records and erases events, and has no
 * `eventLog` to read them: others see them after the commit.
 */
export interface StorageInTransaction extends Storage {
  /**
   * Calls back once after the transaction, and every enclosing one, has committed, in the order of the calls; never
   * after a rollback.
   */
  afterCommit (callback: () => void): void
}

/**
 * The interface that an adapter implements: a name and eleven methods. A store may also have
 * `joinTransaction` and {@link OptionalMembers}: a member that it has must work.
 */
export interface Storage extends OptionalMembers {
  /** A short name for messages, traces and labels of metrics, such as `sqlite`: the same whatever version runs. */
  readonly name: string

  /**
   * Resolves if the store answers, its schema fits this code, and it has what is required. Called at start and by
   * readiness checks, so it must be cheap.
   * @throws StorageError `schema_behind`, `schema_newer`, `unavailable`; `fault` if it can't keep every text
   */
  check (requirements?: SchemaRequirements): Promise<void>

  /**
   * Brings the schema up to date and makes what is required, for existing users too. What an earlier call required
   * stays. Many processes may call it concurrently. On a current schema it does nothing.
   * @throws StorageError `field_taken` if users have the same value of a field that is to be unique
   * @throws StorageError `fault` if it can't keep every text
   */
  migrate (requirements?: SchemaRequirements): Promise<void>

  /**
   * Releases what the store itself opened. May be called more than once. A call of another method after it works as
   * before, or throws `unavailable`.
   */
  close (): Promise<void>

  /**
   * Makes writes of users one after the other, {@link UserWrite} says what each does, and all in one step: no other
   * writer comes between them, nobody sees only some of them, and if the call throws, none is made. A write that is
   * refused or finds no user changes nothing, and the next one follows; but if the call is `atomic`, that ends it and
   * undoes it.
   *
   * With `idempotency`, the outcomes and the note are kept in the same step, unless the call is undone, or one creation
   * was all of it and was refused. The key is judged first: if it is known and not expired, nothing is written, and
   * the result is that of the first call. Of a call with one creation alone and no note, deleting the user deletes the
   * key; of any other, the users that are deleted since are absent from the result.
   * @throws StorageError `fault` if a new user has the id of another one. A store may take a second call with the id
   * and values of a user for a repetition of its own, and succeed: every creation has an id of its own.
   * @throws StorageError `idempotency_key_reused` if the key is known with another fingerprint
   * @throws StorageError `idempotency_in_progress` if the first call is still running and the wait for it has ended
   */
  writeUsers (writes: readonly UserWrite[], options: WritesOptions): Promise<WritesResult>

  /** The user with this id, or `null`. */
  findUser (id: string): Promise<UserRecord | null>

  /**
   * A page of the users that match the filter, ordered by id or by {@link UserSort}, with their exact number, both from
   * one snapshot.
   */
  listUsers (filter: UserFilter, page: UserPageRequest): Promise<Page<UserRecord>>

  /**
   * Reads every user that matches the filter, in the same orders, all from one snapshot, and gives them in parts of at
   * most 1,000 and never none. Waits for `onPart` before it gives the next part, however long that takes; no writer
   * waits for it, and what it keeps in memory does not grow with the number of users. If `onPart` rejects, it ends with
   * that error; `close` ends it with `unavailable`. In either case it frees what it holds. Inside a transaction each
   * part is what the transaction sees at that moment.
   * @throws StorageError `unavailable`, also if more than two calls run already
   */
  readUsers (filter: UserFilter, order: PageRequest['order'], onPart: OnUsers, sort?: UserSort): Promise<void>

  /**
   * Makes a write of an API key. {@link ApiKeyWrite} says what each does.
   * @throws StorageError `fault` if another key has the id or the start of a new one; then nothing changes
   */
  writeApiKey (write: ApiKeyWrite): Promise<ApiKeyOutcome>

  /** The key record with this id, or whose `start` is exactly this text; or `null`. */
  findApiKey (by: { id: string } | { start: string }): Promise<ApiKeyRecord | null>

  /** A page of the key records, ordered by id, with their exact number. */
  listApiKeys (page: TenantPageRequest): Promise<Page<ApiKeyRecord>>

  /** Deletes what is expired at `now`: idempotency keys. Called periodically, outside of requests. */
  prune (now: string): Promise<void>

  /**
   * The same store inside a transaction of the host's. It sees the transaction's own writes, and its writes commit or
   * roll back with it. After a refusal, whatever its code, the transaction is still usable.
   * @throws TypeError for anything but an open transaction on this kind of store
   */
  joinTransaction? (transaction: unknown): StorageInTransaction
}
