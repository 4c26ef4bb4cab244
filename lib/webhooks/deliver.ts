import type { DeliveryRecord, EventLog, EventRecord, WebhookRecord } from '../storage/storage.ts'
import { belongsTo } from '../storage/storage-rules.ts'
import { channels, traced } from '../storage/tracing.ts'
import type { LoggedEvent } from '../events/types.ts'
import type { Answer, Send } from './send.ts'
import { currentSecrets, signatureOf } from './signature.ts'

/** Makes one attempt of a delivery. It throws what the storage throws. */
export type Deliver = (webhook: WebhookRecord, delivery: DeliveryRecord, signal?: AbortSignal) => Promise<Answer>

/** The error of a delivery whose event is no longer kept. */
export const EXPIRED = 'event_expired'
const GONE: Answer = { status: null, error: EXPIRED, milliseconds: 0, retryAfter: null }

/**
 * Makes the function that sends an event as Standard Webhooks 1.0.0 says. The event is read anew for each attempt: what
 * was erased meanwhile is not sent.
 */
export function createDeliver (
  log: Pick<EventLog, 'find'>,
  send: Send,
  present: (record: EventRecord) => LoggedEvent
): Deliver {
  return async ({ id, url, secrets, tenant }, { event, testEvent }, signal = new AbortController().signal) => {
    const record = testEvent === null ? await log.find(event) : null
    // An event of a tenant that was removed belongs to none.
    if (testEvent === null && (record === null || !belongsTo(record, tenant))) return GONE
    const body = JSON.stringify(record === null ? testEvent : present(record))
    const now = Date.now()
    const timestamp = Math.floor(now / 1000)
    const signature = signatureOf(currentSecrets(secrets, new Date(now).toISOString()), { id: event, timestamp, body })
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'fastify-users',
      'webhook-id': event,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature
    }
    return traced(channels.delivery, () => ({ event }), async (trace) => {
      const answer = await send({ url, caller: id, headers, body }, signal)
      if (trace !== null) trace.answer = answer.status ?? answer.error ?? 'closed'
      return answer
    })
  }
}
