import { UsersError } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { isTenant, TENANT_FORM, tenantRequired } from '../core/tenant.ts'

/**
 * Which tenants the rows of an import name. `none`: users have no such member. `required`: each row names its own.
 * `optional`: a row that names none makes a user of no tenant. `only`: the import is that tenant's, and a row may say
 * so too.
 */
export type RowTenants = 'none' | 'optional' | 'required' | { only: string }

/** The fault of a row's member `tenant`; null: it is right. */
export function rowTenantFault (tenant: unknown, tenants: RowTenants): Fault | null {
  const pointer = '/tenant'
  if (tenant === undefined || tenant === null) return tenants === 'required' ? tenantRequired({ pointer }) : null
  return isTenant(tenant) ? null : { pointer, code: 'format', detail: TENANT_FORM }
}

/** The tenant of a row; undefined: it has none. Or why it must not name that tenant. */
export function rowTenant (tenant: unknown, tenants: RowTenants): string | undefined | UsersError {
  const named = isTenant(tenant) ? tenant : undefined
  if (typeof tenants === 'string') return named
  if (named === undefined || named === tenants.only) return tenants.only
  return new UsersError('tenant_forbidden', { detail: 'The row and the import name different tenants.' })
}
