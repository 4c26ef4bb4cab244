import { LRUCache } from 'lru-cache'
import { validationFailed } from '../core/errors.ts'
import { isTenant } from '../core/tenant.ts'
import { notFound } from '../http/admission/admission.ts'
import type { Operation } from '../operations/operation.ts'
import type { HandlerFor } from '../operations/tenancy.ts'
import { boundStorage } from '../storage/bound-storage.ts'
import type { Storage } from '../storage/storage.ts'
import type { Services, StorageServices } from './services.ts'

// A tenant's services and handlers cost some 50 µs to make, and are kept for those that were used last.
const KEPT = 1000

/** What a mount does for its tenants. */
export interface Tenants {
  /** The services of a tenant. @throws UsersError `validation_failed` for what is no name of a tenant */
  of (tenant: string): StorageServices
  /** Makes the function that finds the handlers of a tenant. */
  handlers (operationsOf: (services: StorageServices) => Operation[]): HandlerFor
}

/** Makes what a mount does for its tenants. */
export function createTenants (storage: Storage, { servicesOn, on }: Pick<Services, 'servicesOn' | 'on'>): Tenants {
  const services = new LRUCache<string, StorageServices>({ max: KEPT })

  function of (tenant: string): StorageServices {
    const known = services.get(tenant)
    if (known !== undefined) return known
    if (!isTenant(tenant)) {
      const detail = 'must be 1 to 64 of a-z, 0-9, _ and -, a letter or digit first'
      throw validationFailed([{ parameter: 'tenant', code: 'format', detail }])
    }
    const made = servicesOn(boundStorage(storage, tenant), on, tenant)
    services.set(tenant, made)
    return made
  }

  return {
    of,
    handlers (operationsOf) {
      const kept = new LRUCache<string, Map<string, Operation['handler']>>({ max: KEPT })
      function handlersOf (tenant: string): Map<string, Operation['handler']> {
        const known = kept.get(tenant)
        if (known !== undefined) return known
        const made = new Map(operationsOf(of(tenant)).map(({ operationId, handler }) => [operationId, handler]))
        kept.set(tenant, made)
        return made
      }
      // Operations of other plugins know no tenants: for one they are not there.
      return ({ operationId, handler, forEveryTenant = false }, tenant) =>
        handlersOf(tenant).get(operationId) ?? (forEveryTenant ? handler : async () => notFound())
    }
  }
}
