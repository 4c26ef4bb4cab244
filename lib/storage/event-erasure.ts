import { erasure } from './decide-users.ts'
import type { EventRecord } from './records.ts'
import type { Storage } from './storage.ts'
import { belongsTo } from './storage-rules.ts'

/**
 * Takes every value of a user out of its events, and its name out of the events of changes that it made. Returns how
 * many events those are. `tenant`: none, if the user belongs to another.
 */
export async function eraseEvents ({ log }: Storage, userId: string, tenant?: string): Promise<number> {
  let count = 0
  const isMeant = (event: EventRecord): boolean => belongsTo(event, tenant)
  for (const { of, make } of erasure(userId, isMeant)) {
    await log.rewrite({
      of,
      make (event) {
        if (isMeant(event) && ('subject' in of || event.subject !== userId)) count++
        return make(event)
      }
    }, Infinity)
  }
  return count
}
