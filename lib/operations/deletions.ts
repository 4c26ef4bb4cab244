import type { Caller } from '../api-keys/authenticator.ts'
import type { KeyOwner } from '../api-keys/key-owner.ts'
import type { PageSize } from '../core/paging.ts'
import { parameterFaults, type Parameters } from '../core/parameters.ts'
import { callerOf, hasScope } from '../http/caller.ts'
import { header } from '../http/header-fields.ts'
import { preconditions } from '../http/responses/conditional.ts'
import { userId } from '../openapi/component-parts.ts'
import { trashParameters } from '../users/deletions.ts'
import { eraseParameter, purgeParameter } from '../users/list-query.ts'
import type { Presenter } from '../users/presenter.ts'
import type { UsersService } from '../users/service.ts'
import { contentFaults, sendPage, type SendUser, readCallOf, serviceCallOf } from './answers.ts'
import type { Operation } from './operation.ts'

export interface DeletionOperationsOptions {
  pageSize: PageSize
  /** True if a deletion can take the values of the user out of the event log. */
  erases: boolean
  /** True if deleted users can be restored. */
  restores: boolean
  /** Whose `Idempotency-Key` a caller sends. */
  ownerOf: (caller: Caller) => Promise<KeyOwner>
}

const one = { tag: 'users', id: userId, scope: 'users:delete', reads: ['If-Match', 'If-None-Match'] } as const

/** The operations that delete users, and with the option `trash` those that list and restore them. */
export function deletionOperations (
  users: UsersService,
  { deletedListJson }: Presenter,
  sendWritten: SendUser,
  { pageSize, erases, restores, ownerOf }: DeletionOperationsOptions
): Operation[] {
  const parameters: Parameters = {
    ...(erases && { erase: eraseParameter }),
    ...(restores && { purge: purgeParameter })
  }
  const final = 'Permanent: the id is never reused, and the e-mail address is free immediately.'
  const putAway = 'Until purged, the user can be restored. Other lists omit the user, and address and unique values ' +
    'are free immediately.'

  const deletion: Operation = {
    ...one,
    method: 'DELETE',
    path: '/users/:id',
    operationId: 'deleteUser',
    summary: 'Delete a user',
    description: restores ? putAway : final,
    ...((erases || restores) && { query: parameters }),
    success: { status: 204, description: 'The user is deleted.' },
    counted: 'deletions',
    codes: [
      'validation_failed', 'malformed_json', 'user_not_found', 'precondition_failed', 'body_too_large',
      'unsupported_media_type', 'precondition_required'
    ],
    async handler (call) {
      const { request, reply, query, faults } = call
      const priorFaults = [...faults, ...parameterFaults(parameters, query)]
      const options = {
        ...preconditions(request, priorFaults),
        ...(query['erase'] === true && { erase: true }),
        ...(query['purge'] === true && { purge: true })
      }
      priorFaults.push(...contentFaults(request))
      await users.remove(request.params.id, options, { ...serviceCallOf(call), priorFaults })
      return reply.code(204).send()
    }
  }
  if (!restores) return [deletion]

  return [deletion, {
    tag: 'users',
    method: 'GET',
    path: '/users/deleted',
    scope: 'users:delete',
    operationId: 'listDeletedUsers',
    summary: 'List deleted users',
    description: 'A page of the users that can be restored, most recently deleted first, with the exact total. HEAD ' +
      'works too.',
    query: trashParameters(pageSize),
    success: { status: 200, description: 'The page.', is: 'DeletedUserList', headers: ['Link'] },
    codes: ['validation_failed'],
    async handler (call) {
      const page = await users.listDeleted(call.query, readCallOf(call))
      const items = page.items.map(({ user: { id } }) => ({ id }))
      // A scope includes no other: to delete must not be a way to read.
      const text = deletedListJson(page, !hasScope(call.request, 'users:read'))
      return sendPage(call, { ...page, items }, { path: `${call.collection}/deleted`, text })
    }
  }, {
    ...one,
    method: 'POST',
    path: '/users/:id/restore',
    reads: [...one.reads, 'Idempotency-Key'],
    operationId: 'restoreUser',
    summary: 'Restore a deleted user',
    description: 'Restores the user with the same id, values and history.',
    success: {
      status: 200, description: 'The user.', is: 'WrittenUser', headers: ['ETag', 'Idempotency-Replayed']
    },
    codes: [
      'validation_failed', 'malformed_json', 'user_not_found', 'email_taken', 'field_taken', 'precondition_failed',
      'idempotency_in_progress', 'body_too_large', 'unsupported_media_type', 'idempotency_key_reused'
    ],
    async handler (call) {
      const { request, reply, faults: priorFaults } = call
      const idempotencyKey = header(request, 'idempotency-key')
      const conditions = preconditions(request, priorFaults)
      const options = { ...conditions, ...(idempotencyKey !== undefined && { idempotencyKey }) }
      priorFaults.push(...contentFaults(request))
      const { user, replayed } = await users.restore(request.params.id, options, {
        ...serviceCallOf(call), ownerOf: () => ownerOf(callerOf(request))
      })
      if (replayed) reply.header('idempotency-replayed', 'true')
      return sendWritten(call, user)
    }
  }]
}
