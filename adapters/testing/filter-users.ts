import assert from 'node:assert/strict'
import type { KitStorage } from './kit-storage.ts'
import type { Cases } from './cases.ts'
import { firstPage, idsOf, listedIds, upTo, withPrefix } from './list-values.ts'
import { addUsers, anyVersion, idOf, keysOf, timeOf, userOf } from './values.ts'

async function addNamed (storage: KitStorage, names: readonly string[]): Promise<void> {
  for (const [n, name] of names.entries()) {
    const user = userOf(n, { name, email: `${n}@example.org` })
    await storage.createUser(user, keysOf(user), null)
  }
}

/** Duties of `listUsers` with an e-mail key or a prefix. */
export const filterCases: Cases = {
  'listUsers: an e-mail key matches exactly its user': async (storage) => {
    await addUsers(storage, 1, 2, 12)
    const filter = { emailKey: 'user2@example.org', prefix: null, fields: {} }
    assert.deepEqual(await storage.listUsers(filter, firstPage(5)), { items: [userOf(2)], total: 1 })
    for (const from of [{ offset: 1 }, { after: idOf('usr', 2) }, { after: idOf('usr', 3) }]) {
      assert.deepEqual(
        await storage.listUsers(filter, { order: 'asc', limit: 5, from }),
        { items: [], total: 1 },
        'a page position applies to a filtered list'
      )
    }
    for (const n of [1, 2]) {
      assert.deepEqual(
        await storage.listUsers(filter, { order: 'desc', limit: 5, from: { after: idOf('usr', n) } }),
        { items: [], total: 1 },
        'in descending order too'
      )
    }
    assert.deepEqual(
      await listedIds(storage, filter, { order: 'asc', limit: 5, from: { after: idOf('usr', 1) } }),
      idsOf([2])
    )
    assert.deepEqual(
      await listedIds(storage, filter, { order: 'desc', limit: 5, from: { after: idOf('usr', 3) } }),
      idsOf([2])
    )
    for (const emailKey of ['user2@example', 'User2@Example.org', '%', 'user_@example.org', 'nobody@example.org']) {
      assert.deepEqual(
        await storage.listUsers({ emailKey, prefix: null, fields: {} }, firstPage(5)),
        { items: [], total: 0 },
        JSON.stringify(emailKey)
      )
    }
  },

  'listUsers: a prefix matches names and addresses, and lists each user once': async (storage) => {
    await addUsers(storage, ...upTo(12))
    assert.deepEqual(
      await listedIds(storage, withPrefix('user'), firstPage(20)),
      idsOf(upTo(12)),
      'name and address match, and each user is listed once'
    )
    assert.deepEqual(await listedIds(storage, withPrefix('user1'), firstPage(20)), idsOf([1, 10, 11, 12]), 'addresses')
    assert.deepEqual(await listedIds(storage, withPrefix('user 1'), firstPage(20)), idsOf([1, 10, 11, 12]), 'names')
    const byWholeName = await listedIds(storage, withPrefix('user 12'), firstPage(20))
    assert.deepEqual(byWholeName, idsOf([12]), 'a whole name is a prefix')
    assert.deepEqual(await listedIds(storage, withPrefix('ser'), firstPage(20)), [], 'not inside')
    assert.deepEqual(
      await listedIds(storage, withPrefix('user1'), { order: 'desc', limit: 2, from: { offset: 1 } }),
      idsOf([11, 10])
    )
    for (const [prefix, numbers] of [
      ['user1', [1, 10, 11, 12]],
      ['user', upTo(12)]
    ] as const) {
      for (const order of ['asc', 'desc'] as const) {
        for (const after of [0, 5, 11, 12, 20]) {
          const behind =
            order === 'asc' ? numbers.filter((n) => n > after) : numbers.filter((n) => n < after).reverse()
          const page = await storage.listUsers(withPrefix(prefix), {
            order,
            limit: 3,
            from: { after: idOf('usr', after) }
          })
          assert.deepEqual(
            { ids: page.items.map(({ id }) => id), total: page.total },
            { ids: idsOf(behind.slice(0, 3)), total: numbers.length },
            `${prefix}, ${order}, after ${after}`
          )
        }
      }
    }
    assert.equal((await storage.listUsers(withPrefix('user'), firstPage(3))).total, 12)
  },

  'listUsers: a prefix has no wildcards': async (storage) => {
    const odd = ['100% x', '100 x', 'a_b', 'axb', 'a\\b', '[a]', 'a*b', 'x.y', 'xzy', "a'b", 'a"b', 'a?b', 'a@b']
    await addNamed(storage, odd)
    for (const [prefix, n] of [
      ['100%', 0],
      ['a_', 2],
      ['a\\', 4],
      ['[a', 5],
      ['a*', 6],
      ['x.', 7],
      ["a'", 9],
      ['a"', 10],
      ['a?', 11],
      ['a@', 12]
    ] as const) {
      assert.deepEqual(await listedIds(storage, withPrefix(prefix), firstPage(20)), idsOf([n]), prefix)
    }
    assert.deepEqual(await listedIds(storage, withPrefix('%%'), firstPage(20)), [])
  },

  'listUsers: a prefix may be any Unicode text': async (storage) => {
    await addNamed(storage, [
      'z\ud7ff',
      'z\ud7ffx',
      'z\ue000',
      'z\uffffx',
      'z\u{10000}',
      'z\u{10ffff}',
      'z\u{10ffff}y',
      'z🦊a',
      'z🦊b',
      'z🦋',
      '\u{10ffff}'
    ])
    for (const [prefix, numbers] of [
      ['z', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
      ['z\ud7ff', [0, 1]],
      ['z\ue000', [2]],
      ['z\uffff', [3]],
      ['z\u{10000}', [4]],
      ['z\u{10ffff}', [5, 6]],
      ['z🦊', [7, 8]],
      ['\u{10ffff}', [10]]
    ] as const) {
      const found = await listedIds(storage, withPrefix(prefix), firstPage(20))
      assert.deepEqual(found, idsOf(numbers), JSON.stringify(prefix))
    }
    assert.deepEqual(
      await storage.listUsers(withPrefix('z'.repeat(10_000)), firstPage(20)),
      { items: [], total: 0 },
      'a prefix of any length'
    )
    const user = userOf(50, { name: 'x\ufffdy' })
    await storage.createUser(user, keysOf(user), null)
    for (const prefix of ['x\ud800', 'x\udc00', 'x\0', 'x\ufffd\0', '\0x']) {
      const found = await storage.listUsers(withPrefix(prefix), firstPage(20))
      assert.deepEqual(found, { items: [], total: 0 }, `no text has ${JSON.stringify(prefix)}`)
    }
  },

  'listUsers: a common prefix stays exact while its users are deleted': async (storage) => {
    const name = (n: number) => ({ name: `Ann ${n}`, email: `ann.${n}@example.org` })
    const numbers = upTo(300).map((n) => n + 1000)
    for (const n of numbers) {
      const user = userOf(n, name(n))
      await storage.createUser(user, keysOf(user), null)
    }
    for (const [left, gone] of [
      [300, 0],
      [280, 20],
      [70, 210],
      [40, 30],
      [1, 39]
    ] as const) {
      for (const n of numbers.splice(0, gone)) await storage.deleteUser(idOf('usr', n), anyVersion)
      for (const prefix of ['ann', 'ann ', 'ann.', 'an']) {
        const { items, total } = await storage.listUsers(withPrefix(prefix), {
          order: 'asc',
          limit: 400,
          from: { offset: 0 }
        })
        assert.deepEqual(
          { ids: items.map(({ id }) => id), total },
          { ids: idsOf(numbers), total: left },
          `${prefix} with ${left} left`
        )
      }
    }
  },

  'listUsers: after an update a prefix matches the new name and address': async (storage) => {
    await addUsers(storage, 1, 2)
    await storage.updateUser(idOf('usr', 1), { name: { value: 'Ann', key: 'ann' } }, timeOf(50), anyVersion)
    assert.deepEqual(await listedIds(storage, withPrefix('an'), firstPage(5)), idsOf([1]))
    assert.deepEqual(await listedIds(storage, withPrefix('user '), firstPage(5)), idsOf([2]))
    await storage.updateUser(idOf('usr', 1), { email: { value: 'X@y.de', key: 'x@y.de' } }, timeOf(51), anyVersion)
    assert.deepEqual(await listedIds(storage, withPrefix('user'), firstPage(5)), idsOf([2]))
    assert.deepEqual(await listedIds(storage, withPrefix('x@'), firstPage(5)), idsOf([1]))
    assert.equal((await storage.listUsers({ emailKey: 'x@y.de', prefix: null, fields: {} }, firstPage(5))).total, 1)
  },

  'listUsers: an e-mail key and a prefix must both match': async (storage) => {
    await addUsers(storage, 1, 2)
    for (const [prefix, total] of [
      ['user 1', 1],
      ['user1', 1],
      ['user 2', 0],
      ['user2', 0],
      ['x', 0]
    ] as const) {
      const page = await storage.listUsers({ emailKey: 'user1@example.org', prefix, fields: {} }, firstPage(5))
      assert.equal(page.total, total)
      assert.equal(page.items.length, total)
    }
  }
}
