import { boundStorage } from './bound-storage.ts'
import type { Storage } from './storage.ts'

const ONE = { order: 'asc', limit: 1, from: { offset: 0 } } as const

/** What is left of a tenant. */
export interface TenantRemains {
  users: number
  /** False if no users and keys are left, so that no list has it. */
  isListed: boolean
}

/**
 * What is left of a tenant; null: nothing, neither users and keys, nor webhooks and values in events.
 * @throws StorageError, TypeError if the store has no tenants
 */
export async function tenantRemains (storage: Storage, tenant: string): Promise<TenantRemains | null> {
  const { listUsers, listApiKeys, eventLog, trash, webhooks } = boundStorage(storage, tenant)
  const { total: users } = await listUsers({ emailKey: null, words: null, fields: {} }, ONE)
  if (users > 0 || (await listApiKeys(ONE)).total > 0) return { users, isListed: true }
  const away = await trash?.list({ offset: 0, limit: 1 })
  if (away !== undefined && away.total > 0) return { users, isListed: false }
  const events = await eventLog?.read({ after: null, limit: 1, types: null }) ?? null
  const hasOther = (events !== null && events.events.length > 0) || ((await webhooks?.list(ONE))?.total ?? 0) > 0
  return hasOther ? { users, isListed: false } : null
}
