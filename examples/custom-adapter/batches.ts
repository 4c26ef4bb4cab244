import {
  type BatchOptions, type BatchResult, makeWrite, type Storage, StorageError, type SynchronousWrites, withoutUsers,
  type WriteOutcome
} from 'fastify-users'
import type { LmdbDatabase } from './database.ts'
import { keptOf } from './requests.ts'

/** Batches of writes: each is one write of the database, which a throw takes back. */
export function lmdbBatches (database: LmdbDatabase, writes: SynchronousWrites): NonNullable<Storage['writeBatch']> {
  const { users, requests } = database

  /** Keeps the outcomes. Each user knows the key, and is taken out of them when it is deleted. */
  function keep (
    { key, fingerprint, expiresAt, note }: NonNullable<BatchOptions['idempotency']>,
    outcomes: readonly WriteOutcome[]
  ): void {
    const kept = withoutUsers(outcomes)
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.code !== 'done' || outcome.user === null) continue
      const entry = users.get(outcome.user.id)
      if (entry === undefined) continue
      // Pruned keys are dropped, so that the list of a user in every batch does not grow without bound.
      const others = entry.requests.filter((each) => each !== key && requests.doesExist(each))
      users.putSync(outcome.user.id, { ...entry, requests: [...others, key] })
      kept[i] = outcome
    }
    requests.putSync(key, { fingerprint, expiresAt, kept: { outcomes: kept, note } })
  }

  return async (batch, { atomic, idempotency }, changesOf) => {
    let undone: BatchResult | null = null
    try {
      return await database.write((): BatchResult => {
        const kept = idempotency === null ? null : keptOf(database, idempotency)
        if (kept !== null) {
          if ('outcomes' in kept) return { ...kept, replayed: true }
          throw new StorageError('idempotency_key_reused', 'the key is that of a creation')
        }
        const outcomes: WriteOutcome[] = []
        for (const [index, write] of batch.entries()) {
          const outcome = makeWrite(writes, write, index, changesOf)
          outcomes.push(outcome)
          if (!atomic || outcome.code === 'done') continue
          undone = { outcomes, note: idempotency?.note ?? null, replayed: false }
          throw new StorageError('fault', 'the batch is undone')
        }
        if (idempotency !== null) keep(idempotency, outcomes)
        return { outcomes, note: idempotency?.note ?? null, replayed: false }
      })
    } catch (error) {
      if (undone === null) throw error
      return undone
    }
  }
}
