/** Every scope a key can have. */
export const SCOPES = ['users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write'] as const

export type Scope = typeof SCOPES[number]

/** What a key made without scopes has. */
export const DEFAULT_SCOPES: readonly Scope[] = ['users:read', 'users:write', 'users:delete']
