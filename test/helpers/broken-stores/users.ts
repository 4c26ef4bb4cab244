import { StorageError } from '../../../lib/core/storage-error.ts'
import type { Storage, UserChanges, UserRecord, VersionGuard } from '../../../lib/core/storage.ts'
import { sameFields, storedFields } from './fields.ts'
import type { Is } from './mistakes.ts'
import { type Entry, otherCalls, type State } from './state.ts'
import { returned } from './user-records.ts'

type UserStore = Pick<Storage, 'findUser' | 'updateUser' | 'deleteUser'>

export const addressTaken = (): StorageError => new StorageError('email_taken', 'another user has the e-mail key')

export function userWithId ({ users }: State, id: string): Entry | undefined {
  return users.find(({ user, deleted }) => user.id === id && !deleted)
}

export function holderOf ({ is, users }: State, emailKey: string): Entry | undefined {
  const counts = (deleted: boolean) => !deleted || is('a deleted address stays taken')
  return users.find(({ keys, deleted }) => keys.emailKey === emailKey && counts(deleted))
}

function requireVersion (is: Is, { ifVersion, unlessVersion }: VersionGuard, { version }: UserRecord): void {
  if (is('the version is not compared')) return
  const isEmpty = ifVersion?.length === 0
  const isAny = ifVersion === null || (is('an empty list of versions lets all pass') && isEmpty)
  const isAvoided = !is('versions to avoid are ignored') && unlessVersion.includes(version)
  if (isAvoided || (!isAny && !ifVersion.includes(version))) {
    throw new StorageError('version_mismatch', 'another version')
  }
}

/** True if every given value counts as stored already. */
function isStored (is: Is, { name, email, fields }: UserChanges, { user, keys }: Entry): boolean {
  const byNameKey = is('a name is compared by its key') && name?.key === keys.nameKey
  const hasName = name === undefined || name.value === user.name || byNameKey
  const hasEmail = email === undefined || email.value === user.email
  const ignoresFields = fields === undefined || is('a change of only fields is ignored')
  return hasName && hasEmail && (ignoresFields || sameFields(is, fields, user.fields))
}

/** Users of a broken store, without creations and lists. */
export function brokenUsers (state: State): UserStore {
  const { is } = state

  return {
    async findUser (id) {
      if (state.closings > 0 && is('a call after close throws a TypeError')) throw new TypeError('no connection')
      const entry = userWithId(state, id)
      if (entry === undefined) return is('an unknown user is undefined') ? Object(undefined)[''] : null
      return returned(is, entry.user)
    },

    async updateUser (id, changes, updatedAt, guard) {
      const entry = userWithId(state, id)
      if (entry === undefined) {
        if (is('an update of an unknown user throws')) throw new StorageError('fault', 'no such user')
        return null
      }
      const { name, email, fields } = changes
      const before = { ...entry.user }
      const isUnchanged = isStored(is, changes, entry)
      if (isUnchanged && is('stored values skip the guard')) return { user: returned(is, before), changed: false }
      requireVersion(is, guard, before)
      const waitsForFields = is('fields are read before an await') && fields !== undefined
      if (waitsForFields || is('the version is compared before an await', 'a user is read before an await')) {
        await otherCalls()
      }
      if (isUnchanged && !is('stored values count as a change')) return { user: returned(is, before), changed: false }
      const newFields = is('an update adds to the fields') ? { ...before.fields, ...fields } : fields
      const next: UserRecord = {
        ...before,
        name: name?.value ?? before.name,
        email: email?.value ?? before.email,
        version: before.version + 1,
        updatedAt,
        ...(newFields !== undefined && fields !== undefined && { fields: storedFields(is, newFields) })
      }
      if (is('values are written before the unique check')) entry.user = next
      const holder = email === undefined ? undefined : holderOf(state, email.key)
      const isOther = holder !== entry || is('a user’s own address counts as taken')
      if (is('a new address is checked before an await')) await otherCalls()
      if (!is('no unique check on update') && holder !== undefined && isOther) throw addressTaken()
      if (is('the old address stays taken') && email !== undefined && email.key !== entry.keys.emailKey) {
        state.formerEmailKeys.add(entry.keys.emailKey)
      }
      entry.user = {
        ...next,
        ...(is('an update trims') && { name: next.name.trim() }),
        ...(is('of name and address only the name is stored') && name !== undefined && { email: before.email })
      }
      entry.changed = state.writes++
      const nameKey = is('an update keeps the old name key') ? undefined : name?.key
      entry.keys = { nameKey: nameKey ?? entry.keys.nameKey, emailKey: email?.key ?? entry.keys.emailKey }
      return { user: is('an update returns the stored object') ? entry.user : returned(is, next), changed: true }
    },

    async deleteUser (id, guard) {
      const entry = userWithId(state, id)
      if (entry === undefined) return null
      if (!is('delete ignores the guard')) requireVersion(is, guard, entry.user)
      if (is('delete is checked before an await')) await otherCalls()
      entry.deleted = true
      if (!is('delete only marks', 'a deleted address stays taken')) {
        state.users = state.users.filter((each) => each !== entry)
      }
      if (!is('the idempotency key outlives its user')) {
        state.idempotencyRecords = state.idempotencyRecords.filter(({ user }) => user.id !== id)
      }
      return is('delete answers true') ? JSON.parse('true') : entry.user
    }
  }
}
