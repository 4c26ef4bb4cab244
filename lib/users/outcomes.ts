import { UsersError } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { Idempotency, Json, Storage, UserRecord, UserWrite, WriteOutcome } from '../storage/storage.ts'

/** The error that answers a write with this outcome; null: it was done. `refused`: makes that of `ChangesOf`. */
export function errorOfOutcome (
  outcome: WriteOutcome,
  refused: (reason: Json) => UsersError = unasked
): UsersError | null {
  switch (outcome.code) {
    case 'done': return null
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

/** What a write that was done has left. */
export interface Written {
  user: UserRecord
  changed: boolean
  /** It is the result of an earlier call with the idempotency key. */
  replayed: boolean
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

/** Makes one write. @throws UsersError for an outcome that is not `done` */
export async function write (
  storage: Storage,
  asked: UserWrite,
  idempotency: Idempotency | null = null
): Promise<Written> {
  const { outcome, replayed } = await writeAlone(storage, asked, idempotency)
  if (outcome.code === 'done' && outcome.user !== null) {
    return { user: outcome.user, changed: outcome.changed, replayed }
  }
  throw errorOfOutcome(outcome) ?? new UsersError('internal', { cause: new Error('a write has no user') })
}
