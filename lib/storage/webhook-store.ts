import type { EventRecord, JsonObject, Page, TenantPageRequest } from './records.ts'

/** A secret that deliveries are signed with. */
export interface WebhookSecret {
  /** `whsec_` and base64. */
  text: string
  /** When it ends, after a rotation; null: it is the current one. */
  expiresAt: string | null
  /** The rotation that made it, if it had an `Idempotency-Key`. */
  rotation?: string
}

/** An endpoint that events are delivered to. */
export interface WebhookRecord {
  /** `whk_…`, made by the caller, sortable by creation. */
  id: string
  url: string
  /** Types of events, or the first part of some with `.*` behind it. Empty: all. */
  types: string[]
  description: string | null
  enabled: boolean
  /** Why it was disabled, if not by its owner: it answered 410, or has failed for days. */
  disabledReason: 'gone' | 'failing' | null
  /** The current one first. */
  secrets: WebhookSecret[]
  /** The id of the last event that deliveries were made of; null: of none. */
  after: string | null
  /** Since when every attempt has failed; null: the last one succeeded, or there was none. */
  failingSince: string | null
  /** No attempt before this time, because the receiver asked for it; null: at any time. */
  pausedUntil: string | null
  createdAt: string
  updatedAt: string
  /** The tenant whose events it gets. Absent: it gets those of all. */
  tenant?: string
}

/** One request to an endpoint. The body of the answer is never kept. */
export interface DeliveryAttempt {
  at: string
  /** The HTTP status; null: there was no answer. */
  status: number | null
  milliseconds: number
  /** A word for what went wrong where there is no status, such as `timeout`; null: nothing. */
  error: string | null
}

/** The delivery of one event to one endpoint. */
export interface DeliveryRecord {
  /** `dlv_…`, made by the caller, sortable by creation. */
  id: string
  webhook: string
  /** The id of the event. A replay makes another delivery of it, unless one is pending. */
  event: string
  type: string
  status: 'pending' | 'succeeded' | 'failed'
  /** When the next attempt is due, or when a claim ends; null if it is not pending. */
  dueAt: string | null
  /** Adds 1 with each claim: whoever holds an older one is too late. */
  claims: number
  /** Failed attempts since the last start of the schedule. */
  failures: number
  /** The latest attempts, oldest first. */
  attempts: DeliveryAttempt[]
  /** The event of a test, which is not in the log; null: it is in the log. */
  testEvent: JsonObject | null
  createdAt: string
}

/** What one step writes. Absent: it stays as it is. */
export interface WebhookChange {
  webhook?: WebhookRecord
  /** Written over the one with the same id; else added, unless a pending one of the endpoint has the same event. */
  deliveries?: readonly DeliveryRecord[]
  /** Recorded in the event log in the same step. */
  event?: EventRecord
}

/**
 * Decides what a step writes, from copies of what is there; null: nothing. It has no effects, and may be called more
 * than once.
 */
export type DecideChange = (webhook: WebhookRecord, delivery: DeliveryRecord | null) => WebhookChange | null

/** Which deliveries are claimed. */
export interface ClaimRequest {
  now: string
  /** When the claim ends: the delivery is due again then, unless it was finished. */
  until: string
  /** At most this many. */
  limit: number
}

/**
 * The endpoints and deliveries of webhooks. Many processes may use it at the same time. Like every store it throws
 * StorageError alone, and keeps each value as it was given.
 */
export interface WebhookStore {
  /** Adds an endpoint. */
  insert (webhook: WebhookRecord): Promise<void>

  /** The endpoint with this id, or `null`. */
  find (id: string): Promise<WebhookRecord | null>

  /** A page of the endpoints, ordered by id, with their exact number. */
  list (page: TenantPageRequest): Promise<Page<WebhookRecord>>

  /**
   * Changes an endpoint and deliveries of it in one step, apart from all other changes of this endpoint. `delivery`:
   * the id of one that the decision depends on. Returns the endpoint after it; `null`: there is none, or no such
   * delivery.
   */
  change (id: string, delivery: string | null, decide: DecideChange): Promise<WebhookRecord | null>

  /** Deletes an endpoint with its deliveries. False: there was none. */
  remove (id: string): Promise<boolean>

  /** The ids of the endpoints that have deliveries which are due. */
  due (now: string): Promise<string[]>

  /**
   * Takes deliveries of an endpoint that are due, the longest first, in one step: adds 1 to `claims` and sets `dueAt`
   * to the end of the claim. Of many processes that ask concurrently, one gets each.
   */
  claim (id: string, request: ClaimRequest): Promise<DeliveryRecord[]>

  /** The delivery with this id, or `null`. */
  findDelivery (id: string): Promise<DeliveryRecord | null>

  /** Deliveries of an endpoint, newest first, with their exact number. */
  listDeliveries (id: string, page: { offset: number, limit: number }): Promise<Page<DeliveryRecord>>

  /** The deliveries of these events to every endpoint, at most 100 events, ordered by id. */
  deliveriesOf (events: readonly string[]): Promise<DeliveryRecord[]>

  /**
   * The id of the last event before the first one, in the order of the log, whose id is this one or a greater one; the
   * newest one if there is no such; `null`: there is none before it. `tenant`: among the events of this tenant.
   */
  eventBefore (id: string, tenant?: string): Promise<string | null>

  /** Deletes deliveries that are not pending and were made before this time, at most `limit`; returns how many. */
  prune (before: string, limit: number): Promise<number>
}
