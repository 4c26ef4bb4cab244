/** The scopes that only a mount with the option `tenants` knows. */
const TENANT_SCOPES = ['tenants:read', 'tenants:delete'] as const

/** Every scope of ours that a key can have. */
export const SCOPES = [
  'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
  'webhooks:write', 'groups:read', 'groups:write', 'scim:users', 'scim:groups',
  ...TENANT_SCOPES
] as const

/**
 * Your own scopes, for TypeScript. Declare those of the option `apiKeys.scopes` here.
 *
 *     declare module 'fastify-users' { interface HostScopes { 'orders:read': string } }
 */
export interface HostScopes {}

/** What a key may do: a scope of ours, or one of the host's own. */
export type Scope = typeof SCOPES[number] | (keyof HostScopes & string)

const HOST_SCOPE = /^[a-z][a-z0-9._-]{0,39}(?::[a-z0-9][a-z0-9._-]{0,39}){1,3}$/
/** How scopes of ours begin, now or later. */
const OURS = /^(?:users|keys|events|webhooks|tenants|groups|scim):/
export const HOST_SCOPE_FORM = 'must look like orders:read, with parts of a to z, 0 to 9, . _ and -, each at most 40 ' +
  'characters, and must not begin like a scope of fastify-users: users, keys, events, webhooks, tenants, groups or scim'

/** True for a text that can be a scope of the host's own. */
export const isHostScope = (text: string): boolean => HOST_SCOPE.test(text) && !OURS.test(text)

/** The scope of a list that a text names. */
export const scopeIn = (known: readonly Scope[], text: string): Scope | undefined =>
  known.find((scope) => scope === text)

/** True for a scope that needs the option `tenants`. */
export function isTenantScope (scope: string): boolean {
  return TENANT_SCOPES.some((each) => each === scope)
}

/** The scopes that a mount knows: ours, those of tenants only with that option, and the host's `own`. */
export function scopesOf (tenants: boolean, own: Readonly<Record<string, string>> = {}): readonly Scope[] {
  const isOwn = (scope: string): scope is keyof HostScopes & string => Object.hasOwn(own, scope)
  return [...SCOPES.filter((scope) => tenants || !isTenantScope(scope)), ...Object.keys(own).filter(isOwn)]
}

/** The scopes of a key that is created without any. */
export const DEFAULT_SCOPES: readonly Scope[] = ['users:read', 'users:write', 'users:delete']

/** A key with this scope can make others. One active key must keep it. */
export const ADMIN_SCOPE: Scope = 'keys:write'
