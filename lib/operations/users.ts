import type { FastifyReply } from 'fastify'
import type { UserRecord } from '../storage/storage.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { unknownParameters } from '../core/fault.ts'
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../http/body.ts'
import type { ReadFor } from '../http/consistency.ts'
import { callerOf, hasScope } from '../http/caller.ts'
import { entityTag, isNotModified, newestNamed, preconditions } from '../http/responses/conditional.ts'
import { header } from '../http/header-fields.ts'
import { userId } from '../openapi/component-parts.ts'
import { memberNames } from '../transfer/columns.ts'
import { selection } from '../transfer/selection.ts'
import { userListParameters } from '../users/list-query.ts'
import type { Presenter } from '../users/presenter.ts'
import type { UsersService } from '../users/service.ts'
import { readCallOf, requireNoFaults, sendPage, type SendUser, serviceCallOf } from './answers.ts'
import { deletionOperations, type DeletionOperationsOptions } from './deletions.ts'
import type { Operation, OperationCall } from './operation.ts'

export interface UserOperationsOptions extends DeletionOperationsOptions {
  /** The host's own fields. */
  fields: FieldsSchema
  /** True if changes can be reverted. */
  reverts: boolean
  /** True if users can be in groups. */
  groups: boolean
  /** Refuses a filter that the caller may not use. */
  checkFilter: (call: OperationCall) => void
  readFor: ReadFor
}

const tag = 'users'
const one = { tag, path: '/users/:id', id: userId, reads: ['If-Match', 'If-None-Match'] } as const
const changed = {
  scope: 'users:write',
  success: { status: 200, description: 'The user after the change.', is: 'WrittenUser', headers: ['ETag'] },
  codes: [
    'validation_failed', 'malformed_json', 'user_not_found', 'email_taken', 'field_taken', 'precondition_failed',
    'body_too_large', 'unsupported_media_type', 'precondition_required'
  ]
} as const

/** The operations on users. */
export function userOperations (
  users: UsersService,
  presenter: Presenter,
  options: UserOperationsOptions
): Operation[] {
  const { pageSize, fields, fields: { filters }, reverts, groups, checkFilter, readFor, ownerOf } = options
  const select = selection(memberNames(fields, presenter.showsTenant))
  const { userJson, minimalJson, listJson } = presenter
  const sendUser = (reply: FastifyReply, user: UserRecord, jsonOf = userJson): FastifyReply =>
    reply.header('etag', entityTag(user.version)).type(JSON_TYPE).send(jsonOf(user))
  // A scope includes no other: a write must not be a way to read.
  const sendWritten: SendUser = ({ request, reply }, user) =>
    sendUser(reply, user, hasScope(request, 'users:read') ? userJson : minimalJson)

  const change = (whole: boolean): Operation['handler'] => async (call) => {
    const { request, faults: priorFaults } = call
    const conditions = preconditions(request, priorFaults)
    // RFC 9110 section 14.5: a part must not replace the whole.
    if (whole && header(request, 'content-range') !== undefined) {
      const detail = 'must not be sent: a user can only be replaced completely'
      priorFaults.push({ header: 'content-range', code: 'forbidden', detail })
    }
    const user = await users.change(request.params.id, request.body, conditions, whole, serviceCallOf(call))
    return sendWritten(call, user)
  }

  return [
    {
      tag,
      method: 'GET',
      path: '/users',
      scope: 'users:read',
      operationId: 'listUsers',
      summary: 'List users',
      description: 'A page of users, by default in creation order, with the exact total. HEAD works too.',
      query: { ...userListParameters(pageSize, filters, groups), select: select.parameter },
      success: { status: 200, description: 'The page.', is: 'UserList', headers: ['Link'] },
      codes: ['validation_failed'],
      limitsItself: true,
      async handler (call) {
        checkFilter(call)
        const { names, query } = select.of(call)
        const page = await readFor(call, (reads) => users.list(query, { ...readCallOf(call), reads }))
        return sendPage(call, page, { text: names === null ? listJson(page) : presenter.picking(names).listJson(page) })
      }
    },
    {
      tag,
      method: 'POST',
      path: '/users',
      scope: 'users:write',
      operationId: 'createUser',
      summary: 'Create a user',
      reads: ['Idempotency-Key'],
      body: { types: [JSON_TYPE], is: 'UserInput' },
      success: {
        status: 201,
        description: 'The new user.',
        is: 'WrittenUser',
        headers: ['ETag', 'Location', 'Idempotency-Replayed']
      },
      codes: [
        'validation_failed', 'malformed_json', 'email_taken', 'field_taken', 'idempotency_in_progress',
        'body_too_large', 'unsupported_media_type', 'idempotency_key_reused'
      ],
      async handler (call) {
        const { request, reply, collection } = call
        // Two lines are joined by a comma and a space, which no valid key has.
        const idempotencyKey = header(request, 'idempotency-key')
        const { user, replayed } = await users.create(
          request.body,
          idempotencyKey === undefined ? {} : { idempotencyKey },
          { ...serviceCallOf(call), ownerOf: () => ownerOf(callerOf(request)) }
        )
        if (replayed) reply.header('idempotency-replayed', 'true')
        reply.code(201).header('location', `${collection}/${user.id}`)
        return sendWritten(call, user)
      }
    },
    {
      ...one,
      method: 'GET',
      scope: 'users:read',
      operationId: 'getUser',
      summary: 'Read a user',
      description: 'HEAD works too.',
      conditional: true,
      query: { select: select.parameter },
      success: { status: 200, description: 'The user.', is: 'User', headers: ['ETag'] },
      codes: ['validation_failed', 'user_not_found', 'precondition_failed'],
      limitsItself: true,
      async handler (call) {
        const { request, reply, faults } = call
        const { names, query } = select.of(call)
        const conditions = preconditions(request, faults)
        requireNoFaults([...faults, ...unknownParameters(Object.keys(query))])
        const user = await readFor({ request, reply }, (reads) =>
          users.get(request.params.id, { reads, atLeast: newestNamed(conditions), tenant: call.tenant }))
        if (isNotModified(conditions, user.version, reply)) return reply.code(304).send()
        return sendUser(reply, user, names === null ? userJson : presenter.picking(names).userJson)
      }
    },
    {
      ...one,
      ...changed,
      method: 'PATCH',
      operationId: 'updateUser',
      summary: 'Update a user',
      description: 'JSON Merge Patch (RFC 7396): given members change, the others stay.',
      body: { types: [MERGE_PATCH_TYPE, JSON_TYPE], is: 'UserPatch' },
      keepsTenant: true,
      handler: change(false)
    },
    {
      ...one,
      ...changed,
      method: 'PUT',
      operationId: 'replaceUser',
      summary: 'Replace a user',
      description: 'Replaces name, address, status and all own fields. Never creates a user. Without a status, the ' +
        'user is active.',
      body: { types: [JSON_TYPE], is: 'UserReplacement' },
      keepsTenant: true,
      handler: change(true)
    },
    ...reverts
      ? [{
          ...one,
          ...changed,
          method: 'POST',
          path: '/users/:id/revert',
          reads: [...one.reads, 'Idempotency-Key'],
          operationId: 'revertUser',
          summary: 'Revert a change to a user',
          description: 'Sets the members that an event changed back to their earlier values. Fails if one of them ' +
            'has changed since. The reversal is an ordinary change.',
          body: { types: [JSON_TYPE], is: 'UserReversal' },
          success: { ...changed.success, headers: ['ETag', 'Idempotency-Replayed'] },
          codes: [...changed.codes, 'revert_conflict', 'idempotency_in_progress', 'idempotency_key_reused'],
          async handler (call: OperationCall) {
            const { request, reply, faults: priorFaults } = call
            const idempotencyKey = header(request, 'idempotency-key')
            const options = {
              ...preconditions(request, priorFaults), ...(idempotencyKey !== undefined && { idempotencyKey })
            }
            const { user, replayed } = await users.revert(request.params.id, request.body, options, {
              ...serviceCallOf(call), ownerOf: () => ownerOf(callerOf(request))
            })
            if (replayed) reply.header('idempotency-replayed', 'true')
            return sendWritten(call, user)
          }
        } as const]
      : [],
    ...deletionOperations(users, presenter, sendWritten, options)
  ]
}
