import assert from 'node:assert/strict'
import type { Page, PageRequest, UserFilter } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import type { Cases } from './cases.ts'
import { having } from './list-values.ts'
import { anyVersion, apiKeyOf, everyone, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

const TOGETHER = 50

/** The numbers below a length from both ends inwards, so that no record is created in the order of its id. */
const fromBothEnds = (i: number, length: number): number => i % 2 === 0 ? i / 2 : length - (i + 1) / 2

/** Calls with every number below n, some at a time. */
async function forEach (n: number, call: (i: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < n; start += TOGETHER) {
    await Promise.all(Array.from({ length: Math.min(TOGETHER, n - start) }, (_, i) => call(start + i)))
  }
}

/** Compares pages of every kind with a list of ids. */
async function requirePages (
  list: (page: PageRequest) => Promise<Page<{ id: string }>>,
  ids: readonly string[],
  what: string
): Promise<void> {
  for (const order of ['asc', 'desc'] as const) {
    const sorted = order === 'asc' ? ids : ids.toReversed()
    const at = (i: number) => sorted[i] ?? ''
    const [middle, behind] = [Math.floor(ids.length / 2), Math.floor(ids.length * 0.6)]
    const pages: Array<[limit: number, from: PageRequest['from'], start: number]> = [
      [10_000, { offset: 0 }, 0],
      [1000, { offset: 0 }, 0],
      [51, { offset: ids.length - 50 }, ids.length - 50],
      [3, { offset: ids.length - 1 }, ids.length - 1],
      [3, { offset: ids.length }, ids.length],
      [20, { offset: middle }, middle],
      [1000, { after: at(0) }, 1],
      [20, { after: at(behind) }, behind + 1],
      [20, { after: at(ids.length - 2) }, ids.length - 1]
    ]
    for (const [limit, from, start] of pages) {
      const { items, total } = await list({ order, limit, from })
      const found = { ids: items.map(({ id }) => id), total }
      const expected = { ids: sorted.slice(start, start + limit), total: ids.length }
      assert.deepEqual(found, expected, `${what}: ${order}, limit ${limit}, from ${JSON.stringify(from)}`)
    }
  }
}

async function requireWalk (
  storage: KitStorage,
  filter: UserFilter,
  ids: readonly string[],
  limit: number
): Promise<void> {
  const met: string[] = []
  let from: PageRequest['from'] = { offset: 0 }
  for (;;) {
    const { items } = await storage.listUsers(filter, { order: 'asc', limit, from })
    met.push(...items.map(({ id }) => id))
    const last = items.at(-1)
    if (last === undefined || met.length > ids.length) break
    from = { after: last.id }
  }
  assert.deepEqual(met, ids, `a walk in pages of ${limit}`)
}

/** Duties of lists that are longer than a default page, window or batch of a database. */
export const largeListCases: Cases = {
  'listUsers: lists with more users than a page of the database are complete': async (storage, { records }) => {
    await storage.migrate({ filterable: ['plan'] })
    // Created in another order than that of their ids.
    await forEach(records, (i) => {
      const n = fromBothEnds(i, records)
      const user = userOf(n, { name: `Ann ${n}`, fields: { plan: n % 10 === 0 ? 'free' : 'pro' } })
      return storage.createUser(user, keysOf(user), null)
    })
    const all = Array.from({ length: records }, (_, n) => idOf('usr', n))
    const pro = all.filter((_, n) => n % 10 !== 0)
    await requirePages((page) => storage.listUsers(everyone, page), all, 'everyone')
    await requirePages((page) => storage.listUsers(having('ann'), page), all, 'a word')
    await requirePages((page) => storage.listUsers({ ...everyone, fields: { plan: 'pro' } }, page), pro, 'a field')
    const both = { ...having('user'), fields: { plan: 'pro' } }
    await requirePages((page) => storage.listUsers(both, page), pro, 'a field and a word')
    await requireWalk(storage, everyone, all, 100)
    await requireWalk(storage, both, pro, 333)
  },

  'listUsers: totals are exact after many concurrent changes, refusals and deletions': async (storage, { records }) => {
    await storage.migrate({ filterable: ['plan'] })
    const n = Math.min(records, 300)
    await forEach(n, (i) => {
      const user = userOf(i, { fields: { plan: 'pro' } })
      return storage.createUser(user, keysOf(user), null)
    })
    // Every third is deleted, every second renamed, and each address is taken once more in vain.
    await forEach(3 * n, async (i) => {
      const of = i % n
      const id = idOf('usr', of)
      if (i < n) {
        const user = userOf(n + of, { email: userOf(of).email, fields: { plan: 'pro' } })
        await assert.rejects(storage.createUser(user, keysOf(user), null), { code: 'email_taken' })
      } else if (i < 2 * n) {
        if (of % 2 === 0) await storage.updateUser(id, { ...rename('Ann'), fields: {} }, timeOf(50), anyVersion)
      } else if (of % 3 === 0) await storage.deleteUser(id, anyVersion)
    })
    const { items, total } = await storage.listUsers(everyone, { order: 'asc', limit: 1000, from: { offset: 0 } })
    assert.equal(total, items.length)
    const count = async (filter: Partial<UserFilter>) =>
      (await storage.listUsers({ ...everyone, ...filter }, { order: 'asc', limit: 1, from: { offset: 0 } })).total
    assert.equal(total, n - Math.ceil(n / 3))
    assert.equal(await count(having('ann')), items.filter(({ name }) => name === 'Ann').length)
    assert.equal(await count({ fields: { plan: 'pro' } }), items.filter(({ name }) => name !== 'Ann').length)
    assert.equal(await count(having('user')), items.length, 'each address begins so')
  },

  'listApiKeys: lists with more keys than a page of the database are complete': async (storage, { records }) => {
    await forEach(records, (i) => storage.createApiKey(apiKeyOf(fromBothEnds(i, records)), { onlyFirst: false }))
    const all = Array.from({ length: records }, (_, n) => idOf('key', n))
    await requirePages((page) => storage.listApiKeys(page), all, 'keys')
    await storage.revokeApiKey(idOf('key', 5), timeOf(50), { keepOneWith: [] })
    await requirePages((page) => storage.listApiKeys(page), all, 'keys, one of them revoked')
  }
}
