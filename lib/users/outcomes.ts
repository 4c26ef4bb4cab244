import { UsersError } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Idempotency, Json, Storage, UserRecord, UserWrite, WriteOutcome } from '../storage/storage.ts'

/** Why a write was not done. */
export type Refusal = Exclude<WriteOutcome, { code: 'done' }>

/** The error that answers a refused write. `refused`: makes that of `ChangesOf`. */
export function errorOfRefusal (
  outcome: Refusal,
  refused: (reason: Json) => UsersError = unasked
): UsersError {
  switch (outcome.code) {
    case 'not_found': return new UsersError('user_not_found')
    case 'version_mismatch': return new UsersError('precondition_failed')
    case 'email_taken': return new UsersError('email_taken', taken('email'))
    case 'field_taken': return new UsersError('field_taken', taken(outcome.field))
    case 'refused': return refused(outcome.reason)
  }
}

const unasked = (): UsersError =>
  new UsersError('internal', { cause: new Error('the storage refused what only a function of ours refuses') })

function taken (member: string): { errors: Fault[] } {
  return { errors: [{ pointer: `/${member}`, code: 'taken', detail: 'must be unique' }] }
}

/** Makes one write, and gives its outcome. @throws UsersError for what the storage throws */
export async function writeAlone (
  storage: Storage,
  write: UserWrite,
  idempotency: Idempotency | null = null
): Promise<{ outcome: WriteOutcome, replayed: boolean }> {
  const { outcomes: [outcome], replayed } =
    await fromStorage(() => storage.writeUsers([write], { atomic: false, idempotency }))
  if (outcome === undefined) throw new UsersError('internal', { cause: new Error('a write has no outcome') })
  return { outcome, replayed }
}

/** The user after a write. @throws UsersError for an outcome that is not `done` */
export function doneOf (outcome: WriteOutcome): { user: UserRecord, changed: boolean } {
  if (outcome.code !== 'done') throw errorOfRefusal(outcome)
  const { user, changed } = outcome
  if (user === null) throw new UsersError('internal', { cause: new Error('a write has no user') })
  return { user, changed }
}
