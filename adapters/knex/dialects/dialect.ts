import type { Several } from '../../../lib/core/gather.ts'
import type { IdPrefix } from '../../../lib/core/ids.ts'
import type { TenantPageRequest } from '../../../lib/storage/storage.ts'
import type { Driver, Statement } from '../drivers/driver.ts'
import type { Column } from '../tables/columns.ts'
import type { Span } from '../tables/event-places.ts'
import type { Names } from '../tables/names.ts'
import type { Profile } from '../tables/profiles.ts'
import type { BatchSql } from './batch-sql.ts'
import type { ValueSql } from './value-sql.ts'
import type { WordsSql } from './words-sql.ts'

/** How transactions begin, and what they lock. */
export interface TransactionSql {
  /** Begins a transaction that sees what others have committed and can't fail because of another writer. */
  begin: string
  /** Begins a transaction that reads one snapshot. */
  beginSnapshotRead: string
  /** Begins a transaction that reads one snapshot and writes. */
  beginSnapshotWrite: string
  /** What a snapshot runs first, so that it and TRUNCATE of the table lock in the same order, not for long. */
  shareTable (table: string): string[]
  /**
   * Prepares a connection for a snapshot that is read for long. PostgreSQL: no limit ends what waits for its reader.
   * SQLite: a walk needs no large page cache.
   */
  readForLong: string
  /**
   * Selects `apart`: 1 if another connection can read a snapshot while this one writes, 0 for a database in memory, or
   * without a write-ahead log; null: always.
   */
  readsApart: string | null
  /** Limits the milliseconds that each statement in the rest of the transaction waits for a lock; null: none waits. */
  lockTimeoutMs: ((ms: number) => string) | null
  /** The table of the locks, if they are rows of one, and whether it is there: it comes before all else. */
  locksTable: { exists (names: Names): Statement, create (names: Names): string[] } | null
  /** Tries to take that lock and tells whether it has `got` it; null if no other connection can have it. */
  tryLock: ((names: Names) => string) | null
  /** Locks out other processes that use these tables; null if `begin` does. */
  exclusiveLock: ((names: Names) => string) | null
  /** Waits for those who write users, and locks out others; null if `begin` does, or there is no such lock. */
  lockWriters: ((names: Names) => string) | null
  /**
   * Locks out other transactions on these tables by each name of a list, its one value, in its order; null if `begin`
   * does.
   */
  lockNames: ((names: Names) => string) | null
  /** Limits the server's time for each statement in the rest of the transaction; null if there is no server. */
  statementTimeoutMs: ((ms: number) => string) | null
  /** Lifts the server's limits on statements and locks for the rest of the transaction; null if there is no server. */
  liftTimeouts: string | null
}

/** A setting with which a store can't work. */
export interface UnfitSetting {
  /** Its value, and whether that is so, as expressions in SQL. */
  value: string
  isUnfit: string
  code: 'fault' | 'unavailable'
  /** Says what is wrong, and what to do. */
  message (value: string): string
}

/** The types of columns, and other parts of DDL. */
export interface SchemaSql {
  /** Text that is compared and sorted byte by byte. */
  bytewise: string
  /** JSON whose text is kept as it is. */
  json: string
  moment: string
  /** The current moment, for a column of that type. */
  now: string
  /** A new random text, for the default of a column. */
  randomText: string
  /** A condition that the JSON in a column is an object. */
  isJsonObject (column: string): string
  /** A condition that a column has text, not empty, of at most so many characters. */
  isText (column: string, max: number | null): string
  /** A condition that a column has the name of a tenant, or is empty. */
  isTenant (column: string): string
  /** A condition that a column has the version of a record. */
  isVersion (column: string): string
  /** A condition that a column has a moment as we write it. */
  isMoment (column: string): string
  /** A condition that a column has an id: the prefix, `_`, and 26 characters of base32. */
  isId (column: string, prefix: IdPrefix): string
  /** Storage parameters of a table whose rows are updated in place often. */
  fillFactor: string
  /** What follows the column of a foreign key: the reference to a table, where the database always enforces it. */
  reference (constraint: string, table: string): string
  /** The same where a row of that table is not to be deleted as long as one refers to it. */
  keeps (constraint: string, table: string): string
  /** Creates the schema, if there is one to create; for SQL text that an operator runs. */
  createSchema (names: Names): string[]
  /** Indexes, triggers and functions beside the tables that all databases have. */
  create (names: Names): string[]
  /** Drops what `create` made and the tables did not take with them. */
  drop (names: Names): string[]
  /** What the database or the connection may be set to that a store can't work with. */
  unfit: readonly UnfitSetting[]
  /** The same of a pool of our own that prepares statements on its sessions. */
  unfitSession: readonly UnfitSetting[]
  /** A statement that returns a row if our table of migrations exists. */
  migrationsExist (names: Names): Statement
  /** A statement that returns the names of the indexes, constraints and triggers that are in force. */
  objectsInForce (names: Names): string
  /** True if `objectsInForce` can see this constraint. */
  seesConstraint (names: Names, constraint: string): boolean
}

/** What the event log needs. */
export interface EventSql {
  /** The column by which the events of one user are in the order of its versions. */
  writtenOrder: 'sequence' | 'position'
  /**
   * A statement that takes as many positions as its one value, and returns the `last` of them. Nobody else gets any
   * until the transaction ends, so they are in the order of commits. Null if the database gives each event its place.
   */
  take: ((names: Names) => string) | null
  /**
   * A statement that gives events that are committed their positions, at most as many as its one value. It returns how
   * many as `numbered` and the last position that is given as `newest`. Null if events have their positions from the
   * start, because there is only one writer.
   */
  number: ((names: Names) => string) | null
  /**
   * The condition of events that have these values, and are between two positions; and the columns of their order. An
   * index of just these columns and the position finds them, however rare the values are.
   */
  between (columns: readonly string[], values: readonly string[], span: Span): { condition: string, order: string[] }
  /** Has a new table's events begin again with the first place, after some were rolled back. */
  restart (names: Names): string[]
  /** The columns of both orders, and the table's other indexes, beside what all databases have. */
  columns (names: Names): string
  create (names: Names): string[]
  drop (names: Names): string[]
}

/** Counting by the statements that change the number of users, where no trigger does it. */
export interface CountingByHand {
  create (names: Names): string[]
  drop (names: Names): string[]
  /** Adds to the numbers of scopes; its rows have the scope, the slot and how many users. */
  add (names: Names): string
  /** Forgets the numbers of a tenant, its one value. */
  forget (names: Names): string
  /** The number of a tenant's users, of which `tenant` is the column. */
  ofTenant (names: Names, tenant: string): string
  /** The number of all users, and how many scopes have a wrong one. */
  counted (names: Names): { all: string, wrong: string }
  /** Counts all users again. */
  recount (names: Names): string[]
}

/** What exact counting needs. */
export interface CountingSql {
  /** Null: triggers count. */
  byHand: CountingByHand | null
  /** Makes the statement that reads pages of all users, or of those of tenants, by the blocks, with a row for each. */
  pages (names: Names, ofTenant: boolean, columns: readonly Column[]): (pages: Several<TenantPageRequest>) => Statement
  /** How many pages one statement reads at most. */
  pagesTogether: number
  /** Returns the open transactions that have written a table, its one value; null if there is only one writer. */
  openWriters: string | null
  /** Frees the space of deleted rows; null if the database does that immediately. */
  vacuum: ((tables: readonly string[]) => string) | null
}

/** What databases express differently. All other SQL is the same on all. */
export interface Dialect extends Driver, ValueSql {
  name: 'postgres' | 'sqlite'
  /** What it uses of PostgreSQL; on SQLite always `classic`. */
  profile: Profile
  /** True if there is another profile. */
  hasProfiles: boolean
  /** True if a server of this kind may lack what it needs. */
  mayBeUnable: boolean
  /** True if tables can be in a schema. */
  hasSchemas: boolean
  /** True if one statement can write to two tables. */
  writesTwoTables: boolean
  /** Placeholder of the nth value, from 1. */
  p (n: number): string
  /** The nth value as a LIMIT or OFFSET. */
  limit (n: number): string
  /** The first rows of a query. Their number is the nth value, `FIRST_ROWS_MAX` at most. */
  firstRows (query: string, n: number): string
  /** Columns for SELECT and RETURNING. */
  select (columns: readonly Column[]): string
  /**
   * A statement that writes and returns columns of what it has written. `queries`: queries that it uses, each
   * `name AS …`.
   */
  returning (statement: string, columns: string, queries?: string): string
  /**
   * All rows of a query as one JSON text, a list of lists of values in the query's order; null or an empty list without
   * rows. Drivers read a row value by value, and sqlite3 copies each between threads: as one text, a page of 20 users
   * costs node 60 instead of 105 µs on PostgreSQL, and node and SQLite together 140 instead of 210 µs.
   */
  packed (columns: readonly Column[], query: string): string
  /** A JSON object with the columns as its members. */
  object (columns: readonly Column[]): string
  /** The JSON text of a column. */
  jsonText (column: string): string
  /** True if the column is in the list that is the nth value. */
  isIn (column: string, n: number, type: 'bigint' | 'text'): string
  /** The users' table, for looking up many rows by this column. */
  usersBy (column: 'id' | 'email_key', names: Names): string
  /** The smaller of two expressions. */
  least (a: string, b: string): string

  /** The condition that a text contains another one, compared byte by byte. */
  contains (text: string, part: string): string
  /** Selects `name` and `value` of each setting with which a crash can lose acknowledged writes. */
  weakSettings: string
  /** Returns a row if the server accepts no writes at the moment; null if there is no server. */
  isReadOnly: string | null
  /** What locks the rows that are selected, and what leaves out those that are locked. */
  forUpdate: string
  skipLocked: string
  batch: BatchSql
  transaction: TransactionSql
  schema: SchemaSql
  counting: CountingSql
  words: WordsSql
  events: EventSql
}

/** Rows of most pages. */
export const FIRST_ROWS_MAX = 100

/** Milliseconds that a batch waits for a lock, and that a single write may hold up others: longer ones are stuck. */
export const LOCK_WAIT_MS = 25

/** A statement behind the queries that it uses. */
export function withQueries (queries: string | undefined, statement: string): string {
  return queries === undefined ? statement : `WITH ${queries} ${statement}`
}
