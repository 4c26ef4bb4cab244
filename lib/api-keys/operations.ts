import type { Operation } from '../openapi/operation.ts'
import { pagingParameters } from '../openapi/paging.ts'
import { keyId } from '../openapi/schemas.ts'
import type { Limits } from '../paging.ts'

const tag = 'api-keys'
const bodied = ['validation_failed', 'malformed_json', 'body_too_large', 'unsupported_media_type'] as const

/** What both ways to end a key have in common. */
const ending = {
  tag,
  query: { force: { type: 'boolean', default: false, description: 'Revoke even the last key that can manage keys.' } },
  success: { status: 204, description: 'The key is revoked.' },
  codes: [...bodied, 'api_key_not_found', 'last_admin_key']
} as const

/** The operations on API keys (contract section 9), for descriptions. */
export function apiKeyOperations (limits: Limits): Record<'list' | 'create' | 'get' | 'rotate' | 'revoke' | 'revokeCurrent', Operation> {
  return {
    list: {
      operationId: 'listApiKeys',
      tag,
      summary: 'List API keys',
      description: 'A page of all keys, the revoked and expired ones too. HEAD works too.',
      query: pagingParameters(limits, keyId),
      success: { status: 200, description: 'The page.', is: 'ApiKeyList', headers: ['Link'] },
      codes: ['validation_failed']
    },
    create: {
      operationId: 'createApiKey',
      tag,
      summary: 'Make an API key',
      description: 'A key can only give what it has.',
      body: { types: ['application/json'], is: 'ApiKeyInput' },
      success: { status: 201, description: 'The record, and the text, which is shown this once.', is: 'NewApiKey', headers: ['Location'] },
      codes: bodied
    },
    get: {
      id: keyId,
      operationId: 'getApiKey',
      tag,
      summary: 'Read an API key’s record',
      description: 'HEAD works too.',
      success: { status: 200, description: 'The record.', is: 'ApiKey' },
      codes: ['validation_failed', 'api_key_not_found']
    },
    rotate: {
      id: keyId,
      operationId: 'rotateApiKey',
      tag,
      summary: 'Rotate an API key',
      description: 'Makes a successor with the same name and scopes; the old key goes on working for the overlap. No body is as good as an empty object.',
      body: { types: ['application/json'], is: 'Rotation' },
      success: { status: 201, description: 'The successor, and its text, which is shown this once.', is: 'NewApiKey', headers: ['Location'] },
      codes: [...bodied, 'api_key_not_found', 'api_key_inactive']
    },
    revoke: {
      ...ending,
      id: keyId,
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'The record stays. The last key that can manage keys is kept.'
    },
    revokeCurrent: {
      ...ending,
      operationId: 'revokeCurrentApiKey',
      summary: 'Revoke the API key of this request',
      description: 'Whatever its scopes: whoever finds a leaked key can end it.',
      counted: 'never'
    }
  }
}
