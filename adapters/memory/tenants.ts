import type { TenantRecord, TenantStore } from '../../lib/storage/storage.ts'
import { pageOf, positionsOf } from './positions.ts'

/** Where the records of tenants are: each part deletes at most `limit` of its own, and returns how many. */
export interface TenantParts {
  /** How many users each tenant has that has any. */
  users: () => Map<string, number>
  /** The names of the tenants that have keys. */
  keys: () => Iterable<string>
  drops: ReadonlyArray<(tenant: string, limit: number) => number>
  assign: TenantStore['assign']
}

/** The tenants in memory. No method waits for anything, so each is atomic by itself. */
export function memoryTenants ({ users, keys, drops, assign }: TenantParts): TenantStore {
  return {
    assign,

    async list (page) {
      const counts = users()
      for (const name of keys()) if (!counts.has(name)) counts.set(name, 0)
      const sorted: TenantRecord[] = [...counts].map(([id, number]) => ({ id, users: number }))
        .sort((a, b) => a.id < b.id ? -1 : 1)
      return { items: pageOf(positionsOf(sorted), page), total: sorted.length }
    },

    async remove (tenant, limit) {
      let count = 0
      for (const drop of drops) if (count < limit) count += drop(tenant, limit - count)
      return count
    }
  }
}
