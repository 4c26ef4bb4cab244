import type { JsonObject } from '../core/json.ts'

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
  /** The tenant whose events it gets. Absent: it gets the events of all tenants. */
  tenant?: string
}

/** One request to an endpoint. */
export interface DeliveryAttempt {
  at: string
  /** The HTTP status; null: there was no answer. */
  status: number | null
  milliseconds: number
  /** A word for what went wrong where there is no status, such as `timeout`; null: nothing. */
  error: string | null
  /** How the body of an answer that is no success begins. Absent: it had none. */
  response?: string
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
  /** Grows by 1 with each claim. A worker whose claim has an older number has lost the delivery. */
  claims: number
  /** Failed attempts since the last start of the schedule. */
  failures: number
  /** The latest attempts, oldest first. */
  attempts: DeliveryAttempt[]
  /** The event of a test, which is not in the log; null: it is in the log. */
  testEvent: JsonObject | null
  createdAt: string
}
