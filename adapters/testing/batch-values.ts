import assert from 'node:assert/strict'
import type {
  ChangesOf, Idempotency, NewEvent, UserChanges, UserRecord, UserWrite, VersionGuard, WritesOptions, WritesResult
} from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { anyVersion, everyone, idempotencyOf, idOf, keysOf, timeOf, userOf } from './values.ts'

/** Makes the changes of the write at this index of a batch, of the user that it meets. */
type AskedChanges = (index: number, user: UserRecord) => ReturnType<ChangesOf>

/** A write of a batch. An update may have changes that are asked for: `null`. */
export type BatchWrite = UserWrite | Omit<UserWrite & { type: 'update' }, 'changes'> & { changes: null }

/** Options of a batch: each write for itself, without an idempotency key. */
export const SINGLE: WritesOptions = { atomic: false, idempotency: null }

export const ATOMIC: WritesOptions = { atomic: true, idempotency: null }

/** Of a batch whose updates all have their changes. */
const unasked: AskedChanges = () => assert.fail('writeBatch asks for the changes of a write that has them')

/** Makes writes together; `changesOf` gives the changes that are asked for. */
export function writeBatch (
  storage: KitStorage,
  writes: readonly BatchWrite[],
  options: WritesOptions = SINGLE,
  changesOf: AskedChanges = unasked
): Promise<WritesResult> {
  return storage.writeUsers(writes.map((write, index): UserWrite => {
    if (write.type !== 'update') return write
    return { ...write, changes: write.changes ?? ((user) => changesOf(index, user)) }
  }), options)
}

export function creation (user: UserRecord, event: NewEvent | null = null): UserWrite {
  return { type: 'create', user, keys: keysOf(user), event }
}

/** The update of the nth user. `null`: its changes are asked for. */
export function update (
  n: number,
  changes: UserChanges | null,
  { guard = anyVersion, event = null }: { guard?: VersionGuard, event?: NewEvent | null } = {}
): BatchWrite {
  return { type: 'update', id: idOf('usr', n), changes, updatedAt: timeOf(900), guard, event }
}

export function deletion (
  n: number,
  { guard = anyVersion, event = null }: { guard?: VersionGuard, event?: NewEvent | null } = {}
): UserWrite {
  return { type: 'delete', id: idOf('usr', n), guard, event, erase: false }
}

export const done = (user: UserRecord | null, changed = true) => ({ code: 'done', changed, user })

/** All users, in the order of their ids. */
export async function allUsers (storage: KitStorage): Promise<UserRecord[]> {
  return (await storage.listUsers(everyone, { order: 'asc', limit: 1000, from: { offset: 0 } })).items
}

/** The nth user after an update of the batch. */
export const after = (n: number, members: Partial<UserRecord>): UserRecord =>
  userOf(n, { version: 2, updatedAt: timeOf(900), ...members })

/** Options of a batch with the nth idempotency key. */
export function keyed (n: number, members: Partial<Idempotency> = {}): WritesOptions {
  return { atomic: false, idempotency: { ...idempotencyOf(n), ...members } }
}

/** The users, and by which addresses they are found. */
export async function everything (storage: KitStorage): Promise<unknown> {
  const users = await allUsers(storage)
  const holders = await Promise.all(['user1', 'user2', 'user3', 'next', 'user9'].map(async (name) => {
    const filter = { ...everyone, emailKey: `${name}@example.org` }
    const { items } = await storage.listUsers(filter, { order: 'asc', limit: 9, from: { offset: 0 } })
    return items.map(({ id }) => id)
  }))
  return { users, holders }
}
