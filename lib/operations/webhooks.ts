import type { FastifyRequest } from 'fastify'
import { unclaimed } from '../core/claim.ts'
import { DELIVERY_ID, WEBHOOK_ID } from '../core/ids.ts'
import { type PageSize, pagingParameters } from '../core/paging.ts'
import { type Delivery, minimalDelivery, minimalWebhook, type Webhook } from '../storage/webhook.ts'
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../http/body.ts'
import { callerOf, hasScope, shareOf } from '../http/caller.ts'
import { type ConcurrencyLimits, NO_LIMITS } from '../http/limits/concurrency-limit.ts'
import { webhookId } from '../openapi/component-parts.ts'
import type { Claims } from '../users/claims.ts'
import { idempotencyKeyFaults } from '../users/idempotency.ts'
import type { WebhookCall } from '../webhooks/call.ts'
import { deliveriesParameters } from '../webhooks/rules.ts'
import type { WebhooksService } from '../webhooks/service.ts'
import {
  type OwnerOf, readCallOf, requireBare, requireNoFaults, sendCreated, sendJson, sendPage, sentKeyOf, serviceCallOf
} from './answers.ts'
import type { Operation, OperationCall } from './operation.ts'

const bodyCodes = ['validation_failed', 'malformed_json', 'body_too_large', 'unsupported_media_type'] as const
const repetitionCodes = ['idempotency_in_progress', 'idempotency_key_reused'] as const
const REPETITION = 'A retry with the same `Idempotency-Key` changes nothing and returns the webhook without its secret.'
const oneCodes = [...bodyCodes, 'webhook_not_found'] as const
const collection = { tag: 'webhooks', path: '/webhooks' } as const
const one = { tag: 'webhooks', path: '/webhooks/:id', id: webhookId } as const
const action = { ...one, method: 'POST', scope: 'webhooks:write' } as const
const delivery = {
  type: 'string',
  pattern: DELIVERY_ID.source,
  description: 'The delivery’s id: a TypeID, sortable by creation time.'
}

/** The id of the delivery in the path. */
const deliveryOf = ({ params }: FastifyRequest): string => String(Object(params).delivery)

/** What a write tells of a webhook that its caller perhaps may not read. */
function shown ({ request }: OperationCall, webhook: Webhook): object {
  return hasScope(request, 'webhooks:read') ? webhook : minimalWebhook(webhook)
}

function shownDelivery ({ request }: OperationCall, delivery: Delivery): object {
  return hasScope(request, 'webhooks:read') ? delivery : minimalDelivery(delivery)
}

function callOf (call: OperationCall, limited = NO_LIMITS.writes): WebhookCall {
  const { request } = call
  const { scopes } = callerOf(request).principal
  const caller = shareOf(request)
  return { ...serviceCallOf(call), scopes, caller, limited: (work) => limited(work, caller), claim: unclaimed }
}

export interface WebhookOperationsOptions {
  pageSize: PageSize
  limits: ConcurrencyLimits
  /** Whose `Idempotency-Key` a caller sends. */
  ownerOf: OwnerOf
  claims: Claims
}

/**
 * The operations on webhooks. Some of them wait for receivers or names: of these only what uses the storage is under
 * the limits of concurrent requests.
 */
export function webhookOperations (
  webhooks: WebhooksService,
  { pageSize, limits: { writes }, ownerOf, claims }: WebhookOperationsOptions
): Operation[] {
  function claimingCallOf (call: OperationCall, limited = NO_LIMITS.writes): WebhookCall {
    const sent = sentKeyOf(call.request, ownerOf)
    const { priorFaults, ...others } = callOf(call, limited)
    const faults = [...priorFaults, ...idempotencyKeyFaults(sent?.key)]
    return { ...others, priorFaults: faults, claim: claims(sent, call.tenant) }
  }

  return [
    {
      ...collection,
      method: 'GET',
      scope: 'webhooks:read',
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: 'HEAD works too.',
      query: pagingParameters(pageSize, WEBHOOK_ID),
      success: { status: 200, description: 'The page.', is: 'WebhookList', headers: ['Link'] },
      codes: ['validation_failed'],
      handler: async (call) => sendPage(call, await webhooks.list(call.query, readCallOf(call)))
    },
    {
      ...collection,
      method: 'POST',
      scope: 'webhooks:write',
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description: 'The webhook receives events recorded from now on, of the types that the key may read: `user.*` ' +
        'with `users:read`, `api_key.*` with `keys:read`, `webhook.*` with `webhooks:read`. ' +
        REPETITION,
      reads: ['Idempotency-Key'],
      body: { types: [JSON_TYPE], is: 'WebhookInput' },
      success: {
        status: 201,
        description: 'The webhook and its secret, which is shown only in this answer.',
        is: 'CreatedWebhook',
        headers: ['Location', 'Idempotency-Replayed']
      },
      codes: [...bodyCodes, 'url_not_allowed', 'too_many_webhooks', ...repetitionCodes],
      limitsItself: true,
      async handler (call) {
        const { webhook, secret, isFirst } = await webhooks.create(call.request.body, claimingCallOf(call, writes))
        if (isFirst) return sendCreated(call, webhook.id, { ...webhook, secret })
        call.reply.header('idempotency-replayed', 'true')
        return sendCreated(call, webhook.id, shown(call, webhook))
      }
    },
    {
      ...one,
      method: 'GET',
      scope: 'webhooks:read',
      operationId: 'getWebhook',
      summary: 'Read a webhook',
      description: 'HEAD works too.',
      success: { status: 200, description: 'The webhook.', is: 'Webhook' },
      codes: ['validation_failed', 'webhook_not_found'],
      async handler ({ request: { params: { id } }, reply, faults, tenant }) {
        requireNoFaults(faults)
        return sendJson(reply, await webhooks.get(id, tenant))
      }
    },
    {
      ...one,
      method: 'PATCH',
      scope: 'webhooks:write',
      operationId: 'updateWebhook',
      summary: 'Change a webhook',
      description: 'Absent members stay. A webhook enabled again continues after the last event it received. A key ' +
        'that changes the URL or types, or enables the webhook, must be able to read all events it receives.',
      body: { types: [MERGE_PATCH_TYPE, JSON_TYPE], is: 'WebhookPatch' },
      success: { status: 200, description: 'The webhook.', is: 'WrittenWebhook' },
      codes: [...bodyCodes, 'url_not_allowed', 'webhook_not_found'],
      limitsItself: true,
      findTenant: async (id) => (await webhooks.get(id)).tenant,
      async handler (call) {
        const { request, reply } = call
        const webhook = await webhooks.update(request.params.id, request.body, callOf(call, writes))
        return sendJson(reply, shown(call, webhook))
      }
    },
    {
      ...one,
      method: 'DELETE',
      scope: 'webhooks:write',
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook with its deliveries',
      success: { status: 204, description: 'The webhook is deleted.' },
      codes: oneCodes,
      async handler (call) {
        requireBare(call)
        await webhooks.remove(call.request.params.id, call.tenant)
        return call.reply.code(204).send()
      }
    },
    {
      ...action,
      path: '/webhooks/:id/rotate-secret',
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description: 'During the overlap, both secrets sign deliveries. A missing body is the same as an empty object. ' +
        'The key must be able to read all events that the webhook receives. ' + REPETITION,
      reads: ['Idempotency-Key'],
      body: { types: [JSON_TYPE], is: 'SecretRotation' },
      success: {
        status: 200,
        description: 'The webhook and its new secret, which is shown only in this answer.',
        is: 'RotatedWebhook',
        headers: ['Idempotency-Replayed']
      },
      codes: [...oneCodes, ...repetitionCodes],
      async handler (call) {
        const { request, reply } = call
        const { webhook, secret, isFirst } =
          await webhooks.rotateSecret(request.params.id, request.body, claimingCallOf(call))
        if (!isFirst) reply.header('idempotency-replayed', 'true')
        return sendJson(reply, { ...shown(call, webhook), ...(isFirst && { secret }) })
      }
    },
    {
      ...action,
      path: '/webhooks/:id/test',
      operationId: 'testWebhook',
      summary: 'Send a test event',
      description: 'Makes one attempt now, even if the webhook is disabled, and answers when it has ended. Needs ' +
        '`webhooks:read` too.',
      success: { status: 200, description: 'The delivery and its attempt.', is: 'Delivery' },
      codes: oneCodes,
      limitsItself: true,
      async handler (call) {
        requireBare(call)
        return sendJson(call.reply, await webhooks.test(call.request.params.id, callOf(call, writes)))
      }
    },
    {
      ...action,
      path: '/webhooks/:id/replay',
      operationId: 'replayWebhook',
      summary: 'Deliver events again',
      description: 'Delivers the events after a given event or time, then new ones, each with its `webhook-id`. ' +
        'An event whose delivery is still pending is not sent twice. The key must be able to read all of them.',
      body: { types: [JSON_TYPE], is: 'WebhookReplay' },
      success: { status: 202, description: 'The events will be delivered.', is: 'WrittenWebhook' },
      codes: [...bodyCodes, 'position_unknown', 'events_expired', 'webhook_not_found'],
      async handler (call) {
        const { request, reply } = call
        const webhook = await webhooks.replay(request.params.id, request.body, callOf(call))
        return sendJson(reply, shown(call, webhook), 202)
      }
    },
    {
      ...one,
      method: 'GET',
      path: '/webhooks/:id/deliveries',
      scope: 'webhooks:read',
      operationId: 'listDeliveries',
      summary: 'List deliveries of a webhook',
      description: 'Newest first, each with its latest attempts. HEAD works too.',
      query: deliveriesParameters(pageSize),
      success: { status: 200, description: 'The page.', is: 'DeliveryList', headers: ['Link'] },
      codes: ['validation_failed', 'webhook_not_found'],
      async handler (call) {
        const { collection, request: { params: { id } } } = call
        const page = await webhooks.deliveries(id, call.query, readCallOf(call))
        return sendPage(call, page, { path: `${collection}/${id}/deliveries` })
      }
    },
    {
      ...action,
      path: '/webhooks/:id/deliveries/:delivery/retry',
      pathParameters: { delivery },
      operationId: 'retryDelivery',
      summary: 'Deliver one event again',
      description: 'The key must be able to read the event.',
      success: { status: 202, description: 'The delivery is due now.', is: 'WrittenDelivery' },
      codes: [...oneCodes, 'delivery_not_found'],
      async handler (call) {
        requireBare(call)
        const { request } = call
        const retried = await webhooks.retry(request.params.id, deliveryOf(request), callOf(call))
        return sendJson(call.reply, shownDelivery(call, retried), 202)
      }
    }
  ]
}
