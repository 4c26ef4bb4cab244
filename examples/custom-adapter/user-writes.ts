import {
  creationAlone, type Idempotency, makeWrite, type Storage, StorageError, type SynchronousWrites, withoutUsers,
  type WriteOutcome, type WritesResult
} from 'fastify-users/storage'
import type { LmdbDatabase } from './database.ts'
import { keptOf } from './requests.ts'

/** Writes of users: a call is one write of the database, which a throw takes back. */
export function lmdbWrites (database: LmdbDatabase, users: SynchronousWrites): Storage['writeUsers'] {
  /** Keeps the outcomes. Each user knows the key, and is taken out of them when it is deleted. */
  function keep (
    { key, fingerprint, expiresAt, note }: Idempotency,
    outcomes: readonly WriteOutcome[],
    goesWithUser: boolean
  ): void {
    const { users, requests } = database
    const kept = withoutUsers(outcomes)
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.code !== 'done' || outcome.user === null) continue
      const entry = users.get(outcome.user.id)
      if (entry === undefined) continue
      // Pruned keys are dropped, so that the list of a user in every call does not grow without bound.
      const others = entry.requests.filter((each) => each !== key && requests.doesExist(each))
      users.putSync(outcome.user.id, { ...entry, requests: [...others, key] })
      kept[i] = outcome
    }
    requests.putSync(key, { fingerprint, expiresAt, goesWithUser, kept: { outcomes: kept, note } })
  }

  return async (writes, options) => {
    const { atomic, idempotency } = options
    const note = idempotency?.note ?? null
    const isAlone = creationAlone(writes, options) !== null
    let undone: WritesResult | null = null
    try {
      return await database.write((): WritesResult => {
        const kept = idempotency === null ? null : keptOf(database, idempotency)
        if (kept !== null) return { ...kept, replayed: true }
        const outcomes: WriteOutcome[] = []
        for (const write of writes) {
          const outcome = makeWrite(users, write)
          outcomes.push(outcome)
          if (!atomic || outcome.code === 'done') continue
          undone = { outcomes, note, replayed: false }
          throw new StorageError('fault', 'the writes are undone')
        }
        // A creation that was refused may succeed later.
        const isKept = !isAlone || outcomes.every(({ code }) => code === 'done')
        if (idempotency !== null && isKept) keep(idempotency, outcomes, isAlone)
        return { outcomes, note, replayed: false }
      })
    } catch (error) {
      if (undone === null) throw error
      return undone
    }
  }
}
