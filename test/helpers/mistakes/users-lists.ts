import type { UserRecord } from '../../../lib/storage/storage.ts'
import { ALL, arranges, EVERYONE, lists, type Mistake, pages, reads, turn } from './users-wrappers.ts'

const EMPTY = 'users.list, users.walk: an empty store'
const BY_ID = 'users.list, users.walk: users are ordered by id'
const OFFSETS = 'users.list: pages by offset have every user once, and end'
const AFTER = 'users.list: a page after an id'
const TOTAL = 'users.list: the total is the number of all matches'
const ONE_MOMENT = 'users.list: items and total are of one moment'
const WALK = 'users.list: a walk by after'
const LARGE = 'users.list: lists with more users than a page'
const EXACT = 'users.list: totals are exact after many'
const COMMON = 'users.list: a common search'

const estonian = new Intl.Collator('et')
const numeric = new Intl.Collator('en', { numeric: true })

const ordered = (name: string, compare: (a: UserRecord, b: UserRecord) => number): Mistake =>
  arranges(BY_ID, name, (all, { order, sort }) => sort === undefined
    ? all.toSorted((a, b) => order === 'asc' ? compare(a, b) : compare(b, a))
    : all)

/** A total that is counted up and down. `counts`: by how much a write changes it. */
function counted (failed: string, name: string, counts: (isDone: boolean, change: 1 | 0 | -1) => number): Mistake {
  return {
    name,
    failed,
    make (storage) {
      let count = 0
      return {
        ...storage,
        async commit (units) {
          const outcomes = await storage.commit(units)
          for (const [i, { code }] of outcomes.entries()) {
            const write = units[i]?.writes[0]
            const change = write?.put === null ? -1 : write?.was === null ? 1 : 0
            count += counts(code === 'ok', change)
          }
          return outcomes
        },
        users: {
          ...storage.users,
          async list (filter, page) {
            const given = await storage.users.list(filter, page)
            return JSON.stringify(filter) === JSON.stringify(EVERYONE) ? { ...given, total: count } : given
          }
        }
      }
    }
  }
}

/** Mistakes in pages by id, and in totals. */
export const usersLists: Mistake[] = [
  lists(EMPTY, 'the total of no rows is read of the first', async (list, filter, page) => {
    const given = await list(filter, page)
    if (given.total === 0) throw new TypeError("Cannot read properties of undefined (reading 'total')")
    return given
  }),
  ordered('users are ordered by their creation', (a, b) => a.createdAt < b.createdAt ? -1 : 1),
  ordered('users are ordered by an Estonian collation', (a, b) => estonian.compare(a.id, b.id)),
  ordered('users are ordered by the numbers in their ids', (a, b) => numeric.compare(a.id, b.id)),
  ordered('users are ordered by their last change', (a, b) => a.updatedAt < b.updatedAt ? -1 : 1),
  lists(OFFSETS, 'the total behind the last page is 0', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    return { items, total: items.length === 0 ? 0 : total }
  }),
  lists(OFFSETS, 'desc reverses a page of asc', async (list, filter, page) => {
    if (page.order === 'asc' || !('offset' in page.from)) return list(filter, page)
    const { items, total } = await list(filter, { ...page, order: 'asc' })
    return { items: items.reverse(), total }
  }),
  pages(OFFSETS, 'a page has one more than its limit', (page) => ({ ...page, limit: page.limit + 1 })),
  pages(OFFSETS, 'an offset has 32 bits', (page) => page.sort === undefined && 'offset' in page.from
    ? { ...page, from: { offset: page.from.offset >>> 0 } }
    : page),
  pages(OFFSETS, 'an offset is one of whole pages', (page) => page.sort === undefined && 'offset' in page.from
    ? { ...page, from: { offset: page.from.offset - page.from.offset % page.limit } }
    : page),
  arranges(OFFSETS, 'the offset skips before the filter', (all, { from }, filter) =>
    filter.words === null || !('offset' in from) ? all : all.slice(from.offset)),
  lists(AFTER, 'a page after a user has the user too', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    if (!('after' in page.from)) return { items, total }
    const all = await list(filter, ALL)
    const { after } = page.from
    return { items: [...all.items.filter(({ id }) => id === after), ...items].slice(0, page.limit), total }
  }),
  lists(AFTER, 'a page after somebody who is gone is empty', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    if (!('after' in page.from)) return { items, total }
    const { after } = page.from
    const isThere = (await list(filter, ALL)).items.some(({ id }) => id === after)
    return { items: isThere ? items : [], total }
  }),
  pages(AFTER, 'a page after an id ascends', (page) => 'after' in page.from ? { ...page, order: 'asc' } : page),
  lists(AFTER, 'the total is of those after the id', async (list, filter, page) => {
    const given = await list(filter, page)
    if (!('after' in page.from)) return given
    return { ...given, total: (await list(filter, { ...page, limit: 10_000 })).items.length }
  }),
  lists(TOTAL, 'the total is that of all users', async (list, filter, page) => {
    const { total } = await list(EVERYONE, page)
    return { items: (await list(filter, page)).items, total }
  }),
  lists(TOTAL, 'the total is one too many', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    return { items, total: total > 0 ? total + 1 : 0 }
  }),
  lists(TOTAL, 'the total is the number of items', async (list, filter, page) => {
    const { items } = await list(filter, page)
    return { items, total: items.length }
  }),
  reads(TOTAL, 'totals are kept', ({ list }) => {
    const totals = new Map<string, number>()
    return {
      async list (filter, page) {
        const asked = JSON.stringify(filter)
        const { items, total } = await list(filter, page)
        if (!totals.has(asked)) totals.set(asked, total)
        return { items, total: totals.get(asked) ?? total }
      }
    }
  }),
  lists(ONE_MOMENT, 'the total is of a later moment', async (list, filter, page) => {
    const { items } = await list(filter, page)
    await turn()
    return { items, total: (await list(filter, page)).total }
  }),
  reads(ONE_MOMENT, 'a page has what its users are by now', ({ list, find }) => ({
    async list (filter, page) {
      const { items, total } = await list(filter, page)
      await turn()
      const found = await Promise.all(items.map(({ id }) => find(id)))
      return { items: found.map((user, i) => user ?? items[i]).filter((user) => user !== undefined), total }
    }
  })),
  reads(WALK, 'a page after an id is one by offset', ({ list }) => {
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
  pages(LARGE, 'a page has at most 50', (page) => ({ ...page, limit: Math.min(page.limit, 50) })),
  pages(LARGE, 'a page has at most 1,000', (page) => ({ ...page, limit: Math.min(page.limit, 1000) })),
  lists(LARGE, 'a total is at most 1,000', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    return { items, total: Math.min(total, 1000) }
  }),
  lists(LARGE, 'a total is about right above 100', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    return { items, total: total > 100 ? Math.round(total / 10) * 10 : total }
  }),
  counted(EXACT, 'refusals are counted', (_isDone, change) => change),
  counted(EXACT, 'those who are taken away are counted', (isDone, change) => isDone ? Math.max(0, change) : 0),
  counted(TOTAL, 'changes are counted', (isDone, change) => isDone ? change === 0 ? 1 : change : 0),
  lists(COMMON, 'of the users with a word 200 are looked at', async (list, filter, page) => {
    const { items, total } = await list(filter, page)
    return filter.words === null ? { items, total } : { items: items.slice(0, 200), total: Math.min(total, 200) }
  })
]
