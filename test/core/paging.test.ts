import { test } from 'tap'
import type { Fault } from '../../lib/core/fault.ts'
import { listMeta, pagingParameters, type Paging, readPage, readPaging } from '../../lib/core/paging.ts'
import type { PageRequest } from '../../lib/storage/storage.ts'

const SIZE = { default: 20, max: 100 }

test('parameters have the page sizes as their bounds and default', async (t) => {
  const { page, limit, sort, after } = pagingParameters({ default: 3, max: 7 }, /^x$/)
  t.match(limit.schema, { type: 'integer', minimum: 1, maximum: 7, default: 3 })
  t.match(page.schema, { type: 'integer', minimum: 1, maximum: 1_000_000_000, default: 1 })
  t.match(sort.schema, { enum: ['createdAt', '-createdAt'], default: 'createdAt' })
  t.equal(after.schema['pattern'], '^x$')
})

test('an empty query is the first page in the order of creation', async (t) => {
  const faults: Fault[] = []
  t.strictSame(readPaging({}, SIZE, faults), { limit: 20, order: 'asc', start: { page: 1 } })
  t.strictSame(faults, [])
})

test('a query says which page, or after which id, in which order', async (t) => {
  const rows: Array<[query: Record<string, unknown>, paging: Paging]> = [
    [{ page: 3, limit: 5 }, { limit: 5, order: 'asc', start: { page: 3 } }],
    [{ sort: 'createdAt' }, { limit: 20, order: 'asc', start: { page: 1 } }],
    [{ sort: '-createdAt', after: 'usr_1' }, { limit: 20, order: 'desc', start: { after: 'usr_1' } }]
  ]
  for (const [query, paging] of rows) {
    const faults: Fault[] = []
    t.strictSame(readPaging(query, SIZE, faults), paging)
    t.strictSame(faults, [])
  }
})

test('refuses page together with after, and lists this fault after the earlier ones', async (t) => {
  const before = { parameter: 'x', code: 'unknown', detail: 'x' }
  const faults: Fault[] = [before]
  readPaging({ page: 1, after: 'usr_1' }, SIZE, faults)
  const detail = 'cannot be used together with page'
  t.strictSame(faults, [before, { parameter: 'after', code: 'exclusive', detail }])
})

/** Reads a page of the records 1 to 10, and gives what the store was asked for. */
async function read (query: Paging) {
  const requests: PageRequest[] = []
  const page = await readPage(query, async (request) => {
    requests.push(request)
    const first = 'offset' in request.from ? request.from.offset : Number(request.from.after)
    const items = Array.from({ length: 10 }, (_, i) => i + 1).slice(first, first + request.limit)
    return { items, total: 10 }
  })
  return { page, requests }
}

test('a numbered page skips the pages before it', async (t) => {
  const rows: Array<[page: number, offset: number, items: number[], more: boolean]> = [
    [1, 0, [1, 2, 3, 4, 5], true],
    [2, 5, [6, 7, 8, 9, 10], false],
    [3, 10, [], false]
  ]
  for (const [number, offset, items, more] of rows) {
    const query: Paging = { limit: 5, order: 'desc', start: { page: number } }
    const { page, requests } = await read(query)
    t.strictSame(requests, [{ order: 'desc', limit: 5, from: { offset } }])
    t.strictSame(page, { items, total: 10, query, more })
  }
})

test('a walk reads one record more, which shows whether more follow, and does not return it', async (t) => {
  const rows: Array<[after: string, items: number[], more: boolean]> = [
    ['0', [1, 2, 3, 4], true],
    ['5', [6, 7, 8, 9], true],
    ['6', [7, 8, 9, 10], false],
    ['10', [], false]
  ]
  for (const [after, items, more] of rows) {
    const query: Paging = { limit: 4, order: 'asc', start: { after } }
    const { page, requests } = await read(query)
    t.strictSame(requests, [{ order: 'asc', limit: 5, from: { after } }])
    t.strictSame(page, { items, total: 10, query, more })
  }
})

test('meta has the values that apply, and no page in a walk', async (t) => {
  const page = { items: [], total: 35, more: false }
  const query = { limit: 5, order: 'asc' } as const
  t.strictSame(listMeta({ ...page, query: { ...query, start: { page: 2 } } }), { page: 2, limit: 5, total: 35 })
  t.strictSame(listMeta({ ...page, query: { ...query, start: { after: 'x' } } }), { limit: 5, total: 35 })
})
