import type { Fault } from './fault.ts'
import { PAGE_MAX } from './limits.ts'
import { choiceParameter, idParameter, integerParameter } from './parameters.ts'

/** A part of a list, in the order of ids. */
export interface PageRequest {
  order: 'asc' | 'desc'
  /** At most this many records: a positive integer. */
  limit: number
  /** Skip this many records, or start after this id (which need not exist), in the given order. */
  from: { offset: number } | { after: string }
}

/** A part of a list, and the number of all records that match the filter, both from one snapshot. */
export interface Page<Item> {
  items: Item[]
  total: number
}

/** Users on a page: if the client does not say, and at most. */
export interface PageSize {
  default: number
  max: number
}

/** Declares the parameters of every list. `id`: the form of the list's ids, and its description. */
export function pagingParameters (size: PageSize, id: RegExp) {
  return {
    page: integerParameter(1, PAGE_MAX, 1, 'The page number. A page past the end is empty, with the correct total.'),
    limit: integerParameter(1, size.max, size.default, 'The number of records per page.'),
    sort: choiceParameter(['createdAt', '-createdAt'], 'Oldest or newest first.'),
    after: idParameter(id, 'Continue after this id, in the order of the list. Not together with `page`.')
  }
}

/** The parameters that every list has. */
export interface PagingQuery {
  /** 1 to 1,000,000,000; 1 by default. Not together with `after`. */
  page?: number
  /** 1 to `pageSize.max`; `pageSize.default` by default. */
  limit?: number
  /** `createdAt` (oldest first, the default) or `-createdAt`. */
  sort?: 'createdAt' | '-createdAt'
  /** Continue after this id. */
  after?: string
}

/** The same after the check, complete. */
export interface Paging {
  limit: number
  order: 'asc' | 'desc'
  start: { page: number } | { after: string }
}

/** Reads paging parameters that were checked one by one, and adds what is wrong between them to `faults`. */
export function readPaging (query: Readonly<Record<string, unknown>>, size: PageSize, faults: Fault[]): Paging {
  const { page, limit = size.default, sort, after } = query
  if (page !== undefined && after !== undefined) {
    faults.push({ parameter: 'after', code: 'exclusive', detail: 'cannot be used together with page' })
  }
  return {
    limit: Number(limit),
    order: sort === '-createdAt' ? 'desc' : 'asc',
    start: typeof after === 'string' ? { after } : { page: Number(page ?? 1) }
  }
}

/** A page of a list, the request for it, and whether more records follow. */
export interface ListedPage<Item> extends Page<Item> {
  /** `order`: that of ids, by which a walk can go on; absent in any other. */
  query: { limit: number, order?: Paging['order'], start: Paging['start'] | { cursor: string } }
  more: boolean
  /** Of users, in any order but `createdAt`: the cursor of what follows, if anything does. */
  next?: string
}

/** Reads the page that was asked for. */
export async function readPage<Item, Query extends Paging> (
  query: Query,
  read: (page: PageRequest) => Promise<Page<Item>>
): Promise<ListedPage<Item> & { query: Query }> {
  const { limit, order, start } = query
  if ('page' in start) {
    const offset = (start.page - 1) * limit
    const { items, total } = await read({ order, limit, from: { offset } })
    // A literal, not a spread with more members: the spread costs 2 µs.
    return { items, total, query, more: offset + limit < total }
  }
  // One more than asked for shows whether a next page exists.
  const { items, total } = await read({ order, limit: limit + 1, from: start })
  return { items: items.slice(0, limit), total, query, more: items.length > limit }
}

/** A list's `meta`: the values that apply to the page. `page` is absent in a walk. */
export interface ListMeta {
  page?: number
  limit: number
  total: number
}

/** The `meta` of a page. */
export function listMeta ({ query: { start, limit }, total }: ListedPage<unknown>): ListMeta {
  return 'page' in start ? { page: start.page, limit, total } : { limit, total }
}
