import type { EventLog } from './event-log.ts'
import type { KeyUseStore } from './key-use-store.ts'
import type { Standbys } from './standbys.ts'
import type { TenantStore } from './tenant-store.ts'
import type { Trash } from './trash.ts'
import type { WebhookStore } from './webhook-store.ts'

/** What a store may have beside the required members. */
export interface OptionalMembers {
  /** The driver of the database and its version, such as `better-sqlite3 12.11.1`, for the log. */
  readonly driver?: string

  /**
   * Calls the listener whenever API keys may have changed in another process, and whenever such a change may
   * have been missed. Returns a function that removes the listener. It only makes revocations visible sooner: without
   * it they are seen within the option `apiKeys.cache`.
   */
  watchApiKeys? (listener: () => void): () => void

  /**
   * What `migrate` has done, for the log. `created`: there was no schema before, so the store is empty. `profile`: how
   * the tables use the database, where there are several ways.
   */
  readonly migrated?: { readonly created: boolean, readonly profile?: string }

  /**
   * What the operator should know about the database's settings, such as that it does not wait for its disk: one
   * sentence each, for the log. Called once, at start.
   */
  warnings? (): Promise<readonly string[]>
  /**
   * How many requests that read, and how many that write, the store serves best at a time, such as four for each
   * connection: more wait in the plugin, and are refused if that would take long. Without it, and without the option
   * `limits.inFlight`, they all reach the store.
   */
  readonly concurrency?: number

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

  /** Servers beside the database that are read too. Without it every read is of the database itself. */
  readonly standbys?: Standbys

  /** Without it writes are given no events. */
  readonly eventLog?: EventLog

  /** `eventLog.erase` inside a transaction, where there is no event log to read. */
  readonly eraseEvents?: EventLog['erase']

  /** What `fastify-users/webhooks` needs, beside the event log. */
  readonly webhooks?: WebhookStore

  /** Where deleted users are kept that can be restored. Without it every deletion is final. */
  readonly trash?: Trash

  /** Without it the store has no tenants: it is given none, and returns none. */
  readonly tenants?: TenantStore

  /** Without it the uses of API keys are not counted. Those of a key go with it. */
  readonly keyUses?: KeyUseStore

  /** The store can make only one write in one step, so that a call of `writeUsers` has one: there are no batches. */
  readonly singleWrites?: true
}
