import assert from 'node:assert/strict'
import type { PageRequest, Storage, UserFilter } from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { firstPage, having, idsOf, upTo } from '../list-values.ts'
import { everyone, idOf, timeOf, userOf } from '../values.ts'
import { turn, whileWriting } from './beside.ts'
import { idsIn, ORDERS, requireFound, requirePage } from './compare.ts'
import { changeAt, changeUser, dropAt, dropUsers, putUsers, rowOf, type UserRow } from './put.ts'
import { fromBothEnds, SAMPLE_FIELDS, sampleOf, tenantOf } from './samples.ts'

/** Ids whose order by bytes differs from the order of creation, and from the alphabets of some languages. */
const IDS = ['ch', 'cz', 'hz', 'aa', 'az', 'dz', 'zz', 'y0', 'v9', '0a', 'a0', '00', '9a', '10']
  .map((end) => `usr_01h455vb4pex5vsknk08zzzz${end}`)

/** Filters that stores tend to answer in ways of their own: all, a tenant, words, a field, an address, a status. */
export const FILTERS: ReadonlyArray<Partial<UserFilter>> = [
  {}, { tenant: 'acme' }, having('ann'), { fields: { plan: 'pro' } }, { emailKey: 'user1@example.org' },
  { status: 'suspended' }, { ...having('an'), tenant: 'beta', status: 'active' }
]

async function putSamples (storage: Storage, n: number): Promise<UserRow[]> {
  const rows = fromBothEnds(n).map(sampleOf)
  await putUsers(storage, rows)
  return rows
}

/** Lists of users in the order of ids: pages and totals. */
export const lists: Subject = {
  needs: { filterable: SAMPLE_FIELDS },
  cases: {
    'users.list, users.walk: an empty store has nobody, and the total 0': async (storage) => {
      for (const filter of FILTERS) await requireFound(storage, [], filter)
      assert.deepEqual(await storage.users.list(everyone, firstPage(10)), { items: [], total: 0 })
    },

    'users.list, users.walk: users are ordered by id, byte by byte, whatever else they have': async (storage) => {
      const rows = IDS.map((id, n) => rowOf(userOf(n, {
        id, name: `User ${99 - n}`, createdAt: timeOf(n % 2 === 0 ? 5 : 100 - n), ...tenantOf(n)
      })))
      await putUsers(storage, rows)
      assert.deepEqual(await requireFound(storage, rows), IDS.toSorted((a, b) => a < b ? -1 : 1))
      await changeAt(storage, rows, 0, { name: 'Zz', updatedAt: timeOf(500) })
      await requireFound(storage, rows)
      for (const after of IDS) await requirePage(storage, rows, {}, { order: 'asc', limit: 3, from: { after } })
    },

    'users.list: pages by offset have every user once, and end': async (storage) => {
      const rows = await putSamples(storage, 20)
      for (const filter of FILTERS) {
        for (const order of ORDERS) {
          for (const offset of [0, 3, 6, 19, 20, 22, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 10 ** 11]) {
            for (const limit of [1, 3]) await requirePage(storage, rows, filter, { order, limit, from: { offset } })
          }
        }
      }
      const { items } = await storage.users.list(everyone, { order: 'desc', limit: 3, from: { offset: 17 } })
      assert.deepEqual(idsIn(items), idsOf([3, 2, 1]))
    },

    'users.list: a page after an id begins behind it, even if that user is gone': async (storage) => {
      const all = await putSamples(storage, 20)
      const gone = all.filter((_, i) => i % 4 === 0)
      await dropUsers(storage, gone)
      const rows = all.filter((row) => !gone.includes(row))
      for (const filter of FILTERS) {
        for (const order of ORDERS) {
          for (const n of [0, 1, 4, 5, 7, 10, 19, 20, 21, 999]) {
            await requirePage(storage, rows, filter, { order, limit: 2, from: { after: idOf('usr', n) } })
          }
        }
      }
      for (const after of ['', '~', 'usr', idOf('key', 3)]) {
        const { total } = await storage.users.list(everyone, { order: 'asc', limit: 2, from: { after } })
        assert.equal(total, rows.length, `after ${JSON.stringify(after)}`)
      }
    },

    'users.list: the total is the number of all matches, on any page, after every write': async (storage) => {
      const rows = await putSamples(storage, 30)
      const requireTotals = async () => {
        for (const filter of FILTERS) {
          for (const offset of [0, 2, 50]) {
            await requirePage(storage, rows, filter, { order: 'asc', limit: 2, from: { offset } })
          }
          await requirePage(storage, rows, filter, { order: 'desc', limit: 2, from: { after: idOf('usr', 9) } })
        }
      }
      await requireTotals()
      await changeAt(storage, rows, 0, { status: 'suspended', fields: { plan: 'pro' }, name: 'Ann' })
      await requireTotals()
      const gone = await dropAt(storage, rows, 1)
      await requireTotals()
      // Its address is free, and its id too.
      await putUsers(storage, [gone])
      rows.push(gone)
      await requireTotals()
    },

    'users.list: items and total are of one moment while others write': async (storage) => {
      await putUsers(storage, upTo(5).map(sampleOf))
      const pro = { fields: { plan: 'pro' } }
      await whileWriting(async (n) => {
        const row = rowOf(userOf(n, { name: 'Ann', fields: { plan: 'pro' }, ...tenantOf(n) }))
        await putUsers(storage, [row])
        await turn()
        const changed = await changeUser(storage, row, { name: 'Bob', fields: {} })
        await turn()
        await dropUsers(storage, [changed])
      }, async () => {
        for (const filter of [{}, having('ann'), pro, { tenant: 'acme' }]) {
          for (let i = 0; i < 40; i++) {
            await turn()
            const limit = [100, 6, 5][i % 3] ?? 1
            const page = { order: ORDERS[i % 2] ?? 'asc', limit, from: { offset: 0 } }
            const asked = { ...everyone, ...filter }
            const { items, total } = i % 4 === 3
              ? await storage.users.list(asked, { ...page, sort: { field: 'plan' } })
              : await storage.users.list(asked, page)
            const message = `the page and the total of ${JSON.stringify(filter)}`
            assert.equal(items.length, Math.min(limit, total), message)
            const right = items.filter(({ fields, tenant }) =>
              filter === pro ? fields['plan'] === 'pro' : !('tenant' in filter) || tenant === filter.tenant)
            assert.deepEqual(items, right, 'every user on a page matches the filter')
          }
        }
      })
    },

    'users.list: a walk by after has everybody who stays once while others write': async (storage) => {
      const rows = new Map<string, UserRow>()
      const put = async (n: number) => {
        const row = sampleOf(n)
        rows.set(row.record.id, row)
        await putUsers(storage, [row])
      }
      for (const n of upTo(60)) await put(n * 10)
      const met: string[] = []
      let from: PageRequest['from'] = { offset: 0 }
      for (let n = 1; ; n++) {
        assert.ok(n < 100, 'the walk does not end')
        const { items } = await storage.users.list(everyone, { order: 'asc', limit: 7, from })
        const last = rows.get(items.at(-1)?.id ?? '')
        if (last === undefined) break
        met.push(...idsIn(items))
        from = { after: last.record.id }
        await Promise.all([put(n * 10 + 1), put(5000 - n), dropUsers(storage, [last])])
      }
      assert.equal(new Set(met).size, met.length, 'nobody comes twice')
      const stay = idsOf(upTo(60).map((n) => n * 10))
      assert.deepEqual(met.filter((id) => stay.includes(id)), stay)
    }
  }
}
