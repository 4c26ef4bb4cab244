/**
 * The storage interface: what a store must do so that the HTTP contract holds on it.
 *
 * Rules for every method:
 * - It is atomic by itself: no other writer's step can come between its check and its write.
 * - "There is none" is `null`. A refusal is a `StorageError` with the code that the method names. A store that can't be reached,
 *   or is busy or full, throws `unavailable`. Everything else is thrown on, never swallowed.
 * - Records are plain values. Times are ISO 8601 text in UTC with milliseconds (`2026-01-31T09:30:00.000Z`) on every store.
 *   What is returned is the caller's to change: it shares nothing with the store.
 * - What is to be written is checked already: names have 1 to 200 code points, e-mail addresses at most 254 characters, times and ids are well-formed, fields are
 *   plain JSON without NUL and lone surrogates, of whole numbers that JavaScript keeps exactly. A look-up may be by any short text, a prefix of any length; what
 *   finds nothing is `null`, or an empty page.
 * - Text comes back exactly as it was given. A store that can't keep a text (NUL, a lone surrogate) throws `fault` and never alters it.
 * - `version` and `total` are JavaScript numbers.
 */

/** A value of JSON (RFC 8259). */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** An object of JSON. */
export interface JsonObject { readonly [name: string]: Json }

/** A user, as stored. */
export interface UserRecord {
  /** `usr_…`, made by the caller. Sorting ids byte by byte sorts users by creation. */
  id: string
  name: string
  /** As sent, trimmed. */
  email: string
  /** The host's own fields, as JSON: a store keeps them as they are, the order of members included, and looks into them only for a filter. At most 16 KiB. */
  fields: JsonObject
  /** 1 for a new user, one more with every change. */
  version: number
  createdAt: string
  updatedAt: string
}

/** What a user is found by, computed by the caller: a store compares these byte by byte and folds no case itself. */
export interface UserKeys {
  /** Unique among all users. */
  emailKey: string
  /** For the search by prefix. */
  nameKey: string
}

/** New values of a user; an absent member stays as it is. */
export interface UserChanges {
  name?: { value: string, key: string }
  email?: { value: string, key: string }
  /** All of them, in the place of those that were. */
  fields?: JsonObject
}

/** Which versions of a record a write may touch. */
export interface VersionGuard {
  /** The version must be one of these; `null` asks for none in particular; an empty list matches no version. */
  ifVersion: readonly number[] | null
  /** The version must be none of these. */
  unlessVersion: readonly number[]
}

/** Which users a list is about; `null` members don't narrow it. */
export interface UserFilter {
  /** Exactly this e-mail key. */
  emailKey: string | null
  /** The name's key or the e-mail's key begins with this text. Every character stands for itself. */
  prefix: string | null
  /** The user's field of each name is this value, of this type; `{}` doesn't narrow. */
  fields: Readonly<Record<string, string | number | boolean>>
}

/** What a host asks of a store beside the schema. */
export interface Needs {
  /** Names of fields that lists are narrowed by: each wants an index. They are letters, digits and `_`, 63 at most. */
  filterable?: readonly string[]
}

/** Which part of a list is wanted, in the order of ids. */
export interface PageRequest {
  order: 'asc' | 'desc'
  /** At most this many records: a positive integer. */
  limit: number
  /** Skip this many records, or start behind this id (which need not exist), in the given order. */
  from: { offset: number } | { after: string }
}

/** A part of a list, and the number of all records the filter matches, both from one snapshot. */
export interface Page<Item> {
  items: Item[]
  total: number
}

/** The record of an API key. Holds no secret: `digest` can't be turned back. */
export interface ApiKeyRecord {
  /** `key_…`, made by the caller, sortable by creation. */
  id: string
  name: string
  scopes: string[]
  /** The key text's public beginning (`uk_` and 12 characters), unique; keys are looked up by it. */
  start: string
  digest: string
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
  /** The id of the key that this one replaces. */
  rotatedFrom: string | null
  /** Seconds that the key was made for, whatever became of it; null: for ever. Its successor is made for as long. */
  lifetime: number | null
}

/** What makes a repeated creation the same creation. */
export interface Idempotency {
  /** Digest of the caller and its key: 43 characters of base64url. */
  key: string
  /** Digest of the request; another one under the same key is a mistake of the caller's. */
  fingerprint: string
  now: string
  /** From this moment on the key is free again: a record counts while its `expiresAt` is later than the `now` of who asks. */
  expiresAt: string
}

/** The outcome of a creation: the new user, or the one that the same creation made before, as it was then. */
export interface Creation {
  user: UserRecord
  replayed: boolean
}

/** What a store may be unable to do, as data: the conformance kit prints it. */
export interface Supports {
  /** `within`: joining a transaction of the host's. */
  transactions: boolean
}

/** A store inside a transaction of the host's. Closing it does nothing. */
export interface StorageInTransaction extends Storage {
  /** Calls back once the transaction is committed, and those around it; never where it is rolled back. */
  afterCommit (callback: () => void): void
}

/** The interface that an adapter implements. Every method is required. */
export interface Storage {
  /** A short name for messages, such as `sqlite`. */
  readonly name: string

  readonly supports: Supports

  /**
   * The same store inside a transaction of the host's: it sees the transaction's own writes, and its writes are committed or rolled back with it. A refusal
   * (`email_taken`, `version_mismatch`) leaves the transaction usable.
   * @throws TypeError where `supports.transactions` is false, or for what is no open transaction on this kind of store
   */
  within (transaction: unknown): StorageInTransaction

  /**
   * Resolves if the store answers, its schema fits this code and it has what is needed; called at start and as a readiness check, so it must be cheap.
   * @throws StorageError `schema_behind`, `schema_newer`, `unavailable`
   */
  check (needs?: Needs): Promise<void>

  /**
   * Brings the schema up to date, and makes what is needed, for the users that there are too; what an earlier call was asked for stays. May run in many processes at
   * once, and again on a current schema, where it does nothing.
   */
  migrate (needs?: Needs): Promise<void>

  /** Gives back what the store itself opened. May be called more than once. A call after it is answered as before, or throws `unavailable`. */
  close (): Promise<void>

  /**
   * Adds a user. With `idempotency`, user and key are written in one step: where the key is known and not expired, nothing is added, and the user of the first
   * creation is given back as it was then. A creation that fails leaves no key behind; a deleted user takes its keys along.
   * @throws StorageError `email_taken` if another user has the e-mail key. Of many at once exactly one succeeds.
   * @throws StorageError `fault` if another user has the id
   * @throws StorageError `idempotency_key_reused` if the key is known with another fingerprint
   * @throws StorageError `idempotency_in_progress` if the first creation is still running, and the store does not wait for it any longer
   */
  createUser (user: UserRecord, keys: UserKeys, idempotency: Idempotency | null): Promise<Creation>

  /** Forgets the idempotency keys that are expired at this moment. Called now and then, apart from requests. */
  pruneIdempotency (now: string): Promise<void>

  /** The user with this id, or `null`. */
  findUser (id: string): Promise<UserRecord | null>

  /** A page of the users that the filter matches, ordered by id, with their exact number. Both come from one snapshot and one filter. */
  listUsers (filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>>

  /**
   * Changes a user in one step, guard included: sets the given values, adds 1 to `version` and sets `updatedAt`. Where every given value is the one
   * already stored (fields: the same JSON text, so another order of members is another value), nothing is written and `changed` is false. `null` if there is no such user. The guard is judged before the values are compared.
   * @throws StorageError `version_mismatch` if the guard does not hold: of many updates with one `ifVersion` exactly one succeeds
   * @throws StorageError `email_taken` if another user has the new e-mail key
   */
  updateUser (id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard): Promise<{ user: UserRecord, changed: boolean } | null>

  /**
   * Removes a user for good and gives back its last state; `null` if there is no such user. Its e-mail key is free at once.
   * @throws StorageError `version_mismatch` if the guard does not hold
   */
  deleteUser (id: string, guard: VersionGuard): Promise<UserRecord | null>

  /**
   * Adds an API key and resolves to true. With `onlyFirst` it is added only if the store has no key at all, else the answer is false:
   * of many processes at once exactly one gets true. A revoked or expired key is a key.
   * @throws StorageError `fault` if another key has the id or the start
   */
  createApiKey (key: ApiKeyRecord, options: { onlyFirst: boolean }): Promise<boolean>

  /** The key record with this id, or `null`. */
  findApiKey (id: string): Promise<ApiKeyRecord | null>

  /** The key record whose text begins so, or `null`. */
  findApiKeyByStart (start: string): Promise<ApiKeyRecord | null>

  /** A page of all key records, ordered by id, with their exact number. */
  listApiKeys (page: PageRequest): Promise<Page<ApiKeyRecord>>

  /**
   * Adds the successor and lets the old key expire at `expiresAt`, or at its own expiry where that is earlier, in one step; gives back the old key as it
   * then is. `null` if there is no such key.
   * @throws StorageError `api_key_inactive` if the old key is revoked, or expired at `now`
   * @throws StorageError `fault` if another key has the successor's id or start: then the old key stays as it was
   */
  rotateApiKey (id: string, successor: ApiKeyRecord, times: { now: string, expiresAt: string }): Promise<ApiKeyRecord | null>

  /**
   * Marks a key as revoked and gives back its record; a key revoked before keeps its first `revokedAt`, and `changed` is false. `null` if there is no such key.
   * With `keepOneWith`, a scope, a key that is active at `revokedAt` and has this scope is revoked only where another one is active and has it: of many keys
   * revoked at once, one stays.
   * @throws StorageError `last_admin_key` if there is no other: then nothing changes
   */
  revokeApiKey (id: string, revokedAt: string, options: { keepOneWith: string | null }): Promise<{ key: ApiKeyRecord, changed: boolean } | null>

  /**
   * Only where a store can: calls the listener whenever API keys may have changed in another process, and whenever that may have been missed. The answer takes the
   * listener off again. It makes revocations quicker elsewhere, and no more: what isn't told is noticed within the option `keyCache`.
   */
  watchApiKeys? (listener: () => void): () => void

  /** Sets `lastUsedAt`, unless the key is unknown, or has one that is later than `ifBefore`. */
  touchApiKey (id: string, usedAt: string, ifBefore: string): Promise<void>
}
