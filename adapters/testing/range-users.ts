import assert from 'node:assert/strict'
import type { JsonObject, UserFilter, UserRange, UserRecord } from '../../lib/storage/storage.ts'
import type { Cases } from './cases.ts'
import type { KitStorage } from './kit-storage.ts'
import { firstPage, idsOf, upTo } from './list-values.ts'
import { ORDERS } from './sort-users.ts'
import { anyVersion, everyone, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

type Bounds = Omit<UserRange, 'of'>

/** Which users a filter finds, by number: on a page, as its total, and where all are read. */
async function found (storage: KitStorage, filter: Partial<UserFilter>): Promise<string[]> {
  const whole = { ...everyone, ...filter }
  const { items, total } = await storage.listUsers(whole, firstPage(100))
  const ids = items.map(({ id }) => id)
  assert.equal(total, ids.length, `the total of ${JSON.stringify(filter)}`)
  for (const order of ORDERS) {
    const read: string[] = []
    await storage.readUsers(whole, order, async (part) => { read.push(...part.map(({ id }) => id)) })
    assert.deepEqual(read, order === 'asc' ? ids : ids.toReversed(), `what is read of ${JSON.stringify(filter)}`)
  }
  return ids
}

async function add (storage: KitStorage, n: number, members: Partial<UserRecord>): Promise<void> {
  const user = userOf(n, members)
  await storage.createUser(user, keysOf(user), null)
}

/** Users with these fields, numbered from 0. */
async function addWith (storage: KitStorage, ...each: JsonObject[]): Promise<void> {
  await storage.migrate({ filterable: ['n', 'plan'] })
  for (const [n, fields] of each.entries()) await add(storage, n, { fields })
}

/** Duties about filters by bounds, by several values, by the existence of a value, and by ids. */
export const rangeCases: Cases = {
  'listUsers, readUsers: moments are bounded on either side, with or without the bound itself': async (storage) => {
    for (const n of upTo(6)) await add(storage, n, { createdAt: timeOf(n), updatedAt: timeOf(n * 10) })
    await storage.updateUser(idOf('usr', 1), rename('Ann'), timeOf(45), anyVersion)
    const by = (of: 'createdAt' | 'updatedAt', bounds: Bounds) => found(storage, { ranges: [{ of, ...bounds }] })
    assert.deepEqual(await by('createdAt', { gte: timeOf(3) }), idsOf([3, 4, 5, 6]))
    assert.deepEqual(await by('createdAt', { gt: timeOf(3) }), idsOf([4, 5, 6]))
    assert.deepEqual(await by('createdAt', { lte: timeOf(3) }), idsOf([1, 2, 3]))
    assert.deepEqual(await by('createdAt', { lt: timeOf(3) }), idsOf([1, 2]))
    assert.deepEqual(await by('createdAt', { gt: timeOf(2), lt: timeOf(5) }), idsOf([3, 4]))
    assert.deepEqual(await by('createdAt', { gte: timeOf(4), lt: timeOf(4) }), [])
    assert.deepEqual(await by('updatedAt', { gte: timeOf(45), lte: timeOf(50) }), idsOf([1, 5]))
    assert.deepEqual(await found(storage, {
      ranges: [{ of: 'createdAt', lt: timeOf(4) }, { of: 'updatedAt', gt: timeOf(20) }]
    }), idsOf([1, 3]))
  },

  'listUsers, readUsers with fields: numbers are bounded, and nothing but numbers': async (storage) => {
    await addWith(
      storage, { n: 10 }, { n: 9 }, { n: '10' }, { n: true }, { n: null }, {}, { n: [10] }, { n: -2.5 }, { n: 1e300 }
    )
    const by = (bounds: Bounds) => found(storage, { ranges: [{ of: { field: 'n' }, ...bounds }] })
    assert.deepEqual(await by({ gte: 9 }), idsOf([0, 1, 8]))
    assert.deepEqual(await by({ gt: 9 }), idsOf([0, 8]))
    assert.deepEqual(await by({ lt: 10 }), idsOf([1, 7]))
    assert.deepEqual(await by({ lte: 10 }), idsOf([0, 1, 7]))
    assert.deepEqual(await by({ gte: -3, lt: 9 }), idsOf([7]))
    assert.deepEqual(await by({ gte: -1e301, lte: 1e301 }), idsOf([0, 1, 7, 8]))
  },

  'listUsers, readUsers with fields: texts are bounded by code point, and nothing but texts': async (storage) => {
    await addWith(
      storage, { n: '2026-01-31' }, { n: '2026-02-01' }, { n: 2026 }, { n: false }, {}, { n: '' }, { n: '\uffee' },
      { n: '🦊' }, { n: `2026-02-01${'x'.repeat(400)}` }
    )
    const by = (bounds: Bounds) => found(storage, { ranges: [{ of: { field: 'n' }, ...bounds }] })
    assert.deepEqual(await by({ gte: '2026-01-31', lt: '2026-02-01' }), idsOf([0]))
    assert.deepEqual(await by({ gt: '2026-01-31', lte: '2026-02-01' }), idsOf([1]))
    assert.deepEqual(await by({ gt: '2026-02-01' }), idsOf([6, 7, 8]))
    assert.deepEqual(await by({ gt: '\uffee' }), idsOf([7]))
    assert.deepEqual(await by({ lte: '2026-01-31' }), idsOf([0, 5]))
  },

  'listUsers, readUsers with fields: one of several values matches, of the same type': async (storage) => {
    const long = 'x'.repeat(300)
    await addWith(
      storage, { plan: 'pro' }, { plan: 'team' }, { plan: 'free' }, { plan: '1' }, { plan: 1 }, { plan: true },
      { plan: 'true' }, {}, { plan: null }, { plan: `${long}a` }, { plan: `${long}b` }
    )
    const by = (...values: Array<string | number | boolean>) => found(storage, { anyOf: { plan: values } })
    assert.deepEqual(await by('team', 'pro'), idsOf([0, 1]))
    assert.deepEqual(await by('pro', 'pro', 'nobody', '\0'), idsOf([0]))
    assert.deepEqual(await by('1', 'true'), idsOf([3, 6]))
    assert.deepEqual(await by(1, true), idsOf([4, 5]))
    assert.deepEqual(await by(`${long}b`, 'x'), idsOf([10]))
    assert.deepEqual(await by(), [])
    assert.deepEqual(await by('null', '', 'pr', 'PRO'), [])
  },

  'listUsers, readUsers with fields: a user has a value of a field or has none': async (storage) => {
    await addWith(storage, { n: 0 }, { n: '' }, { n: false }, { n: null }, {}, { n: [] }, { n: {} }, { N: 1 })
    assert.deepEqual(await found(storage, { exists: { n: true } }), idsOf([0, 1, 2]))
    assert.deepEqual(await found(storage, { exists: { n: false } }), idsOf([3, 4, 5, 6, 7]))
    assert.deepEqual(await found(storage, { exists: { n: false, plan: true } }), [])
    await storage.updateUser(idOf('usr', 0), { fields: {} }, timeOf(9), anyVersion)
    assert.deepEqual(await found(storage, { exists: { n: true } }), idsOf([1, 2]))
  },

  'listUsers, readUsers: ids and e-mail keys find their users, each once and ordered as ever': async (storage) => {
    for (const n of upTo(6)) await add(storage, n, {})
    await storage.deleteUser(idOf('usr', 4), anyVersion)
    assert.deepEqual(await found(storage, { ids: idsOf([5, 2, 4, 2, 99]) }), idsOf([2, 5]))
    assert.deepEqual(await found(storage, { ids: ['nobody', '\0', idOf('key', 1)] }), [])
    assert.deepEqual(await found(storage, { ids: [] }), [])
    const keyOf = (n: number): string => keysOf(userOf(n)).emailKey
    assert.deepEqual(await found(storage, { emailKeys: [5, 2, 4, 2, 99].map(keyOf) }), idsOf([2, 5]))
    assert.deepEqual(await found(storage, { emailKeys: [keyOf(2), keyOf(3)], ids: idsOf([3, 5]) }), idsOf([3]))
    assert.deepEqual(await found(storage, { emailKeys: ['nobody', '\0', keyOf(2).toUpperCase()] }), [])
    assert.deepEqual(await found(storage, { emailKeys: [] }), [])
    assert.deepEqual(await found(storage, { ids: idsOf(upTo(100)) }), idsOf([1, 2, 3, 5, 6]))
    const { items, total } = await storage.listUsers({ ...everyone, ids: idsOf([6, 1, 3]) }, {
      order: 'desc', limit: 2, from: { after: idOf('usr', 6) }
    })
    assert.deepEqual([items.map(({ id }) => id), total], [idsOf([3, 1]), 3])
  },

  'listUsers, readUsers: every condition must hold, in every order and with the exact total': async (storage) => {
    await storage.migrate({ filterable: ['n', 'plan'] })
    for (const n of upTo(24)) {
      await add(storage, n, {
        name: n % 2 === 0 ? 'Ann' : 'Bob',
        status: n % 5 === 0 ? 'suspended' : 'active',
        fields: { plan: ['pro', 'team', 'free'][n % 3] ?? '', ...(n % 4 > 0 && { n: 30 - n }) }
      })
    }
    const range = { of: { field: 'n' }, gte: 10, lt: 28 } as const
    const filters: Array<[Partial<UserFilter>, number[]]> = [
      [{ ranges: [range] }, [3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19]],
      [{ ranges: [range], status: 'suspended' }, [5, 10, 15]],
      [{ ranges: [range], anyOf: { plan: ['pro', 'team'] } }, [3, 6, 7, 9, 10, 13, 15, 18, 19]],
      [{ ranges: [range], fields: { plan: 'free' } }, [5, 11, 14, 17]],
      [{ ranges: [range], words: [['ann']] }, [6, 10, 14, 18]],
      [{ ranges: [range], emailKey: 'user6@example.org' }, [6]],
      [{ ranges: [range], emailKey: 'user4@example.org' }, []],
      [{ ranges: [range], ids: idsOf([1, 18, 4, 7]) }, [7, 18]],
      [{ exists: { n: false }, anyOf: { plan: ['pro'] }, words: [['ann']] }, [12, 24]],
      [{ ids: idsOf([20, 5, 6]), status: 'suspended', exists: { n: true } }, [5]]
    ]
    for (const [filter, numbers] of filters) {
      assert.deepEqual(await found(storage, filter), idsOf(numbers), JSON.stringify(filter))
      for (const order of ORDERS) {
        // The greater its number, the earlier comes a user; those without one are last.
        const having = numbers.filter((n) => n % 4 > 0).reverse()
        const lacking = numbers.filter((n) => n % 4 === 0)
        const sorted = order === 'asc' ? [...having, ...lacking] : [...having.reverse(), ...lacking.reverse()]
        for (const offset of [0, 2, sorted.length]) {
          const page = { order, limit: 3, from: { offset }, sort: { field: 'n' } } as const
          const { items, total } = await storage.listUsers({ ...everyone, ...filter }, page)
          assert.deepEqual(
            { ids: items.map(({ id }) => id), total },
            { ids: idsOf(sorted.slice(offset, offset + 3)), total: numbers.length },
            `${JSON.stringify(filter)} ${order} ${offset}`
          )
        }
      }
    }
  }
}
