import type { Fault } from './fault.ts'

/** The name of a tenant: 1 to 64 of `a-z`, `0-9`, `_` and `-`, a letter or digit first. */
export const TENANT = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** What is wrong with another one. */
export const TENANT_FORM = 'must be 1 to 64 characters of a-z, 0-9, _ and -, beginning with a letter or digit'

export function isTenant (value: unknown): value is string {
  return typeof value === 'string' && TENANT.test(value)
}

/** The fault of what makes a user and does not say whose it is. */
export function tenantRequired (place: Pick<Fault, 'pointer' | 'parameter'>): Fault {
  return { ...place, code: 'required', detail: 'is required: each user belongs to a tenant' }
}
