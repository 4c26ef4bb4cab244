import type { FieldsSchema } from '../fields/schema.ts'
import type { Operation } from '../openapi/operation.ts'
import { pagingParameters } from '../openapi/paging.ts'
import { email, userId } from '../openapi/schemas.ts'
import type { Limits } from '../paging.ts'
import { QUERY_MIN } from './list-query.ts'

const tag = 'users'
const one = { id: userId } as const
const changed = ['validation_failed', 'malformed_json', 'user_not_found', 'email_taken', 'precondition_failed', 'body_too_large', 'unsupported_media_type', 'precondition_required'] as const

/** The operations on users (contract sections 2 to 8), for descriptions. */
export function userOperations (limits: Limits, { filters }: FieldsSchema): Record<'list' | 'create' | 'get' | 'patch' | 'put' | 'remove', Operation> {
  return {
    list: {
      operationId: 'listUsers',
      tag,
      summary: 'List users',
      description: 'A page of users, in the order of their creation, with the exact number of all of them. HEAD works too.',
      query: {
        ...pagingParameters(limits, userId),
        email: { ...email, description: 'Only the user with this address, whatever its case.' },
        q: { type: 'string', minLength: QUERY_MIN, description: 'Only users whose name or address begins with this, whatever its case.' },
        ...Object.fromEntries([...filters].map(([field, type]) => [field, { type, description: `Only users whose \`${field}\` is this.` }]))
      },
      success: { status: 200, description: 'The page.', is: 'UserList', headers: ['Link'] },
      codes: ['validation_failed']
    },
    create: {
      operationId: 'createUser',
      tag,
      summary: 'Create a user',
      reads: ['Idempotency-Key'],
      body: { types: ['application/json'], is: 'UserInput' },
      success: { status: 201, description: 'The new user.', is: 'User', headers: ['ETag', 'Location', 'Idempotency-Replayed'] },
      codes: ['validation_failed', 'malformed_json', 'email_taken', 'idempotency_in_progress', 'body_too_large', 'unsupported_media_type', 'idempotency_key_reused']
    },
    get: {
      ...one,
      operationId: 'getUser',
      tag,
      summary: 'Read a user',
      description: 'HEAD works too.',
      reads: ['If-Match', 'If-None-Match'],
      conditional: true,
      success: { status: 200, description: 'The user.', is: 'User', headers: ['ETag'] },
      codes: ['validation_failed', 'user_not_found', 'precondition_failed']
    },
    patch: {
      ...one,
      operationId: 'updateUser',
      tag,
      summary: 'Update a user',
      description: 'JSON Merge Patch (RFC 7396): the members that are given change, the others stay.',
      reads: ['If-Match', 'If-None-Match'],
      body: { types: ['application/merge-patch+json', 'application/json'], is: 'UserPatch' },
      success: { status: 200, description: 'The user as it is now.', is: 'User', headers: ['ETag'] },
      codes: changed
    },
    put: {
      ...one,
      operationId: 'replaceUser',
      tag,
      summary: 'Replace a user',
      description: 'Replaces name and e-mail address; it never creates.',
      reads: ['If-Match', 'If-None-Match'],
      body: { types: ['application/json'], is: 'UserReplacement' },
      success: { status: 200, description: 'The user as it is now.', is: 'User', headers: ['ETag'] },
      codes: changed
    },
    remove: {
      ...one,
      operationId: 'deleteUser',
      tag,
      summary: 'Delete a user',
      description: 'For good: the id is never used again, the e-mail address is free at once.',
      reads: ['If-Match', 'If-None-Match'],
      success: { status: 204, description: 'The user is gone.' },
      counted: 'deletions',
      codes: ['validation_failed', 'malformed_json', 'user_not_found', 'precondition_failed', 'body_too_large', 'unsupported_media_type', 'precondition_required']
    }
  }
}
