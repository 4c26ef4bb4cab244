import { sortKey, sortValue } from '../../../lib/storage/user-order.ts'
import type {
  OnUsers, SortedPageRequest, Storage, UserFilter, UserPageRequest, UserRange, UserRecord, UserSort,
  UserValue
} from '../../../lib/storage/storage.ts'
import { keysOf } from '../../../adapters/testing/values.ts'
import { ALL, leak } from './leaks.ts'
import type { Mistake } from './plant.ts'

/** A mistake in a filter, of pages and of what is read. */
function filterLeak (title: string, wrong: (filter: UserFilter) => UserFilter): Mistake {
  return leak(title, (right) => ({
    listUsers: (filter, page) => right.listUsers(wrong(filter), page),
    readUsers: (filter, order, onPart, sort) => right.readUsers(wrong(filter), order, onPart, sort)
  }))
}

function rangesLeak (title: string, wrong: (range: UserRange) => UserRange): Mistake {
  return filterLeak(title, ({ ranges, ...filter }) => ({ ...filter, ...(ranges && { ranges: ranges.map(wrong) }) }))
}

/** A mistake in lists of values; null: the list is lost. */
function anyOfLeak (title: string, wrong: (values: readonly UserValue[]) => readonly UserValue[] | null): Mistake {
  return filterLeak(title, ({ anyOf = {}, ...filter }) => {
    const lists = Object.entries(anyOf).flatMap(([name, values]) => {
      const list = wrong(values)
      return list === null ? [] : [[name, list] as const]
    })
    return { ...filter, anyOf: Object.fromEntries(lists) }
  })
}

/** A mistake in pages that have another order. */
function pageLeak (
  title: string,
  wrong: (right: Storage, filter: UserFilter, page: SortedPageRequest) => ReturnType<Storage['listUsers']>
): Mistake {
  return leak(title, (right) => ({
    listUsers: (filter: UserFilter, page: UserPageRequest) =>
      page.sort === undefined ? right.listUsers(filter, page) : wrong(right, filter, page)
  }))
}

/** A mistake in an order: pages by offset are parts of the whole list, which has it. */
function orderLeak (
  title: string, wrong: (users: UserRecord[], page: SortedPageRequest) => UserRecord[]
): Mistake {
  return pageLeak(title, async (right, filter, page) => {
    if (!('offset' in page.from)) return right.listUsers(filter, page)
    const { items, total } = await right.listUsers(filter, { ...page, limit: 10_000, from: { offset: 0 } })
    return { items: wrong(items, page).slice(page.from.offset).slice(0, page.limit), total }
  })
}

const valueOf = (user: UserRecord, sort: UserSort) => sortValue({ user, keys: keysOf(user) }, sort)
const textOf = (user: UserRecord, sort: UserSort): string => String(valueOf(user, sort))
const lacks = (user: UserRecord, sort: UserSort): boolean => valueOf(user, sort) === null

/** Sorts by what a user is given, where that differs, and leaves the rest as it is. */
function sortedBy (
  users: UserRecord[], { sort, order }: SortedPageRequest, of: (user: UserRecord, sort: UserSort) => string
): UserRecord[] {
  const sign = order === 'asc' ? 1 : -1
  return users.toSorted((a, b) => {
    if (lacks(a, sort) || lacks(b, sort)) return Number(lacks(a, sort)) - Number(lacks(b, sort))
    const [x, y] = [of(a, sort), of(b, sort)]
    return x === y ? 0 : x < y ? -sign : sign
  })
}

const estonian = new Intl.Collator('et')
type Read = [filter: UserFilter, order: 'asc' | 'desc', onPart: OnUsers, sort?: UserSort]

/** Stores with a mistake in an order, or in a filter by ranges, lists, existence or ids. */
export const orders: Mistake[] = [
  orderLeak('ties are always in the order of ids', (users, page) => {
    const byId = users.toSorted((a, b) => a.id < b.id ? -1 : 1)
    return sortedBy(byId, page, (user, sort) => sortKey(valueOf(user, sort) ?? ''))
  }),
  orderLeak('ties are broken by chance', (users, page) => sortedBy(
    users.toSorted(() => Math.random() - 0.5), page, (user, sort) => sortKey(valueOf(user, sort) ?? '')
  )),
  orderLeak('users without a value come first', (users, { sort }) => [
    ...users.filter((user) => lacks(user, sort)), ...users.filter((user) => !lacks(user, sort))
  ]),
  orderLeak('users without a value come first in the order desc', (users, { sort, order }) => order === 'asc'
    ? users
    : [...users.filter((user) => lacks(user, sort)), ...users.filter((user) => !lacks(user, sort))]),
  orderLeak('users without a value are in no page', (users, { sort }) => users.filter((user) => !lacks(user, sort))),
  orderLeak('values are ordered as texts', (users, page) => sortedBy(users, page, textOf)),
  orderLeak('texts are ordered by UTF-16', (users, page) => sortedBy(users, page, (user, sort) => {
    const value = valueOf(user, sort)
    return typeof value === 'string' ? `t${value}` : sortKey(value ?? '')
  })),
  orderLeak('names are ordered by an Estonian collation', (users, { sort, order }) => sort !== 'nameKey'
    ? users
    : users.toSorted((a, b) => (order === 'asc' ? 1 : -1) * estonian.compare(a.name, b.name))),
  orderLeak('names are ordered as they are written', (users, page) => page.sort !== 'nameKey'
    ? users
    : sortedBy(users, page, ({ name }) => name)),
  orderLeak('long texts are ordered by all of their characters', (users, page) =>
    sortedBy(users, page, (user, sort) => {
      if (typeof sort === 'string') return ''
      const value = user.fields[sort.field]
      return typeof value === 'string' ? sortKey(value) : sortKey(valueOf(user, sort) ?? '')
    })),
  orderLeak('the order of changes is that of creations', (users, page) => page.sort !== 'updatedAt'
    ? users
    : sortedBy(users, page, ({ createdAt }) => createdAt)),
  pageLeak('a place skips the user behind it', async (right, filter, page) => {
    if (!('behind' in page.from)) return right.listUsers(filter, page)
    const { items, total } = await right.listUsers(filter, { ...page, limit: page.limit + 1 })
    return { items: items.slice(1), total }
  }),
  pageLeak('a place has its own user too', async (right, filter, page) => {
    if (!('behind' in page.from)) return right.listUsers(filter, page)
    const own = await right.findUser(page.from.behind.id)
    const { items, total } = await right.listUsers(filter, page)
    return { items: own === null ? items : [own, ...items].slice(0, page.limit), total }
  }),
  pageLeak('a place skips those who have the same value', async (right, filter, page) => {
    if (!('behind' in page.from) || page.from.behind.value === null) return right.listUsers(filter, page)
    const { value } = page.from.behind
    const { items, total } = await right.listUsers(filter, { ...page, limit: 10_000 })
    return { items: items.filter((user) => valueOf(user, page.sort) !== value).slice(0, page.limit), total }
  }),
  pageLeak('a place that no user has is the beginning', async (right, filter, page) => {
    if (!('behind' in page.from)) return right.listUsers(filter, page)
    const user = await right.findUser(page.from.behind.id)
    const isThere = user !== null && valueOf(user, page.sort) === page.from.behind.value
    return right.listUsers(filter, isThere ? page : { ...page, from: { offset: 0 } })
  }),
  pageLeak('a walk ends before the users without a value', async (right, filter, page) => {
    const { items, total } = await right.listUsers(filter, page)
    const isWalk = 'behind' in page.from && page.from.behind.value !== null
    return { items: isWalk ? items.filter((user) => !lacks(user, page.sort)) : items, total }
  }),
  pageLeak('the total of an order is that of all users', async (right, filter, page) => {
    const { total } = await right.listUsers({ emailKey: null, words: null, fields: {} }, ALL)
    return { items: (await right.listUsers(filter, page)).items, total }
  }),
  pageLeak('the total of an order counts what is behind the place', async (right, filter, page) => {
    const found = await right.listUsers(filter, page)
    if (!('behind' in page.from)) return found
    return { ...found, total: (await right.listUsers(filter, { ...page, limit: 10_000 })).items.length }
  }),
  leak('everybody is read in the order of ids', (right) => ({
    readUsers: (...[filter, order, onPart]: Read) => right.readUsers(filter, order, onPart)
  })),
  leak('those without a value are not read', (right) => ({
    readUsers: (...[filter, order, onPart, sort]: Read) => right.readUsers(filter, order, async (part) => {
      const users = part.filter((user) => sort === undefined || !lacks(user, sort))
      if (users.length > 0) await onPart(users)
    }, sort)
  })),
  rangesLeak('a range includes its end', ({ lt, ...range }) => ({ ...range, ...(lt !== undefined && { lte: lt }) })),
  rangesLeak('a range leaves out its beginning', ({ gte, ...range }) =>
    ({ ...range, ...(gte !== undefined && { gt: gte }) })),
  rangesLeak('a range has one end', ({ of, ...bounds }) =>
    ({ of, ...Object.fromEntries(Object.entries(bounds).slice(0, 1)) })),
  rangesLeak('moments are bounded by that of the creation', (range) =>
    ({ ...range, of: range.of === 'updatedAt' ? 'createdAt' : range.of })),
  filterLeak('only the first range holds', ({ ranges, ...filter }) =>
    ({ ...filter, ...(ranges && { ranges: ranges.slice(0, 1) }) })),
  leak('a range of numbers matches texts of digits', (right) => ({
    async listUsers (filter, page) {
      const found = await right.listUsers(filter, page)
      const range = filter.ranges?.find(({ of, gte }) => typeof of !== 'string' && typeof gte === 'number')
      if (range === undefined || typeof range.of === 'string') return found
      const { field } = range.of
      const { ranges, ...rest } = filter
      const all = await right.listUsers(rest, ALL)
      const texts = all.items.filter(({ fields }) =>
        typeof fields[field] === 'string' && Number(fields[field]) >= Number(range.gte))
      return { items: [...found.items, ...texts], total: found.total + texts.length }
    }
  })),
  anyOfLeak('one of several values matches another type', (values) => [...values, ...values.map(String)]),
  anyOfLeak('a list of values has its first one alone', (values) => values.slice(0, 1)),
  anyOfLeak('a list without values does not filter', (values) => values.length > 0 ? values : null),
  filterLeak('nobody lacks a field', ({ exists, ...filter }) => ({
    ...filter,
    ...(exists && { exists: Object.fromEntries(Object.entries(exists).filter(([, is]) => is)) })
  })),
  filterLeak('a list without ids does not filter', ({ ids, ...filter }) =>
    ({ ...filter, ...(ids && ids.length > 0 && { ids }) })),
  leak('ids are in the order of their list', (right) => ({
    async listUsers (filter, page) {
      const { items, total } = await right.listUsers(filter, page)
      const placeIn = ({ id }: UserRecord) => filter.ids?.indexOf(id) ?? 0
      return { items: page.sort === undefined ? items.toSorted((a, b) => placeIn(a) - placeIn(b)) : items, total }
    }
  })),
  leak('the total of a range is that of other users', (right) => ({
    async listUsers (filter, page) {
      const { ranges, ...rest } = filter
      const { total } = await right.listUsers(rest, page)
      return { items: (await right.listUsers(filter, page)).items, total }
    }
  }))
]
