import type { DeliveryAttempt, DeliveryRecord, WebhookRecord } from './storage.ts'

/** An endpoint as callers see it: without its secrets. Members that are not set are absent. */
export interface Webhook {
  /** `whk_` and 26 characters. */
  id: string
  url: string
  /** Types of events, or the first part of some with `.*` behind it; empty: all. */
  types: string[]
  description?: string
  enabled: boolean
  /** Why it is disabled, if not by a request: it answered 410 (`gone`), or has failed for five days (`failing`). */
  disabledReason?: 'gone' | 'failing'
  /** Since when every attempt has failed. */
  failingSince?: string
  createdAt: string
  updatedAt: string
  /** The tenant whose events it gets. Absent: it gets the events of all tenants. */
  tenant?: string
}

/** A delivery as callers see it. */
export interface Delivery extends Pick<DeliveryRecord, 'id' | 'type' | 'status' | 'createdAt'> {
  /** The id of the event, which is sent as `webhook-id`. */
  event: string
  /** The latest attempts, oldest first. */
  attempts: Array<Omit<DeliveryAttempt, 'status' | 'error'> & { status?: number, error?: string }>
  /** When the next attempt is due. */
  nextAttemptAt?: string
}

/** The public view of an endpoint. */
export function toWebhook (record: WebhookRecord): Webhook {
  const { id, url, types, description, enabled, disabledReason, failingSince, createdAt, updatedAt, tenant } = record
  return {
    id,
    url,
    types,
    ...(description !== null && { description }),
    enabled,
    ...(disabledReason !== null && { disabledReason }),
    ...(failingSince !== null && { failingSince }),
    createdAt,
    updatedAt,
    ...(tenant !== undefined && { tenant })
  }
}

function toAttempt (attempt: DeliveryAttempt): Delivery['attempts'][number] {
  const { at, status, milliseconds, error, response } = attempt
  return {
    at,
    ...(status !== null && { status }),
    milliseconds,
    ...(error !== null && { error }),
    ...(response !== undefined && { response })
  }
}

/** The public view of a delivery. */
export function toDelivery ({ id, event, type, status, attempts, dueAt, createdAt }: DeliveryRecord): Delivery {
  return {
    id,
    event,
    type,
    status,
    attempts: attempts.map(toAttempt),
    ...(dueAt !== null && { nextAttemptAt: dueAt }),
    createdAt
  }
}

/** What a write tells of an endpoint to a caller who may not read it. */
export function minimalWebhook (
  { id, createdAt, updatedAt }: Webhook
): Pick<Webhook, 'id' | 'createdAt' | 'updatedAt'> {
  return { id, createdAt, updatedAt }
}

/** What a write tells of a delivery to a caller who may not read it. */
export function minimalDelivery ({ id, status, createdAt }: Delivery): Pick<Delivery, 'id' | 'status' | 'createdAt'> {
  return { id, status, createdAt }
}
