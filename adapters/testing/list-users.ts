import assert from 'node:assert/strict'
import type { PageRequest, UserRecord } from '../../lib/storage/storage.ts'
import type { Cases } from './cases.ts'
import { firstPage, having, idsOf, listedIds, upTo } from './list-values.ts'
import { addUsers, anyVersion, everyone, idOf, keysOf, timeOf, userOf } from './values.ts'
import { whileWriting } from './while-writing.ts'

/** Duties of `listUsers`: order, pages, and exact totals. */
export const listCases: Cases = {
  'listUsers: an empty store has an empty page and the total 0': async (storage) => {
    assert.deepEqual(await storage.listUsers(everyone, firstPage(10)), { items: [], total: 0 })
  },

  'listUsers: users are ordered by id, ascending or descending': async (storage) => {
    await addUsers(storage, 5, 1, 4, 2, 3)
    assert.deepEqual(await storage.listUsers(everyone, firstPage(10)), {
      items: upTo(5).map((n) => userOf(n)),
      total: 5
    })
    assert.deepEqual(
      await listedIds(storage, everyone, { order: 'desc', limit: 10, from: { offset: 0 } }),
      idsOf([5, 4, 3, 2, 1])
    )
  },

  'listUsers: users that were created at the same time are ordered by id': async (storage) => {
    for (const n of [3, 1, 2]) {
      const user = userOf(n, { createdAt: timeOf(0) })
      await storage.createUser(user, keysOf(user), null)
    }
    assert.deepEqual(await listedIds(storage, everyone, firstPage(10)), idsOf([1, 2, 3]))
  },

  'listUsers: an update does not change the order': async (storage) => {
    await addUsers(storage, 1, 2, 3)
    await storage.updateUser(idOf('usr', 2), { name: { value: 'Zz', key: 'zz' } }, timeOf(99), anyVersion)
    assert.deepEqual(await listedIds(storage, everyone, firstPage(10)), idsOf([1, 2, 3]))
  },

  'listUsers: pages by offset have every user once, and end': async (storage) => {
    await addUsers(storage, ...upTo(10))
    for (const order of ['asc', 'desc'] as const) {
      const expected = idsOf(order === 'asc' ? upTo(10) : upTo(10).reverse())
      for (const offset of [0, 3, 6, 9, 10, 12, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 10 ** 11]) {
        for (const limit of [1, 3]) {
          const { items, total } = await storage.listUsers(everyone, { order, limit, from: { offset } })
          const page = `${order} from ${offset}, at most ${limit}`
          assert.deepEqual(items.map(({ id }) => id), expected.slice(offset, offset + limit), page)
          assert.equal(total, 10)
        }
      }
    }
  },

  'listUsers: a page after an id starts behind it, even if that user was deleted': async (storage) => {
    await addUsers(storage, 1, 2, 4, 5, 7)
    const walk = (order: 'asc' | 'desc', after: number, limit = 2) =>
      listedIds(storage, everyone, { order, limit, from: { after: idOf('usr', after) } })
    assert.deepEqual(await walk('asc', 2), idsOf([4, 5]))
    assert.deepEqual(await walk('asc', 3), idsOf([4, 5]))
    assert.deepEqual(await walk('asc', 0), idsOf([1, 2]))
    assert.deepEqual(await walk('asc', 5), idsOf([7]))
    assert.deepEqual(await walk('asc', 7), [])
    assert.deepEqual(await walk('desc', 4), idsOf([2, 1]))
    assert.deepEqual(await walk('desc', 6), idsOf([5, 4]))
    assert.deepEqual(await walk('desc', 9), idsOf([7, 5]))
    assert.deepEqual(await walk('desc', 1), [])
    await storage.deleteUser(idOf('usr', 4), anyVersion)
    assert.deepEqual(await walk('asc', 4), idsOf([5, 7]))
    assert.deepEqual(await walk('desc', 4), idsOf([2, 1]))
    assert.equal(
      (await storage.listUsers(everyone, { order: 'asc', limit: 1, from: { after: idOf('usr', 5) } })).total,
      4,
      'the total counts all users, not only those behind'
    )
  },

  'listUsers: the total is the number of all matches of the filter': async (storage) => {
    await addUsers(storage, ...upTo(12))
    for (const [filter, total] of [
      [everyone, 12],
      [having('user', '1'), 4],
      [{ emailKey: 'user3@example.org', words: null, fields: {} }, 1],
      [having('nobody'), 0]
    ] as const) {
      assert.equal((await storage.listUsers(filter, firstPage(2))).total, total)
      assert.equal(
        (await storage.listUsers(filter, { order: 'desc', limit: 2, from: { offset: 50 } })).total,
        total
      )
    }
  },

  'listUsers: items and total are from one snapshot during concurrent writes': async (storage) => {
    await storage.migrate({ filterable: ['plan'] })
    await addUsers(storage, ...upTo(5))
    const byPlan = { ...everyone, fields: { plan: 'pro' } }
    const isListed = ({ fields }: UserRecord) => fields['plan'] === 'pro'
    await whileWriting(async (n) => {
      const user = userOf(n, { fields: { plan: 'pro' } })
      await storage.createUser(user, keysOf(user), null)
      await storage.updateUser(user.id, { fields: {} }, timeOf(n), anyVersion)
      await storage.deleteUser(user.id, anyVersion)
    }, async () => {
      for (const filter of [everyone, having('user'), byPlan]) {
        for (let i = 0; i < 40; i++) {
          await new Promise((resolve) => setImmediate(resolve))
          const order = i % 2 === 0 ? 'asc' : 'desc'
          const limit = [100, 6, 5][i % 3] ?? 1
          const { items, total } = await storage.listUsers(filter, { order, limit, from: { offset: 0 } })
          assert.equal(items.length, Math.min(limit, total), 'items and total must come from one snapshot')
          assert.ok(filter !== byPlan || items.every(isListed), 'every item must match the filter')
        }
      }
    })
  },

  'listUsers: paging by after returns every user once during concurrent writes': async (storage) => {
    await addUsers(storage, ...upTo(60).map((n) => n * 10))
    const met: string[] = []
    let from: PageRequest['from'] = { offset: 0 }
    for (let n = 1; ; n++) {
      assert.ok(n < 100, 'the walk does not end')
      const items = await listedIds(storage, everyone, { order: 'asc', limit: 7, from })
      const last = items.at(-1)
      if (last === undefined) break
      met.push(...items)
      from = { after: last }
      await Promise.all([
        addUsers(storage, n * 10 + 1),
        addUsers(storage, 5000 - n),
        storage.deleteUser(last, anyVersion)
      ])
    }
    assert.equal(new Set(met).size, met.length)
    for (const id of idsOf(upTo(60).map((n) => n * 10))) assert.ok(met.includes(id), id)
  }
}
