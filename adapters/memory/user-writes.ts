import { makeWrite, type SynchronousWrites } from '../../lib/storage/make-write.ts'
import { creationAlone, withoutUsers, withUser } from '../../lib/storage/storage-rules.ts'
import type { Idempotency, Json, Storage, UserWrite, WriteOutcome, WritesResult } from '../../lib/storage/storage.ts'
import type { MemoryEvents } from './event-log.ts'
import type { IdempotencyRecords } from './idempotency-records.ts'
import type { UserEntry } from './user-entry.ts'

/** The writes of single users, and what a call of several needs beside them. */
export interface MemoryWrites extends SynchronousWrites {
  entryOf: (id: string) => UserEntry | null
  /** Makes the function that undoes what happens to a user from now on. */
  keepingUser: (id: string) => () => void
}

interface Kept { events: MemoryEvents, idempotencyRecords: IdempotencyRecords }

const idOf = (write: UserWrite): string => write.type === 'create' ? write.user.id : write.id

const copyOf = (outcome: WriteOutcome): WriteOutcome => structuredClone(outcome)

/** The writes of users in memory: a call takes one turn of the event loop, so nothing comes between. */
export function memoryWrites (users: MemoryWrites, { events, idempotencyRecords }: Kept): Storage['writeUsers'] {
  /** Keeps the outcomes, and has each user's deletion take its values out of them. */
  function keep (idempotency: Idempotency, outcomes: readonly WriteOutcome[], goesWithUser: boolean): void {
    const kept = withoutUsers(outcomes)
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.code !== 'done' || outcome.user === null) continue
      const entry = users.entryOf(outcome.user.id)
      if (entry === null) continue
      // Pruned keys are dropped, so that the list of a user in every call does not grow without bound.
      const others = entry.idempotencyKeys.filter((key) => key !== idempotency.key && idempotencyRecords.has(key))
      entry.idempotencyKeys = [...others, idempotency.key]
      kept[i] = copyOf(withUser(outcome, outcome.user))
    }
    idempotencyRecords.add(idempotency, { outcomes: kept, note: structuredClone(idempotency.note) }, goesWithUser)
  }

  function makeAll (writes: readonly UserWrite[], atomic: boolean): { outcomes: WriteOutcome[], isUndone: boolean } {
    const outcomes: WriteOutcome[] = []
    const undo: Array<() => void> = [events.keeping()]
    const undoAll = () => { for (const each of undo.reverse()) each() }
    try {
      for (const write of writes) {
        undo.push(users.keepingUser(idOf(write)))
        const outcome = makeWrite(users, write)
        outcomes.push(outcome)
        if (!atomic || outcome.code === 'done') continue
        undoAll()
        return { outcomes, isUndone: true }
      }
    } catch (error) {
      undoAll()
      throw error
    }
    return { outcomes, isUndone: false }
  }

  return async (writes, { atomic, idempotency }): Promise<WritesResult> => {
    const before = idempotency === null ? null : idempotencyRecords.find(idempotency)
    if (before !== null) {
      return { outcomes: before.outcomes.map(copyOf), note: structuredClone(before.note), replayed: true }
    }
    const [only] = writes
    // Nothing is changed by a write that throws, so that one alone needs nothing to undo it.
    const { outcomes, isUndone } = only !== undefined && writes.length === 1
      ? { outcomes: [makeWrite(users, only)], isUndone: false }
      : makeAll(writes, atomic)
    const note: Json = structuredClone(idempotency?.note ?? null)
    const isKept = !isUndone && !(atomic && outcomes.some(({ code }) => code !== 'done'))
    if (idempotency === null || !isKept) return { outcomes, note, replayed: false }
    const isAlone = creationAlone(writes, { idempotency }) !== null
    // A creation that was refused may succeed later.
    if (!isAlone || outcomes[0]?.code === 'done') keep(idempotency, outcomes, isAlone)
    return { outcomes, note, replayed: false }
  }
}
