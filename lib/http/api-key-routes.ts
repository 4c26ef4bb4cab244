import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { delegationOf } from '../api-keys/delegation.ts'
import { revokeParameters } from '../api-keys/parameters.ts'
import { minimalNewKey } from '../api-keys/record.ts'
import type { ApiKeysService, KeptKeys, KeyCall } from '../api-keys/service.ts'
import { UsersError, validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { API_KEY_ID } from '../core/ids.ts'
import { listMeta, pagingParameters } from '../core/paging.ts'
import { parameterFaults } from '../core/parameters.ts'
import { apiKeyOperations } from '../openapi/api-key-operations.ts'
import { emptyShape, JSON_TYPE } from './body.ts'
import { callerOf, contextOf, hasScope } from './caller.ts'
import { NO_LIMITS } from './concurrency-limit.ts'
import { linksOf } from './links.ts'
import {
  collectionPaths, handlersUnder, parsedQuery, refuseOtherMethods, routeReads, type RouteSettings, strayParameters,
  typedParameters, writeRoute
} from './routing.ts'

export interface ApiKeyRoutesOptions extends RouteSettings {
  /** The scopes of each static key. */
  staticScopes: KeptKeys['staticScopes']
}

/** The id of the key of a request. */
function ownIdOf (request: FastifyRequest): string {
  const { record } = callerOf(request)
  if (record !== null) return record.id
  throw new UsersError('api_key_not_found', { detail: 'The key of this request is not kept here.' })
}

/** The handlers of API keys: from HTTP to the service and back. A caller can give no more than it has. */
function apiKeyHandlers (scope: FastifyInstance, apiKeys: ApiKeysService, options: ApiKeyRoutesOptions) {
  const { staticScopes, ...settings } = options
  const handler = handlersUnder(settings.limits)
  const collectionPath = collectionPaths(scope, 'api-keys', settings)
  const parameters = pagingParameters(settings.pageSize, API_KEY_ID)

  const callOf = (request: FastifyRequest, priorFaults: readonly Fault[]): KeyCall =>
    ({ context: contextOf(request), priorFaults, delegation: delegationOf(callerOf(request)) })

  function sendNew (reply: FastifyReply, collection: string, made: { id: string, key: string }): FastifyReply {
    return reply.code(201).header('location', `${collection}/${made.id}`).type(JSON_TYPE).send(JSON.stringify(made))
  }

  /** Revokes the key of the request where `id` is null: any holder can end its own key. */
  async function revoke (request: FastifyRequest, reply: FastifyReply, id: string | null): Promise<FastifyReply> {
    const parsed = parsedQuery(request, settings)
    const query = typedParameters(parsed, revokeParameters)
    const faults = [...parsed.faults, ...parameterFaults(revokeParameters, query)]
    if (request.body !== undefined) faults.push(...emptyShape(request.body))
    if (faults.length > 0) throw validationFailed(faults)
    await apiKeys.revoke(id ?? ownIdOf(request), { successors: query['successors'] === true }, {
      context: contextOf(request),
      delegation: id === null ? null : delegationOf(callerOf(request)),
      keepOne: query['force'] === true ? null : { staticScopes }
    })
    return reply.code(204).send()
  }

  return {
    list: handler(async (request, reply) => {
      const query = parsedQuery(request, settings)
      const page = await apiKeys.list(typedParameters(query, parameters), query.faults)
      const links = linksOf(collectionPath(request), query.pairs, page)
      if (links !== '') reply.header('link', links)
      return reply.type(JSON_TYPE).send(JSON.stringify({ data: page.items, meta: listMeta(page) }))
    }),

    create: handler(async (request, reply) => {
      const call = callOf(request, strayParameters(parsedQuery(request, settings)))
      return sendNew(reply, collectionPath(request), await apiKeys.create(request.body, call))
    }),

    get: handler(async (request, reply) => {
      const faults = strayParameters(parsedQuery(request, settings))
      if (faults.length > 0) throw validationFailed(faults)
      return reply.type(JSON_TYPE).send(JSON.stringify(await apiKeys.get(request.params.id)))
    }),

    rotate: handler(async (request, reply) => {
      const call = callOf(request, strayParameters(parsedQuery(request, settings)))
      const made = await apiKeys.rotate(request.params.id, request.body, call)
      return sendNew(reply, collectionPath(request, 2), hasScope(request, 'keys:read') ? made : minimalNewKey(made))
    }),

    revoke: handler((request, reply) => revoke(request, reply, request.params.id)),

    // Outside the concurrency limit: whoever holds a leaked key can end it, however busy that key keeps the service.
    revokeCurrent: handlersUnder(NO_LIMITS)((request, reply) => revoke(request, reply, null))
  }
}

/** Adds the routes of API keys. */
export function apiKeyRoutes (scope: FastifyInstance, apiKeys: ApiKeysService, options: ApiKeyRoutesOptions): void {
  const { describe, pageSize } = options
  const handlers = apiKeyHandlers(scope, apiKeys, options)
  const operations = apiKeyOperations(pageSize)
  const writing = (operation: keyof typeof operations) =>
    writeRoute(describe, operations[operation], { scope: 'keys:write', accepts: [JSON_TYPE] })
  const forAnyKey = writeRoute(describe, operations.revokeCurrent, {
    scope: null, accepts: [JSON_TYPE], endsOwnKey: true
  })

  routeReads(scope, '/api-keys', 'keys:read', describe(operations.list), handlers.list)
  scope.post('/api-keys', writing('create'), handlers.create)
  refuseOtherMethods(scope, '/api-keys', ['GET', 'HEAD', 'POST'])

  scope.delete('/api-keys/current', forAnyKey, handlers.revokeCurrent)
  refuseOtherMethods(scope, '/api-keys/current', ['DELETE'])

  routeReads(scope, '/api-keys/:id', 'keys:read', describe(operations.get), handlers.get)
  scope.delete('/api-keys/:id', writing('revoke'), handlers.revoke)
  refuseOtherMethods(scope, '/api-keys/:id', ['GET', 'HEAD', 'DELETE'])

  scope.post('/api-keys/:id/rotate', writing('rotate'), handlers.rotate)
  refuseOtherMethods(scope, '/api-keys/:id/rotate', ['POST'])
}
