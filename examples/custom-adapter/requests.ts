import { type Idempotency, requireSameRequest, type WriteOutcome } from 'fastify-users/storage'
import type { LmdbDatabase, RequestEntry } from './database.ts'

/** What is kept under an idempotency key; null: nothing, or it has expired. */
export function keptOf ({ requests }: LmdbDatabase, idempotency: Idempotency): RequestEntry['kept'] | null {
  const known = requests.get(idempotency.key)
  if (known === undefined || known.expiresAt <= idempotency.now) return null
  requireSameRequest(known.fingerprint, idempotency)
  return known.kept
}

/** Takes a deleted user out of what is kept under a key, which may be another request's by now. */
export function forget ({ requests }: LmdbDatabase, key: string, userId: string): void {
  const known = requests.get(key)
  if (known === undefined) return
  const { kept } = known
  const isOf = (outcome: WriteOutcome) => outcome.code === 'done' && outcome.user?.id === userId
  if (!kept.outcomes.some(isOf)) return
  if (known.goesWithUser) {
    requests.removeSync(key)
    return
  }
  const outcomes = kept.outcomes.map((outcome) => isOf(outcome) ? { ...outcome, user: null } : outcome)
  requests.putSync(key, { ...known, kept: { ...kept, outcomes } })
}
