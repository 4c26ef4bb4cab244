import assert from 'node:assert/strict'
import type { Page, PageRequest, Row, RowsQuery, Storage } from '../../lib/storage/storage.ts'
import type { Cases, Subject } from './cases.ts'
import {
  add, type AnyRow, COLLECTIONS, drop, type Listed, listAll, make, membershipOf, move, nextOf, nth, ownerOf,
  withMembers
} from './rows.ts'
import { randomFrom } from './shrink.ts'
import { idOf, timeOf } from './values.ts'

const ROWS = 30
const DRAWN = 40

type Query = Omit<RowsQuery, 'page'>
type Listable = { [Name in Listed]: { rows: Array<Row<Name>>, queries: Query[] } }

const numbers = Array.from({ length: ROWS }, (_, i) => i)
const tenantOf = (n: number): { tenant?: string } => [{}, { tenant: 'acme' }, { tenant: 'beta' }][n % 3] ?? {}
const tenants: Query[] = [{}, { tenant: 'acme' }, { tenant: null }, { tenant: 'none' }, { tenant: "a' OR '1'='1" }]
const upTo = (member: string, n: number): Query => ({ upTo: { member, value: timeOf(n) } })
const below = (member: string, n: number): Query => ({ upTo: { member, value: timeOf(n), isBelow: true } })
const where = (member: string, ...values: string[]): Query => ({ where: { member, values } })
/** As many values as may be asked for: others before one that rows have. */
const last = (member: string, value: string): Query =>
  where(member, ...Array.from({ length: 999 }, (_, n) => idOf('dlv', n)), value)
const webhook = (n: number): string => idOf('whk', n % 4)

/** Rows of each collection, and what they are asked for. Moments are in another order than ids. */
const LISTED: Listable = {
  trash: {
    rows: numbers.map((n) => withMembers(nth.trash(n), { deletedAt: timeOf(n * 7 % 10), ...tenantOf(n) })),
    queries: [...tenants, upTo('deletedAt', 4)].flatMap((query) => [query, { ...query, by: 'deletedAt' }])
  },
  apiKeys: {
    rows: numbers.map((n) => withMembers(nth.apiKeys(n), {
      rotatedFrom: n % 4 === 0 ? null : idOf('key', n % 3), ...tenantOf(n)
    })),
    queries: [
      ...tenants, where('rotatedFrom', idOf('key', 1)),
      where('rotatedFrom', idOf('key', 1), idOf('key', 2), idOf('key', 1)),
      where('rotatedFrom'), where('rotatedFrom', 'x', '', '\u0000'), last('rotatedFrom', idOf('key', 1))
    ]
  },
  keyUses: {
    rows: numbers.map((n) => {
      const [key, day] = [idOf('key', n % 4), `2026-01-${String(10 + Math.floor(n / 4) * 7 % 20)}`]
      return { record: { id: `${key}/${day}`, version: 1, day, uses: n + 1 }, keys: null, of: key }
    }),
    queries: [
      {}, { of: idOf('key', 1) }, { of: idOf('key', 9) }, { of: '%' },
      { upTo: { member: 'day', value: '2026-01-17', isBelow: true } }, { upTo: { member: 'day', value: '2026-01-17' } }
    ]
  },
  webhooks: { rows: numbers.map((n) => withMembers(nth.webhooks(n), tenantOf(n))), queries: tenants },
  deliveries: {
    rows: numbers.map((n) => {
      const due = n % 3 === 0 ? { dueAt: null, status: 'failed' } : { dueAt: timeOf(n * 7 % 10) }
      const row = withMembers(nth.deliveries(n), {
        webhook: webhook(n), event: idOf('evt', n % 5), createdAt: timeOf(n * 7 % 13), ...due
      })
      return { ...row, of: webhook(n) }
    }),
    queries: [
      {}, { of: webhook(1) }, { of: 'x' }, { of: webhook(2), ...where('event', idOf('evt', 0), idOf('evt', 3)) },
      where('event', idOf('evt', 1)), where('event', idOf('evt', 4), idOf('evt', 2)), last('event', idOf('evt', 3)),
      { by: 'dueAt' },
      { of: webhook(1), ...where('status', 'failed') }, { of: webhook(2), ...where('status', 'pending', 'succeeded') },
      { ...upTo('dueAt', 5), by: 'dueAt' }, { of: webhook(1), ...upTo('dueAt', 5), by: 'dueAt' },
      { without: 'dueAt' }, { without: 'dueAt', ...below('createdAt', 6) }, { of: webhook(1), without: 'dueAt' }
    ]
  },
  idempotency: {
    rows: numbers.map((n) => ({
      ...withMembers(nth.idempotency(n), { expiresAt: timeOf(n * 7 % 10) }), of: n % 2 === 0 ? null : idOf('usr', n % 5)
    })),
    queries: [{}, upTo('expiresAt', 5), upTo('expiresAt', -1), below('expiresAt', 5), { of: idOf('usr', 1) }]
  },
  userGroups: {
    rows: numbers.map((n) => withMembers(nth.userGroups(n), {
      nameKey: `group ${n * 7 % 10} ${n}`, externalId: n % 4 === 0 ? null : `ext ${n % 3}`, ...tenantOf(n)
    })),
    queries: [
      ...tenants.flatMap((query) => [query, { ...query, by: 'nameKey' }]), where('nameKey', 'group 7 1'),
      where('nameKey', 'Group 7 1', 'x'), where('externalId', 'ext 1'), last('externalId', 'ext 1'),
      { ...where('externalId', 'ext 2', 'ext 0'), tenant: 'acme', by: 'nameKey' }
    ]
  },
  memberships: {
    rows: numbers.slice(0, 28).map((n) => membershipOf(idOf('grp', n % 4), idOf('usr', n % 7))),
    queries: [
      {}, { of: idOf('grp', 1) }, { of: idOf('grp', 9) }, where('member', idOf('usr', 2)), where('member', 'x', ''),
      last('member', idOf('usr', 2)),
      where('member', idOf('usr', 3), idOf('usr', 5)), { of: idOf('grp', 2), ...where('member', idOf('usr', 3)) }
    ]
  },
  marks: { rows: numbers.map((n) => nth.marks(n)), queries: [{}] }
}

const valueOf = ({ record }: AnyRow, member: string): string | null => {
  const value: unknown = Reflect.get(record, member)
  return typeof value === 'string' ? value : null
}

const isBelow = (bounded: string, { value, isBelow: isStrict }: NonNullable<Query['upTo']>): boolean =>
  isStrict === true ? bounded < value : bounded <= value

/** The rows that a query asks for, in the order of a page. */
function matching (rows: readonly AnyRow[], query: Query, { order }: Pick<PageRequest, 'order'>): AnyRow[] {
  const { tenant, of, where, upTo, without, by } = query
  const key = (row: AnyRow): string => `${by === undefined ? '' : valueOf(row, by) ?? '\uffff'} ${row.record.id}`
  const found = rows.filter((row) => {
    const bounded = upTo === undefined ? '' : valueOf(row, upTo.member)
    return (tenant === undefined || (row.record.tenant ?? null) === tenant) && (of === undefined || row.of === of) &&
      (where === undefined || where.values.includes(valueOf(row, where.member) ?? '\uffff')) &&
      (upTo === undefined || (bounded !== null && isBelow(bounded, upTo))) &&
      (without === undefined || valueOf(row, without) === null)
  }).sort((a, b) => key(a) < key(b) ? -1 : 1)
  return order === 'asc' ? found : found.reverse()
}

async function requirePage (
  storage: Storage, name: Listed, rows: readonly AnyRow[], { page, ...query }: RowsQuery
): Promise<void> {
  const all = matching(rows, query, page)
  const { from, limit, order } = page
  const rest = 'offset' in from
    ? all.slice(from.offset)
    : all.filter(({ record: { id } }) => order === 'asc' ? id > from.after : id < from.after)
  const { items, total }: Page<AnyRow> = await storage.list(name, { ...query, page })
  const what = `${name}: ${JSON.stringify({ ...query, page })}`
  const ids = (some: readonly AnyRow[]) => some.map(({ record: { id } }) => id)
  assert.deepEqual({ ids: ids(items), total }, { ids: ids(rest.slice(0, limit)), total: all.length }, what)
  assert.deepEqual(items, rest.slice(0, limit), what)
}

/** True if a page in the order of a member can be asked for: none does in the reverse one where a row has none. */
const isAsked = ({ by }: Query, order: PageRequest['order']): boolean => order === 'asc' || by !== 'dueAt'

/** Adds the rows, not in the order of their ids, and first the row that they belong to if it is missing. */
async function addAll (storage: Storage, name: Listed): Promise<void> {
  const owner = ownerOf(name)
  if (owner !== null) {
    const wanted = new Set(LISTED[name].rows.map(({ of }) => of))
    const owners = numbers.map((n) => nth[owner](n)).filter(({ record: { id } }) => wanted.has(id))
    const there = await storage.find(owner, owners.map(({ record: { id } }) => ({ id })))
    await make(storage, owners.filter((_, i) => there[i] === null).map((row) => add(owner, row)))
  }
  if (name === 'memberships') await make(storage, numbers.map((n) => add('users', nth.users(n))))
  const rows = LISTED[name].rows.toSorted((a, b) => a.record.id.slice(-1) < b.record.id.slice(-1) ? 1 : -1)
  await make(storage, rows.map((row) => add(name, row)))
}

const listCases: Cases = Object.fromEntries(COLLECTIONS.filter((name) => name !== 'users').map((name) => [
  `list: pages of ${name} have what is asked for, in its order, with the exact number`,
  async (storage: Storage, { seed }: { seed: number }) => {
    const { rows, queries } = LISTED[name]
    await addAll(storage, name)
    const require = (query: RowsQuery): Promise<void> => requirePage(storage, name, rows, query)
    for (const query of queries) {
      for (const order of ['asc', 'desc'] as const) {
        if (!isAsked(query, order)) continue
        await require({ ...query, page: { order, limit: 100, from: { offset: 0 } } })
        await require({ ...query, page: { order, limit: 3, from: { offset: 2 } } })
        await require({ ...query, page: { order, limit: 3, from: { offset: 900 } } })
      }
    }
    const random = randomFrom(seed)
    const below = (n: number): number => Math.floor(random() * n)
    for (let i = 0; i < DRAWN; i++) {
      const query = queries[below(queries.length)] ?? {}
      const order = below(2) === 0 ? 'asc' : 'desc'
      if (!isAsked(query, order)) continue
      const ids = [...rows.map(({ record: { id } }) => id), 'x', '', '~']
      const isByOffset = query.by !== undefined || below(2) === 0
      const from = isByOffset ? { offset: below(12) } : { after: ids[below(ids.length)] ?? '' }
      await require({ ...query, page: { order, limit: 1 + below(9), from } })
    }
  }
]))

/** Duties about the lists of rows. */
export const listSubject: Subject = {
  needs: {},
  cases: {
    ...listCases,

    'list: a change and a removal are seen immediately': async (storage) => {
      for (const name of ['trash', 'apiKeys', 'deliveries', 'idempotency', 'keyUses'] as const) {
        await addAll(storage, name)
        const left: AnyRow[] = [...LISTED[name].rows]
        const members = {
          trash: { deletedAt: timeOf(3) },
          apiKeys: { rotatedFrom: idOf('key', 1) },
          deliveries: { dueAt: timeOf(1), event: idOf('evt', 1) },
          idempotency: { expiresAt: timeOf(2) },
          keyUses: { uses: 5 }
        }[name]
        for (const step of [0, 5, 9]) {
          const [row] = left.splice(step, 1)
          if (row === undefined) continue
          const next = nextOf(row, members)
          await make(storage, [move(name, row, next)])
          left.push(next)
          const [gone] = left.splice(step + 1, 1)
          if (gone !== undefined) await make(storage, [drop(name, gone)])
          for (const query of LISTED[name].queries) {
            const page = { order: 'asc', limit: 100, from: { offset: 0 } } as const
            await requirePage(storage, name, left, { ...query, page })
          }
        }
      }
    },

    'list: long lists are complete, with the exact number on every page': async (storage, { records }) => {
      const limit = 300
      for (const name of ['apiKeys', 'marks', 'webhooks'] as const) {
        const rows = Array.from({ length: records }, (_, i) => nth[name](i))
        await make(storage, rows.map((row) => add(name, row)))
        const expected = rows.map(({ record: { id } }) => id).sort()
        let ids: string[] = []
        for (let offset = 0; offset < records; offset += limit) {
          const { items, total } = await storage.list(name, { page: { order: 'asc', limit, from: { offset } } })
          assert.equal(total, records)
          ids = [...ids, ...items.map(({ record: { id } }) => id)]
        }
        assert.deepEqual(ids, expected)
        const after = expected[records - 3] ?? ''
        const last = await storage.list(name, { page: { order: 'asc', limit, from: { after } } })
        assert.deepEqual([last.items.length, last.total], [2, records])
        await make(storage, rows.slice(1).map((row) => drop(name, row)))
        assert.deepEqual(await listAll(storage, name), { items: [rows[0]], total: 1 })
      }
    }
  }
}
