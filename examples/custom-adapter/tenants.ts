import type { Storage } from 'fastify-users/storage'
import { idsBehind, type LmdbDatabase, pageOfIds } from './database.ts'

/** What deletes records of a tenant, in the write of its removal. */
interface TenantParts {
  drop (userId: string): void
  dropOf (tenant: string): number
  dropDeletedOf (tenant: string, limit: number): number
  forgetOf (tenant: string, limit: number): number
}

/** The tenants in LMDB: the names in the indexes of their users and keys. */
export function lmdbTenants (
  { tenantUsers, tenantKeys, read, write }: LmdbDatabase,
  { drop, dropOf, dropDeletedOf, forgetOf }: TenantParts
): NonNullable<Storage['tenants']> {
  return {
    list: (page) => read(() => {
      const counts = new Map<string, number>()
      for (const [name] of tenantUsers.getKeys()) counts.set(name, (counts.get(name) ?? 0) + 1)
      for (const [name] of tenantKeys.getKeys()) counts.set(name, counts.get(name) ?? 0)
      return pageOfIds([...counts.keys()].sort(), page, (id) => ({ id, users: counts.get(id) ?? 0 }))
    }),

    remove: (tenant, limit) => write(() => {
      let count = dropOf(tenant)
      const users = [...idsBehind(tenantUsers, tenant)].slice(0, Math.max(0, limit - count))
      for (const id of users) drop(id)
      count += users.length
      count += dropDeletedOf(tenant, Math.max(0, limit - count))
      return count + forgetOf(tenant, Math.max(0, limit - count))
    })
  }
}
