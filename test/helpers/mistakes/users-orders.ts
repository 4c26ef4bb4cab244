import type { UserRecord, UserSort } from '../../../lib/storage/storage.ts'
import { arranges, lists, pages, totals } from './users-wrappers.ts'
import { EVERYONE, type Mistake } from './wrappers.ts'

const valueOf = ({ fields, updatedAt, name, email }: UserRecord, sort: UserSort | undefined): unknown =>
  typeof sort === 'object'
    ? fields[sort.field]
    : { updatedAt, nameKey: name.toLowerCase(), emailKey: email.toLowerCase() }[sort ?? 'updatedAt']

const lacks = (user: UserRecord, sort: UserSort | undefined): boolean =>
  typeof (valueOf(user, sort) ?? null) === 'object'

/** A mistake in the order of those who have a value. */
function sorted (
  failed: string,
  name: string,
  compare: (a: UserRecord, b: UserRecord, sort: UserSort) => number,
  isMeant: (sort: UserSort) => boolean = () => true
): Mistake {
  return arranges(failed, name, (all, { sort, order }) => {
    if (sort === undefined || !isMeant(sort)) return all
    const having = all.filter((user) => !lacks(user, sort))
    const sign = order === 'asc' ? 1 : -1
    return [...having.sort((a, b) => sign * compare(a, b, sort)), ...all.filter((user) => lacks(user, sort))]
  })
}

const byText = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

/** Mistakes in orders. */
export const usersOrders: Mistake[] = [
  sorted('users.list, users.walk: keys order users', 'keys are ordered by UTF-16', (a, b, sort) =>
    byText(String(valueOf(a, sort)), String(valueOf(b, sort))) || byText(a.id, b.id), (sort) => sort === 'nameKey'),
  sorted('users.list, users.walk: the moment of the last change', 'the last change is the creation',
    (a, b) => byText(a.createdAt, b.createdAt),
    (sort) => sort === 'updatedAt'),
  sorted('users.list, users.walk: a field orders users', 'values are ordered as texts', (a, b, sort) =>
    byText(String(valueOf(a, sort)), String(valueOf(b, sort)))),
  sorted('users.list, users.walk: users with one value', 'long texts are ordered by all of their characters',
    (a, b, sort) => {
      const [x, y] = [String(valueOf(a, sort)), String(valueOf(b, sort))]
      return x.length > 256 && y.length > 256 ? byText(x, y) : 0
    }),
  totals('users.list: pages by offset have every user once in', 'the total of an order is that of all users',
    async ({ total }, list, _filter, page) =>
      page.sort === undefined ? total : (await list(EVERYONE, page)).total),
  lists('users.list: a walk behind places', 'a place skips those with its value', async (list, filter, page) => {
    if (!('behind' in page.from) || page.from.behind.value === null) return list(filter, page)
    const { value } = page.from.behind
    const { items, total } = await list(filter, { ...page, limit: 10_000 })
    return { items: items.filter((user) => valueOf(user, page.sort) !== value).slice(0, page.limit), total }
  }),
  pages('users.list: a place need not be', 'a place behind all values is behind all users', (page) =>
    'behind' in page.from && page.from.behind.value === null ? { ...page, from: { offset: 2 ** 31 } } : page)
]
