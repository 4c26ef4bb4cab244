import { unassignedBy } from '../../lib/storage/storage-rules.ts'
import type { AssignmentStep, TenantStore, UserRecord } from '../../lib/storage/storage.ts'
import type { MemoryEvents } from './event-log.ts'
import type { FieldIndex } from './field-index.ts'
import type { SortedMap } from './sorted-map.ts'
import type { UserEntry } from './user-entry.ts'

interface UserParts {
  entries: ReadonlyMap<string, UserEntry>
  ordered: SortedMap<UserRecord>
  requireEmail: (emailKey: string, id: string, tenant: string) => void
  byField: Pick<FieldIndex<UserEntry>, 'requireFree'>
  put: (entry: UserEntry) => void
  drop: (entry: UserEntry) => void
}

/** Gives users without a tenant to one, in memory. The last step takes the events of users who were deleted. */
export function memoryAssignment (
  { entries, ordered, requireEmail, byField, put, drop }: UserParts,
  events: MemoryEvents
): TenantStore['assign'] {
  /** @throws StorageError `email_taken`, `field_taken` */
  function assign (entry: UserEntry, tenant: string): void {
    const { id, emailKey, record } = entry
    requireEmail(emailKey, id, tenant)
    byField.requireFree(id, record.fields, tenant)
    drop(entry)
    put({ ...entry, record: { ...record, tenant } })
    events.assign(id, tenant)
  }

  return async (tenant, { after, limit }) => {
    const step: AssignmentStep = { assigned: 0, refused: [], next: null }
    const records = ordered.range(after === null ? 0 : ordered.rank(`${after}\0`), limit)
    for (const { id, tenant: present } of records) {
      const entry = entries.get(id)
      if (entry === undefined || present !== undefined) continue
      try {
        assign(entry, tenant)
        step.assigned++
      } catch (error) {
        step.refused.push(unassignedBy(error, id))
      }
    }
    const last = records.at(-1)
    if (last !== undefined && records.length === limit) return { ...step, next: last.id }
    for (const id of events.withoutTenant()) if (!entries.has(id)) events.assign(id, tenant)
    return step
  }
}
