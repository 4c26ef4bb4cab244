/** What a store uses of PostgreSQL: triggers, functions and more, or tables and transactions alone. */
export const PROFILES = ['classic', 'portable'] as const

export type Profile = (typeof PROFILES)[number]
