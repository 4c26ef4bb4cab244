import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import type {
  Page, PageRequest, Storage, UserFilter, UserPageRequest, UserRecord, UserSort
} from '../../../lib/storage/storage.ts'
import { everyone } from '../values.ts'
import { plainList, plainWalk } from './plain.ts'
import type { UserRow } from './put.ts'

export const ORDERS = ['asc', 'desc'] as const

export const idsIn = (users: readonly UserRecord[]): string[] => users.map(({ id }) => id)

/** Everybody that a walk gives. */
export async function walked (
  storage: Storage, filter: Partial<UserFilter> = {}, order: PageRequest['order'] = 'asc', sort?: UserSort
): Promise<UserRecord[]> {
  const users: UserRecord[] = []
  await storage.users.walk({ ...everyone, ...filter }, order, async (part) => { users.push(...part) }, sort)
  return users
}

/** A user for comparison: of its fields the text, which has the order of members. */
const comparable = (user: UserRecord) => ({ ...user, fields: JSON.stringify(user.fields) })

/** Requires that a value is the expected one. The message has what was asked, and the difference. */
export function requireSame (actual: unknown, expected: unknown, asked: unknown): void {
  try {
    assert.deepEqual(actual, expected)
  } catch (error) {
    const given = inspect(asked, { depth: null, maxStringLength: 80 })
    if (error instanceof Error) error.message = `${given}: ${error.message}`
    throw error
  }
}

/** Requires that users are the expected ones, as they were put. */
export function requireUsers (users: readonly UserRecord[], expected: readonly UserRecord[], asked: unknown): void {
  // The ids first: they say more of a list than whole users do.
  requireSame(idsIn(users), idsIn(expected), asked)
  requireSame(users.map(comparable), expected.map(comparable), asked)
}

/** Requires that a page is as plain JavaScript makes it of all users. */
export async function requirePage (
  storage: Storage, rows: readonly UserRow[], filter: Partial<UserFilter>, page: UserPageRequest
): Promise<Page<UserRecord>> {
  const whole = { ...everyone, ...filter }
  const given = await storage.users.list(whole, page)
  const expected = plainList(rows, whole, page)
  requireUsers(given.items, expected.items, { filter, page })
  requireSame(given.total, expected.total, { totalOf: filter, page })
  return given
}

/** Requires that a list and a walk of all that match are as plain JavaScript makes them; gives the ids, ascending. */
export async function requireFound (
  storage: Storage, rows: readonly UserRow[], filter: Partial<UserFilter> = {}, sort?: UserSort
): Promise<string[]> {
  for (const order of ORDERS) {
    const page = { order, limit: 5000, from: { offset: 0 } }
    await requirePage(storage, rows, filter, sort === undefined ? page : { ...page, sort })
    const expected = plainWalk(rows, { ...everyone, ...filter }, order, sort).map(({ record }) => record)
    requireUsers(await walked(storage, filter, order, sort), expected, { walk: filter, order, sort })
  }
  return plainWalk(rows, { ...everyone, ...filter }, 'asc', sort).map(({ record: { id } }) => id)
}
