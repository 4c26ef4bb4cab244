import type { UserRecord } from '../../../lib/storage/storage.ts'
import { arranges, lists, reads, totals } from './users-wrappers.ts'
import { ALL, type Mistake, store, turn } from './wrappers.ts'

const estonian = new Intl.Collator('et')

const ordered = (name: string, compare: (a: UserRecord, b: UserRecord) => number): Mistake =>
  arranges('users.list, users.walk: users are ordered by id', name, (all, { order, sort }) => sort === undefined
    ? all.toSorted((a, b) => order === 'asc' ? compare(a, b) : compare(b, a))
    : all)

/** Mistakes in pages by id, and in totals. */
export const usersLists: Mistake[] = [
  totals('users.list, users.walk: an empty store', 'the total of nobody is no number', ({ total }) => total || NaN),
  ordered('users are ordered by an Estonian collation', (a, b) => estonian.compare(a.id, b.id)),
  totals('users.list: pages by offset have every user once, and end', 'the total behind the last page is 0',
    ({ items, total }) => items.length === 0 ? 0 : total),
  lists('users.list: a page after an id', 'a page after somebody who is gone is empty', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    if (!('after' in page.from)) return { items, total }
    const { after } = page.from
    const isThere = (await list(filter, ALL)).items.some(({ id }) => id === after)
    return { items: isThere ? items : [], total }
  }),
  totals('users.list: the total is the number of all matches', 'the total is the number of items',
    ({ items }) => items.length),
  totals('users.list: items and total are of one moment', 'the total is of a later moment',
    async (_given, list, filter, page) => {
      await turn()
      return (await list(filter, page)).total
    }),
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
  totals('users.list: lists with more users than a page', 'a total is about right above 100',
    ({ total }) => total > 100 ? Math.round(total / 10) * 10 : total),
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
