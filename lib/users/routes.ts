import type { FastifyInstance, FastifyReply } from 'fastify'
import { validationFailed } from '../errors.ts'
import { contextOf } from '../http/callers.ts'
import { entityTag, notModified, preconditions } from '../http/conditional.ts'
import { linksOf } from '../http/links.ts'
import { header } from '../http/request.ts'
import { handlersBehind, JSON_TYPE, listParameters, pathsOf, queryFrom, routeReads, type RouteSettings, strayParameters } from '../http/routing.ts'
import { BODY_LIMIT, emptyShape } from '../http/body.ts'
import { refuseOtherMethods } from '../http/scope.ts'
import type { FieldsSchema } from '../fields/schema.ts'
import type { Operation } from '../openapi/operation.ts'
import type { UserRecord } from '../storage.ts'
import { userOperations } from './operations.ts'
import type { UsersService } from './service.ts'
import type { Presenter } from './present.ts'

const MERGE_PATCH_TYPE = 'application/merge-patch+json'

/** The routes of users: from HTTP to the service and back. The scope has authenticated the caller and checked the media type. */
export function userRoutes (scope: FastifyInstance, users: UsersService, { userJson, listJson }: Presenter, router: RouteSettings, fields: FieldsSchema): void {
  const ours = handlersBehind(router.gate)
  const { filters } = fields
  const sendUser = (reply: FastifyReply, user: UserRecord): FastifyReply => reply.header('etag', entityTag(user.version)).type(JSON_TYPE).send(userJson(user))
  const collectionPath = pathsOf(scope, 'users', router)

  const list = ours(async (request, reply) => {
    const query = queryFrom(request, router)
    const page = await users.list(listParameters(query, filters), query.faults)
    const text = listJson(page)
    const links = linksOf(collectionPath(request), query.pairs, page)
    if (links !== '') reply.header('link', links)
    return reply.type(JSON_TYPE).send(text)
  })

  const create = ours(async (request, reply) => {
    const found = strayParameters(queryFrom(request, router))
    // Two lines joined are no key: a comma with its space is not visible ASCII alone.
    const idempotencyKey = header(request, 'idempotency-key')
    const { user, replayed } = await users.create(request.body, idempotencyKey === undefined ? {} : { idempotencyKey }, { context: contextOf(request), found })
    if (replayed) reply.header('idempotency-replayed', 'true')
    reply.code(201).header('location', `${collectionPath(request)}/${user.id}`)
    return sendUser(reply, user)
  })

  const get = ours(async (request, reply) => {
    const faults = strayParameters(queryFrom(request, router))
    const conditions = preconditions(request, faults)
    if (faults.length > 0) throw validationFailed(faults)
    const user = await users.get(request.params.id)
    return notModified(conditions, user.version, reply) ? reply.code(304).send() : sendUser(reply, user)
  })

  const change = (whole: boolean) => ours(async (request, reply) => {
    const found = strayParameters(queryFrom(request, router))
    const user = await users.change(request.params.id, request.body, preconditions(request, found), whole, { context: contextOf(request), found })
    return sendUser(reply, user)
  })

  const remove = ours(async (request, reply) => {
    const found = strayParameters(queryFrom(request, router))
    const conditions = preconditions(request, found)
    if (request.body !== undefined) found.push(...emptyShape(request.body))
    await users.remove(request.params.id, conditions, { context: contextOf(request), found })
    return reply.code(204).send()
  })

  const { describe } = router
  const operations = userOperations(router.limits, fields)
  const writing = (operation: Operation, accepts: readonly string[]) => ({ bodyLimit: BODY_LIMIT, config: { fastifyUsers: { scope: 'users:write', accepts }, ...describe(operation) } } as const)
  const deleting = { bodyLimit: BODY_LIMIT, config: { fastifyUsers: { scope: 'users:delete', accepts: [JSON_TYPE] }, ...describe(operations.remove) } } as const

  routeReads(scope, '/users', 'users:read', describe(operations.list), list)
  scope.post('/users', writing(operations.create, [JSON_TYPE]), create)
  refuseOtherMethods(scope, '/users', ['GET', 'HEAD', 'POST'])

  routeReads(scope, '/users/:id', 'users:read', describe(operations.get), get)
  scope.patch('/users/:id', writing(operations.patch, [MERGE_PATCH_TYPE, JSON_TYPE]), change(false))
  scope.put('/users/:id', writing(operations.put, [JSON_TYPE]), change(true))
  scope.delete('/users/:id', deleting, remove)
  refuseOtherMethods(scope, '/users/:id', ['GET', 'HEAD', 'PATCH', 'PUT', 'DELETE'])
}
