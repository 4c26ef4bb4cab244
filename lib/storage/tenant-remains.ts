import type { Repository } from './repository.ts'

const ONE = { order: 'asc', limit: 1, from: { offset: 0 } } as const

/** What is left of a tenant. */
export interface TenantRemains {
  users: number
  /** False if no users and keys are left, so that no list has it. */
  isListed: boolean
}

/**
 * What is left of a tenant; null: nothing, neither users and keys, nor groups, webhooks and values in
 * events.
 * @throws StorageError
 */
export async function tenantRemains (
  { users: { list }, apiKeys, events, trash, webhooks, groups }: Repository, tenant: string
): Promise<TenantRemains | null> {
  const one = { ...ONE, tenant }
  const { total: users } = await list({ emailKey: null, words: null, fields: {}, tenant }, ONE)
  if (users > 0 || (await apiKeys.list(one)).total > 0) return { users, isListed: true }
  if ((await trash.list({ offset: 0, limit: 1, tenant })).total > 0) return { users, isListed: false }
  if ((await groups.list({ tenant }, ONE)).total > 0) return { users, isListed: false }
  const recorded = await events.read({ after: null, limit: 1, types: null, tenant })
  const hasOther = (recorded !== null && recorded.events.length > 0) || (await webhooks.list(one)).total > 0
  return hasOther ? { users, isListed: false } : null
}
