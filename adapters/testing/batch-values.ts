import assert from 'node:assert/strict'
import type {
  BatchOptions, BatchResult, ChangesOf, NewEvent, Storage, UserChanges, UserRecord, UserWrite, VersionGuard
} from '../../lib/storage/storage.ts'
import { anyVersion, everyone, idempotencyOf, idOf, keysOf, timeOf, userOf } from './values.ts'

/** Options of a batch: each write for itself, without an idempotency key. */
export const SINGLE: BatchOptions = { atomic: false, idempotency: null }

export const ATOMIC: BatchOptions = { atomic: true, idempotency: null }

/** Of a batch whose updates all have their changes. */
const unasked: ChangesOf = () => assert.fail('writeBatch asks for the changes of a write that has them')

/** The batch of a store that says that it has them. */
export function writeBatch (
  storage: Storage,
  writes: readonly UserWrite[],
  options: BatchOptions = SINGLE,
  changesOf: ChangesOf = unasked
): Promise<BatchResult> {
  assert.ok(storage.writeBatch !== undefined, 'the store says supports.batches, so it needs `writeBatch`')
  return storage.writeBatch(writes, options, changesOf)
}

export function creation (user: UserRecord, event: NewEvent | null = null): UserWrite {
  return { type: 'create', user, keys: keysOf(user), event }
}

/** The update of the nth user. `null`: its changes are asked for. */
export function update (
  n: number,
  changes: UserChanges | null,
  { guard = anyVersion, event = null }: { guard?: VersionGuard, event?: NewEvent | null } = {}
): UserWrite {
  return { type: 'update', id: idOf('usr', n), changes, updatedAt: timeOf(900), guard, event }
}

export function deletion (
  n: number,
  { guard = anyVersion, event = null }: { guard?: VersionGuard, event?: NewEvent | null } = {}
): UserWrite {
  return { type: 'delete', id: idOf('usr', n), guard, event }
}

export const done = (user: UserRecord | null, changed = true) => ({ code: 'done', changed, user })

/** All users, in the order of their ids. */
export async function allUsers (storage: Storage): Promise<UserRecord[]> {
  return (await storage.listUsers(everyone, { order: 'asc', limit: 1000, from: { offset: 0 } })).items
}

/** The nth user after an update of the batch. */
export const after = (n: number, members: Partial<UserRecord>): UserRecord =>
  userOf(n, { version: 2, updatedAt: timeOf(900), ...members })

/** Options of a batch with the nth idempotency key. */
export function keyed (n: number, members: Partial<NonNullable<BatchOptions['idempotency']>> = {}): BatchOptions {
  return { atomic: false, idempotency: { ...idempotencyOf(n), note: null, ...members } }
}

/** The users, and by which addresses they are found. */
export async function everything (storage: Storage): Promise<unknown> {
  const users = await allUsers(storage)
  const holders = await Promise.all(['user1', 'user2', 'user3', 'next', 'user9'].map(async (name) => {
    const filter = { ...everyone, emailKey: `${name}@example.org` }
    const { items } = await storage.listUsers(filter, { order: 'asc', limit: 9, from: { offset: 0 } })
    return items.map(({ id }) => id)
  }))
  return { users, holders }
}
