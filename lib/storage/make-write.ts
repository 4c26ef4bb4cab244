import { belongsTo, refusalOf, requireVersion } from './storage-rules.ts'
import type {
  DeletedUser, NewEvent, PutAway, ChangeType, UserChanges, UserKeys, UserRecord, UserWrite, VersionGuard, WriteOutcome
} from './storage.ts'

/** The outcome of an update. */
export interface UserUpdate {
  user: UserRecord
  /** False if every value was stored already. */
  changed: boolean
  /** The types of its events, if it changed the status. */
  types?: ChangeType[]
}

/** A user that was purged. */
export interface PurgedUser {
  user: UserRecord
  /** The types of its events, if it was not put away. */
  types?: ChangeType[]
}

/** What a deletion does beside deleting. */
export interface Deletion {
  guard: VersionGuard
  event: NewEvent | null
  erase: boolean
  putAway?: PutAway | undefined
}

/**
 * The writes of a store that writes in one turn of the event loop. `null`: there is no such user. They throw a
 * `StorageError` for what is refused. A store without {@link Trash} lacks the last three.
 */
export interface SynchronousWrites {
  find (id: string): UserRecord | null
  create (user: UserRecord, keys: UserKeys, event: NewEvent | null): UserRecord
  update (
    id: string, changes: UserChanges, updatedAt: string, guard: VersionGuard, event: NewEvent | null
  ): UserUpdate | null
  remove (id: string, deletion: Deletion): UserRecord | null
  /** The user that is put away under this id. */
  findDeleted? (id: string): DeletedUser | null
  restore? (id: string, updatedAt: string, guard: VersionGuard, event: NewEvent | null): UserRecord | null
  /** `onlyAway`: a user who has the id again stays. Otherwise both go, and the guard is for that one. */
  purge? (
    id: string, guard: VersionGuard, event: NewEvent | null, options: { erase: boolean, onlyAway: boolean }
  ): PurgedUser | null
}

const done = (user: UserRecord | null): WriteOutcome =>
  user === null ? { code: 'not_found' } : { code: 'done', changed: true, user }

/** What a write may reach of whoever has the id: the user who is there, only the one who is put away, or nothing. */
function reachOf (users: SynchronousWrites, write: Exclude<UserWrite, { type: 'create' }>): 'user' | 'away' | null {
  const { type, id, tenant } = write
  const putAwayBefore = type === 'purge' ? write.putAwayBefore : null
  // Whoever is not there is found by the write itself.
  if (tenant === undefined && putAwayBefore === null) return 'user'
  const user = type === 'restore' || putAwayBefore !== null ? null : users.find(id)
  if (user !== null && belongsTo(user, tenant)) return 'user'
  const away = (type === 'restore' || type === 'purge' ? users.findDeleted?.(id) : null) ?? null
  if (away === null || !belongsTo(away.user, tenant)) return null
  return putAwayBefore === null || away.deletedAt <= putAwayBefore ? 'away' : null
}

function make (users: SynchronousWrites, write: UserWrite): WriteOutcome {
  if (write.type === 'create') return done(users.create(write.user, write.keys, write.event))
  const { id, guard, event } = write
  const reach = reachOf(users, write)
  if (reach === null) return { code: 'not_found' }
  if (write.type === 'delete') return done(users.remove(id, write))
  if (write.type === 'restore') return done(users.restore?.(id, write.updatedAt, guard, event) ?? null)
  if (write.type === 'purge') {
    const options = { erase: write.erase, onlyAway: reach === 'away' }
    const purged = users.purge?.(id, guard, event, options) ?? null
    return purged === null ? { code: 'not_found' } : { code: 'done', changed: true, ...purged }
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
