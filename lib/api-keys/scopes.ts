/** The scopes that only a mount with the option `tenants` knows. */
const TENANT_SCOPES = ['tenants:read', 'tenants:delete'] as const

/** Every scope that a key can have. */
export const SCOPES = [
  'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
  'webhooks:write', ...TENANT_SCOPES
] as const

export type Scope = typeof SCOPES[number]

export function isScope (text: string): text is Scope {
  return SCOPES.some((scope) => scope === text)
}

/** True for a scope that needs the option `tenants`. */
export function isTenantScope (scope: string): boolean {
  return TENANT_SCOPES.some((each) => each === scope)
}

/** The scopes that a mount knows. `tenants`: its option. */
export function scopesOf (tenants: boolean): readonly Scope[] {
  return tenants ? SCOPES : SCOPES.filter((scope) => !isTenantScope(scope))
}

/** The scopes of a key that is created without any. */
export const DEFAULT_SCOPES: readonly Scope[] = ['users:read', 'users:write', 'users:delete']

/** A key with this scope can make others. One active key must keep it. */
export const ADMIN_SCOPE: Scope = 'keys:write'
