import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../api-keys/authenticator.ts'
import type { KeyOwner } from '../api-keys/key-owner.ts'
import { validationFailed } from '../core/errors.ts'
import { parameterFaults, type Parameters } from '../core/parameters.ts'
import type { UserRecord } from '../core/storage.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { userOperations } from '../openapi/user-operations.ts'
import { userListParameters } from '../users/list-query.ts'
import { eraseParameter } from '../users/parameters.ts'
import type { Presenter } from '../users/presenter.ts'
import type { UsersService } from '../users/service.ts'
import { emptyShape, JSON_TYPE, MERGE_PATCH_TYPE } from './body.ts'
import { callerOf, contextOf, hasScope } from './caller.ts'
import { entityTag, isNotModified, preconditions } from './conditional.ts'
import { header } from './header-fields.ts'
import { linksOf } from './links.ts'
import {
  collectionPaths, handlersUnder, parsedQuery, refuseOtherMethods, routeReads, type RouteSettings, strayParameters,
  typedParameters, writeRoute
} from './routing.ts'

export interface UserRoutesOptions extends RouteSettings {
  /** The host's own fields. */
  fields: FieldsSchema
  /** True if a deletion can take the values of the user out of the event log. */
  erases: boolean
  /** Whose `Idempotency-Key` a caller sends. */
  ownerOf: (caller: Caller) => Promise<KeyOwner>
}

/** The handlers of users: from HTTP to the service and back. */
function userHandlers (
  scope: FastifyInstance,
  users: UsersService,
  { userJson, minimalJson, listJson }: Presenter,
  { fields: { filters }, ownerOf, erases, ...settings }: UserRoutesOptions
) {
  const handler = handlersUnder(settings.limits)
  const collectionPath = collectionPaths(scope, 'users', settings)
  const parameters = userListParameters(settings.pageSize, filters)
  const deletionParameters: Parameters = erases ? { erase: eraseParameter } : {}

  const sendUser = (reply: FastifyReply, user: UserRecord, jsonOf = userJson): FastifyReply =>
    reply.header('etag', entityTag(user.version)).type(JSON_TYPE).send(jsonOf(user))
  // A scope includes no other: a write must not be a way to read.
  const sendWritten = (request: FastifyRequest, reply: FastifyReply, user: UserRecord): FastifyReply =>
    sendUser(reply, user, hasScope(request, 'users:read') ? userJson : minimalJson)

  const change = (whole: boolean) => handler(async (request, reply) => {
    const priorFaults = strayParameters(parsedQuery(request, settings))
    const conditions = preconditions(request, priorFaults)
    // RFC 9110 section 14.5: a part must not replace the whole.
    if (whole && header(request, 'content-range') !== undefined) {
      const detail = 'must not be sent: a user is replaced whole'
      priorFaults.push({ header: 'content-range', code: 'forbidden', detail })
    }
    const call = { context: contextOf(request), priorFaults }
    const user = await users.change(request.params.id, request.body, conditions, whole, call)
    return sendWritten(request, reply, user)
  })

  return {
    list: handler(async (request, reply) => {
      const query = parsedQuery(request, settings)
      const page = await users.list(typedParameters(query, parameters), query.faults)
      const text = listJson(page)
      const links = linksOf(collectionPath(request), query.pairs, page)
      if (links !== '') reply.header('link', links)
      return reply.type(JSON_TYPE).send(text)
    }),

    create: handler(async (request, reply) => {
      const priorFaults = strayParameters(parsedQuery(request, settings))
      // Two lines are joined by a comma and a space, which no valid key has.
      const idempotencyKey = header(request, 'idempotency-key')
      const options = idempotencyKey === undefined ? {} : { idempotencyKey }
      const call = { context: contextOf(request), priorFaults, ownerOf: () => ownerOf(callerOf(request)) }
      const { user, replayed } = await users.create(request.body, options, call)
      if (replayed) reply.header('idempotency-replayed', 'true')
      reply.code(201).header('location', `${collectionPath(request)}/${user.id}`)
      return sendWritten(request, reply, user)
    }),

    get: handler(async (request, reply) => {
      const faults = strayParameters(parsedQuery(request, settings))
      const conditions = preconditions(request, faults)
      if (faults.length > 0) throw validationFailed(faults)
      const user = await users.get(request.params.id)
      return isNotModified(conditions, user.version, reply) ? reply.code(304).send() : sendUser(reply, user)
    }),

    patch: change(false),

    put: change(true),

    remove: handler(async (request, reply) => {
      const parsed = parsedQuery(request, settings)
      const query = typedParameters(parsed, deletionParameters)
      const priorFaults = [...parsed.faults, ...parameterFaults(deletionParameters, query)]
      const conditions = preconditions(request, priorFaults)
      if (request.body !== undefined) priorFaults.push(...emptyShape(request.body))
      const options = { ...conditions, ...(query['erase'] === true && { erase: true }) }
      await users.remove(request.params.id, options, { context: contextOf(request), priorFaults })
      return reply.code(204).send()
    })
  }
}

/** Adds the routes of users. The scope has authenticated the caller and checked the media type. */
export function userRoutes (
  scope: FastifyInstance,
  users: UsersService,
  presenter: Presenter,
  options: UserRoutesOptions
): void {
  const { describe, pageSize, fields, erases } = options
  const handlers = userHandlers(scope, users, presenter, options)
  const operations = userOperations(pageSize, fields, erases)
  const writing = (operation: keyof typeof operations, accepts: readonly string[]) =>
    writeRoute(describe, operations[operation], { scope: 'users:write', accepts })
  const deleting = writeRoute(describe, operations.remove, { scope: 'users:delete', accepts: [JSON_TYPE] })

  routeReads(scope, '/users', 'users:read', describe(operations.list), handlers.list)
  scope.post('/users', writing('create', [JSON_TYPE]), handlers.create)
  refuseOtherMethods(scope, '/users', ['GET', 'HEAD', 'POST'])

  routeReads(scope, '/users/:id', 'users:read', describe(operations.get), handlers.get)
  scope.patch('/users/:id', writing('patch', [MERGE_PATCH_TYPE, JSON_TYPE]), handlers.patch)
  scope.put('/users/:id', writing('put', [JSON_TYPE]), handlers.put)
  scope.delete('/users/:id', deleting, handlers.remove)
  refuseOtherMethods(scope, '/users/:id', ['GET', 'HEAD', 'PATCH', 'PUT', 'DELETE'])
}
