import { type ListedPage, readPage } from '../core/paging.ts'
import type { OnUsers, Page, UserPageRequest, UserPlace, UserRecord, UserSort } from '../storage/storage.ts'
import { LISTED_MAX } from './list-filters.ts'
import { cursorOf, placeOf } from './list-order.ts'
import type { CheckedListQuery, CheckedWalkQuery } from './list-query.ts'

type ReadUsers = (page: UserPageRequest) => Promise<Page<UserRecord>>

/** Users in the order in which their ids were asked for. */
function inOrderOf (asked: readonly string[], users: readonly UserRecord[]): UserRecord[] {
  const found = new Map(users.map((user) => [user.id, user]))
  return asked.flatMap((id) => found.get(id) ?? [])
}

/** Everybody of those who were asked for by their ids, of whom there are few. */
async function readAsked (asked: readonly string[], read: ReadUsers): Promise<UserRecord[]> {
  return inOrderOf(asked, (await read({ order: 'asc', limit: LISTED_MAX, from: { offset: 0 } })).items)
}

const nextOf = ({ name, list }: CheckedListQuery, place: UserPlace): string => cursorOf({ name, list: list() }, place)

async function readSorted (
  query: CheckedListQuery, sort: UserSort, read: ReadUsers
): Promise<ListedPage<UserRecord>> {
  const { limit, order, start } = query
  const offset = 'page' in start ? (start.page - 1) * limit : 0
  const from = 'place' in start ? { behind: start.place } : { offset }
  // One more than asked for shows whether more follow.
  const { items: found, total } = await read({ sort, order, limit: limit + 1, from })
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const more = found.length > limit
  const next = more && last !== undefined ? { next: nextOf(query, placeOf(last, sort)) } : {}
  return { items, total, query, more, ...next }
}

/** From the newest: a walk continues behind the last user, so that those who come meanwhile shift no page. */
async function readNewest (query: CheckedListQuery, read: ReadUsers): Promise<ListedPage<UserRecord>> {
  const { limit, order, start } = query
  const from = 'place' in start ? { after: start.place.id } : start
  const page = await readPage({ limit, order, start: from }, read)
  const last = page.items.at(-1)
  if (!page.more || last === undefined || 'after' in start) return { ...page, query }
  return { ...page, query, next: nextOf(query, { value: null, id: last.id }) }
}

/** Reads the page of a list of users. */
export async function readUserPage (query: CheckedListQuery, read: ReadUsers): Promise<ListedPage<UserRecord>> {
  const { limit, order, start, sort, asked } = query
  if (sort !== undefined) return readSorted(query, sort, read)
  if (order === 'desc') return readNewest(query, read)
  // From the oldest, a list has no cursor.
  const from = 'place' in start ? { page: 1 } : start
  if (asked === null) return readPage({ limit, order, start: from }, read)
  const users = await readAsked(asked, read)
  const begin = 'page' in from ? (from.page - 1) * limit : 0
  const end = begin + limit
  const { length: total } = users
  return { items: users.slice(begin, end), total, query: { limit, start: from }, more: end < total }
}

/** Reads everybody, a page at a time. */
export async function * walkUsers (
  { order, sort, asked }: CheckedWalkQuery, limit: number, read: ReadUsers
): AsyncGenerator<UserRecord, void, undefined> {
  if (asked !== null) {
    yield * await readAsked(asked, read)
    return
  }
  const behind = (last: UserRecord): UserPageRequest => sort === undefined
    ? { order, limit, from: { after: last.id } }
    : { order, limit, sort, from: { behind: placeOf(last, sort) } }
  const first = { order, limit, from: { offset: 0 } }
  let page: UserPageRequest = sort === undefined ? first : { ...first, sort }
  while (true) {
    const { items }: Page<UserRecord> = await read(page)
    yield * items
    const last: UserRecord | undefined = items.at(-1)
    if (last === undefined || items.length < limit) return
    page = behind(last)
  }
}

/** Gives parts in the order in which ids were asked for: those are so few that they are one part. */
export function asAsked ({ asked }: CheckedWalkQuery, onPart: OnUsers): OnUsers {
  return asked === null ? onPart : (users) => onPart(inOrderOf(asked, users))
}
