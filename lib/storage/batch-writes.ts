import { refusalOf, requireVersion } from './storage-rules.ts'
import type {
  ChangesOf, Creation, DeletionEvent, Idempotency, NewEvent, UserChanges, UserKeys, UserRecord, UserUpdate, UserWrite,
  VersionGuard, WriteOutcome
} from './storage.ts'

/** The writes of a store that writes in one turn of the event loop: its methods without their promises. */
export interface SynchronousWrites {
  findUser (id: string): UserRecord | null
  createUser (user: UserRecord, keys: UserKeys, idempotency: Idempotency | null, event: NewEvent | null): Creation
  updateUser (
    id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard, event: NewEvent | null
  ): UserUpdate | null
  deleteUser (id: string, guard: VersionGuard, event: DeletionEvent | null): UserRecord | null
}

function make (users: SynchronousWrites, write: UserWrite, index: number, changesOf: ChangesOf): WriteOutcome {
  if (write.type === 'create') {
    const { user } = users.createUser(write.user, write.keys, null, write.event)
    return { code: 'done', changed: true, user }
  }
  const { id, guard, event } = write
  if (write.type === 'delete') {
    const user = users.deleteUser(id, guard, event && { ...event, erase: false })
    return user === null ? { code: 'not_found' } : { code: 'done', changed: true, user }
  }
  const before = users.findUser(id)
  if (before === null) return { code: 'not_found' }
  requireVersion(guard, before)
  const changes = write.changes ?? changesOf(index, before)
  if ('refused' in changes) return { code: 'refused', reason: changes.refused }
  const updated = users.updateUser(id, changes, write.updatedAt, guard, event)
  return updated === null ? { code: 'not_found' } : { code: 'done', ...updated }
}

/** Makes the write at this index of a batch. @throws what refuses more than this write */
export function makeWrite (
  users: SynchronousWrites,
  write: UserWrite,
  index: number,
  changesOf: ChangesOf
): WriteOutcome {
  try {
    return make(users, write, index, changesOf)
  } catch (error) {
    return refusalOf(error)
  }
}
