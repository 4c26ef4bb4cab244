import { LRUCache } from 'lru-cache'
import type { ApiKeysService } from '../api-keys/service.ts'
import type { Verifier } from '../api-keys/verifier.ts'
import { validationFailed } from '../core/errors.ts'
import { type ListedPage, type PageSize, pagingParameters, readPage, readPaging } from '../core/paging.ts'
import { parameterFaults } from '../core/parameters.ts'
import { isTenant, TENANT, TENANT_FORM } from '../core/tenant.ts'
import type { EventLogService } from '../events/log.ts'
import { notFound } from '../http/admission/admission.ts'
import type { HandlerFor, Operation } from '../operations/operation.ts'
import { boundStorage } from '../storage/bound-storage.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Storage, TenantRecord } from '../storage/storage.ts'
import type { Presenter } from '../users/presenter.ts'
import type { TenantUsers } from './in-process.ts'
import type { UsersServices } from './users-services.ts'

// The services and handlers of those tenants are kept that were used last.
const KEPT = 1000
// How many records of a tenant go in one step.
const REMOVED_TOGETHER = 500

/** The services of a storage. */
export interface StorageServices extends UsersServices {
  presenter: Presenter
  apiKeys: ApiKeysService
  eventLog: EventLogService | null
  inProcess: TenantUsers
  /** The storage that they are made on, which is bound to the tenant. */
  storage: Storage
  /** The tenant that they are bound to. */
  tenant: string | undefined
}

/** What a mount does for its tenants. They throw UsersError alone. */
export interface Tenants {
  /** The services of a tenant. @throws `validation_failed` for what is no name of a tenant */
  of (tenant: string): StorageServices
  /** Makes the function that finds the handlers of a tenant. */
  handlers (operationsOf: (services: StorageServices) => Operation[]): HandlerFor
  /** @throws `validation_failed`, `storage_unavailable` */
  list (query: Readonly<Record<string, unknown>>): Promise<ListedPage<TenantRecord>>
  /** Deletes a tenant with all that it has, in steps. @throws `validation_failed`, `storage_unavailable` */
  remove (tenant: string): Promise<void>
}

/** @throws TypeError without the option `tenants` */
export function requireTenants (tenants: Tenants | null): Tenants {
  if (tenants !== null) return tenants
  throw new TypeError('fastify-users: tenants need the option tenants')
}

/** Makes what a mount does for its tenants. `servicesOn`: makes the services of a bound storage. */
export function createTenants (
  storage: Storage,
  { clear }: Pick<Verifier, 'clear'>,
  pageSize: PageSize,
  servicesOn: (bound: Storage, tenant: string) => StorageServices
): Tenants {
  const services = new LRUCache<string, StorageServices>({ max: KEPT })
  const declared = pagingParameters(pageSize, TENANT)

  function requireName (tenant: unknown): asserts tenant is string {
    if (isTenant(tenant)) return
    throw validationFailed([{ parameter: 'tenant', code: 'format', detail: TENANT_FORM }])
  }

  function of (tenant: string): StorageServices {
    const known = services.get(tenant)
    if (known !== undefined) return known
    requireName(tenant)
    const made = servicesOn(boundStorage(storage, tenant), tenant)
    services.set(tenant, made)
    return made
  }

  function handlers (operationsOf: (services: StorageServices) => Operation[]): HandlerFor {
    const kept = new LRUCache<string, Map<string, Operation['handler']>>({ max: KEPT })
    function handlersOf (tenant: string): Map<string, Operation['handler']> {
      const known = kept.get(tenant)
      if (known !== undefined) return known
      const made = new Map(operationsOf(of(tenant)).map(({ operationId, handler }) => [operationId, handler]))
      kept.set(tenant, made)
      return made
    }
    return ({ operationId }, tenant) => handlersOf(tenant).get(operationId) ?? (async () => notFound())
  }

  return {
    of,
    handlers,

    async list (query) {
      const faults = parameterFaults(declared, query)
      const paging = readPaging(query, pageSize, faults)
      if (faults.length > 0) throw validationFailed(faults)
      return readPage(paging, (page) => fromStorage(async () =>
        await storage.tenants?.list(page) ?? { items: [], total: 0 }))
    },

    async remove (tenant) {
      requireName(tenant)
      while (await fromStorage(async () => await storage.tenants?.remove(tenant, REMOVED_TOGETHER) ?? 0) > 0) clear()
    }
  }
}
