import type { PageSize } from '../core/paging.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { userListParameters } from '../users/list-query.ts'
import { eraseParameter } from '../users/parameters.ts'
import { userId } from './component-parts.ts'
import type { Operation } from './operation.ts'

const tag = 'users'
const one = { tag, id: userId, reads: ['If-Match', 'If-None-Match'] } as const

const created = [
  'validation_failed', 'malformed_json', 'email_taken', 'field_taken', 'idempotency_in_progress', 'body_too_large',
  'unsupported_media_type', 'idempotency_key_reused'
] as const
const changed = [
  'validation_failed', 'malformed_json', 'user_not_found', 'email_taken', 'field_taken', 'precondition_failed',
  'body_too_large', 'unsupported_media_type', 'precondition_required'
] as const
const deleted = [
  'validation_failed', 'malformed_json', 'user_not_found', 'precondition_failed', 'body_too_large',
  'unsupported_media_type', 'precondition_required'
] as const

type Name = 'list' | 'create' | 'get' | 'patch' | 'put' | 'remove'

/** The operations on users, for descriptions. */
export function userOperations (
  pageSize: PageSize,
  { filters }: FieldsSchema,
  erases: boolean
): Record<Name, Operation> {
  return {
    list: {
      tag,
      operationId: 'listUsers',
      summary: 'List users',
      description: 'A page of users in the order of their creation, with their exact number. HEAD works too.',
      query: userListParameters(pageSize, filters),
      success: { status: 200, description: 'The page.', is: 'UserList', headers: ['Link'] },
      codes: ['validation_failed']
    },
    create: {
      tag,
      operationId: 'createUser',
      summary: 'Create a user',
      reads: ['Idempotency-Key'],
      body: { types: ['application/json'], is: 'UserInput' },
      success: {
        status: 201,
        description: 'The new user.',
        is: 'WrittenUser',
        headers: ['ETag', 'Location', 'Idempotency-Replayed']
      },
      codes: created
    },
    get: {
      ...one,
      operationId: 'getUser',
      summary: 'Read a user',
      description: 'HEAD works too.',
      conditional: true,
      success: { status: 200, description: 'The user.', is: 'User', headers: ['ETag'] },
      codes: ['validation_failed', 'user_not_found', 'precondition_failed']
    },
    patch: {
      ...one,
      operationId: 'updateUser',
      summary: 'Update a user',
      description: 'JSON Merge Patch (RFC 7396): given members change, the others stay.',
      body: { types: ['application/merge-patch+json', 'application/json'], is: 'UserPatch' },
      success: { status: 200, description: 'The user after the change.', is: 'WrittenUser', headers: ['ETag'] },
      codes: changed
    },
    put: {
      ...one,
      operationId: 'replaceUser',
      summary: 'Replace a user',
      description: 'Replaces name, e-mail address and all own fields; it never creates.',
      body: { types: ['application/json'], is: 'UserReplacement' },
      success: { status: 200, description: 'The user after the change.', is: 'WrittenUser', headers: ['ETag'] },
      codes: changed
    },
    remove: {
      ...one,
      operationId: 'deleteUser',
      summary: 'Delete a user',
      description: 'For good: no other user gets the id, and the e-mail address is free immediately.',
      ...(erases && { query: { erase: eraseParameter } }),
      success: { status: 204, description: 'The user is deleted.' },
      counted: 'deletions',
      codes: deleted
    }
  }
}
