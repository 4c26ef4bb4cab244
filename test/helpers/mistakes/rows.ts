import type { RowsQuery } from '../../../lib/storage/storage.ts'
import { ALL, finds, keeps, lists, type Mistake, store, untyped, writes } from './wrappers.ts'

const comes = (name: string): string => `commit, find, list: every member of the rows of ${name}`
const pages = (name: string): string => `list: pages of ${name}`
const NO_KEYS = { nameKey: '', nameWords: [], emailWords: [], fieldWords: [] }
const text = (value: unknown): string => typeof value === 'string' ? value : ''

/** Most likely mistakes in what is kept of rows, and how they are found and listed. */
export const rowMistakes: Mistake[] = [
  ...([
    ['trash', 'who deleted is nobody', { deletedBy: null }],
    ['apiKeys', 'scopes are not kept', { scopes: [] }],
    ['keyUses', 'numbers have one bit', { uses: 1 }],
    ['webhooks', 'descriptions are not kept', { description: '' }],
    ['deliveries', 'all were made at one moment', { createdAt: '2026-01-01T00:00:00.000Z' }],
    ['userGroups', 'the number of members is not kept', { members: 0 }],
    ['idempotency', 'what is kept is not kept', { kept: null }]
  ] as const).map(([of, name, members]) => keeps(comes(of), name, of, () => members)),
  ...(['memberships', 'marks'] as const).map((name) =>
    finds(comes(name), 'versions are texts', (rows, _keys, of) => of !== name
      ? rows
      : rows.map((row) => row && { ...row, record: { ...row.record, version: String(row.record.version) } }))),
  writes('commit, find: a user keeps the keys', 'keys that are not given are empty', (write) =>
    write.in !== 'users' || write.put === null || write.was === null
      ? write
      : { ...write, put: { ...write.put, keys: { ...NO_KEYS, ...write.put.keys } } }),
  keeps('commit: a text that cannot be kept', 'a NUL ends a text', 'apiKeys', ({ name }) =>
    ({ name: text(name).split('\0')[0] })),
  finds('find: rows come in the order', 'rows come by id, each once', (rows, keys) => keys.length < 2
    ? rows
    : [...new Map(rows.map((row) => [row?.record.id ?? '', row])).entries()].sort().map(([, row]) => row)),
  store('find: a key is found by its start', 'a key that was found is remembered', ({ find }) => {
    const known = new Map<string, unknown>()
    return {
      async find (of, keys) {
        const rows = await find(of, keys)
        for (const [i, key] of keys.entries()) {
          if ('start' in key && !known.has(key.start)) known.set(key.start, rows[i])
        }
        return untyped(keys.map((key, i) => 'start' in key ? known.get(key.start) : rows[i]))
      }
    }
  }),
  finds('find: as many rows', 'at most 1,000 are found', (rows) => rows.map((row, i) => i < 1000 ? row : null)),

  lists(pages('trash'), 'of one moment the lowest id is first in both orders', async (list, query) => {
    const page = await list({ ...query, page: { ...ALL, order: 'desc' } })
    const { order, from, limit } = query.page
    if (query.by === undefined || order === 'asc' || !('offset' in from)) return list(query)
    const at = (row: object): string => text(Object(Object(row).record).deletedAt)
    const items = page.items.toReversed().sort((a, b) => at(a) === at(b) ? 0 : at(a) < at(b) ? 1 : -1)
    return { items: items.slice(from.offset, from.offset + limit), total: page.total }
  }),
  lists(pages('apiKeys'), 'a value that is asked for twice counts twice', async (list, query) => {
    const { items, total } = await list(query)
    const twice = (query.where?.values.length ?? 0) - new Set(query.where?.values).size
    return { items, total: total + twice }
  }),
  lists(pages('keyUses'), 'the bound is among what is below it', (list, query) => list(query.upTo === undefined
    ? query
    : { ...query, upTo: { member: query.upTo.member, value: query.upTo.value } })),
  ...(['webhooks', 'userGroups'] as const).map((name) =>
    lists(pages(name), 'the number is that of the page', async (list, query) => {
      const { items } = await list(query)
      return { items, total: items.length }
    })),
  lists(pages('deliveries'), 'what is not due any more is first', async (list, query) => {
    if (query.by !== 'dueAt' || query.upTo !== undefined) return list(query)
    const { items, total } = await list({ ...query, page: ALL })
    const none = items.filter(({ record }) => 'dueAt' in record && record.dueAt === null)
    const offset = 'offset' in query.page.from ? query.page.from.offset : 0
    const all = [...none, ...items.filter((row) => !none.includes(row))]
    return { items: all.slice(offset, offset + query.page.limit), total }
  }),
  lists(pages('idempotency'), 'the bound is not among what is up to it', (list, query) => list(query.upTo === undefined
    ? query
    : { ...query, upTo: { ...query.upTo, isBelow: true } })),
  lists(pages('marks'), 'a page after an id begins with it', async (list, query) => {
    const { from, limit } = query.page
    if ('offset' in from) return list(query)
    const { items, total } = await list({ ...query, page: { ...query.page, limit: 10_000, from: { offset: 0 } } })
    const at = items.findIndex(({ record: { id } }) => id === from.after)
    return at === -1 ? list(query) : { items: items.slice(at, at + limit), total }
  }),
  store('list: a change and a removal', 'lists are remembered', ({ list }) => {
    const known = new Map<string, unknown>()
    return {
      async list (of, query: RowsQuery) {
        const name = `${of} ${JSON.stringify(query)}`
        if (!known.has(name)) known.set(name, await list(of, query))
        return untyped(structuredClone(known.get(name)))
      }
    }
  }),
  lists('list: long lists', 'a page has at most 250 rows', (list, query) =>
    list({ ...query, page: { ...query.page, limit: Math.min(250, query.page.limit) } }))
]
