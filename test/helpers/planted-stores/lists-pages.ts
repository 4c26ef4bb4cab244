import type { Page, PageRequest } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'

type List = Parameters<PlainStore['listUsers']>
interface Identified { id: string }

/** A mistake in what page is asked for. */
function asks (title: string, change: (page: PageRequest) => PageRequest): Mistake {
  return plant(title, class extends PlainStore {
    override pageOf<Item extends Identified> (matching: Item[], page: PageRequest) {
      return super.pageOf(matching, change(page))
    }
  })
}

/** A mistake in the page that is given. */
function gives (
  title: string, change: <Item extends Identified>(page: Page<Item>, request: PageRequest, all: Item[]) => Page<Item>
): Mistake {
  return plant(title, class extends PlainStore {
    override pageOf<Item extends Identified> (matching: Item[], page: PageRequest) {
      return change(super.pageOf(matching, page), page, matching)
    }
  })
}

function ordered (title: string, compare: (a: string, b: string) => number): Mistake {
  return plant(title, class extends PlainStore {
    override compareIds (a: string, b: string) {
      return compare(a, b)
    }
  })
}

function sortedBy (title: string, member: 'createdAt' | 'updatedAt' | 'name' | 'start'): Mistake {
  return plant(title, class extends PlainStore {
    override sort<Item extends Identified> (items: Item[], order: 'asc' | 'desc') {
      const sign = order === 'asc' ? 1 : -1
      return super.sort(items, order).toSorted((a, b) => {
        const [x, y] = [Reflect.get(a, member), Reflect.get(b, member)]
        return typeof x !== 'string' || typeof y !== 'string' || x === y ? 0 : x < y ? -sign : sign
      })
    }
  })
}

function skips (title: string, offsetOf: (offset: number, limit: number, length: number) => number): Mistake {
  return plant(title, class extends PlainStore {
    override skip<Item extends Identified> (sorted: Item[], offset: number, limit: number) {
      return super.skip(sorted, offsetOf(offset, limit, sorted.length), limit)
    }
  })
}

function throwsFor (title: string, isRefused: (page: PageRequest) => boolean): Mistake {
  return plant(title, class extends PlainStore {
    override async listUsers (...given: List) {
      const [, page] = given
      if (page.sort === undefined && isRefused(page)) throw new RangeError('the result window is too large')
      return await super.listUsers(...given)
    }
  })
}

const estonian = new Intl.Collator('et')
const numeric = new Intl.Collator('en', { numeric: true })

export const listsPages: Mistake[] = [
  asks('pages have at most 50 records', (page) => ({ ...page, limit: Math.min(page.limit, 50) })),
  asks('pages have at most 100 records', (page) => ({ ...page, limit: Math.min(page.limit, 100) })),
  asks('pages have at most 1,000 records', (page) => ({ ...page, limit: Math.min(page.limit, 1000) })),
  asks('a limit of one gives two records', (page) => ({ ...page, limit: Math.max(page.limit, 2) })),
  asks('pages have one record more than the limit', (page) => ({ ...page, limit: page.limit + 1 })),
  asks('pages with after are always ascending', (page) => 'after' in page.from ? { ...page, order: 'asc' } : page),
  asks('pages with an offset are always ascending', (page) => 'offset' in page.from ? { ...page, order: 'asc' } : page),
  asks('pages with after begin at the first record', (page) => 'after' in page.from
    ? { ...page, from: { offset: 0 } }
    : page),
  throwsFor('listUsers throws for an offset of 10,000', ({ from }) => 'offset' in from && from.offset >= 10_000),
  throwsFor('listUsers throws for an offset and a limit of more than 10,000 together', ({ from, limit }) => {
    return 'offset' in from && from.offset + limit > 10_000
  }),
  throwsFor('listUsers throws for a limit of 10,000', ({ limit }) => limit >= 10_000),
  throwsFor('listUsers throws for an offset above 2147483647', ({ from }) => {
    return 'offset' in from && from.offset > 2_147_483_647
  }),
  gives('the total is the number of items', (page) => ({ ...page, total: page.items.length })),
  gives('the total counts what is after the id only', (page, { from, order }, all) => {
    if (!('after' in from)) return page
    return { ...page, total: all.filter(({ id }) => order === 'asc' ? id > from.after : id < from.after).length }
  }),
  gives('the total is 0 behind the last record', (page) => page.items.length === 0 ? { ...page, total: 0 } : page),
  gives('the total is at most the end of the page and one', (page, { from, limit }) => {
    return 'offset' in from ? { ...page, total: Math.min(page.total, from.offset + limit + 1) } : page
  }),
  gives('the total is at most 1,000', (page) => ({ ...page, total: Math.min(page.total, 1000) })),
  gives('the total is rounded to tens above 100', (page) => page.total > 100
    ? { ...page, total: Math.round(page.total / 10) * 10 }
    : page),
  gives('a page that is the last lacks its last record', (page, { limit }) => {
    const isShort = page.items.length > 1 && page.items.length < limit && page.items.length < page.total
    return isShort ? { ...page, items: page.items.slice(0, -1) } : page
  }),
  gives('the order desc reverses the page only', (page, { order, from, limit }, all) => {
    if (order === 'asc' || !('offset' in from)) return page
    const items = all.toSorted((a, b) => a.id < b.id ? -1 : 1).slice(from.offset, from.offset + limit).reverse()
    return { ...page, items }
  }),
  ordered('ids are ordered by the numbers in them', (a, b) => numeric.compare(a, b)),
  ordered('ids are ordered by an Estonian collation', (a, b) => estonian.compare(a, b)),
  ordered('ids are ordered by their first 12 characters', (a, b) => {
    const [x, y] = [a.slice(0, 12), b.slice(0, 12)]
    return x < y ? -1 : x > y ? 1 : 0
  }),
  sortedBy('records are ordered by createdAt', 'createdAt'),
  sortedBy('users are ordered by updatedAt', 'updatedAt'),
  sortedBy('users are ordered by name', 'name'),
  sortedBy('API keys are ordered by start', 'start'),
  plant('records are ordered by insertion', class extends PlainStore {
    override sort<Item extends Identified> (items: Item[], order: 'asc' | 'desc') {
      return order === 'asc' ? items : items.toReversed()
    }
  }),
  plant('an after has its own record too', class extends PlainStore {
    override after<Item extends Identified> (sorted: Item[], id: string, order: 'asc' | 'desc') {
      return [...sorted.filter((item) => item.id === id), ...super.after(sorted, id, order)]
    }
  }),
  plant('an after that is unknown gives an empty page', class extends PlainStore {
    override after<Item extends Identified> (sorted: Item[], id: string) {
      const index = sorted.findIndex((item) => item.id === id)
      return index === -1 ? [] : sorted.slice(index + 1)
    }
  }),
  plant('an after that is unknown starts again', class extends PlainStore {
    override after<Item extends Identified> (sorted: Item[], id: string) {
      return sorted.slice(sorted.findIndex((item) => item.id === id) + 1)
    }
  }),
  plant('an after ignores the order desc', class extends PlainStore {
    override after<Item extends Identified> (sorted: Item[], id: string) {
      return sorted.filter((item) => item.id > id)
    }
  }),
  plant('an after in the order desc skips a record too much', class extends PlainStore {
    override after<Item extends Identified> (sorted: Item[], id: string, order: 'asc' | 'desc') {
      return super.after(sorted, id, order).slice(order === 'asc' ? 0 : 1)
    }
  }),
  skips('an offset counts pages', (offset, limit) => offset * limit),
  skips('an offset is cut to whole pages', (offset, limit) => Math.floor(offset / limit) * limit),
  skips('an offset behind the end gives the last record', (offset, _limit, length) => Math.min(offset, length - 1)),
  skips('an offset is taken in 32 bits', (offset) => (offset | 0) >>> 0),
  skips('an offset starts at 1', (offset) => Math.max(0, offset - 1))
]
