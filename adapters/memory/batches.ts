import { makeWrite, type SynchronousWrites } from '../../lib/storage/batch-writes.ts'
import { withoutUsers } from '../../lib/storage/storage-rules.ts'
import type { BatchOptions, BatchResult, Storage, UserWrite, WriteOutcome } from '../../lib/storage/storage.ts'
import type { MemoryEvents } from './event-log.ts'
import type { IdempotencyRecords } from './idempotency-records.ts'
import type { UserEntry } from './user-entry.ts'

/** The writes of single users. */
export interface MemoryWrites extends SynchronousWrites {
  entryOf: (id: string) => UserEntry | null
  /** Makes the function that undoes what happens to a user from now on. */
  keepingUser: (id: string) => () => void
}

interface Kept { events: MemoryEvents, idempotencyRecords: IdempotencyRecords }

const idOf = (write: UserWrite): string => write.type === 'create' ? write.user.id : write.id

const copyOf = (outcome: WriteOutcome): WriteOutcome => structuredClone(outcome)

/** Batches of writes in memory: they take one turn of the event loop, so nothing comes between. */
export function memoryBatches (
  users: MemoryWrites,
  { events, idempotencyRecords }: Kept
): NonNullable<Storage['writeBatch']> {
  /** Keeps the outcomes, and has each user's deletion take its values out of them. */
  function keep (idempotency: NonNullable<BatchOptions['idempotency']>, outcomes: readonly WriteOutcome[]): void {
    const kept = withoutUsers(outcomes)
    for (const [i, outcome] of outcomes.entries()) {
      const entry = outcome.code === 'done' && outcome.user !== null ? users.entryOf(outcome.user.id) : null
      if (entry === null) continue
      // Pruned keys are dropped, so that the list of a user in every batch does not grow without bound.
      const others = entry.idempotencyKeys.filter((key) => key !== idempotency.key && idempotencyRecords.has(key))
      entry.idempotencyKeys = [...others, idempotency.key]
      kept[i] = copyOf(outcome)
    }
    idempotencyRecords.addBatch(idempotency, { outcomes: kept, note: structuredClone(idempotency.note) })
  }

  return async (writes, { atomic, idempotency }, changesOf): Promise<BatchResult> => {
    const before = idempotency === null ? null : idempotencyRecords.findBatch(idempotency)
    if (before !== null) {
      return { outcomes: before.outcomes.map(copyOf), note: structuredClone(before.note), replayed: true }
    }
    const outcomes: WriteOutcome[] = []
    const undo: Array<() => void> = [events.keeping()]
    const isUndone = () => atomic && (outcomes.at(-1)?.code ?? 'done') !== 'done'
    const undoAll = () => { for (const each of undo.reverse()) each() }
    try {
      for (const [index, write] of writes.entries()) {
        undo.push(users.keepingUser(idOf(write)))
        outcomes.push(makeWrite(users, write, index, changesOf))
        if (isUndone()) break
      }
    } catch (error) {
      undoAll()
      throw error
    }
    if (isUndone()) undoAll()
    else if (idempotency !== null) keep(idempotency, outcomes)
    return { outcomes, note: structuredClone(idempotency?.note ?? null), replayed: false }
  }
}
