import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, UsersError, validationFailed } from '../errors.ts'
import { BODY_LIMIT, emptyShape } from '../http/body.ts'
import { callerOf, contextOf } from '../http/callers.ts'
import { createGate } from '../http/gate.ts'
import { linksOf } from '../http/links.ts'
import { handlersBehind, JSON_TYPE, listParameters, pathsOf, queryFrom, routeReads, type RouteSettings, strayParameters } from '../http/routing.ts'
import { refuseOtherMethods } from '../http/scope.ts'
import type { Operation } from '../openapi/operation.ts'
import { listMeta } from '../paging.ts'
import { grantOf } from './grant.ts'
import { apiKeyOperations } from './operations.ts'
import type { ApiKeysService, KeyCall, NewApiKey } from './service.ts'

export interface ApiKeyRoutesOptions extends RouteSettings {
  /** Whether the last stored key that can manage keys is kept from going by accident: nothing else can. */
  keepLast: boolean
}

/** The routes of API keys: from HTTP to the service and back. What a caller can give is bounded by what it has. */
export function apiKeyRoutes (scope: FastifyInstance, apiKeys: ApiKeysService, { keepLast, ...router }: ApiKeyRoutesOptions): void {
  const ours = handlersBehind(router.gate)
  const collectionPath = pathsOf(scope, 'api-keys', router)

  const callOf = (request: FastifyRequest, found: readonly Fault[]): KeyCall => ({ context: contextOf(request), found, grant: grantOf(callerOf(request)) })

  function sendNew (reply: FastifyReply, collection: string, made: NewApiKey): FastifyReply {
    return reply.code(201).header('location', `${collection}/${made.id}`).type(JSON_TYPE).send(JSON.stringify(made))
  }

  const list = ours(async (request, reply) => {
    const query = queryFrom(request, router)
    const page = await apiKeys.list(listParameters(query), query.faults)
    const links = linksOf(collectionPath(request), query.pairs, page)
    if (links !== '') reply.header('link', links)
    return reply.type(JSON_TYPE).send(JSON.stringify({ data: page.items, meta: listMeta(page) }))
  })

  const create = ours(async (request, reply) => {
    const made = await apiKeys.create(request.body, callOf(request, strayParameters(queryFrom(request, router))))
    return sendNew(reply, collectionPath(request), made)
  })

  const get = ours(async (request, reply) => {
    const faults = strayParameters(queryFrom(request, router))
    if (faults.length > 0) throw validationFailed(faults)
    return reply.type(JSON_TYPE).send(JSON.stringify(await apiKeys.get(request.params.id)))
  })

  const rotate = ours(async (request, reply) => {
    const made = await apiKeys.rotate(request.params.id, request.body, callOf(request, strayParameters(queryFrom(request, router))))
    return sendNew(reply, collectionPath(request, 2), made)
  })

  async function revoke (request: FastifyRequest, reply: FastifyReply, idOf: () => string): Promise<FastifyReply> {
    const { pairs, faults } = queryFrom(request, router)
    const found = [...faults, ...strayParameters({ pairs: pairs.filter(([name]) => name !== 'force'), faults: [] })]
    const force = pairs.find(([name]) => name === 'force')?.[1] ?? 'false'
    if (force !== 'true' && force !== 'false') found.push({ parameter: 'force', code: 'choice', detail: 'must be true or false' })
    if (request.body !== undefined) found.push(...emptyShape(request.body))
    if (found.length > 0) throw validationFailed(found)
    await apiKeys.revoke(idOf(), { context: contextOf(request), keepOne: keepLast && force === 'false' })
    return reply.code(204).send()
  }

  const { describe } = router
  const operations = apiKeyOperations(router.limits)
  const writing = (operation: Operation) => ({ bodyLimit: BODY_LIMIT, config: { fastifyUsers: { scope: 'keys:write', accepts: [JSON_TYPE] }, ...describe(operation) } } as const)
  const anybody = { bodyLimit: BODY_LIMIT, config: { fastifyUsers: { scope: null, accepts: [JSON_TYPE] }, ...describe(operations.revokeCurrent) } } as const

  routeReads(scope, '/api-keys', 'keys:read', describe(operations.list), list)
  scope.post('/api-keys', writing(operations.create), create)
  refuseOtherMethods(scope, '/api-keys', ['GET', 'HEAD', 'POST'])

  // Whoever holds a leaked key can end it, whatever its scopes, and however busy it keeps the service.
  scope.delete('/api-keys/current', anybody, handlersBehind(createGate(undefined))((request, reply) => revoke(request, reply, () => {
    const { record } = callerOf(request)
    if (record === null) throw new UsersError('api_key_not_found', { detail: 'The key of this request is not kept here.' })
    return record.id
  })))
  refuseOtherMethods(scope, '/api-keys/current', ['DELETE'])

  routeReads(scope, '/api-keys/:id', 'keys:read', describe(operations.get), get)
  scope.delete('/api-keys/:id', writing(operations.revoke), ours((request, reply) => revoke(request, reply, () => request.params.id)))
  refuseOtherMethods(scope, '/api-keys/:id', ['GET', 'HEAD', 'DELETE'])

  scope.post('/api-keys/:id/rotate', writing(operations.rotate), rotate)
  refuseOtherMethods(scope, '/api-keys/:id/rotate', ['POST'])
}
