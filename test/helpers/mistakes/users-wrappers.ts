import type {
  Page, Row, Storage, UserFilter, UserPageRequest, UserReads, UserRecord
} from '../../../lib/storage/storage.ts'
import { type Mistake, store, writes } from './wrappers.ts'

type Walk = Parameters<UserReads['walk']>
type UserRow = Row<'users'>

/** A mistake in methods that read users. */
export const reads = (
  failed: string, name: string, wrong: (right: UserReads, storage: Storage) => Partial<UserReads>
): Mistake => store(failed, name, (storage) => ({ users: { ...storage.users, ...wrong(storage.users, storage) } }))

/** A mistake in lists. */
export const lists = (
  failed: string,
  name: string,
  wrong: (list: UserReads['list'], filter: UserFilter, page: UserPageRequest) => Promise<Page<UserRecord>>
): Mistake => reads(failed, name, ({ list }) => ({ list: (filter, page) => wrong(list, filter, page) }))

/** A mistake in the page that is asked for. */
export const pages = (failed: string, name: string, change: (page: UserPageRequest) => UserPageRequest): Mistake =>
  lists(failed, name, (list, filter, page) => list(filter, change(page)))

/** A mistake in totals. */
export const totals = (
  failed: string,
  name: string,
  wrong: (
    given: Page<UserRecord>, list: UserReads['list'], filter: UserFilter, page: UserPageRequest
  ) => number | Promise<number>
): Mistake => lists(failed, name, async (list, filter, page) => {
  const given = await list(filter, page)
  return { ...given, total: await wrong(given, list, filter, page) }
})

/** A mistake in what a filter asks for, of lists and walks. */
export const asks = (failed: string, name: string, change: (filter: UserFilter) => UserFilter): Mistake =>
  reads(failed, name, ({ list, walk }) => ({
    list: (filter, page) => list(change(filter), page),
    walk: (filter, ...others) => walk(change(filter), ...others)
  }))

/** All pages by offset or id, cut of the whole list. */
function cut (all: readonly UserRecord[], { order, limit, from }: UserPageRequest): Page<UserRecord> {
  const rest = 'after' in from
    ? all.filter(({ id }) => order === 'asc' ? id > from.after : id < from.after)
    : all.slice('offset' in from ? from.offset : 0)
  return { items: rest.slice(0, limit), total: all.length }
}

/** A mistake in which users match, or in their order. Pages behind a place stay right. */
export function arranges (
  failed: string,
  name: string,
  wrong: (all: UserRecord[], page: UserPageRequest, filter: UserFilter) => UserRecord[],
  wider: (filter: UserFilter) => UserFilter = (filter) => filter
): Mistake {
  return lists(failed, name, async (list, filter, page) => {
    if ('behind' in page.from) return list(filter, page)
    const { items } = await list(wider(filter), { ...page, limit: 10_000, from: { offset: 0 } })
    return cut(wrong(items, page, filter), page)
  })
}

/** A mistake in how fields are compared with a filter. */
export function compares (
  failed: string, name: string, same: (stored: unknown, wanted: string | number | boolean) => boolean
): Mistake {
  return arranges(failed, name, (all, _page, { fields }) => all.filter((user) =>
    Object.entries(fields).every(([field, wanted]) => {
      const stored = Object.hasOwn(user.fields, field) ? user.fields[field] : undefined
      return stored === wanted || same(stored, wanted)
    })), (filter) => ({ ...filter, fields: {} }))
}

/** A mistake in walks. */
export const walks = (
  failed: string, name: string, wrong: (walk: UserReads['walk'], ...given: Walk) => Promise<void>
): Mistake => reads(failed, name, ({ walk }) => ({ walk: (...given) => wrong(walk, ...given) }))

/** A mistake in the rows of users that are put. `was`: the row before. */
export const puts = (failed: string, name: string, change: (put: UserRow, was: UserRow | null) => UserRow): Mistake =>
  writes(failed, name, (write) => write.in === 'users' && write.put !== null
    ? { ...write, put: change(write.put, write.was) }
    : write)

/** A mistake in what is kept of users. */
export const keeps = (failed: string, name: string, change: (user: UserRecord) => UserRecord): Mistake =>
  puts(failed, name, (row) => ({ ...row, record: change(row.record) }))
