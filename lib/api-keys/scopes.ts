/** Every scope a key can have. */
export const SCOPES = ['users:read', 'users:write', 'users:delete', 'keys:read', 'keys:write'] as const

export type Scope = typeof SCOPES[number]

export function isScope (text: string): text is Scope {
  return SCOPES.some((scope) => scope === text)
}

/** What a key made without scopes has. */
export const DEFAULT_SCOPES: readonly Scope[] = ['users:read', 'users:write', 'users:delete']
