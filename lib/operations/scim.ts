import type { FastifyReply } from 'fastify'
import type { Scope } from '../api-keys/scopes.ts'
import { validationFailed } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { Parameters } from '../core/parameters.ts'
import type { Admission } from '../http/admission/admission.ts'
import { requireScopes } from '../http/admission/authentication.ts'
import { callerOf, contextOf } from '../http/caller.ts'
import { isNotModified, preconditions } from '../http/responses/conditional.ts'
import { groupId, userId } from '../openapi/component-parts.ts'
import { PAYLOAD_MAX } from '../scim/discovery.ts'
import { scimError } from '../scim/errors.ts'
import type { ScimServer } from '../scim/server.ts'
import type { Call } from '../core/context.ts'
import type { WriteOptions } from '../users/write-options.ts'
import type { Operation, OperationCall } from './operation.ts'
import { baseOf, body, discoveryOperations, media, parametersIn, queryOf, send } from './scim-discovery.ts'

const text = (description: string): Parameters[string] => ({
  schema: { type: 'string', description }, readAs: 'string', problem: () => null
})
const SELECTION: Parameters = {
  attributes: text('Only these attributes, separated by commas.'),
  excludedAttributes: text('All attributes but these.')
}
const LIST: Parameters = {
  filter: text('A filter (RFC 7644 section 3.4.2.2), as far as an index serves it.'),
  startIndex: text('The first result, from 1.'),
  count: text('At most so many results.'),
  cursor: text('A cursor (RFC 9865); empty for the first page.'),
  sortBy: text('An attribute.'),
  sortOrder: text('`ascending` or `descending`.'),
  ...SELECTION
}

const bodyCodes = ['validation_failed', 'malformed_json', 'body_too_large', 'unsupported_media_type'] as const
function callOf ({ request, tenant }: OperationCall): Call {
  return { context: contextOf(request), priorFaults: [], tenant }
}

/** The parameters of a search (RFC 7644 section 3.4.3). */
function searchOf ({ request: { body } }: OperationCall): Record<string, unknown> {
  if (isObject(body)) return parametersIn(Object.entries(body))
  throw scimError('invalidSyntax', 'The body must be an object.')
}

function conditionsOf ({ request }: OperationCall): WriteOptions {
  const faults: Fault[] = []
  const conditions = preconditions(request, faults)
  if (faults.length > 0) throw validationFailed(faults)
  return conditions
}

export interface ScimOperationsOptions {
  server: ScimServer
  hasGroups: boolean
  /** True if discovery needs no key. */
  openDiscovery: boolean
  admission: Pick<Admission, 'securityLog' | 'rateLimits'>
}

/** The operations of SCIM (RFC 7644). */
export function scimOperations ({ server, hasGroups, openDiscovery, admission }: ScimOperationsOptions): Operation[] {
  const { securityLog, rateLimits } = admission
  const tag = 'scim' as const
  const common = { tag, keepsTenant: true } as const

  function sendResource (
    call: OperationCall, { value, version, location }: { value: JsonObject, version: number, location: string },
    status: 200 | 201 = 200
  ): FastifyReply {
    call.reply.header('etag', `"${version}"`)
    if (status === 201) call.reply.header('location', location)
    return send(call.reply, value, status)
  }

  function operationsOn (type: 'User' | 'Group', scope: Scope): Operation[] {
    const path = `/${type}s`
    const own = server.of(type)
    const id = type === 'User' ? userId : groupId
    const missing = type === 'User' ? 'user_not_found' : 'group_not_found'
    const taken = type === 'User' ? ['email_taken', 'field_taken'] as const : ['name_taken'] as const
    const one = { ...common, path: `${path}/:id`, id, scope, reads: ['If-Match', 'If-None-Match'] } as const
    const write = {
      ...one,
      query: SELECTION,
      body,
      bodyLimit: PAYLOAD_MAX,
      success: { status: 200, description: 'The resource after the change.', media, headers: ['ETag'] },
      codes: [...bodyCodes, missing, ...taken, 'precondition_failed', 'precondition_required']
    } as const
    const idIn = ({ request: { params } }: OperationCall): string => params.id
    return [
      {
        ...common,
        method: 'GET',
        path,
        scope,
        operationId: `scimList${type}s`,
        summary: `List ${type.toLowerCase()}s`,
        query: LIST,
        success: { status: 200, description: 'The page.', media },
        codes: ['validation_failed'],
        handler: async (call) => send(call.reply, await own.list(queryOf(call), baseOf(call), callOf(call)))
      },
      {
        ...common,
        method: 'POST',
        path: `${path}/.search`,
        scope,
        operationId: `scimSearch${type}s`,
        summary: `Search ${type.toLowerCase()}s`,
        body,
        success: { status: 200, description: 'The page.', media },
        codes: bodyCodes,
        handler: async (call) => send(call.reply, await own.list(searchOf(call), baseOf(call), callOf(call)))
      },
      {
        ...common,
        method: 'POST',
        path,
        scope,
        operationId: `scimCreate${type}`,
        summary: `Create a ${type.toLowerCase()}`,
        query: SELECTION,
        body,
        bodyLimit: PAYLOAD_MAX,
        success: { status: 201, description: 'The resource.', media, headers: ['ETag', 'Location'] },
        codes: [...bodyCodes, ...taken],
        handler: async (call) =>
          sendResource(call, await own.create(call.request.body, queryOf(call), baseOf(call), callOf(call)), 201)
      },
      {
        ...one,
        method: 'GET',
        operationId: `scimGet${type}`,
        summary: `Read a ${type.toLowerCase()}`,
        conditional: true,
        query: SELECTION,
        success: { status: 200, description: 'The resource.', media, headers: ['ETag'] },
        codes: ['validation_failed', missing, 'precondition_failed'],
        async handler (call) {
          const conditions = conditionsOf(call)
          const found = await own.get(idIn(call), queryOf(call), baseOf(call), callOf(call))
          if (isNotModified(conditions, found.version, call.reply)) return call.reply.code(304).send()
          return sendResource(call, found)
        }
      },
      {
        ...write,
        method: 'PUT',
        operationId: `scimReplace${type}`,
        summary: `Replace a ${type.toLowerCase()}`,
        handler: async (call) => sendResource(call, await own.replace(
          idIn(call), call.request.body, queryOf(call), conditionsOf(call), baseOf(call), callOf(call)))
      },
      {
        ...write,
        method: 'PATCH',
        success: { ...write.success, orEmpty: type === 'Group' },
        operationId: `scimPatch${type}`,
        summary: `Change a ${type.toLowerCase()}`,
        description: 'RFC 7644 section 3.5.2. Groups answer 204, unless attributes are asked for.',
        async handler (call) {
          const asked = queryOf(call)
          const made = await own.patch(
            idIn(call), call.request.body, asked, conditionsOf(call), baseOf(call), callOf(call))
          if (made.value !== null) return sendResource(call, { ...made, value: made.value })
          return call.reply.header('etag', `"${made.version}"`).code(204).send()
        }
      },
      {
        ...one,
        method: 'DELETE',
        operationId: `scimDelete${type}`,
        summary: `Delete a ${type.toLowerCase()}`,
        ...type === 'User' && { counted: 'deletions' as const },
        success: { status: 204, description: 'It is deleted.' },
        codes: ['validation_failed', missing, 'precondition_failed', 'precondition_required'],
        async handler (call) {
          await own.remove(idIn(call), conditionsOf(call), callOf(call))
          return call.reply.code(204).send()
        }
      }
    ]
  }

  return [
    ...operationsOn('User', 'scim:users'),
    ...hasGroups ? operationsOn('Group', 'scim:groups') : [],
    {
      ...common,
      method: 'POST',
      path: '/.search',
      scope: 'scim:users',
      operationId: 'scimSearch',
      summary: 'Search users and groups',
      ...hasGroups && { description: 'Needs the scope `scim:groups` too.' },
      body,
      success: { status: 200, description: 'The page.', media },
      codes: bodyCodes,
      async handler (call) {
        if (hasGroups) requireScopes(call.request, callerOf(call.request), ['scim:groups'], securityLog)
        return send(call.reply, await server.search(searchOf(call), baseOf(call), callOf(call)))
      }
    },
    {
      ...common,
      method: 'POST',
      path: '/Bulk',
      scope: null,
      operationId: 'scimBulk',
      summary: 'Make several operations',
      counted: 'deletions',
      description: 'RFC 7644 section 3.7. Each needs the scope of its resource.',
      body,
      bodyLimit: PAYLOAD_MAX,
      success: { status: 200, description: 'The result of each operation.', media },
      codes: bodyCodes,
      async handler (call) {
        const { request, reply } = call
        const admit = async (scope: Scope, isDeletion: boolean): Promise<void> => {
          requireScopes(request, callerOf(request), [scope], securityLog)
          if (isDeletion) await rateLimits?.countDeletion(request)
        }
        return send(reply, await server.bulk(request.body, admit, baseOf(call), callOf(call)))
      }
    },
    ...discoveryOperations({ mapping: server.mapping, listed: server.listed, hasGroups, isOpen: openDiscovery })
  ]
}
