import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { WEBHOOK_ID } from '../core/ids.ts'
import { type ListedPage, listMeta, pagingParameters } from '../core/paging.ts'
import { type Delivery, minimalDelivery, minimalWebhook, type Webhook } from '../core/webhook.ts'
import { webhookOperations } from '../openapi/webhook-operations.ts'
import type { WebhookCall } from '../webhooks/call.ts'
import { deliveriesParameters } from '../webhooks/rules.ts'
import type { NewWebhook, WebhooksService } from '../webhooks/service.ts'
import { emptyShape, JSON_TYPE, MERGE_PATCH_TYPE } from './body.ts'
import { callerOf, contextOf, hasScope } from './caller.ts'
import { type ConcurrencyLimit, NO_LIMITS } from './concurrency-limit.ts'
import { linksOf } from './links.ts'
import {
  collectionPaths, handlersUnder, parsedQuery, refuseOtherMethods, routeReads, type RouteSettings, strayParameters,
  typedParameters, writeRoute
} from './routing.ts'

/** The id of the delivery in the path. */
function deliveryOf ({ params }: FastifyRequest): string {
  return String(Object(params).delivery)
}

/** The handlers of webhooks: from HTTP to the service and back. */
function webhookHandlers (scope: FastifyInstance, webhooks: WebhooksService, settings: RouteSettings) {
  const handler = handlersUnder(settings.limits)
  // These wait for receivers or names too: only what uses the storage is under the limit.
  const waiting = handlersUnder(NO_LIMITS)
  const collectionPath = collectionPaths(scope, 'webhooks', settings)
  const parameters = pagingParameters(settings.pageSize, WEBHOOK_ID)
  const ofDeliveries = deliveriesParameters(settings.pageSize)

  const stray = (request: FastifyRequest): Fault[] => strayParameters(parsedQuery(request, settings))

  /** Refuses parameters, and a body, where there must be none. */
  function requireBare (request: FastifyRequest): void {
    const faults = stray(request)
    if (request.body !== undefined) faults.push(...emptyShape(request.body))
    if (faults.length > 0) throw validationFailed(faults)
  }

  function callOf (request: FastifyRequest, limited: ConcurrencyLimit = NO_LIMITS.writes): WebhookCall {
    const { scopes } = callerOf(request).principal
    return { context: contextOf(request), priorFaults: stray(request), scopes, limited }
  }

  const waitingCallOf = (request: FastifyRequest): WebhookCall => callOf(request, settings.limits.writes)

  function send (reply: FastifyReply, body: unknown, status = 200): FastifyReply {
    return reply.code(status).type(JSON_TYPE).send(JSON.stringify(body))
  }

  /** What a write tells of a webhook that its caller perhaps may not read. */
  function shown (request: FastifyRequest, webhook: Webhook): object {
    return hasScope(request, 'webhooks:read') ? webhook : minimalWebhook(webhook)
  }

  function shownDelivery (request: FastifyRequest, delivery: Delivery): object {
    return hasScope(request, 'webhooks:read') ? delivery : minimalDelivery(delivery)
  }

  function sendNew (reply: FastifyReply, collection: string, made: NewWebhook): FastifyReply {
    return send(reply.header('location', `${collection}/${made.id}`), made, 201)
  }

  function sendPage (request: FastifyRequest, reply: FastifyReply, path: string, page: ListedPage<{ id: string }>) {
    const links = linksOf(path, parsedQuery(request, settings).pairs, page)
    if (links !== '') reply.header('link', links)
    return send(reply, { data: page.items, meta: listMeta(page) })
  }

  return {
    list: handler(async (request, reply) => {
      const query = parsedQuery(request, settings)
      const page = await webhooks.list(typedParameters(query, parameters), query.faults)
      return sendPage(request, reply, collectionPath(request), page)
    }),
    create: waiting(async (request, reply) =>
      sendNew(reply, collectionPath(request), await webhooks.create(request.body, waitingCallOf(request)))),
    get: handler(async (request, reply) => {
      requireBare(request)
      return send(reply, await webhooks.get(request.params.id))
    }),
    patch: waiting(async (request, reply) =>
      send(reply, shown(request, await webhooks.update(request.params.id, request.body, waitingCallOf(request))))),
    remove: handler(async (request, reply) => {
      requireBare(request)
      await webhooks.remove(request.params.id)
      return reply.code(204).send()
    }),
    rotate: handler(async (request, reply) => {
      const { secret, ...webhook } = await webhooks.rotateSecret(request.params.id, request.body, callOf(request))
      return send(reply, { ...shown(request, webhook), secret })
    }),
    test: waiting(async (request, reply) => {
      requireBare(request)
      return send(reply, await webhooks.test(request.params.id, waitingCallOf(request)))
    }),
    replay: handler(async (request, reply) =>
      send(reply, shown(request, await webhooks.replay(request.params.id, request.body, callOf(request))), 202)),
    deliveries: handler(async (request, reply) => {
      const query = parsedQuery(request, settings)
      const { id } = request.params
      const page = await webhooks.deliveries(id, typedParameters(query, ofDeliveries), query.faults)
      return sendPage(request, reply, `${collectionPath(request, 2)}/${id}/deliveries`, page)
    }),
    retry: handler(async (request, reply) => {
      requireBare(request)
      const delivery = await webhooks.retry(request.params.id, deliveryOf(request), callOf(request))
      return send(reply, shownDelivery(request, delivery), 202)
    })
  }
}

/** Adds the routes of webhooks. */
export function webhookRoutes (scope: FastifyInstance, webhooks: WebhooksService, settings: RouteSettings): void {
  const { describe, pageSize } = settings
  const handlers = webhookHandlers(scope, webhooks, settings)
  const operations = webhookOperations(pageSize)
  const writing = (operation: keyof typeof operations, accepts = [JSON_TYPE]) =>
    writeRoute(describe, operations[operation], { scope: 'webhooks:write', accepts })
  const one = '/webhooks/:id'

  routeReads(scope, '/webhooks', 'webhooks:read', describe(operations.list), handlers.list)
  scope.post('/webhooks', writing('create'), handlers.create)
  refuseOtherMethods(scope, '/webhooks', ['GET', 'HEAD', 'POST'])

  routeReads(scope, one, 'webhooks:read', describe(operations.get), handlers.get)
  scope.patch(one, writing('patch', [MERGE_PATCH_TYPE, JSON_TYPE]), handlers.patch)
  scope.delete(one, writing('remove'), handlers.remove)
  refuseOtherMethods(scope, one, ['GET', 'HEAD', 'PATCH', 'DELETE'])

  for (const [action, path] of [['rotate', 'rotate-secret'], ['test', 'test'], ['replay', 'replay']] as const) {
    scope.post(`${one}/${path}`, writing(action), handlers[action])
    refuseOtherMethods(scope, `${one}/${path}`, ['POST'])
  }

  routeReads(scope, `${one}/deliveries`, 'webhooks:read', describe(operations.deliveries), handlers.deliveries)
  refuseOtherMethods(scope, `${one}/deliveries`, ['GET', 'HEAD'])

  scope.post(`${one}/deliveries/:delivery/retry`, writing('retry'), handlers.retry)
  refuseOtherMethods(scope, `${one}/deliveries/:delivery/retry`, ['POST'])
}
