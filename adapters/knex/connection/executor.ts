import type { Dialect } from '../dialects/dialect.ts'
import type { Param } from '../drivers/driver.ts'
import type { Row } from '../tables/rows.ts'

/** Runs one statement. It throws StorageError alone. */
export type Query = (sql: string, params?: readonly Param[], options?: QueryOptions) => Promise<Row[]>

export interface QueryOptions {
  /** Keep the statement prepared on its connection: for texts of which there are few. Default true. */
  keepPlan?: boolean
  /** Run it again if it conflicts with another transaction. Default true. */
  retry?: boolean
  /** A constraint may refuse it: a transaction of the host's must stay usable then. Default false. */
  savepoint?: boolean
  /** It may wait for a lock: the server must end it after `statementTimeoutMs`, behind a pooler too. Default false. */
  bounded?: boolean
  /** It may wait for another transaction: for the row with this id, or for one that is not known (null). */
  waitsFor?: string | null
  /** When it was asked for, by `performance.now()`: its time limits count from then. Default: now. */
  since?: number
}

export interface ReadOptions {
  /** Keep the statement prepared on its connection. Default true. */
  keepPlan?: boolean
}

export interface TransactionOptions {
  /** Run apart from every other exclusive transaction of this installation, in any process. */
  exclusive?: boolean
  /** Lift the limits on the time of statements. */
  noTimeout?: boolean
  /** It may wait for the row with this id. Default null: not known. */
  waitsFor?: string | null
  /** As in `QueryOptions`. */
  since?: number
  /** As in `QueryOptions`, for each of its statements. */
  bounded?: boolean
  /** Number of writes that it makes in turn: each adds 50 ms to its time limit. Default 0. */
  writes?: number
  /** With `noTimeout`: ends it within a few seconds. */
  signal?: AbortSignal
}

/** How much work is combined. */
export interface Batching {
  /** Connections that reads share; 0: each statement has one of its own. */
  connections: number
  /** Concurrent groups for each kind of update. Creations have one, so that they are committed in their order. */
  groups: number
  /** Milliseconds after which a write that still waits for its group fails; Infinity: the pool has its own limits. */
  wait: number
}

/** Runs SQL that only reads. */
export interface Reading {
  readonly dialect: Dialect
  /** Null: nothing is combined. */
  readonly batching: Batching | null
  /** True if statements with values are prepared, so that their plans are kept. */
  readonly prepares: boolean
  /** One statement that only reads: it may share a connection, and is repeated if that is lost. */
  read (sql: string, params?: readonly Param[], options?: ReadOptions): Promise<Row[]>
}

/** Runs SQL on connections of Knex, with four guarantees to choose from. */
export interface Executor extends Reading {
  /** True inside a transaction that the caller ends, so locks may be held for long. */
  readonly joined: boolean
  /** One statement on a connection of its own, repeated if it conflicts with another transaction. */
  query: Query
  /** Statements that happen all or not at all, repeated together after a conflict. */
  transaction<Value> (work: (query: Query) => Promise<Value>, options?: TransactionOptions): Promise<Value>
}

export interface SnapshotOptions {
  /** The statement that begins the transaction. Default: one that may write. */
  begin?: string
  /** Ends it within a few seconds. */
  signal?: AbortSignal
}

/** An executor on a pool, whoever owns that. */
export interface PoolExecutor extends Executor {
  /**
   * Statements that all see the database as it is when they begin, without a time limit, and happen all or not at all.
   * They are repeated after a conflict, and given up soon if another transaction locks what they need.
   */
  snapshot<Value> (work: (query: Query) => Promise<Value>, options?: SnapshotOptions): Promise<Value>
}
