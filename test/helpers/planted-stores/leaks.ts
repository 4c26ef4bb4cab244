import { memory } from '../../../adapters/memory/index.ts'
import type { Storage, Trash, UserRecord, UserWrite, WriteOutcome } from '../../../lib/storage/storage.ts'
import type { Mistake } from './plant.ts'

/** A mistake in some methods of a store that is right otherwise. */
export function leak (title: string, wrong: (right: Storage) => Partial<Storage>): Mistake {
  return {
    title,
    create: () => {
      const right = memory()
      return { storage: { ...right, ...wrong(right) } }
    }
  }
}

/** A mistake of the event log. */
export function logLeak (title: string, wrong: (log: NonNullable<Storage['eventLog']>) => object): Mistake {
  return leak(title, ({ eventLog }) => eventLog === undefined
    ? {}
    : {
        eventLog: {
          read: (request) => eventLog.read(request),
          find: (id) => eventLog.find(id),
          history: (subject, page) => eventLog.history(subject, page),
          erase: (userId, tenant) => eventLog.erase(userId, tenant),
          prune: (before, limit) => eventLog.prune(before, limit),
          pruned: () => eventLog.pruned(),
          ...wrong(eventLog)
        }
      })
}

export type Write<Type extends UserWrite['type']> = UserWrite & { type: Type }
type Delete = Write<'delete'>
export type Done = WriteOutcome & { code: 'done' }

export const ONE = { atomic: false, idempotency: null } as const
export const ALL = { order: 'asc', limit: 999, from: { offset: 0 } } as const
export const EVERYONE = { emailKey: null, words: null, fields: {} }

/** A mistake in the list of those that are put away. */
export function trashLeak (title: string, wrong: (trash: Trash, right: Storage) => Partial<Trash>): Mistake {
  return leak(title, (right) => {
    const { trash } = right
    if (trash === undefined) return {}
    return {
      trash: {
        find: (id) => trash.find(id),
        list: (request) => trash.list(request),
        expired: (before, limit) => trash.expired(before, limit),
        ...wrong(trash, right)
      }
    }
  })
}

/** A mistake in writes, each of which is given to the store as another one. */
export function writeLeak (title: string, wrong: (write: UserWrite, right: Storage) => UserWrite): Mistake {
  return leak(title, (right) => ({
    writeUsers: (writes, options) => right.writeUsers(writes.map((write) => wrong(write, right)), options)
  }))
}

/** A mistake in what the writes of one type have as their outcome. */
export function outcomeLeak (
  title: string,
  type: UserWrite['type'],
  wrong: (outcome: Done, write: UserWrite) => WriteOutcome
): Mistake {
  return leak(title, (right) => ({
    async writeUsers (writes, options) {
      const result = await right.writeUsers(writes, options)
      const outcomes = result.outcomes.map((outcome, i) => {
        const write = writes[i]
        return write?.type === type && outcome.code === 'done' ? wrong(outcome, write) : outcome
      })
      return { ...result, outcomes }
    }
  }))
}

/** A mistake that is made after a write that is done. */
export function afterwards (
  title: string,
  is: (write: UserWrite) => boolean,
  next: (right: Storage, write: UserWrite, user: UserRecord) => Promise<unknown>
): Mistake {
  return leak(title, (right) => ({
    async writeUsers (writes, options) {
      const result = await right.writeUsers(writes, options)
      for (const [i, outcome] of result.outcomes.entries()) {
        const write = writes[i]
        if (outcome.code !== 'done' || outcome.user === null || write === undefined || !is(write)) continue
        if (!result.replayed) await next(right, write, outcome.user)
      }
      return result
    }
  }))
}

export const putsAway = (write: UserWrite): write is Delete => write.type === 'delete' && write.putAway !== undefined
export const restores = (write: UserWrite): boolean => write.type === 'restore'

/** Changes a user that was restored, without a trace. */
export function change (right: Storage, id: string, changes: Write<'update'>['changes']): Promise<unknown> {
  const guard = { ifVersion: null, unlessVersion: [] }
  return right.writeUsers([{ type: 'update', id, changes, updatedAt: '', guard, event: null }], ONE)
}
