import { StorageError } from '../../../lib/core/storage-error.ts'
import type { Creation, Idempotency, Storage } from '../../../lib/core/storage.ts'
import { otherCalls, type State } from './state.ts'
import { stored } from './user-records.ts'
import { addressTaken, holderOf, userWithId } from './users.ts'

type CreationStore = Pick<Storage, 'createUser' | 'pruneIdempotency'>

/** The outcome of a repetition; undefined for a new idempotency key. */
function repetition (state: State, idempotency: Idempotency): Creation | undefined {
  const { is } = state
  const ignoresCase = is('the idempotency key is compared in any case')
  const isSameKey = (a: string, b: string) => a === b || (ignoresCase && a.toLowerCase() === b.toLowerCase())
  const isValid = (expiresAt: string) => expiresAt > idempotency.now || is('the idempotency key never expires')
  const record = state.idempotencyRecords.find(
    ({ key, expiresAt }) => isSameKey(key, idempotency.key) && isValid(expiresAt)
  )
  if (record === undefined) return undefined
  if (record.fingerprint !== idempotency.fingerprint && !is('the fingerprint is not compared')) {
    throw new StorageError('idempotency_key_reused', 'another request')
  }
  const current = is('a repetition returns the current user') ? userWithId(state, record.user.id)?.user : undefined
  const user = { ...(current ?? record.user), ...(is('a repetition has no fields') && { fields: {} }) }
  return { user, replayed: !is('a repetition is reported as a creation') }
}

/** Creations of a broken store. */
export function brokenCreations (state: State): CreationStore {
  const { is } = state

  return {
    async createUser (user, keys, idempotency) {
      const before = idempotency === null ? undefined : repetition(state, idempotency)
      if (before !== undefined) return before
      const { emailKey, nameKey } = keys
      if (idempotency !== null) {
        if (is('the idempotency key is checked before an await')) await otherCalls()
        state.idempotencyRecords = state.idempotencyRecords.filter(({ key }) => key !== idempotency.key)
        if (is('the idempotency key stays without its user')) {
          state.idempotencyRecords.push({ ...idempotency, user: { ...user } })
        }
      }
      const isTaken = holderOf(state, emailKey) !== undefined || state.formerEmailKeys.has(emailKey)
      if (is('the address is checked before an await', 'the idempotency key is checked before an await')) {
        await otherCalls()
      }
      if (isTaken && !is('no unique check on create')) {
        if (is('a refusal is answered as a success')) return { user: { ...user }, replayed: false }
        throw addressTaken()
      }
      if (is('names are unique') && state.users.some(({ keys }) => keys.nameKey === nameKey)) {
        throw new StorageError('fault', 'another user has the name')
      }
      if (userWithId(state, user.id) !== undefined && !is('a taken id overwrites')) {
        if (is('a taken id is reported as unavailable')) throw new StorageError('unavailable', 'conflict')
        if (is('a taken id counts as a taken address')) throw addressTaken()
        throw new StorageError('fault', 'another user has the id')
      }
      state.users = state.users.filter(({ user: { id } }) => id !== user.id)
      state.users.push({
        user: stored(is, user),
        first: { ...user },
        keys: { ...keys },
        deleted: false,
        changed: state.writes++,
        indexed: state.filterable.size > 0
      })
      if (idempotency !== null && !is('the idempotency key stays without its user')) {
        state.idempotencyRecords.push({ ...idempotency, user: { ...user } })
      }
      return { user: structuredClone(user), replayed: false }
    },

    async pruneIdempotency (now) {
      const left = state.idempotencyRecords.filter(({ expiresAt }) => expiresAt > now)
      state.idempotencyRecords = is('pruning deletes every key') ? [] : left
    }
  }
}
