import type { Verifier } from '../api-keys/verifier.ts'
import { UsersError, validationFailed } from '../core/errors.ts'
import { type Page, type PageRequest, type PageSize, pagingParameters, readPage, readPaging } from '../core/paging.ts'
import { parameterFaults } from '../core/parameters.ts'
import { isTenant, TENANT, TENANT_FORM } from '../core/tenant.ts'
import type { Tenant, TenantsService } from '../operations/tenants.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Repository } from '../storage/repository.ts'
import type { TenantRecord } from '../storage/storage.ts'
import type { TenantAssignment } from '../storage/tenant-assignment.ts'
import { tenantRemains } from '../storage/tenant-remains.ts'
import { type AssignOptions, createTenantAssignments } from './tenant-assignment.ts'
import { createTenantRemovals } from './tenant-removal.ts'

/** What a mount does for its tenants. They throw UsersError alone. */
export interface Tenants extends TenantsService {
  /** @throws `validation_failed` for what is no name of a tenant */
  requireName (tenant: unknown): asserts tenant is string
  /** Deletes a tenant with all that it has, in steps. @throws `validation_failed`, `storage_unavailable` */
  remove (tenant: string): Promise<void>
  /** Gives the users without a tenant to one, in steps. @throws `validation_failed`, `storage_unavailable` */
  assign (tenant: string, options?: AssignOptions): Promise<TenantAssignment>
  /** Ends deletions and assignments behind the steps that have begun. */
  close (): Promise<void>
}

/** @throws TypeError without the option `tenants` */
export function requireTenants (tenants: Tenants | null): Tenants {
  if (tenants !== null) return tenants
  throw new TypeError('fastify-users: tenants need the option tenants')
}

/** Makes what a mount does for its tenants. */
export function createTenants (
  repository: Repository,
  { clear }: Pick<Verifier, 'clear'>,
  pageSize: PageSize,
  keyCacheMs: number
): Tenants {
  const declared = pagingParameters(pageSize, TENANT)
  const removals = createTenantRemovals(repository, { clear, keyCacheMs })
  const assignments = createTenantAssignments(repository)

  function requireName (tenant: unknown): asserts tenant is string {
    if (isTenant(tenant)) return
    throw validationFailed([{ parameter: 'tenant', code: 'format', detail: TENANT_FORM }])
  }

  const remainsOf = (tenant: string) => fromStorage(() => tenantRemains(repository, tenant))

  async function get (tenant: string): Promise<Tenant> {
    const isRunning = removals.isRunning(tenant)
    const remains = isTenant(tenant) ? await remainsOf(tenant) : null
    if (remains === null && !isRunning) throw new UsersError('tenant_not_found')
    return { id: tenant, users: remains?.users ?? 0, ...(isRunning && { status: 'deleting' }) }
  }

  /** A page of the list of one tenant. */
  async function readOnly (only: string, { order, limit, from }: PageRequest): Promise<Page<TenantRecord>> {
    const remains = await remainsOf(only)
    const listed = remains?.isListed === true ? [{ id: only, users: remains.users }] : []
    const items = 'offset' in from
      ? listed.slice(from.offset, from.offset + limit)
      : listed.filter(({ id }) => order === 'asc' ? id > from.after : id < from.after)
    return { items, total: listed.length }
  }

  return {
    requireName,
    get,

    async list (query, { priorFaults = [], tenant: only } = {}) {
      const faults = [...priorFaults, ...parameterFaults(declared, query)]
      const paging = readPaging(query, pageSize, faults)
      if (faults.length > 0) throw validationFailed(faults)
      return readPage(paging, (page) => only !== undefined
        ? readOnly(only, page)
        : fromStorage(() => repository.tenants.list(page)))
    },

    async remove (tenant) {
      requireName(tenant)
      await removals.remove(tenant)
    },

    async startRemoval (tenant, onFailure) {
      await get(tenant)
      removals.remove(tenant).catch(onFailure)
    },

    async assign (tenant, options) {
      requireName(tenant)
      return assignments.assign(tenant, options)
    },

    async close () {
      await Promise.all([removals.close(), assignments.close()])
    }
  }
}
