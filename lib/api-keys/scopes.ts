/** Every scope that a key can have. */
export const SCOPES = [
  'users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write', 'events:read', 'webhooks:read',
  'webhooks:write'
] as const

export type Scope = typeof SCOPES[number]

export function isScope (text: string): text is Scope {
  return SCOPES.some((scope) => scope === text)
}

/** The scopes of a key that is created without any. */
export const DEFAULT_SCOPES: readonly Scope[] = ['users:read', 'users:write', 'users:delete']

/** A key with this scope can make others. One active key must keep it. */
export const ADMIN_SCOPE: Scope = 'keys:write'
