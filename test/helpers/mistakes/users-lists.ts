import type { UserRecord } from '../../../lib/storage/storage.ts'
import { arranges, lists, pages, reads, totals } from './users-wrappers.ts'
import { ALL, EVERYONE, type Mistake, store, turn } from './wrappers.ts'

const BY_ID = 'users.list, users.walk: users are ordered by id'
const OFFSETS = 'users.list: pages by offset have every user once, and end'
const AFTER = 'users.list: a page after an id'
const TOTAL = 'users.list: the total is the number of all matches'
const ONE_MOMENT = 'users.list: items and total are of one moment'
const LARGE = 'users.list: lists with more users than a page'

const estonian = new Intl.Collator('et')

const ordered = (name: string, compare: (a: UserRecord, b: UserRecord) => number): Mistake =>
  arranges(BY_ID, name, (all, { order, sort }) => sort === undefined
    ? all.toSorted((a, b) => order === 'asc' ? compare(a, b) : compare(b, a))
    : all)

/** Mistakes in pages by id, and in totals. */
export const usersLists: Mistake[] = [
  totals('users.list, users.walk: an empty store', 'the total of nobody is no number', ({ total }) => total || NaN),
  ordered('users are ordered by their creation', (a, b) => a.createdAt < b.createdAt ? -1 : 1),
  ordered('users are ordered by an Estonian collation', (a, b) => estonian.compare(a.id, b.id)),
  totals(OFFSETS, 'the total behind the last page is 0', ({ items, total }) => items.length === 0 ? 0 : total),
  pages(OFFSETS, 'a page has one more than its limit', (page) => ({ ...page, limit: page.limit + 1 })),
  lists(AFTER, 'a page after somebody who is gone is empty', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    if (!('after' in page.from)) return { items, total }
    const { after } = page.from
    const isThere = (await list(filter, ALL)).items.some(({ id }) => id === after)
    return { items: isThere ? items : [], total }
  }),
  pages(AFTER, 'a page after an id ascends', (page) => 'after' in page.from ? { ...page, order: 'asc' } : page),
  totals(TOTAL, 'the total is that of all users', async (_given, list) => (await list(EVERYONE, ALL)).total),
  totals(TOTAL, 'the total is the number of items', ({ items }) => items.length),
  totals(ONE_MOMENT, 'the total is of a later moment', async (_given, list, filter, page) => {
    await turn()
    return (await list(filter, page)).total
  }),
  reads(ONE_MOMENT, 'a page has what its users are by now', ({ list, find }) => ({
    async list (filter, page) {
      const { items, total } = await list(filter, page)
      await turn()
      const found = await Promise.all(items.map(({ id }) => find(id)))
      return { items: found.map((user, i) => user ?? items[i]).filter((user) => user !== undefined), total }
    }
  })),
  reads('users.list: a walk by after', 'a page after an id is one by offset', ({ list }) => {
    const places = new Map<string, number>()
    return {
      async list (filter, page) {
        const start = 'after' in page.from ? places.get(page.from.after) : 'offset' in page.from ? page.from.offset : 0
        if (start === undefined || page.sort !== undefined) return list(filter, page)
        const given = await list(filter, { ...page, from: { offset: start } })
        for (const [i, { id }] of given.items.entries()) places.set(id, start + i + 1)
        return given
      }
    }
  }),
  pages(LARGE, 'a page has at most 1,000', (page) => ({ ...page, limit: Math.min(page.limit, 1000) })),
  totals(LARGE, 'a total is about right above 100', ({ total }) => total > 100 ? Math.round(total / 10) * 10 : total),
  store('users.list: totals are exact after many', 'refusals are counted', (storage) => {
    let refused = 0
    return {
      async commit (units) {
        const outcomes = await storage.commit(units)
        refused += outcomes.filter(({ code }) => code !== 'ok').length
        return outcomes
      },
      users: {
        ...storage.users,
        async list (filter, page) {
          const { items, total } = await storage.users.list(filter, page)
          return { items, total: total + refused }
        }
      }
    }
  }),
  lists('users.list: a common search', 'of the users with a word 200 are looked at', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    return filter.words === null ? { items, total } : { items: items.slice(0, 200), total: Math.min(total, 200) }
  })
]
