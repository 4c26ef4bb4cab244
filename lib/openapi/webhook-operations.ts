import { DELIVERY_ID, WEBHOOK_ID } from '../core/ids.ts'
import { type PageSize, pagingParameters } from '../core/paging.ts'
import { deliveriesParameters } from '../webhooks/rules.ts'
import { webhookId } from './component-parts.ts'
import type { Operation } from './operation.ts'

const tag = 'webhooks'
const bodyCodes = ['validation_failed', 'malformed_json', 'body_too_large', 'unsupported_media_type'] as const
const delivery = {
  type: 'string',
  pattern: DELIVERY_ID.source,
  description: 'The delivery’s id: a TypeID, sortable by creation.'
}

type Name =
  | 'list' | 'create' | 'get' | 'patch' | 'remove' | 'rotate' | 'test' | 'replay' | 'deliveries' | 'retry'

/** The operations on webhooks, for descriptions. */
export function webhookOperations (pageSize: PageSize): Record<Name, Operation> {
  const one = { tag, id: webhookId } as const
  return {
    list: {
      tag,
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: 'HEAD works too.',
      query: pagingParameters(pageSize, WEBHOOK_ID),
      success: { status: 200, description: 'The page.', is: 'WebhookList', headers: ['Link'] },
      codes: ['validation_failed']
    },
    create: {
      tag,
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description: 'It gets the events that are recorded from now on, of the kinds that the key may read: `user.*` ' +
        'with `users:read`, `api_key.*` with `keys:read`, `webhook.*` with `webhooks:read`.',
      body: { types: ['application/json'], is: 'WebhookInput' },
      success: {
        status: 201,
        description: 'The webhook and its secret, which is shown only in this answer.',
        is: 'NewWebhook',
        headers: ['Location']
      },
      codes: [...bodyCodes, 'url_not_allowed', 'too_many_webhooks']
    },
    get: {
      ...one,
      operationId: 'getWebhook',
      summary: 'Read a webhook',
      description: 'HEAD works too.',
      success: { status: 200, description: 'The webhook.', is: 'Webhook' },
      codes: ['validation_failed', 'webhook_not_found']
    },
    patch: {
      ...one,
      operationId: 'updateWebhook',
      summary: 'Change a webhook',
      description: 'Absent members stay. One that is enabled again goes on after the last event that it got. Whoever ' +
        'changes the URL or the types, or enables it, must be able to read all events that it gets.',
      body: { types: ['application/merge-patch+json', 'application/json'], is: 'WebhookPatch' },
      success: { status: 200, description: 'The webhook.', is: 'WrittenWebhook' },
      codes: [...bodyCodes, 'url_not_allowed', 'webhook_not_found']
    },
    remove: {
      ...one,
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook with its deliveries',
      success: { status: 204, description: 'The webhook is deleted.' },
      codes: [...bodyCodes, 'webhook_not_found']
    },
    rotate: {
      ...one,
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description: 'Deliveries are signed with both secrets for the overlap. No body is the same as an empty object. ' +
        'The key must be able to read all events that the webhook gets.',
      body: { types: ['application/json'], is: 'Rotation' },
      success: {
        status: 200,
        description: 'The webhook and its new secret, which is shown only in this answer.',
        is: 'RotatedWebhook'
      },
      codes: [...bodyCodes, 'webhook_not_found']
    },
    test: {
      ...one,
      operationId: 'testWebhook',
      summary: 'Send a test event',
      description: 'One attempt, now, also to a webhook that is disabled. The answer comes after it. Needs ' +
        '`webhooks:read` too.',
      success: { status: 200, description: 'The delivery and its attempt.', is: 'Delivery' },
      codes: [...bodyCodes, 'webhook_not_found']
    },
    replay: {
      ...one,
      operationId: 'replayWebhook',
      summary: 'Deliver events again',
      description: 'Those after an event or since a time, then those that follow, each with its `webhook-id`. ' +
        'An event whose delivery is still pending gets no second one. The key must be able to read all of them.',
      body: { types: ['application/json'], is: 'WebhookReplay' },
      success: { status: 202, description: 'The events will be delivered.', is: 'WrittenWebhook' },
      codes: [...bodyCodes, 'events_expired', 'webhook_not_found']
    },
    deliveries: {
      ...one,
      operationId: 'listDeliveries',
      summary: 'List deliveries of a webhook',
      description: 'Newest first, with each attempt. HEAD works too.',
      query: deliveriesParameters(pageSize),
      success: { status: 200, description: 'The page.', is: 'DeliveryList', headers: ['Link'] },
      codes: ['validation_failed', 'webhook_not_found']
    },
    retry: {
      ...one,
      path: { delivery },
      operationId: 'retryDelivery',
      summary: 'Deliver one event again',
      description: 'The key must be able to read the event.',
      success: { status: 202, description: 'It is due now.', is: 'WrittenDelivery' },
      codes: [...bodyCodes, 'webhook_not_found', 'delivery_not_found']
    }
  }
}
