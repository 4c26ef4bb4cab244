import { newId } from '../core/ids.ts'
import type { JsonObject, WebhookRecord } from '../storage/storage.ts'
import { toWebhook } from '../storage/webhook.ts'

/** The type of the events of tests. They are not in the log. */
export const TEST_TYPE = 'webhook.test'

/** An event for a test of an endpoint, in the form of all others. */
export function testEvent (webhook: WebhookRecord): JsonObject {
  return {
    id: newId('evt'),
    type: TEST_TYPE,
    timestamp: new Date().toISOString(),
    data: Object(toWebhook(webhook)),
    actor: null,
    requestId: null
  }
}
