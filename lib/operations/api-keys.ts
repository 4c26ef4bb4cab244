import type { FastifyRequest } from 'fastify'
import { delegationOf } from '../api-keys/delegation.ts'
import { keyListParameters } from '../api-keys/key-list.ts'
import { revokeParameters } from '../api-keys/rules.ts'
import { minimalNewKey } from '../api-keys/record.ts'
import type { ApiKeysService, KeptKeys, KeyCall } from '../api-keys/service.ts'
import { UsersError } from '../core/errors.ts'
import type { PageSize } from '../core/paging.ts'
import { parameterFaults } from '../core/parameters.ts'
import { JSON_TYPE } from '../http/body.ts'
import { callerOf, contextOf, hasScope } from '../http/caller.ts'
import { keyId } from '../openapi/component-parts.ts'
import {
  contentFaults, type OwnerOf, readCallOf, requireNoFaults, sendCreated, sendJson, sendPage, sentKeyOf, serviceCallOf
} from './answers.ts'
import type { KeyRateLimit } from '../storage/storage.ts'
import type { Claims } from '../users/claims.ts'
import { idempotencyKeyFaults } from '../users/idempotency.ts'
import type { Operation, OperationCall } from './operation.ts'

export interface ApiKeyOperationsOptions {
  pageSize: PageSize
  /** The scopes of each static key of a tenant, or of those that belong to none. */
  staticScopesOf: (tenant: string | undefined) => KeptKeys['staticScopes']
  /** The limit of requests of keys without one of their own. */
  usualLimit: KeyRateLimit | undefined
  /** Whose `Idempotency-Key` a caller sends. */
  ownerOf: OwnerOf
  claims: Claims
}

const tag = 'api-keys'
const bodyCodes = ['validation_failed', 'malformed_json', 'body_too_large', 'unsupported_media_type'] as const

const repetitionCodes = ['api_key_exists', 'idempotency_in_progress', 'idempotency_key_reused'] as const

/** What both revocations have in common. */
const revocation = {
  tag,
  method: 'DELETE',
  query: revokeParameters,
  success: { status: 204, description: 'The key is revoked, and with `successors` also the keys rotated from it.' },
  codes: [...bodyCodes, 'api_key_not_found', 'last_admin_key']
} as const

/** The id of the key of a request. */
function ownIdOf (request: FastifyRequest): string {
  const { record } = callerOf(request)
  if (record !== null) return record.id
  throw new UsersError('api_key_not_found', { detail: 'The key of this request is not stored here.' })
}

/** The operation that reads how often a key was used, where that is counted. */
function usesOperations ({ uses }: ApiKeysService): Operation[] {
  if (uses === null) return []
  return [{
    tag,
    method: 'GET',
    path: '/api-keys/:id/uses',
    id: keyId,
    scope: 'keys:read',
    operationId: 'listApiKeyUses',
    summary: 'Read how often an API key was used',
    description: 'The days on which it was used, in UTC, oldest first. The uses of the last minute may be missing. ' +
      'HEAD works too.',
    success: { status: 200, description: 'The days.', is: 'ApiKeyUses' },
    codes: ['validation_failed', 'api_key_not_found'],
    async handler ({ request, reply, faults, tenant }) {
      requireNoFaults(faults)
      return sendJson(reply, { data: await uses(request.params.id, tenant) })
    }
  }]
}

/** The operations on API keys. A caller can give no more than it has. */
export function apiKeyOperations (
  apiKeys: ApiKeysService,
  { pageSize, staticScopesOf, usualLimit, ownerOf, claims }: ApiKeyOperationsOptions
): Operation[] {
  const given = (request: FastifyRequest) => delegationOf(callerOf(request), usualLimit)
  function keyCallOf (call: OperationCall): KeyCall {
    const { request, faults, tenant } = call
    const sent = sentKeyOf(request, ownerOf)
    return {
      ...serviceCallOf(call),
      priorFaults: [...faults, ...idempotencyKeyFaults(sent?.key)],
      delegation: given(request),
      claim: claims(sent, tenant)
    }
  }

  /** Revokes the key of the request where `id` is null: any holder can end its own key. */
  const revoke = (idOf: (call: OperationCall) => string | null): Operation['handler'] => async (call) => {
    const { request, reply, query, faults, tenant } = call
    requireNoFaults([...faults, ...parameterFaults(revokeParameters, query), ...contentFaults(request)])
    const id = idOf(call)
    await apiKeys.revoke(id ?? ownIdOf(request), { successors: query['successors'] === true }, {
      context: contextOf(request),
      tenant,
      delegation: id === null ? null : given(request),
      keepOne: query['force'] === true ? null : { staticScopes: staticScopesOf(tenant) }
    })
    return reply.code(204).send()
  }

  return [
    {
      tag,
      method: 'GET',
      path: '/api-keys',
      scope: 'keys:read',
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description: 'A page of the keys that match, including revoked and expired ones. HEAD works too.',
      query: keyListParameters(pageSize),
      success: { status: 200, description: 'The page.', is: 'ApiKeyList', headers: ['Link'] },
      codes: ['validation_failed'],
      handler: async (call) => sendPage(call, await apiKeys.list(call.query, readCallOf(call)))
    },
    {
      tag,
      method: 'POST',
      path: '/api-keys',
      scope: 'keys:write',
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description: 'A key can grant only what it has. A retry with the same `Idempotency-Key` creates no second key.',
      reads: ['Idempotency-Key'],
      body: { types: [JSON_TYPE], is: 'ApiKeyInput' },
      success: {
        status: 201,
        description: 'The record and the key, which is shown only in this answer.',
        is: 'NewApiKey',
        headers: ['Location']
      },
      codes: [...bodyCodes, ...repetitionCodes],
      async handler (call) {
        const made = await apiKeys.create(call.request.body, keyCallOf(call))
        return sendCreated(call, made.id, made)
      }
    },
    {
      ...revocation,
      path: '/api-keys/current',
      scope: null,
      operationId: 'revokeCurrentApiKey',
      summary: 'Revoke the API key of this request',
      description: 'Needs no scope, so that anyone who finds a leaked key can revoke it.',
      counted: 'never',
      endsOwnKey: true,
      // Whoever holds a leaked key can end it, however busy that key keeps the service.
      limitsItself: true,
      handler: revoke(() => null)
    },
    ...usesOperations(apiKeys),
    {
      tag,
      method: 'GET',
      path: '/api-keys/:id',
      id: keyId,
      scope: 'keys:read',
      operationId: 'getApiKey',
      summary: 'Read an API key’s record',
      description: 'HEAD works too.',
      success: { status: 200, description: 'The record.', is: 'ApiKey' },
      codes: ['validation_failed', 'api_key_not_found'],
      async handler ({ request, reply, faults, tenant }) {
        requireNoFaults(faults)
        return sendJson(reply, await apiKeys.get(request.params.id, tenant))
      }
    },
    {
      ...revocation,
      path: '/api-keys/:id',
      id: keyId,
      scope: 'keys:write',
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'The record is kept. Revoking the last key that can manage keys needs `force`.',
      handler: revoke(({ request }) => request.params.id)
    },
    {
      tag,
      method: 'POST',
      path: '/api-keys/:id/rotate',
      id: keyId,
      scope: 'keys:write',
      operationId: 'rotateApiKey',
      summary: 'Rotate an API key',
      description: 'Creates a successor with the same name, scopes and bounds; the old key keeps working for the ' +
        'overlap. The successor has the lifetime of the old key, unless the body says otherwise. A missing body is ' +
        'the same as an empty object. A retry with the same `Idempotency-Key` creates no second key.',
      reads: ['Idempotency-Key'],
      body: { types: [JSON_TYPE], is: 'Rotation' },
      success: {
        status: 201,
        description: 'The successor’s record and key, which is shown only in this answer.',
        is: 'RotatedApiKey',
        headers: ['Location']
      },
      codes: [...bodyCodes, 'api_key_not_found', 'api_key_inactive', ...repetitionCodes],
      async handler (call) {
        const { request } = call
        const made = await apiKeys.rotate(request.params.id, request.body, keyCallOf(call))
        return sendCreated(call, made.id, hasScope(request, 'keys:read') ? made : minimalNewKey(made))
      }
    }
  ]
}
