import assert from 'node:assert/strict'
import type { PageRequest, Storage, UserFilter } from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { firstPage, having } from '../list-values.ts'
import { everyone, timeOf, userOf } from '../values.ts'
import { idsIn, ORDERS, requirePage } from './compare.ts'
import { changeUser, dropUsers, outcomeOf, putUsers, rowOf, type UserRow } from './put.ts'
import { fromBothEnds, tenantOf } from './samples.ts'

/** Compares pages of every kind with pages that plain JavaScript computes. */
async function requirePages (storage: Storage, rows: readonly UserRow[], filter: Partial<UserFilter>): Promise<void> {
  const { total, items } = await storage.users.list({ ...everyone, ...filter }, firstPage(10_000))
  const at = (i: number) => items[i]?.id ?? ''
  for (const order of ORDERS) {
    const [middle, behind] = [Math.floor(total / 2), Math.floor(total * 0.6)]
    const pages: Array<[limit: number, from: PageRequest['from']]> = [
      [10_000, { offset: 0 }], [1000, { offset: 0 }], [51, { offset: Math.max(0, total - 50) }],
      [3, { offset: total - 1 }], [3, { offset: total }], [20, { offset: middle }], [1000, { after: at(0) }],
      [1000, { after: at(total - 1) }], [20, { after: at(behind) }], [20, { after: at(total - 2) }]
    ]
    for (const [limit, from] of pages) await requirePage(storage, rows, filter, { order, limit, from })
  }
}

async function requireWalk (storage: Storage, filter: Partial<UserFilter>, limit: number): Promise<void> {
  const whole = { ...everyone, ...filter }
  const { items: all } = await storage.users.list(whole, firstPage(10_000))
  const met: string[] = []
  let from: PageRequest['from'] = { offset: 0 }
  while (true) {
    const { items } = await storage.users.list(whole, { order: 'asc', limit, from })
    met.push(...idsIn(items))
    const last = items.at(-1)
    if (last === undefined || met.length > all.length) break
    from = { after: last.id }
  }
  assert.deepEqual(met, idsIn(all), `a walk in pages of ${limit}`)
}

const largeOf = (n: number): UserRow =>
  rowOf(userOf(n, { name: `Ann ${n}`, fields: { plan: n % 10 === 0 ? 'free' : 'pro' }, ...tenantOf(n) }))

/** Lists that are longer than a default page, window or batch of a database. */
export const largeLists: Subject = {
  needs: { filterable: ['plan'] },
  cases: {
    'users.list: lists with more users than a page of the database are complete': async (storage, { records }) => {
      const rows = fromBothEnds(records).map(largeOf)
      await putUsers(storage, rows)
      const pro = { fields: { plan: 'pro' } }
      for (const filter of [{}, having('ann'), pro, { ...having('user'), ...pro }, { tenant: 'beta' }]) {
        await requirePages(storage, rows, filter)
      }
      await requireWalk(storage, {}, 100)
      await requireWalk(storage, { ...having('user'), ...pro }, 333)
    },

    'users.list: totals are exact after many concurrent changes, refusals and removals': async (
      storage, { records }
    ) => {
      const rows = fromBothEnds(Math.min(records, 300)).map(largeOf)
      await putUsers(storage, rows)
      // Every third is taken away, every second of the others renamed, and each address is taken once more in vain.
      const left = await Promise.all(rows.map(async (row, i) => {
        const { email, tenant } = row.record
        const other = rowOf(userOf(5000 + i, { email, ...(tenant !== undefined && { tenant }) }))
        assert.deepEqual(await outcomeOf(storage, other), { code: 'taken', at: 0, member: 'emailKey' })
        if (i % 3 === 0) await dropUsers(storage, [row])
        else return i % 2 === 0 ? row : changeUser(storage, row, { name: 'Bob', fields: {}, updatedAt: timeOf(900) })
        return null
      }))
      const there = left.filter((row) => row !== null)
      for (const filter of [{}, having('bob'), having('user'), { fields: { plan: 'pro' } }, { tenant: 'acme' }]) {
        await requirePage(storage, there, filter, firstPage(1000))
      }
    },

    'users.list: a common search stays exact while its users are taken away': async (storage) => {
      let rows = fromBothEnds(300).map(largeOf)
      await putUsers(storage, rows)
      for (const gone of [0, 20, 210, 30, 39]) {
        if (gone > 0) await dropUsers(storage, rows.slice(0, gone))
        rows = rows.slice(gone)
        for (const words of [['ann'], ['an', 'example'], ['a'], ['user']]) {
          await requirePage(storage, rows, having(...words), firstPage(400))
        }
      }
    }
  }
}
