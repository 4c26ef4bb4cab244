/**
 * The interface of a store. A store keeps the rows of collections, compares versions, and commits units of writes, each
 * all or nothing. What a write means is decided before, in one place for all stores.
 *
 * Rules for every method:
 * - Every error is a `StorageError`: `unavailable` if the store is unreachable or full, `fault` for other errors of a
 *   driver, without their text. Mistakes of the program, such as a `TypeError`, are thrown as they are.
 * - Records are plain values, and texts come back exactly as they were given. A store that can't keep a text (NUL, a
 *   lone surrogate) throws `fault`. Times are ISO 8601 text in UTC with milliseconds (`2026-01-31T09:30:00.000Z`).
 * - Neither side changes a value after it was given or returned.
 * - A look-up takes any text of up to 1,000 bytes, and finds nothing for a text that can't be stored.
 * - Texts are compared byte by byte, as UTF-8 or UTF-16: the texts that rows are sorted by have one order in both.
 */
import type {
  ApiKeyRecord, DeliveryRecord, EventRecord, EventsPage, EventsRequest, GroupRecord, Json, MembershipRecord, Page,
  PageRequest, PrunedEvents, SchemaRequirements, TenantRecord, UserKeys, UserRecord, WebhookRecord
} from './records.ts'
import type { Server, UserReads } from './server.ts'
import type { PutAway } from './user-writes.ts'

export type * from './records.ts'
export type * from './server.ts'

/** What every record has. `id`: unique in its collection. `tenant`: its owner; absent: it belongs to no tenant. */
export interface Stored { id: string, version: number, tenant?: string, updatedAt?: string }

/** The keys and words of a user. A key that a write omits stays as it is in the row that the write replaces. */
export type Keys = Partial<UserKeys>

/** What an idempotency key keeps of a call, or of one of its outcomes. */
export interface KeptOutcomes extends Stored { fingerprint: string, expiresAt: string, kept: Json }

/** How often a key was used on a day; its id is the key, `/`, and the day. */
export interface StoredUses extends Stored { day: string, uses: number }

/** The collections, with the record of each. `list` asks only for the members that are named here. */
export interface Collections {
  /** Unique within a tenant: `keys.emailKey`, and the fields that `open` was asked to keep unique. */
  users: { record: UserRecord, keys: Keys }
  /** Deleted users who can be restored, with the ids of their groups. Listed by `deletedAt`. A write gives all keys. */
  trash: { record: UserRecord & PutAway & { groups?: string[] }, keys: Keys }
  /** Unique: `start`. Listed by `rotatedFrom`. */
  apiKeys: { record: ApiKeyRecord & Stored, keys: null }
  /** Each belongs to an API key. Listed by `day`. */
  keyUses: { record: StoredUses, keys: null }
  webhooks: { record: WebhookRecord & Stored, keys: null }
  /** Each belongs to a webhook. Listed by `event`, `status`, `dueAt` and `createdAt`. */
  deliveries: { record: DeliveryRecord & Stored, keys: null }
  /** Unique within a tenant: `nameKey`. Listed by `nameKey` and `externalId`. */
  userGroups: { record: GroupRecord, keys: null }
  /**
   * Each belongs to a group, and keeps its `member`: it is not added if that user is missing, and while it is there,
   * the user is not removed. Both are `changed`. Listed by `member`.
   */
  memberships: { record: MembershipRecord & Stored, keys: null }
  /** Some belong to a user. Listed by `expiresAt`. */
  idempotency: { record: KeptOutcomes, keys: null }
  /** Each is a lock: writers that must exclude each other all write the same row. */
  marks: { record: Stored, keys: null }
}

export type CollectionName = keyof Collections

/** `of`: the id of the row that it belongs to, and is removed with; null: none. */
export interface Row<Name extends CollectionName> {
  record: Collections[Name]['record']
  keys: Collections[Name]['keys']
  of: string | null
}

/**
 * A write of one row. `was`: the row must be there with this version and tenant, and a user also with this `updatedAt`,
 * because an id can be used again; null: no row may have the id. `put`: the row to store in its place; null: remove the
 * row, with all rows that belong to it. At most one of the two is null.
 */
export type RowWrite<Name extends CollectionName = CollectionName> = {
  [Each in Name]: { in: Each, put: Row<Each> | null, was: Row<Each> | null }
}[Name]

/** Which events are rewritten: all of a subject, of an actor, or of a tenant (null: the events without a tenant). */
export interface Rewrite {
  of: { subject: string } | { actor: string } | { tenant: string | null }
  /** Returns the event to store, or the same object to leave it as it is. Never changes its id, type and time. */
  make: (event: EventRecord) => EventRecord
}

/**
 * Writes that are committed together or not at all: first the writes in their order, then the events in theirs, then
 * the rewrites. Each one sees what the ones before it have written. No reader sees a part of a unit.
 */
export interface Unit { writes: readonly RowWrite[], events: readonly EventRecord[], rewrites: readonly Rewrite[] }

/** The result of a unit. Only `ok` has changed anything. `at`: the index of the first refused write. */
export type Outcome =
  | { code: 'ok' }
  /**
   * The row differs from `was`, the row that it belongs to is gone, or a membership and its user don't fit. The caller
   * reads the row and decides again. So a store may also return it for a conflict on which the database gave up, but
   * must throw in a host's transaction.
   */
  | { code: 'changed', at: number }
  /** Another row has the unique value of this member or field. Names the address if several are taken. */
  | { code: 'taken', at: number, member: 'emailKey' | 'start' | 'nameKey' | { field: string } }

/** Identifies a row. */
export type RowKey = { id: string } | { start: string }

/** Which rows of a collection other than `users` are listed. All that is asked for must hold. */
export interface RowsQuery {
  /** `tenant`: rows of this tenant (null: without one). `of`: rows that belong to this row. */
  tenant?: string | null
  of?: string
  /** The member has one of these values, of which there may be none. */
  where?: { member: string, values: readonly string[] }
  /** The member is not null, and at most this; if `isBelow`, less. */
  upTo?: { member: string, value: string, isBelow?: true }
  /** The member is null. */
  without?: string
  /** Sorts by this member, then by id; rows with null come last; the page has an offset. Default: by id. */
  by?: string
  page: PageRequest
}

/** The recorded events. */
export interface EventLog {
  /**
   * The events after a given one. An event comes after all events that were committed before it was written, so a
   * reader that continues after the last event it has got gets every event exactly once, however long other
   * transactions stay open. The events of one user come in the order of the user's versions. The order never changes;
   * `desc` reverses it. `null`: no event has the id `after`. The cost must not grow with the log, with `since` and
   * `until` too, although times may be in another order than the events.
   */
  read (request: EventsRequest): Promise<EventsPage | null>
  /** The events of one user or key, even a deleted one, newest first, with their exact number. */
  history (
    subject: string, page: { offset: number, limit: number, types?: readonly string[], tenant?: string }
  ): Promise<Page<EventRecord>>
  /** The recorded event with this id; `null`: it never existed, or was pruned. */
  find (id: string): Promise<EventRecord | null>
  /** The id of the last event before the first event whose id is at least this one; in all events, or a tenant's. */
  before (id: string, tenant?: string): Promise<string | null>
  /** Rewrites at most `limit` of the events that `make` changes, in one step, and returns how many. */
  rewrite (rewrite: Rewrite, limit: number): Promise<number>
  /**
   * Deletes the oldest events, at most `limit`, while they and their successors are older than this time, and returns
   * how many. So the newest event always stays, for readers to continue after. Stores in the same step what `pruned`
   * returns.
   */
  prune (before: string, limit: number): Promise<number>
  /** The last event of each pruned type, in the order of the log. The package's `afterPruning` computes it. */
  pruned (): Promise<PrunedEvents[]>
}

/** `migrate`: bring the schema up to date and create what is required, for existing users too. Default: only check. */
export interface OpenOptions extends SchemaRequirements { migrate?: boolean }

/** What `open` found. `created`: it made the schema. `profile`: how the tables use the database. */
export interface Opened { created: boolean, profile?: string }

export interface Storage {
  /** A short name for messages, traces and labels of metrics, such as `sqlite`, without a version. */
  readonly name: string
  /**
   * Resolves if the store answers, its schema fits this code, and it has what is required. Readiness checks call it, so
   * it must be cheap without `migrate`. With `migrate`, many processes may call it concurrently, and what an earlier
   * call required stays. Other methods are called after it.
   * @throws StorageError `schema_behind`, `schema_newer`, `unavailable`; `field_taken` if users have the same value of
   * a field that is to be unique; `fault` if it can't keep every text
   */
  open (options?: OpenOptions): Promise<Opened>
  /** Releases what the store itself opened. May be called twice. Later calls work, or throw `unavailable`. */
  close (): Promise<void>
  /**
   * Commits units, each by itself, and returns their outcomes in order. If several concurrent units replace one version
   * or take one unique value, exactly one of them is `ok`. If it throws, each unit may or may not be committed.
   */
  commit (units: readonly Unit[]): Promise<Outcome[]>
  /** The rows with these keys, in the order of the keys; null: not found. */
  find<Name extends CollectionName> (name: Name, keys: readonly RowKey[]): Promise<Array<Row<Name> | null>>
  /** A page, and the exact number of all rows that match, from one snapshot. */
  list<Name extends Exclude<CollectionName, 'users'>> (name: Name, query: RowsQuery): Promise<Page<Row<Name>>>
  /** Reads the records of users. */
  readonly users: UserReads
  /** A page of the tenants that have a user or a key, with the number of users of each. */
  listTenants (page: PageRequest): Promise<Page<TenantRecord>>
  readonly log: EventLog
  /**
   * Returns the same store inside a transaction of the host's, synchronously. It sees what the transaction has written,
   * and its own writes commit or roll back with it. After an outcome other than `ok` the transaction is still usable.
   * Calls may be concurrent, also from several stores that have joined one transaction.
   * @throws TypeError for anything but an open transaction on this kind of store
   */
  join? (transaction: unknown): StorageInTransaction
  /**
   * Calls the listener whenever API keys may have changed in another process, and whenever such a change may have been
   * missed. Returns a function that removes it. Without `watch`, revocations show within the option `apiKeys.cache`.
   */
  watch? (listener: () => void): () => void
  /** Describes the server behind the store. */
  readonly server?: Server
}

/** A store inside a transaction of the host's. Closing it does nothing. */
export interface StorageInTransaction extends Storage {
  /** Calls back once this and every enclosing transaction have committed, in the order of the calls; else never. */
  afterCommit (callback: () => void): void
}
