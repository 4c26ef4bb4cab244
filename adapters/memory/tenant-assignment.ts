import { unassignedBy } from '../../lib/storage/storage-rules.ts'
import type { AssignmentStep, TenantStore } from '../../lib/storage/storage.ts'
import type { MemoryEvents } from './event-log.ts'
import type { MemoryTrash } from './trash.ts'
import type { UserTable } from './user-table.ts'

/** Gives users without a tenant to one, in memory. The last step takes the deleted ones, and their events. */
export function memoryAssignment (table: UserTable, trash: MemoryTrash, events: MemoryEvents): TenantStore['assign'] {
  return async (tenant, { after, limit }) => {
    const step: AssignmentStep = { assigned: 0, refused: [], next: null }
    const records = table.ordered.range(after === null ? 0 : table.ordered.rank(`${after}\0`), limit)
    for (const { id, tenant: present } of records) {
      const entry = table.get(id)
      if (entry === undefined || present !== undefined) continue
      try {
        table.assign(entry, tenant)
        events.assign(id, tenant)
        step.assigned++
      } catch (error) {
        step.refused.push(unassignedBy(error, id))
      }
    }
    const last = records.at(-1)
    if (last !== undefined && records.length === limit) return { ...step, next: last.id }
    trash.assign(tenant)
    for (const id of events.withoutTenant()) if (table.get(id) === undefined) events.assign(id, tenant)
    return step
  }
}
