import assert from 'node:assert/strict'
import type { PageRequest, Storage, UserFilter } from '../../lib/core/storage.ts'
import type { Cases } from './cases.ts'
import { addUsers, anyVersion, everyone, idOf, keysOf, timeOf, userOf } from './values.ts'

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1)
const idsOf = (numbers: number[]): string[] => numbers.map((n) => idOf('usr', n))
const begins = (prefix: string): UserFilter => ({ emailKey: null, prefix, fields: {} })
const first = (limit: number): PageRequest => ({ order: 'asc', limit, from: { offset: 0 } })

async function ids (storage: Storage, filter: UserFilter, page: PageRequest): Promise<string[]> {
  return (await storage.listUsers(filter, page)).items.map(({ id }) => id)
}

async function addNamed (storage: Storage, names: readonly string[]): Promise<void> {
  for (const [n, name] of names.entries()) {
    const user = userOf(n, { name, email: `${n}@example.org` })
    await storage.createUser(user, keysOf(user), null)
  }
}

/** Duties about lists: order, positions, filters, and totals that are exact. */
export const listCases: Cases = {
  'listUsers: an empty store has an empty page and the total 0': async (storage) => {
    assert.deepEqual(await storage.listUsers(everyone, first(10)), { items: [], total: 0 })
  },

  'listUsers: in the order of ids, whatever the order of creation, and back': async (storage) => {
    await addUsers(storage, 5, 1, 4, 2, 3)
    assert.deepEqual(await storage.listUsers(everyone, first(10)), { items: upTo(5).map((n) => userOf(n)), total: 5 })
    assert.deepEqual(await ids(storage, everyone, { order: 'desc', limit: 10, from: { offset: 0 } }), idsOf([5, 4, 3, 2, 1]))
  },

  'listUsers: users of one moment are in the order of ids too': async (storage) => {
    for (const n of [3, 1, 2]) {
      const user = userOf(n, { createdAt: timeOf(0) })
      await storage.createUser(user, keysOf(user), null)
    }
    assert.deepEqual(await ids(storage, everyone, first(10)), idsOf([1, 2, 3]))
  },

  'listUsers: an update does not move a user': async (storage) => {
    await addUsers(storage, 1, 2, 3)
    await storage.updateUser(idOf('usr', 2), { name: { value: 'Zz', key: 'zz' } }, timeOf(99), anyVersion)
    assert.deepEqual(await ids(storage, everyone, first(10)), idsOf([1, 2, 3]))
  },

  'listUsers: pages by offset cover everyone once, and end': async (storage) => {
    await addUsers(storage, ...upTo(10))
    for (const order of ['asc', 'desc'] as const) {
      const expected = idsOf(order === 'asc' ? upTo(10) : upTo(10).reverse())
      for (const offset of [0, 3, 6, 9, 10, 12, 10 ** 11]) {
        const { items, total } = await storage.listUsers(everyone, { order, limit: 3, from: { offset } })
        assert.deepEqual(items.map(({ id }) => id), expected.slice(offset, offset + 3), `${order} from ${offset}`)
        assert.equal(total, 10)
      }
    }
  },

  'listUsers: walks by after, whether or not that user still exists': async (storage) => {
    await addUsers(storage, 1, 2, 4, 5, 7)
    const walk = (order: 'asc' | 'desc', after: number, limit = 2) => ids(storage, everyone, { order, limit, from: { after: idOf('usr', after) } })
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
    assert.equal((await storage.listUsers(everyone, { order: 'asc', limit: 1, from: { after: idOf('usr', 5) } })).total, 4, 'the total is of all, not of those behind')
  },

  'listUsers: the total is a number, and of the filter': async (storage) => {
    await addUsers(storage, ...upTo(12))
    for (const [filter, total] of [[everyone, 12], [begins('user 1'), 4], [{ emailKey: 'user3@example.org', prefix: null, fields: {} }, 1], [begins('nobody'), 0]] as const) {
      assert.equal((await storage.listUsers(filter, first(2))).total, total)
      assert.equal((await storage.listUsers(filter, { order: 'desc', limit: 2, from: { offset: 50 } })).total, total)
    }
  },

  'listUsers: an e-mail key finds its user alone': async (storage) => {
    await addUsers(storage, 1, 2, 12)
    const filter = { emailKey: 'user2@example.org', prefix: null, fields: {} }
    assert.deepEqual(await storage.listUsers(filter, first(5)), { items: [userOf(2)], total: 1 })
    for (const from of [{ offset: 1 }, { after: idOf('usr', 2) }, { after: idOf('usr', 3) }]) {
      assert.deepEqual(await storage.listUsers(filter, { order: 'asc', limit: 5, from }), { items: [], total: 1 }, 'the page counts with a filter too')
    }
    for (const n of [1, 2]) {
      assert.deepEqual(await storage.listUsers(filter, { order: 'desc', limit: 5, from: { after: idOf('usr', n) } }), { items: [], total: 1 }, 'and in the other order')
    }
    assert.deepEqual(await ids(storage, filter, { order: 'asc', limit: 5, from: { after: idOf('usr', 1) } }), idsOf([2]))
    assert.deepEqual(await ids(storage, filter, { order: 'desc', limit: 5, from: { after: idOf('usr', 3) } }), idsOf([2]))
    for (const emailKey of ['user2@example', 'User2@Example.org', '%', 'user_@example.org', 'nobody@example.org']) {
      assert.deepEqual(await storage.listUsers({ emailKey, prefix: null, fields: {} }, first(5)), { items: [], total: 0 }, JSON.stringify(emailKey))
    }
  },

  'listUsers: a prefix finds names and addresses, each user once': async (storage) => {
    await addUsers(storage, ...upTo(12))
    assert.deepEqual(await ids(storage, begins('user'), first(20)), idsOf(upTo(12)), 'both begin so, and each is there once')
    assert.deepEqual(await ids(storage, begins('user1'), first(20)), idsOf([1, 10, 11, 12]), 'addresses')
    assert.deepEqual(await ids(storage, begins('user 1'), first(20)), idsOf([1, 10, 11, 12]), 'names')
    assert.deepEqual(await ids(storage, begins('user 12'), first(20)), idsOf([12]), 'the whole name is a beginning')
    assert.deepEqual(await ids(storage, begins('ser'), first(20)), [], 'not inside')
    assert.deepEqual(await ids(storage, begins('user1'), { order: 'desc', limit: 2, from: { offset: 1 } }), idsOf([11, 10]))
    for (const [prefix, numbers] of [['user1', [1, 10, 11, 12]], ['user', upTo(12)]] as const) {
      for (const order of ['asc', 'desc'] as const) {
        for (const after of [0, 5, 11, 12, 20]) {
          const behind = order === 'asc' ? numbers.filter((n) => n > after) : numbers.filter((n) => n < after).reverse()
          const page = await storage.listUsers(begins(prefix), { order, limit: 3, from: { after: idOf('usr', after) } })
          assert.deepEqual({ ids: page.items.map(({ id }) => id), total: page.total }, { ids: idsOf(behind.slice(0, 3)), total: numbers.length }, `${prefix}, ${order}, after ${after}`)
        }
      }
    }
    assert.equal((await storage.listUsers(begins('user'), first(3))).total, 12)
  },

  'listUsers: in a prefix every character stands for itself': async (storage) => {
    await addNamed(storage, ['100% x', '100 x', 'a_b', 'axb', 'a\\b', '[a]', 'a*b', 'x.y', 'xzy', "a'b", 'a"b'])
    for (const [prefix, n] of [['100%', 0], ['a_', 2], ['a\\', 4], ['[a', 5], ['a*', 6], ['x.', 7], ["a'", 9], ['a"', 10]] as const) {
      assert.deepEqual(await ids(storage, begins(prefix), first(20)), idsOf([n]), prefix)
    }
    assert.deepEqual(await ids(storage, begins('%%'), first(20)), [])
  },

  'listUsers: a prefix may end anywhere in Unicode': async (storage) => {
    await addNamed(storage, ['z\ud7ff', 'z\ud7ffx', 'z\ue000', 'z\uffffx', 'z\u{10000}', 'z\u{10ffff}', 'z\u{10ffff}y', 'z🦊a', 'z🦊b', 'z🦋', '\u{10ffff}'])
    for (const [prefix, numbers] of [
      ['z', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]], ['z\ud7ff', [0, 1]], ['z\ue000', [2]], ['z\uffff', [3]], ['z\u{10000}', [4]], ['z\u{10ffff}', [5, 6]], ['z🦊', [7, 8]], ['\u{10ffff}', [10]]
    ] as const) {
      assert.deepEqual(await ids(storage, begins(prefix), first(20)), idsOf([...numbers]), JSON.stringify(prefix))
    }
    assert.deepEqual(await storage.listUsers(begins('z'.repeat(10_000)), first(20)), { items: [], total: 0 }, 'however long it is')
  },

  'listUsers: a prefix that many share is exact while they come and go': async (storage) => {
    const name = (n: number) => ({ name: `Ann ${n}`, email: `ann.${n}@example.org` })
    const numbers = upTo(300).map((n) => n + 1000)
    for (const n of numbers) {
      const user = userOf(n, name(n))
      await storage.createUser(user, keysOf(user), null)
    }
    for (const [left, gone] of [[300, 0], [280, 20], [70, 210], [40, 30], [1, 39]] as const) {
      for (const n of numbers.splice(0, gone)) await storage.deleteUser(idOf('usr', n), anyVersion)
      for (const prefix of ['ann', 'ann ', 'ann.', 'an']) {
        const { items, total } = await storage.listUsers(begins(prefix), { order: 'asc', limit: 400, from: { offset: 0 } })
        assert.deepEqual({ ids: items.map(({ id }) => id), total }, { ids: idsOf(numbers), total: left }, `${prefix} with ${left} left`)
      }
    }
  },

  'listUsers: a prefix follows updates': async (storage) => {
    await addUsers(storage, 1, 2)
    await storage.updateUser(idOf('usr', 1), { name: { value: 'Ann', key: 'ann' } }, timeOf(50), anyVersion)
    assert.deepEqual(await ids(storage, begins('an'), first(5)), idsOf([1]))
    assert.deepEqual(await ids(storage, begins('user '), first(5)), idsOf([2]))
    await storage.updateUser(idOf('usr', 1), { email: { value: 'X@y.de', key: 'x@y.de' } }, timeOf(51), anyVersion)
    assert.deepEqual(await ids(storage, begins('user'), first(5)), idsOf([2]))
    assert.deepEqual(await ids(storage, begins('x@'), first(5)), idsOf([1]))
    assert.equal((await storage.listUsers({ emailKey: 'x@y.de', prefix: null, fields: {} }, first(5))).total, 1)
  },

  'listUsers: an e-mail key and a prefix narrow each other': async (storage) => {
    await addUsers(storage, 1, 2)
    for (const [prefix, total] of [['user 1', 1], ['user1', 1], ['user 2', 0], ['user2', 0], ['x', 0]] as const) {
      const page = await storage.listUsers({ emailKey: 'user1@example.org', prefix, fields: {} }, first(5))
      assert.equal(page.total, total)
      assert.equal(page.items.length, total)
    }
  },

  'listUsers: page and total are of one moment while others write': async (storage) => {
    await addUsers(storage, ...upTo(5))
    const done = new AbortController()
    const write = async (from: number) => {
      for (let n = from; !done.signal.aborted; n++) {
        await addUsers(storage, n)
        await storage.deleteUser(idOf('usr', n), anyVersion)
        // A store that never waits would keep everybody else, itself included, from the event loop.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const writers = [write(1000), write(2000), write(3000)]
    try {
      for (let i = 0; i < 100; i++) {
        const { items, total } = await storage.listUsers(everyone, first(100))
        assert.equal(items.length, total, 'items and total must come from one snapshot')
      }
    } finally {
      done.abort()
      await Promise.all(writers)
    }
  },

  'listUsers: a walk by after meets everyone once while others come and go': async (storage) => {
    await addUsers(storage, ...upTo(60).map((n) => n * 10))
    const met: string[] = []
    let from: PageRequest['from'] = { offset: 0 }
    for (let n = 1; ; n++) {
      assert.ok(n < 100, 'the walk does not end')
      const items = await ids(storage, everyone, { order: 'asc', limit: 7, from })
      const last = items.at(-1)
      if (last === undefined) break
      met.push(...items)
      from = { after: last }
      await Promise.all([addUsers(storage, n * 10 + 1), addUsers(storage, 5000 - n), storage.deleteUser(last, anyVersion)])
    }
    assert.equal(new Set(met).size, met.length)
    for (const id of idsOf(upTo(60).map((n) => n * 10))) assert.ok(met.includes(id), id)
  }
}
