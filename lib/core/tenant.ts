import type { Fault } from './fault.ts'
import { isObject } from './json.ts'

/** The name of a tenant: 1 to 64 of `a-z`, `0-9`, `_` and `-`, a letter or digit first. */
export const TENANT = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** What is wrong with another one. */
export const TENANT_FORM = 'must be 1 to 64 characters of a-z, 0-9, _ and -, beginning with a letter or digit'

export function isTenant (value: unknown): value is string {
  return typeof value === 'string' && TENANT.test(value)
}

/**
 * Takes the member `tenant` out of what a creation in process is given, and says what is wrong with the tenant: the
 * call names it. Over HTTP the body has lost the member before.
 */
export function splitTenant (input: unknown, tenants: boolean, tenant: string | undefined): {
  body: unknown, faults: Fault[]
} {
  const pointer = '/tenant'
  if (!tenants) return { body: input, faults: [] }
  if (!isObject(input) || !Object.hasOwn(input, 'tenant')) {
    return { body: input, faults: tenant === undefined ? [tenantRequired({ pointer })] : [] }
  }
  const { tenant: named, ...body } = input
  const detail = 'is no member in process: the call names the tenant, as app.users.tenant(name).create() does'
  return { body, faults: [{ pointer, code: 'unknown', detail }] }
}

/** The fault of what makes a user and does not say whose it is. */
export function tenantRequired (place: Pick<Fault, 'pointer' | 'parameter'>): Fault {
  return { ...place, code: 'required', detail: 'is required: each user belongs to a tenant' }
}
