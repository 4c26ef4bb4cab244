import type { Actor, DeletedUser, PutAway, TrashRequest, UserRecord, UserWrite } from '../../lib/storage/storage.ts'
import { everything } from './batch-values.ts'
import { type KitStorage, trashOf } from './kit-storage.ts'
import { addUsers, anyVersion, idOf, timeOf } from './values.ts'

/** Whoever deletes users in the duties. */
export const DESK: Actor = { type: 'api_key', id: idOf('key', 7), name: 'Desk' }

/** A deletion at the nth moment. */
export const putAwayAt = (n: number, deletedBy: Actor | null = null): PutAway => ({ deletedAt: timeOf(n), deletedBy })

/** The user as the trash gives it. */
export const awayOf = (user: UserRecord, n: number, deletedBy: Actor | null = null): DeletedUser =>
  ({ user, ...putAwayAt(n, deletedBy) })

/** Puts the nth user away at a moment. */
export function putAway (storage: KitStorage, n: number, at: number): Promise<UserRecord | null> {
  return storage.putAwayUser(idOf('usr', n), anyVersion, putAwayAt(at))
}

/** Gives back the nth user at a moment. */
export function restore (storage: KitStorage, n: number, at: number): Promise<UserRecord | null> {
  return storage.restoreUser(idOf('usr', n), timeOf(at), anyVersion)
}

/** Adds users, and puts each away at the moment of its number and 100. */
export async function addAway (storage: KitStorage, ...numbers: number[]): Promise<UserRecord[]> {
  const users = await addUsers(storage, ...numbers)
  for (const n of numbers) await putAway(storage, n, 100 + n)
  return users
}

/** The ids of those that are put away, as they are listed, and the total. */
export async function listedAway (
  storage: KitStorage,
  request: TrashRequest = { offset: 0, limit: 50 }
): Promise<{ ids: string[], total: number }> {
  const { items, total } = await trashOf(storage).list(request)
  return { ids: items.map(({ user: { id } }) => id), total }
}

type WriteOf<Type extends UserWrite['type']> = UserWrite & { type: Type }

/** The writes of the trash, for duties that need their outcomes as they are. */
export const trashWrites = {
  putAway: (n: number, at: number): WriteOf<'delete'> =>
    ({ type: 'delete', id: idOf('usr', n), guard: anyVersion, event: null, erase: false, putAway: putAwayAt(at) }),
  restore: (n: number, at: number): WriteOf<'restore'> =>
    ({ type: 'restore', id: idOf('usr', n), updatedAt: timeOf(at), guard: anyVersion, event: null }),
  purge: (n: number, putAwayBefore: string | null = null): WriteOf<'purge'> =>
    ({ type: 'purge', id: idOf('usr', n), putAwayBefore, guard: anyVersion, event: null, erase: false })
}

/** The users, and those that are put away. */
export async function usersAndAway (storage: KitStorage): Promise<unknown> {
  return [await everything(storage), await trashOf(storage).list({ offset: 0, limit: 50 })]
}
