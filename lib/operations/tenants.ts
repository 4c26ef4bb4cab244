import { UsersError } from '../core/errors.ts'
import type { ReadCall } from '../core/context.ts'
import { type ListedPage, type PageSize, pagingParameters } from '../core/paging.ts'
import { TENANT } from '../core/tenant.ts'
import { shareOf } from '../http/caller.ts'
import type { ConcurrencyLimit } from '../http/limits/concurrency-limit.ts'
import { tenantId } from '../openapi/component-parts.ts'
import type { TenantRecord } from '../storage/storage.ts'
import { readCallOf, requireBare, requireNoFaults, sendJson, sendPage } from './answers.ts'
import type { Operation, OperationCall } from './operation.ts'

/** A tenant, or what is left of it. */
export interface Tenant extends TenantRecord {
  /** There while this process deletes it. */
  status?: 'deleting'
}

/** What the operations on tenants do. They throw UsersError alone. */
export interface TenantsService {
  /** Of a caller that is bound to a tenant no other is listed. @throws `validation_failed`, `storage_unavailable` */
  list (
    query: Readonly<Record<string, unknown>>, call?: ReadCall
  ): Promise<ListedPage<TenantRecord>>
  /** @throws `tenant_not_found`, `storage_unavailable` */
  get (tenant: string): Promise<Tenant>
  /**
   * Begins to delete a tenant in the background, or has a deletion go on. `onFailure` gets why one has ended early.
   * @throws `tenant_not_found`, `storage_unavailable`
   */
  startRemoval (tenant: string, onFailure: (error: unknown) => void): Promise<void>
}

const tag = 'tenants'

/** The operations on tenants, which are the platform's. `limitLists` gives lists places of their own. */
export function tenantOperations (
  tenants: TenantsService, pageSize: PageSize, limitLists: ConcurrencyLimit
): Operation[] {
  function idOf ({ request: { params: { id } }, tenant: only }: OperationCall): string {
    if (only !== undefined && id !== only) throw new UsersError('tenant_not_found')
    return id
  }

  return [
    {
      tag,
      method: 'GET',
      path: '/tenants',
      scope: 'tenants:read',
      operationId: 'listTenants',
      platformOnly: true,
      summary: 'List tenants',
      description: 'A page of the tenants that have a user or a key, by name, each with its exact number of users. ' +
        'HEAD works too.',
      query: pagingParameters(pageSize, TENANT),
      success: { status: 200, description: 'The page.', is: 'TenantList', headers: ['Link'] },
      codes: ['validation_failed'],
      limitsItself: true,
      async handler (call) {
        const list = () => tenants.list(call.query, readCallOf(call))
        return sendPage(call, await limitLists(list, shareOf(call.request)))
      }
    },
    {
      tag,
      method: 'GET',
      path: '/tenants/:id',
      id: tenantId,
      scope: 'tenants:read',
      operationId: 'getTenant',
      platformOnly: true,
      summary: 'Read a tenant, or what is left of it',
      description: 'Answers 404 once nothing of the tenant is left, not even values in events. HEAD works too.',
      success: { status: 200, description: 'The tenant.', is: 'Tenant' },
      codes: ['validation_failed', 'tenant_not_found'],
      async handler (call) {
        requireNoFaults(call.faults)
        return sendJson(call.reply, await tenants.get(idOf(call)))
      }
    },
    {
      tag,
      method: 'DELETE',
      path: '/tenants/:id',
      id: tenantId,
      scope: 'tenants:delete',
      operationId: 'deleteTenant',
      platformOnly: true,
      summary: 'Delete a tenant and everything it has',
      description: 'Permanent: API keys, users, webhooks, and the values in its events. It runs in the background, ' +
        'and `Location` shows what is left. If the server stops before the end, send the request again.',
      success: {
        status: 202,
        description: 'The deletion has started, or is still running.',
        is: 'TenantDeletion',
        headers: ['Location']
      },
      counted: 'deletions',
      codes: [
        'validation_failed', 'malformed_json', 'tenant_not_found', 'body_too_large', 'unsupported_media_type'
      ],
      async handler (call) {
        requireBare(call)
        const { request: { log }, reply, collection } = call
        const id = idOf(call)
        await tenants.startRemoval(id, (err) => {
          log.warn({ tenant: id, err }, 'a tenant was not deleted completely: delete it again')
        })
        log.info({ tenant: id }, 'a tenant is being deleted')
        return sendJson(reply.header('location', `${collection}/${id}`), { id, status: 'deleting' }, 202)
      }
    }
  ]
}
