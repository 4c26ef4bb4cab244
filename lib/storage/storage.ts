/**
 * The door to a store: it keeps rows of collections, compares versions, and makes units of writes, each all or nothing.
 * What a write means is decided before, in one place for all stores.
 *
 * Rules for every method:
 * - Everything that is thrown is a `StorageError`: a store that is unreachable or full throws `unavailable`. Other
 *   errors of a driver are `fault`, without their text; only mistakes of the program are rethrown.
 * - Records are plain values, and texts come back exactly as they were given. A store that can't keep a text (NUL, a
 *   lone surrogate) throws `fault`. Times are ISO 8601 text in UTC with milliseconds (`2026-01-31T09:30:00.000Z`).
 * - What is given and returned is never changed afterwards, by neither side.
 * - A look-up may be by any text of up to 1,000 bytes. What can't be stored is found nowhere.
 * - Texts are compared byte by byte, as UTF-8 or as UTF-16: those that rows are ordered by have the same order in both.
 */
import type {
  ApiKeyRecord, DeliveryRecord, EventRecord, EventsPage, EventsRequest, Json, Page, PageRequest, PrunedEvents,
  SchemaRequirements, TenantRecord, UserKeys, UserRecord, WebhookRecord
} from './records.ts'
import type { Server, UserReads } from './server.ts'
import type { PutAway } from './user-writes.ts'

export type * from './records.ts'
export type * from './server.ts'

/** What every record has. `id`: unique in its collection. `tenant`: that it belongs to; absent: to none. */
export interface Stored { id: string, version: number, tenant?: string, updatedAt?: string }

/** The keys and words of a user. Those that a write does not give stay as they are in the row that it replaces. */
export type Keys = Partial<UserKeys>

/** What an idempotency key keeps of a call, or of one of its outcomes. */
export interface KeptOutcomes extends Stored { fingerprint: string, expiresAt: string, kept: Json }

/** How often a key was used on a day; its id is the key, `/`, and the day. */
export interface StoredUses extends Stored { day: string, uses: number }

/** The collections, with the record of each. Lists ask for the members that are named, and for no others. */
export interface Collections {
  /** Unique among those of a tenant: `keys.emailKey`, and the fields that `open` was asked to keep unique. */
  users: { record: UserRecord, keys: Keys }
  /** Users who can be restored. Listed by `deletedAt`. All keys are given. */
  trash: { record: UserRecord & PutAway, keys: Keys }
  /** Unique: `start`. Listed by `rotatedFrom`. */
  apiKeys: { record: ApiKeyRecord & Stored, keys: null }
  /** Each is of an API key. Listed by `day`. */
  keyUses: { record: StoredUses, keys: null }
  webhooks: { record: WebhookRecord & Stored, keys: null }
  /** Each is of a webhook. Listed by `event`, `dueAt` and `createdAt`. */
  deliveries: { record: DeliveryRecord & Stored, keys: null }
  /** Some are of a user. Listed by `expiresAt`. */
  idempotency: { record: KeptOutcomes, keys: null }
  /** A row that all writers move who must see each other. */
  marks: { record: Stored, keys: null }
}

export type CollectionName = keyof Collections

/** `of`: the id of the row that it goes with; null: of none. */
export interface Row<Name extends CollectionName> {
  record: Collections[Name]['record']
  keys: Collections[Name]['keys']
  of: string | null
}

/**
 * A write of a row. `was`: the row that is to be there, with this version and this tenant, a user with this `updatedAt`
 * too (an id can be given again); null: there must be none with its id. `put`: the row in its place; null: it is taken
 * away, with all rows that are of it. One of them is there.
 */
export type RowWrite<Name extends CollectionName = CollectionName> = {
  [Each in Name]: { in: Each, put: Row<Each> | null, was: Row<Each> | null }
}[Name]

/** Which events are written anew: those of a subject, of changes by an actor, or of a tenant (null: of none). */
export interface Rewrite {
  of: { subject: string } | { actor: string } | { tenant: string | null }
  /** Gives the event as it is to be: the same object where it stays. Its id, type and time stay. */
  make: (event: EventRecord) => EventRecord
}

/**
 * Writes that are made together, in their order, or not at all: then the events, in theirs, then the rewrites. Each
 * meets what the ones before have left. Nobody sees only some of them.
 */
export interface Unit { writes: readonly RowWrite[], events: readonly EventRecord[], rewrites: readonly Rewrite[] }

/** What became of a unit. All but `ok` have changed nothing. `at`: the place of the first write that is refused. */
export type Outcome =
  | { code: 'ok' }
  /**
   * The row is not the one that `was` says; or the row that it is of is gone. Whoever asked reads anew and decides
   * again: so a database that gave up on a conflict may give it too, but in a transaction of the host's it throws.
   */
  | { code: 'changed', at: number }
  /** Another row has the unique value of this member, or of this field. Of several, the address is named. */
  | { code: 'taken', at: number, member: 'emailKey' | 'start' | { field: string } }

/** What identifies a row. */
export type RowKey = { id: string } | { start: string }

/** Which rows of a collection other than `users` are listed. All that is asked for must hold. */
export interface RowsQuery {
  /** Those of this tenant, or (null) of none; and those of this row. */
  tenant?: string | null
  of?: string
  /** The member has one of these values, of which there may be none. */
  where?: { member: string, values: readonly string[] }
  /** The member is not null, and at most this; if `isBelow`, less. */
  upTo?: { member: string, value: string, isBelow?: true }
  /** The member is null. */
  without?: string
  /** Default: by id. Those with one value are ordered by id, those with null come last; the page has an offset. */
  by?: string
  page: PageRequest
}

/** The recorded events. */
export interface EventLog {
  /**
   * The events behind one, in an order in which each follows those that were committed before it was written: whoever
   * reads on after the last event that it has got gets every event exactly once, however long other transactions stay
   * open. The events of one user come in the order of its versions. The order of two events never changes; `desc` is
   * the same one reversed. `null`: there is no event with the id `after`. The costs don't grow with the log: `since`
   * and `until` find their places too, though times may be in another order than the events.
   */
  read (request: EventsRequest): Promise<EventsPage | null>
  /** The events of one user or key, also of a deleted one, newest first, with their exact number. */
  history (
    subject: string, page: { offset: number, limit: number, types?: readonly string[], tenant?: string }
  ): Promise<Page<EventRecord>>
  /** The recorded event with this id; `null`: there is none, or no longer. */
  find (id: string): Promise<EventRecord | null>
  /** The id of the last event before the first one whose id is this one or a greater one; of all, or of a tenant. */
  before (id: string, tenant?: string): Promise<string | null>
  /** Writes at most `limit` events anew that `make` changes, in one step, and returns how many. */
  rewrite (rewrite: Rewrite, limit: number): Promise<number>
  /**
   * Deletes the oldest events, at most `limit`, as long as they and their successors are older than this time, and
   * gives how many. So the newest one stays, after which readers read on. Notes in the same step what `pruned` gives.
   */
  prune (before: string, limit: number): Promise<number>
  /** Of each pruned type the last event, in the order of the log. `afterPruning` of the package makes it. */
  pruned (): Promise<PrunedEvents[]>
}

/** `migrate`: bring the schema up to date and make what is required, for existing users too. Default: only look. */
export interface OpenOptions extends SchemaRequirements { migrate?: boolean }

/** What opening has found. `created`: there was no schema before. `profile`: how the tables use the database. */
export interface Opened { created: boolean, profile?: string }

export interface Storage {
  /** A short name for messages, traces and labels of metrics, such as `sqlite`: the same whatever version runs. */
  readonly name: string
  /**
   * Resolves if the store answers, its schema fits this code, and it has what is required. Readiness checks call it, so
   * without `migrate` it must be cheap. With it, many processes may call it concurrently, and what an earlier call
   * required stays. Other methods are called after it.
   * @throws StorageError `schema_behind`, `schema_newer`, `unavailable`; `field_taken` if users have the same value of
   * a field that is to be unique; `fault` if it can't keep every text
   */
  open (options?: OpenOptions): Promise<Opened>
  /** Releases what the store itself opened. May be called again; any other call works, or is `unavailable`. */
  close (): Promise<void>
  /**
   * Makes units, each by itself, and gives their outcomes in order. Of concurrent ones that replace one version, or
   * take one unique value, one is `ok`. If it throws, nobody knows what was made.
   */
  commit (units: readonly Unit[]): Promise<Outcome[]>
  /** The rows with these keys, in their order; null: there is none. */
  find<Name extends CollectionName> (name: Name, keys: readonly RowKey[]): Promise<Array<Row<Name> | null>>
  /** A page, and the exact number of all that match, from one snapshot. */
  list<Name extends Exclude<CollectionName, 'users'>> (name: Name, query: RowsQuery): Promise<Page<Row<Name>>>
  /** The records of users, by all that they are found by. */
  readonly users: UserReads
  /** A page of the tenants that have a user or a key, with the number of users of each. */
  listTenants (page: PageRequest): Promise<Page<TenantRecord>>
  readonly log: EventLog
  /**
   * The same store inside a transaction of the host's. It sees the transaction's own writes, and its writes commit or
   * roll back with it. After an outcome other than `ok` the transaction is still usable. Calls may be concurrent, those
   * of several stores that have joined one transaction too. Synchronous.
   * @throws TypeError for anything but an open transaction on this kind of store
   */
  join? (transaction: unknown): StorageInTransaction
  /**
   * Calls the listener whenever API keys may have changed in another process, and whenever such a change may have been
   * missed. Returns a function that removes it. Without it revocations are seen within the option `apiKeys.cache`.
   */
  watch? (listener: () => void): () => void
  /** What is to be known of the server behind the store. */
  readonly server?: Server
}

/** A store inside a transaction of the host's. Closing it does nothing. */
export interface StorageInTransaction extends Storage {
  /** Calls back once, in the order of the calls, after it and every enclosing one have committed; else never. */
  afterCommit (callback: () => void): void
}
