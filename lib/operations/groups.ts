import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import { MEMBERS_BODY_MAX } from '../core/limits.ts'
import type { PageSize } from '../core/paging.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { type Group, minimalGroup, toGroup } from '../storage/group.ts'
import { listMembers } from '../groups/in-process.ts'
import { groupParameters, ownGroupParameters } from '../groups/rules.ts'
import type { GroupsService } from '../groups/service.ts'
import { requireScopes } from '../http/admission/authentication.ts'
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../http/body.ts'
import { callerOf, hasScope } from '../http/caller.ts'
import type { ReadFor } from '../http/consistency.ts'
import type { SecurityLog } from '../http/logging/security-log.ts'
import { entityTag, isNotModified, preconditions } from '../http/responses/conditional.ts'
import { groupId, userId } from '../openapi/component-parts.ts'
import type { GroupRecord } from '../storage/storage.ts'
import type { Claims } from '../users/claims.ts'
import { idempotencyKeyFaults } from '../users/idempotency.ts'
import { userListParameters } from '../users/list-query.ts'
import type { Presenter } from '../users/presenter.ts'
import type { UsersService } from '../users/service.ts'
import {
  contentFaults, type OwnerOf, readCallOf, requireBare, requireNoFaults, sendCreated, sendJson, sendPage, sentKeyOf,
  serviceCallOf
} from './answers.ts'
import type { Operation, OperationCall } from './operation.ts'

export interface GroupOperationsOptions {
  pageSize: PageSize
  fields: FieldsSchema
  readFor: ReadFor
  ownerOf: OwnerOf
  claims: Claims
  securityLog: SecurityLog
}

const READ: Scope = 'groups:read'
const bodyCodes = ['validation_failed', 'malformed_json', 'body_too_large', 'unsupported_media_type'] as const
const collection = { tag: 'groups', path: '/groups' } as const
const one = { tag: 'groups', path: '/groups/:id', id: groupId } as const
const conditional = { ...one, reads: ['If-Match', 'If-None-Match'] } as const
const member = {
  ...one,
  path: '/groups/:id/members/:user',
  pathParameters: { user: userId },
  scope: 'groups:write',
  codes: [...bodyCodes, 'group_not_found', 'user_not_found']
} as const

/** The id of the user in the path. */
const userOf = ({ params }: FastifyRequest): string => String(Object(params).user)

/** What a write tells of a group that its caller perhaps may not read. */
const shown = ({ request }: OperationCall, group: Group): object =>
  hasScope(request, READ) ? group : minimalGroup(group)

const send = (reply: FastifyReply, group: GroupRecord, body: object): FastifyReply =>
  sendJson(reply.header('etag', entityTag(group.version)), body)

/** The operations on groups. */
export function groupOperations (
  groups: GroupsService, users: UsersService, presenter: Presenter, options: GroupOperationsOptions
): Operation[] {
  const { pageSize, fields, readFor, ownerOf, claims, securityLog } = options
  const setMember = (isMember: boolean): Operation['handler'] => async (call) => {
    requireBare(call)
    await groups.setMember(call.request.params.id, userOf(call.request), isMember, serviceCallOf(call))
    return call.reply.code(204).send()
  }

  return [
    {
      ...collection,
      method: 'GET',
      scope: READ,
      operationId: 'listGroups',
      summary: 'List groups',
      description: 'HEAD works too.',
      query: groupParameters(pageSize),
      success: { status: 200, description: 'The page.', is: 'GroupList', headers: ['Link'] },
      codes: ['validation_failed'],
      async handler (call) {
        const page = await groups.list(call.query, readCallOf(call))
        return sendPage(call, { ...page, items: page.items.map(toGroup) })
      }
    },
    {
      ...collection,
      method: 'POST',
      scope: 'groups:write',
      operationId: 'createGroup',
      summary: 'Create a group',
      reads: ['Idempotency-Key'],
      body: { types: [JSON_TYPE], is: 'GroupInput' },
      success: {
        status: 201,
        description: 'The new group.',
        is: 'WrittenGroup',
        headers: ['ETag', 'Location', 'Idempotency-Replayed']
      },
      codes: [...bodyCodes, 'name_taken', 'idempotency_in_progress', 'idempotency_key_reused'],
      async handler (call) {
        const sent = sentKeyOf(call.request, ownerOf)
        const { priorFaults, ...others } = serviceCallOf(call)
        const faults = [...priorFaults, ...idempotencyKeyFaults(sent?.key)]
        const { group, isFirst } = await groups.create(call.request.body, {
          ...others, priorFaults: faults, claim: claims(sent, call.tenant)
        })
        if (!isFirst) call.reply.header('idempotency-replayed', 'true')
        call.reply.header('etag', entityTag(group.version))
        return sendCreated(call, group.id, shown(call, toGroup(group)))
      }
    },
    {
      ...conditional,
      method: 'GET',
      scope: READ,
      operationId: 'getGroup',
      summary: 'Read a group',
      description: 'HEAD works too.',
      conditional: true,
      success: { status: 200, description: 'The group.', is: 'Group', headers: ['ETag'] },
      codes: ['validation_failed', 'group_not_found', 'precondition_failed'],
      async handler ({ request, reply, faults, tenant }) {
        const conditions = preconditions(request, faults)
        requireNoFaults(faults)
        const group = await groups.get(request.params.id, tenant)
        return isNotModified(conditions, group.version, reply)
          ? reply.code(304).send()
          : send(reply, group, toGroup(group))
      }
    },
    {
      ...conditional,
      method: 'PATCH',
      scope: 'groups:write',
      operationId: 'updateGroup',
      summary: 'Change a group',
      description: 'JSON Merge Patch (RFC 7396): given members change, the others stay.',
      body: { types: [MERGE_PATCH_TYPE, JSON_TYPE], is: 'GroupPatch' },
      success: { status: 200, description: 'The group after the change.', is: 'WrittenGroup', headers: ['ETag'] },
      codes: [...bodyCodes, 'group_not_found', 'name_taken', 'precondition_failed', 'precondition_required'],
      findTenant: async (id) => (await groups.get(id)).tenant,
      async handler (call) {
        const { request, reply, faults } = call
        const conditions = preconditions(request, faults)
        const group = await groups.change(request.params.id, request.body, undefined, conditions, serviceCallOf(call))
        return send(reply, group, shown(call, toGroup(group)))
      }
    },
    {
      ...conditional,
      method: 'DELETE',
      scope: 'groups:write',
      operationId: 'deleteGroup',
      summary: 'Delete a group',
      description: 'Its members stay users.',
      success: { status: 204, description: 'The group is deleted.' },
      codes: [...bodyCodes, 'group_not_found', 'precondition_failed', 'precondition_required'],
      async handler (call) {
        const { request, reply, faults } = call
        const conditions = preconditions(request, faults)
        requireNoFaults([...faults, ...contentFaults(request)])
        await groups.remove(request.params.id, conditions, serviceCallOf(call))
        return reply.code(204).send()
      }
    },
    {
      ...one,
      method: 'GET',
      path: '/groups/:id/members',
      scope: READ,
      operationId: 'listGroupMembers',
      summary: 'List the members of a group',
      description: 'A page of users, with the parameters of their list. Needs `users:read` too. HEAD works too.',
      query: userListParameters(pageSize, fields.filters, false),
      success: { status: 200, description: 'The page.', is: 'UserList', headers: ['Link'] },
      codes: ['validation_failed', 'group_not_found'],
      limitsItself: true,
      async handler (call) {
        const { collection, query, request } = call
        requireScopes(request, callerOf(request), ['users:read'], securityLog)
        const { id } = request.params
        const page = await readFor(call, (reads) =>
          listMembers(groups, users, id, query, { ...readCallOf(call), reads }))
        return sendPage(call, page, { path: `${collection}/${id}/members`, text: presenter.listJson(page) })
      }
    },
    {
      ...member,
      method: 'PUT',
      operationId: 'addGroupMember',
      summary: 'Add a user to a group',
      success: { status: 204, description: 'The user is a member.' },
      handler: setMember(true)
    },
    {
      ...member,
      method: 'DELETE',
      operationId: 'removeGroupMember',
      summary: 'Remove a user from a group',
      success: { status: 204, description: 'The user is no member.' },
      handler: setMember(false)
    },
    {
      ...one,
      method: 'POST',
      path: '/groups/:id/members/batch',
      scope: 'groups:write',
      operationId: 'changeGroupMembers',
      summary: 'Add and remove members together',
      description: 'In one step. Who is a member already, or none, stays so; of a user in both lists `remove` counts.',
      body: { types: [JSON_TYPE], is: 'GroupMembers' },
      bodyLimit: MEMBERS_BODY_MAX,
      success: { status: 200, description: 'The group after the change.', is: 'WrittenGroup', headers: ['ETag'] },
      codes: [...bodyCodes, 'group_not_found'],
      async handler (call) {
        const { request, reply } = call
        const group = await groups.changeMembers(request.params.id, request.body, serviceCallOf(call))
        return send(reply, group, shown(call, toGroup(group)))
      }
    },
    {
      tag: 'groups',
      method: 'GET',
      path: '/users/:id/groups',
      id: userId,
      scope: READ,
      operationId: 'listUserGroups',
      summary: 'List the groups of a user',
      description: 'HEAD works too.',
      query: ownGroupParameters(pageSize),
      success: { status: 200, description: 'The page.', is: 'GroupList', headers: ['Link'] },
      codes: ['validation_failed', 'user_not_found'],
      async handler (call) {
        const { collection, request: { params: { id } } } = call
        const page = await groups.ofUser(id, call.query, readCallOf(call))
        return sendPage(call, { ...page, items: page.items.map(toGroup) }, { path: `${collection}/${id}/groups` })
      }
    }
  ]
}

/** Makes what refuses the filter `group` of a list of users to a caller who may not read groups. */
export function groupFilterCheck (securityLog: SecurityLog): (call: OperationCall) => void {
  return ({ request, query }) => {
    if (query['group'] !== undefined) requireScopes(request, callerOf(request), [READ], securityLog)
  }
}
