import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { having } from './list-values.ts'
import {
  addUsers, anyVersion, CONCURRENT_CALLS, concurrently, count, everyone, idOf, keysOf, rename, TEXTS, timeOf,
  UNKNOWN_IDS, userOf, wordsOf
} from './values.ts'

/** Duties of `createUser` and `findUser`. */
export const userCreationCases: Cases = {
  'create, findUser: a user is returned as it was given': async (storage) => {
    const [user] = await addUsers(storage, 1)
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), user)
  },

  'create: text of any script is stored unchanged': async (storage) => {
    for (const [n, name] of TEXTS.entries()) {
      const user = userOf(n, { name })
      await storage.createUser(user, keysOf(user), null)
      assert.deepEqual(await storage.findUser(user.id), user)
    }
  },

  'create, update: a text that cannot be stored unchanged is refused': async (storage) => {
    for (const [n, name] of ['a\0b', 'a\ud800b'].entries()) {
      const user = userOf(n, { name })
      const kept = await storage.createUser(user, keysOf(user), null).then(
        () => true,
        () => false
      )
      assert.deepEqual(
        await storage.findUser(user.id),
        kept ? user : null,
        'a store that cannot store a text throws fault'
      )
      const other = userOf(n + 10)
      await storage.createUser(other, keysOf(other), null)
      const changed = await storage.updateUser(other.id, rename(name), timeOf(50), anyVersion).then(
        () => true,
        () => false
      )
      assert.equal(
        (await storage.findUser(other.id))?.name,
        changed ? name : other.name,
        'a store that cannot store a text throws fault'
      )
    }
  },

  'create: several users may have the same name': async (storage) => {
    const users = [1, 2, 3].map((n) => userOf(n, { name: 'Ann' }))
    for (const user of users) await storage.createUser(user, keysOf(user), null)
    assert.deepEqual(
      await storage.listUsers(
        having('ann'),
        { order: 'asc', limit: 9, from: { offset: 0 } }
      ),
      { items: users, total: 3 }
    )
  },

  'create: stored users share no objects with the caller': async (storage) => {
    const given = userOf(1)
    await storage.createUser(given, keysOf(given), null)
    given.name = 'changed by the caller'
    const found = await storage.findUser(given.id)
    if (found !== null) found.name = 'changed by the reader'
    const listed = await storage.listUsers(everyone, { order: 'asc', limit: 1, from: { offset: 0 } })
    for (const user of listed.items) user.name = 'changed by another reader'
    assert.deepEqual(await storage.findUser(given.id), userOf(1))
  },

  'create: an address that another user has is refused, and nothing is stored': async (storage) => {
    const [first] = await addUsers(storage, 1)
    const second = userOf(2, { email: 'USER1@EXAMPLE.ORG' })
    await assert.rejects(storage.createUser(second, keysOf(second), null), { code: 'email_taken' })
    assert.equal(await storage.findUser(second.id), null)
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), first)
    assert.equal(await count(storage), 1)
  },

  'create: an id that another user has is refused with fault': async (storage) => {
    const [user] = await addUsers(storage, 1)
    const other = userOf(1, { email: 'other@example.org' })
    await assert.rejects(storage.createUser(other, keysOf(other), null), { code: 'fault' })
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), user)
  },

  'create: of many concurrent calls with one address, exactly one succeeds': async (storage) => {
    const { values, codes } = await concurrently((i) => {
      const user = userOf(i, { email: i % 2 === 0 ? 'one@example.org' : 'ONE@example.org' })
      return storage.createUser(user, keysOf(user), null)
    })
    assert.equal(values.length, 1)
    assert.deepEqual(
      codes,
      Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'email_taken')
    )
    assert.equal(await count(storage), 1)
  },

  'create: of many concurrent calls with one id, exactly one succeeds': async (storage) => {
    const { values, codes } = await concurrently((i) => {
      const user = { ...userOf(i), id: idOf('usr', 1) }
      return storage.createUser(user, keysOf(user), null)
    })
    assert.equal(values.length, 1)
    assert.deepEqual(codes, Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'fault'))
    const page = { order: 'asc', limit: 9, from: { offset: 0 } } as const
    assert.deepEqual(await storage.listUsers(everyone, page), { items: [values[0]?.user], total: 1 })
  },

  'create: the longest name and address are stored, and lists find them': async (storage) => {
    const longest = userOf(1, {
      name: '🦊'.repeat(200),
      email: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.org`
    })
    const { emailKey } = keysOf(longest)
    const nameWords = ['🦊'.repeat(64), 'x'.repeat(64)]
    await storage.createUser(longest, { nameKey: '🦊'.repeat(254), emailKey, nameWords }, null)
    assert.equal(longest.email.length, 254)
    assert.deepEqual(await storage.findUser(longest.id), longest)
    for (const filter of [
      { emailKey, words: null, fields: {} },
      having(...nameWords),
      having(...wordsOf(emailKey))
    ]) {
      assert.deepEqual(await storage.listUsers(filter, { order: 'asc', limit: 9, from: { offset: 0 } }), {
        items: [longest],
        total: 1
      })
    }
  },

  'findUser: an unknown id returns null, whatever its text': async (storage) => {
    await addUsers(storage, 1)
    for (const id of UNKNOWN_IDS) assert.equal(await storage.findUser(id), null, JSON.stringify(id))
  }
}
