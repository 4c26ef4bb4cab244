/**
 * The storage interface: what a store must do so that the HTTP contract holds on it.
 *
 * Rules for every method:
 * - It is atomic: no step of another writer comes between its check and its write.
 * - "Not found" is `null`. A refusal is a `StorageError` with a code that the method names, and changes nothing. A
 *   store that is unreachable or full throws `unavailable`. Other errors of a driver are `fault`, without their
 *   text; only mistakes of the program are rethrown. Methods reject; only `joinTransaction` throws.
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
 *   to do, or repeats an earlier creation records none. A store without an event log is never given one.
 */

import type { DeletionEvent } from './event-log.ts'
import type { OptionalMembers } from './optional-members.ts'
import type {
  ApiKeyRecord, Creation, Idempotency, NewEvent, OnUsers, Page, PageRequest, Revocation, RevokeOptions,
  SchemaRequirements, UserChanges, UserFilter, UserKeys, UserRecord, UserUpdate, VersionGuard
} from './records.ts'

export type * from './event-log.ts'
export type * from './optional-members.ts'
export type * from './records.ts'
export type * from './user-writes.ts'
export type * from './webhook-store.ts'

/** What a store may lack, as data: the conformance kit prints it. */
export interface Supports {
  /** `joinTransaction` works. */
  transactions: boolean
  /** Writes record their `event`, and there is an `eventLog` that reads them. */
  eventLog: boolean
  /** There is a `writeBatch`. */
  batches: boolean
}

/**
 * A store inside a transaction of the host's. Closing it does nothing. It records events and has no `eventLog` to read
 * them: others see them after the commit.
 */
export interface StorageInTransaction extends Storage {
  /**
   * Calls back once after the transaction, and every enclosing one, has committed, in the order of the calls; never
   * after a rollback.
   */
  afterCommit (callback: () => void): void
}

/** The interface that an adapter implements. Every member is required, but for those of {@link OptionalMembers}. */
export interface Storage extends OptionalMembers {
  /** A short name for messages, traces and labels of metrics, such as `sqlite`: the same whatever version runs. */
  readonly name: string

  readonly supports: Supports

  /**
   * The same store inside a transaction of the host's. It sees the transaction's own writes, and its writes commit or
   * roll back with it. After a refusal, whatever its code, the transaction is still usable.
   * @throws TypeError if `supports.transactions` is false, or for anything but an open transaction on this kind of
   * store
   */
  joinTransaction (transaction: unknown): StorageInTransaction

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
   * Adds a user. With `idempotency`, user and key are written in one step. The key is judged first: if it is known and
   * not expired, nothing is added, and the result is the user of the first creation as it was then, though its address
   * is taken. A failed creation leaves no key behind. Deleting a user deletes its keys. Every call has an id of its
   * own: a store may take a second call with the id and values of a user for a repetition of its own, and succeed.
   * @throws StorageError `email_taken` if another user has the e-mail key. Of many concurrent calls one succeeds.
   * @throws StorageError `field_taken` if another user has the value of a unique field; the same of many calls
   * @throws StorageError `fault` if another user has the id
   * @throws StorageError `idempotency_key_reused` if the key is known with another fingerprint
   * @throws StorageError `idempotency_in_progress` if the first creation is still running and the wait for it has ended
   */
  createUser (
    user: UserRecord,
    keys: UserKeys,
    idempotency: Idempotency | null,
    event?: NewEvent | null
  ): Promise<Creation>

  /** Deletes the idempotency keys that are expired at `now`. Called periodically, outside of requests. */
  pruneIdempotency (now: string): Promise<void>

  /** The user with this id, or `null`. */
  findUser (id: string): Promise<UserRecord | null>

  /** A page of the users that match the filter, ordered by id, with their exact number, both from one snapshot. */
  listUsers (filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>>

  /**
   * Reads every user that matches the filter, ordered by id, all from one snapshot, and gives them in parts of at most
   * 1,000 and never none. Waits for `onPart` before it gives the next part, however long that takes; no writer waits
   * for it, and what it keeps in memory does not grow with the number of users. If `onPart` rejects, it ends with that
   * error; `close` ends it with `unavailable`. In either case it frees what it holds. Inside a transaction each part is
   * what the transaction sees at that moment.
   * @throws StorageError `unavailable`, also if more than two calls run already
   */
  readUsers (filter: UserFilter, order: PageRequest['order'], onPart: OnUsers): Promise<void>

  /**
   * Changes a user in one step, guard included: sets the given values, adds 1 to `version` and sets `updatedAt`, which
   * stays if the given time is earlier: the clock of another process may be ahead. If every given value is stored
   * already (fields: the same JSON text, so another order of members is another value; keys are not compared), or none
   * is given, nothing is written and `changed` is false. The guard is checked before the values are compared. `null`:
   * no such user.
   * @throws StorageError `version_mismatch` if the guard does not hold. Of many updates with one `ifVersion` one
   * succeeds.
   * @throws StorageError `email_taken` if another user has the new e-mail key
   * @throws StorageError `field_taken` if another user has the new value of a unique field
   */
  updateUser (
    id: string,
    changes: UserChanges,
    updatedAt: string,
    guard: VersionGuard,
    event?: NewEvent | null
  ): Promise<UserUpdate | null>

  /**
   * Deletes a user for good and returns its last state; `null`: no such user. Its e-mail key is free immediately. With
   * `erase`, all of its events are erased in the same step, that of the deletion too.
   * @throws StorageError `version_mismatch` if the guard does not hold
   */
  deleteUser (id: string, guard: VersionGuard, event?: DeletionEvent | null): Promise<UserRecord | null>

  /**
   * Adds an API key and resolves to true. With `onlyFirst` it is added only if the store has no key at all, else the
   * result is false: of many concurrent processes one gets true. A revoked or expired key is a key.
   * @throws StorageError `fault` if another key has the id or the start
   */
  createApiKey (key: ApiKeyRecord, options: { onlyFirst: boolean }, event?: NewEvent | null): Promise<boolean>

  /** The key record with this id, or `null`. */
  findApiKey (id: string): Promise<ApiKeyRecord | null>

  /** The key record whose `start` is exactly this text, or `null`. */
  findApiKeyByStart (start: string): Promise<ApiKeyRecord | null>

  /** A page of all key records, ordered by id, with their exact number. */
  listApiKeys (page: PageRequest): Promise<Page<ApiKeyRecord>>

  /**
   * Adds the successor, lets the old key expire at `expiresAt` or at its own earlier expiry, and sets its `rotatedAt`
   * to `now`, in one step. Returns the old key after it. `null`: no such key. Rotations of one key count in the order
   * in which they are made, whatever their `now`: a key that expired at its `rotatedAt` is expired for every later one.
   * @throws StorageError `api_key_inactive` if the old key is revoked, or expired at `now` or at its `rotatedAt`
   * @throws StorageError `fault` if another key has the successor's id or start; then the old key is unchanged
   */
  rotateApiKey (
    id: string,
    successor: ApiKeyRecord,
    times: { now: string, expiresAt: string },
    event?: NewEvent | null
  ): Promise<ApiKeyRecord | null>

  /**
   * Marks a key as revoked at `revokedAt`, which is the present, and returns its record. A key that was revoked
   * before keeps its first `revokedAt`, and `changed` is false. `null`: no such key. With scopes in `keepOneWith`, an
   * active key that has all of them is revoked only if another active key has all of them: of many keys that are
   * revoked concurrently, one stays. An empty list keeps none. With `successors` the keys that came from it by
   * rotation go in the same step, whether or not it was revoked before: one that a concurrent rotation adds goes too,
   * or the rotation is refused. None of them counts as another key. `eventOfSuccessor` makes the event of each.
   * @throws StorageError `last_admin_key` if there is no other such key; then nothing changes
   */
  revokeApiKey (
    id: string,
    revokedAt: string,
    options: RevokeOptions,
    event?: NewEvent | null
  ): Promise<Revocation | null>

  /** Sets `lastUsedAt`, unless the key is unknown or has a `lastUsedAt` later than `ifBefore`. */
  touchApiKey (id: string, usedAt: string, ifBefore: string): Promise<void>
}
