import { revokeParameters } from '../api-keys/parameters.ts'
import { API_KEY_ID } from '../core/ids.ts'
import { type PageSize, pagingParameters } from '../core/paging.ts'
import { keyId } from './component-parts.ts'
import type { Operation } from './operation.ts'

const tag = 'api-keys'
const bodyCodes = ['validation_failed', 'malformed_json', 'body_too_large', 'unsupported_media_type'] as const

/** What both revocations have in common. */
const revocation = {
  tag,
  query: revokeParameters,
  success: { status: 204, description: 'The key is revoked, and with `successors` those that came from it.' },
  codes: [...bodyCodes, 'api_key_not_found', 'last_admin_key']
} as const

type Name = 'list' | 'create' | 'get' | 'rotate' | 'revoke' | 'revokeCurrent'

/** The operations on API keys, for descriptions. */
export function apiKeyOperations (pageSize: PageSize): Record<Name, Operation> {
  return {
    list: {
      tag,
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description: 'A page of all keys, including revoked and expired ones. HEAD works too.',
      query: pagingParameters(pageSize, API_KEY_ID),
      success: { status: 200, description: 'The page.', is: 'ApiKeyList', headers: ['Link'] },
      codes: ['validation_failed']
    },
    create: {
      tag,
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description: 'A key can only give what it has.',
      body: { types: ['application/json'], is: 'ApiKeyInput' },
      success: {
        status: 201,
        description: 'The record and the text, which is shown only in this answer.',
        is: 'NewApiKey',
        headers: ['Location']
      },
      codes: bodyCodes
    },
    get: {
      tag,
      id: keyId,
      operationId: 'getApiKey',
      summary: 'Read an API key’s record',
      description: 'HEAD works too.',
      success: { status: 200, description: 'The record.', is: 'ApiKey' },
      codes: ['validation_failed', 'api_key_not_found']
    },
    rotate: {
      tag,
      id: keyId,
      operationId: 'rotateApiKey',
      summary: 'Rotate an API key',
      description: 'Creates a successor with the same name and scopes; the old key keeps working for the overlap. ' +
        'No body is the same as an empty object.',
      body: { types: ['application/json'], is: 'Rotation' },
      success: {
        status: 201,
        description: 'The successor and its text, which is shown only in this answer.',
        is: 'RotatedApiKey',
        headers: ['Location']
      },
      codes: [...bodyCodes, 'api_key_not_found', 'api_key_inactive']
    },
    revoke: {
      ...revocation,
      id: keyId,
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'The record stays. The last key that can manage keys is protected.'
    },
    revokeCurrent: {
      ...revocation,
      operationId: 'revokeCurrentApiKey',
      summary: 'Revoke the API key of this request',
      description: 'Works with any scopes: whoever finds a leaked key can end it.',
      counted: 'never'
    }
  }
}
