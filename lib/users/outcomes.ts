import type { Call, Context } from '../core/context.ts'
import { UsersError } from '../core/errors.ts'
import type { Fault } from '../core/fault.ts'
import { secondId } from '../core/ids.ts'
import type { UserEventType } from './rules.ts'
import type { Repository } from '../storage/repository.ts'
import { fromStorage } from '../storage/storage-errors.ts'
import type { GroupChange, Idempotency, Json, NewEvent, UserRecord } from '../storage/storage.ts'
import type { ChangeType, UserWrite, WordsOf, WriteOutcome, WriteScope } from '../storage/user-writes.ts'

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

/**
 * Makes one write, and gives its outcome. One that is refused keeps no idempotency key, because it may succeed later.
 * @throws UsersError for what the storage throws
 */
export async function writeAlone (
  { users }: Pick<Repository, 'users'>,
  write: UserWrite,
  scope: WriteScope,
  idempotency: Idempotency | null = null
): Promise<{ outcome: WriteOutcome, replayed: boolean }> {
  if (idempotency === null) {
    return { outcome: await fromStorage(() => users.writeOne(write, scope)), replayed: false }
  }
  const { outcomes: [outcome], replayed } =
    await fromStorage(() => users.write([write], { ...scope, atomic: true, idempotency }))
  if (outcome === undefined) throw new UsersError('internal', { cause: new Error('a write has no outcome') })
  return { outcome, replayed }
}

/** Publishes a change, with the user after it. */
export type PublishUser =
  (type: UserEventType, user: UserRecord, context: Context, recorded: NewEvent | null) => void

/** Publishes what a write of users has changed of groups. */
export type PublishGroups = (changes: readonly GroupChange[], context: Context) => void

/** What holds for all writes of a call. */
export type ScopeOf = (call: Pick<Call, 'tenant' | 'context'>) => WriteScope

/** Makes what gives that. `publishGroups`: null, if there are no groups. */
export const scopes = (wordsOf: WordsOf | undefined, publishGroups: PublishGroups | null): ScopeOf =>
  ({ tenant, context }) => ({
    tenant,
    wordsOf,
    ...(publishGroups !== null && { onGroups: (changes) => publishGroups(changes, context) })
  })

/** A type of event that is published, and what was recorded as it. */
type Published = readonly [type: ChangeType | UserEventType, recorded: NewEvent | null]

/** What is published of a write, whose usual type of event this is. */
export function publishedTypes (
  usual: UserEventType,
  types: readonly ChangeType[] | undefined,
  recorded: NewEvent | null
): Published[] {
  if (types === undefined) return [[usual, recorded]]
  // Of a purge the last event is the one that it was given; of an update the first one.
  const own = usual === 'user.purged' ? types.length - 1 : 0
  return types.map((type, i) => [type, recorded && i !== own ? { ...recorded, id: secondId(recorded.id) } : recorded])
}

/** The user after a write. @throws UsersError for an outcome that is not `done` */
export function doneOf (outcome: WriteOutcome): { user: UserRecord, changed: boolean, types?: ChangeType[] } {
  if (outcome.code !== 'done') throw errorOfRefusal(outcome)
  const { user, changed, types } = outcome
  // Only in a repetition: the user was deleted since.
  if (user === null) throw new UsersError('user_not_found')
  return { user, changed, ...(types !== undefined && { types }) }
}
