import { type Storage, unassignedBy, type UnassignedUser } from 'fastify-users/storage'
import { idsBehind, type LmdbDatabase, pageOfIds } from './database.ts'

/** What deletes records of a tenant, in the write of its removal, and gives records to one. */
interface TenantParts {
  drop (userId: string): void
  dropOf (tenant: string): number
  dropDeletedOf (tenant: string, limit: number): number
  forgetOf (tenant: string, limit: number): number
  assign (userId: string, tenant: string): void
  assignDeleted (tenant: string): void
  assignOf (userId: string, tenant: string): void
  withoutTenant (): Generator<string>
}

/** The tenants in LMDB: the names in the indexes of their users and keys. */
export function lmdbTenants (
  { users, tenantUsers, tenantKeys, read, write }: LmdbDatabase,
  { drop, dropOf, dropDeletedOf, forgetOf, assign, assignDeleted, assignOf, withoutTenant }: TenantParts
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
      const ids = [...idsBehind(tenantUsers, tenant)].slice(0, Math.max(0, limit - count))
      for (const id of ids) drop(id)
      count += ids.length
      count += dropDeletedOf(tenant, Math.max(0, limit - count))
      return count + forgetOf(tenant, Math.max(0, limit - count))
    }),

    assign: (tenant, { after, limit }) => write(() => {
      const bounds = after === null ? {} : { start: after, exclusiveStart: true }
      const entries = [...users.getRange({ ...bounds, limit })]
      const refused: UnassignedUser[] = []
      const without = entries.filter(({ value: { user } }) => user.tenant === undefined)
      for (const { key: id } of without) {
        try {
          assign(id, tenant)
          assignOf(id, tenant)
        } catch (error) {
          refused.push(unassignedBy(error, id))
        }
      }
      const next = entries.length < limit ? null : entries.at(-1)?.key ?? null
      // The last step takes the deleted users, and their events.
      if (next === null) assignDeleted(tenant)
      for (const id of next === null ? [...withoutTenant()] : []) if (!users.doesExist(id)) assignOf(id, tenant)
      return { assigned: without.length - refused.length, refused, next }
    })
  }
}
