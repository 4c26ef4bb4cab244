import { UsersError, validationFailed } from '../core/errors.ts'
import type { UserChanges, UserRecord } from '../storage/storage.ts'
import type { HostFields } from '../fields/host-fields.ts'
import { errorOfRefusal } from '../users/outcomes.ts'
import { keysOfRow, type UniqueKey } from './import-keys.ts'
import type { ImportRow } from './import-row.ts'
import type { OnConflict } from './import-settings.ts'

/** How rows are judged. */
export interface ImportRules {
  onConflict: OnConflict
  /** The key by which a row's user is found: `email`, `id` or a unique field. */
  by: string
  /**
   * False for a key that is bound to a tenant: every id is unique, so a refusal would tell that another tenant has it,
   * and a user with the id of one who is deleted would meet its history.
   */
  choosesIds: boolean
}

/** Finds the user who holds a key. */
export type FindHolder = (key: UniqueKey) => Promise<UserRecord | null>

/** Finds a user who is put away under an id, and why nobody else can have it then; null: nobody is. */
export type FindAway = (id: string) => Promise<UsersError | null>

/** True if a user is a member of a group. */
export type IsIn = (group: string, user: string) => Promise<boolean>

/** What to do with a row. */
export type Verdict =
  | { status: 'created' }
  | { status: 'updated', target: UserRecord, changes: UserChanges, updatedAt: string }
  | { status: 'skipped', id: string }
  /** `isBlocked`: another user holds one of the row's keys, and may be about to lose it. */
  | { status: 'refused', error: UsersError, isBlocked: boolean }

function taken ({ name }: UniqueKey): UsersError {
  return errorOfRefusal(name === 'email' ? { code: 'email_taken' } : { code: 'field_taken', field: name })
}

function refused (error: UsersError, isBlocked = false): Verdict {
  return { status: 'refused', error, isBlocked }
}

const OTHER_ID = validationFailed([
  { pointer: '/id', code: 'mismatch', detail: 'must be the id of the user that is updated' }
])

const NO_OWN_ID = validationFailed([{
  pointer: '/id',
  code: 'unknown',
  detail: 'must be the id of a user of the tenant: a key of a tenant cannot choose the ids of new users'
}])

const OTHER_TENANT = validationFailed([
  { pointer: '/tenant', code: 'mismatch', detail: 'must be the tenant of the user that is updated' }
])

/** Builds the update for a row: the members that were sent and that differ from the stored user. */
async function updateOf (
  row: ImportRow, target: UserRecord, hostFields: HostFields | null, isIn: IsIn
): Promise<Verdict> {
  const changes: UserChanges = {}
  if (row.name.value !== target.name) changes.name = row.name
  if (row.email.value !== target.email) changes.email = row.email
  for (const [name, value] of Object.entries(row.sent)) {
    if (value !== Reflect.get(target, name)) Reflect.set(changes, name, value)
  }
  const sent = Object.fromEntries(row.given.map((name) => [name, row.fields[name] ?? null]))
  if (hostFields !== null && row.given.length > 0) {
    const merged = hostFields.replaced(target.fields, sent)
    if ('faults' in merged) return refused(validationFailed(merged.faults))
    if (JSON.stringify(merged.fields) !== JSON.stringify(target.fields)) changes.fields = merged.fields
  }
  const isMember = await Promise.all(row.joins.map((group) => isIn(group, target.id)))
  if (Object.keys(changes).length === 0 && isMember.every(Boolean)) return { status: 'skipped', id: target.id }
  const { updatedAt } = row
  const isLater = updatedAt !== null && updatedAt > target.updatedAt
  return { status: 'updated', target, changes, updatedAt: isLater ? updatedAt : new Date().toISOString() }
}

/** Returns a function that judges a row by who holds its keys. Of several reasons for refusal, the first one counts. */
export function createJudge (
  { onConflict, by, choosesIds }: ImportRules,
  fields: HostFields | null,
  { find, findAway, isIn }: { find: FindHolder, findAway: FindAway, isIn: IsIn }
) {
  const unique = fields?.schema.unique ?? []
  return async (row: ImportRow): Promise<Verdict> => {
    const keys = keysOfRow(row, unique)
    const own = keys.find(({ name }) => name === by)
    const target = own === undefined ? null : await find(own)
    if (own !== undefined && target !== null && onConflict === 'fail') return refused(taken(own))
    if (target !== null && onConflict === 'skip') return { status: 'skipped', id: target.id }
    if (target !== null && row.id !== null && row.id !== target.id) return refused(OTHER_ID)
    if (target !== null && row.tenant !== undefined && row.tenant !== target.tenant) return refused(OTHER_TENANT)
    if (row.id !== null && !choosesIds && await find({ name: 'id', value: row.id }) === null) return refused(NO_OWN_ID)
    const others = keys.filter((key) => key !== own)
    const holders = await Promise.all(others.map(find))
    const blocked = others.find((_key, i) => {
      const holder = holders[i] ?? null
      return holder !== null && holder.id !== target?.id
    })
    if (blocked !== undefined) return refused(taken(blocked), true)
    if (target !== null) return updateOf(row, target, fields, isIn)
    const away = row.id === null ? null : await findAway(row.id)
    return away === null ? { status: 'created' } : refused(away)
  }
}

export type Judge = ReturnType<typeof createJudge>
