import { refusalOf, requireVersion } from './storage-rules.ts'
import type { NewEvent, UserChanges, UserKeys, UserRecord, UserWrite, VersionGuard, WriteOutcome } from './storage.ts'

/** The outcome of an update. */
export interface UserUpdate {
  user: UserRecord
  /** False if every value was stored already. */
  changed: boolean
}

/**
 * The writes of a store that writes in one turn of the event loop. `null`: there is no such user. They throw a
 * `StorageError` for what is refused.
 */
export interface SynchronousWrites {
  find (id: string): UserRecord | null
  create (user: UserRecord, keys: UserKeys, event: NewEvent | null): UserRecord
  update (
    id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard, event: NewEvent | null
  ): UserUpdate | null
  remove (id: string, guard: VersionGuard, event: NewEvent | null, erase: boolean): UserRecord | null
}

function make (users: SynchronousWrites, write: UserWrite): WriteOutcome {
  if (write.type === 'create') {
    return { code: 'done', changed: true, user: users.create(write.user, write.keys, write.event) }
  }
  const { id, guard, event } = write
  if (write.tenant !== undefined && users.find(id)?.tenant !== write.tenant) return { code: 'not_found' }
  if (write.type === 'delete') {
    const user = users.remove(id, guard, event, write.erase)
    return user === null ? { code: 'not_found' } : { code: 'done', changed: true, user }
  }
  let { changes } = write
  if (typeof changes === 'function') {
    const before = users.find(id)
    if (before === null) return { code: 'not_found' }
    requireVersion(guard, before)
    const made = changes(before)
    if ('refused' in made) return { code: 'refused', reason: made.refused }
    changes = made
  }
  const updated = users.update(id, changes, write.updatedAt, guard, event)
  return updated === null ? { code: 'not_found' } : { code: 'done', ...updated }
}

/** Makes a write. @throws what refuses more than this write */
export function makeWrite (users: SynchronousWrites, write: UserWrite): WriteOutcome {
  try {
    return make(users, write)
  } catch (error) {
    return refusalOf(error)
  }
}
