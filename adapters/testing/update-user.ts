import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { having } from './list-values.ts'
import {
  addUsers, anyVersion, CONCURRENT_CALLS, concurrently, count, everyone, idOf, keysOf, onlyVersion, rename, TEXTS,
  timeOf, UNKNOWN_IDS, userOf, wordsOf
} from './values.ts'

const readdress = (value: string) => ({ email: { value, key: value.toLowerCase() } })

/** Duties of `updateUser`. */
export const userUpdateCases: Cases = {
  'update: sets the given values, adds 1 to the version, keeps the rest': async (storage) => {
    const [user] = await addUsers(storage, 1, 2)
    const expected = { ...user, name: 'New', version: 2, updatedAt: timeOf(50) }
    assert.deepEqual(await storage.updateUser(idOf('usr', 1), rename('New'), timeOf(50), anyVersion), {
      user: expected,
      changed: true
    })
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), expected)
    const again = { ...expected, email: 'new@example.org', version: 3, updatedAt: timeOf(60) }
    assert.deepEqual(
      await storage.updateUser(idOf('usr', 1), readdress('new@example.org'), timeOf(60), anyVersion),
      { user: again, changed: true }
    )
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), again)
    assert.equal(
      (await storage.updateUser(idOf('usr', 1), rename('NEW'), timeOf(70), anyVersion))?.user.name,
      'NEW',
      'a different case is a different value, even with the same key'
    )
    assert.deepEqual(await storage.findUser(idOf('usr', 2)), userOf(2))
  },

  'update: name and address change together, and are stored unchanged': async (storage) => {
    await addUsers(storage, 1)
    for (const [i, name] of TEXTS.entries()) {
      const email = `New${i}@Example.org`
      const expected = { ...userOf(1), name, email, version: i + 2, updatedAt: timeOf(50 + i) }
      const changes = { ...rename(name), ...readdress(email) }
      assert.deepEqual(
        await storage.updateUser(idOf('usr', 1), changes, timeOf(50 + i), anyVersion),
        { user: expected, changed: true }
      )
      assert.deepEqual(await storage.findUser(idOf('usr', 1)), expected)
      for (const filter of [
        everyone,
        { emailKey: email.toLowerCase(), words: null, fields: {} },
        ...wordsOf(name).length === 0 ? [] : [having(...wordsOf(name))]
      ]) {
        assert.deepEqual(
          await storage.listUsers(filter, { order: 'asc', limit: 9, from: { offset: 0 } }),
          { items: [expected], total: 1 },
          'lists return the current user'
        )
      }
    }
  },

  'update: updatedAt is the given time, and never goes back': async (storage) => {
    const [user] = await addUsers(storage, 9)
    const id = idOf('usr', 9)
    const changes = [
      [rename('A'), timeOf(60), timeOf(60)],
      [rename('B'), timeOf(50), timeOf(60)],
      [readdress('c@example.org'), timeOf(59), timeOf(60)],
      [rename('D'), timeOf(61), timeOf(61)],
      [{ ...rename('E'), ...readdress('e@example.org') }, timeOf(8), timeOf(61)]
    ] as const
    const early = await storage.updateUser(id, rename('Early'), timeOf(8), anyVersion)
    assert.equal(early?.user.updatedAt, user?.updatedAt, 'not before the creation')
    for (const [change, given, updatedAt] of changes) {
      const update = await storage.updateUser(id, change, given, anyVersion)
      assert.equal(update?.user.updatedAt, updatedAt)
      assert.deepEqual(await storage.findUser(id), update?.user)
    }
  },

  'update: the longest names and addresses are stored, and lists find and order by whole keys': async (storage) => {
    const email = `${'A'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.org`
    assert.equal(email.length, 254)
    // The key of the second name has twice as many code points as the name.
    for (const [n, name] of ['🦊'.repeat(200), 'İ'.repeat(200), 'x'.repeat(200)].entries()) {
      await addUsers(storage, n)
      const address = `${n}${email.slice(1)}`
      const expected = { ...userOf(n), name, email: address, version: 2, updatedAt: timeOf(50) }
      const changes = { ...rename(name), ...readdress(address) }
      const update = await storage.updateUser(idOf('usr', n), changes, timeOf(50), anyVersion)
      assert.deepEqual(update, { user: expected, changed: true })
      assert.deepEqual(await storage.findUser(idOf('usr', n)), expected)
      const emailKey = address.toLowerCase()
      for (const filter of [{ emailKey }, having(...wordsOf(address)), having(...wordsOf(name))]) {
        const page = { order: 'asc', limit: 9, from: { offset: 0 } } as const
        assert.deepEqual(await storage.listUsers({ ...everyone, ...filter }, page), { items: [expected], total: 1 })
      }
    }
    // Their keys differ from these at the end alone.
    for (const [n, character] of ['🦊', 'İ', 'x'].entries()) {
      const user = userOf(10 + n, { name: `${character.repeat(199)}a` })
      await storage.createUser(user, keysOf(user), null)
    }
    const byName = { sort: 'nameKey', order: 'asc', limit: 9, from: { offset: 0 } } as const
    const { items } = await storage.listUsers(everyone, byName)
    assert.deepEqual(items.map(({ id }) => id), [11, 1, 12, 2, 10, 0].map((n) => idOf('usr', n)))
  },

  'update: values that are stored already change nothing': async (storage) => {
    const [user] = await addUsers(storage, 1)
    for (const changes of [
      {},
      rename('User 1'),
      { ...rename('User 1'), email: { value: 'User1@Example.org', key: 'user1@example.org' } }
    ]) {
      assert.deepEqual(await storage.updateUser(idOf('usr', 1), changes, timeOf(50), anyVersion), {
        user,
        changed: false
      })
    }
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), user)
  },

  'update: the returned user shares no objects with the store': async (storage) => {
    await addUsers(storage, 1)
    for (const name of ['New', 'New']) {
      const result = await storage.updateUser(idOf('usr', 1), rename(name), timeOf(50), anyVersion)
      if (result !== null) result.user.name = 'changed by the caller'
    }
    assert.equal((await storage.findUser(idOf('usr', 1)))?.name, 'New')
  },

  'update: an unknown id returns null, also with a guard': async (storage) => {
    await addUsers(storage, 1)
    for (const id of [idOf('usr', 2), ...UNKNOWN_IDS]) {
      assert.equal(await storage.updateUser(id, rename('X'), timeOf(50), anyVersion), null)
      assert.equal(await storage.updateUser(id, rename('X'), timeOf(50), onlyVersion(1)), null)
    }
  },

  'update: an address that another user has is refused, and nothing changes': async (storage) => {
    await addUsers(storage, 1, 2)
    await assert.rejects(
      storage.updateUser(
        idOf('usr', 2),
        { ...rename('X'), ...readdress('USER1@example.org') },
        timeOf(50),
        anyVersion
      ),
      { code: 'email_taken' }
    )
    assert.deepEqual(await storage.findUser(idOf('usr', 2)), userOf(2))
  },

  'update: an address may change its case, and a former address is free': async (storage) => {
    await addUsers(storage, 1)
    assert.equal(
      (await storage.updateUser(idOf('usr', 1), readdress('USER1@example.ORG'), timeOf(50), anyVersion))?.user
        .email,
      'USER1@example.ORG'
    )
    await storage.updateUser(idOf('usr', 1), readdress('else@example.org'), timeOf(51), anyVersion)
    const next = userOf(3, { email: 'user1@example.org' })
    await storage.createUser(next, keysOf(next), null)
    assert.equal(await count(storage), 2)
  },

  'update: a guard accepts exactly its versions': async (storage) => {
    await addUsers(storage, 1)
    const id = idOf('usr', 1)
    for (const guard of [
      onlyVersion(2),
      onlyVersion(),
      onlyVersion(0, 10),
      { ifVersion: null, unlessVersion: [1] },
      { ifVersion: [1], unlessVersion: [2, 1] }
    ]) {
      await assert.rejects(storage.updateUser(id, rename('X'), timeOf(50), guard), { code: 'version_mismatch' })
    }
    assert.deepEqual(await storage.findUser(id), userOf(1))
    assert.equal((await storage.updateUser(id, rename('A'), timeOf(50), onlyVersion(7, 1)))?.user.version, 2)
    assert.equal(
      (await storage.updateUser(id, rename('B'), timeOf(50), { ifVersion: null, unlessVersion: [1, 3, 2 ** 40] }))
        ?.user.version,
      3
    )
  },

  'update: the guard is checked before the values and the address': async (storage) => {
    await addUsers(storage, 1, 2)
    await assert.rejects(storage.updateUser(idOf('usr', 1), rename('User 1'), timeOf(50), onlyVersion(9)), {
      code: 'version_mismatch'
    })
    await assert.rejects(storage.updateUser(idOf('usr', 1), {}, timeOf(50), onlyVersion(9)), {
      code: 'version_mismatch'
    })
    await assert.rejects(
      storage.updateUser(idOf('usr', 1), readdress('user2@example.org'), timeOf(50), onlyVersion(9)),
      { code: 'version_mismatch' }
    )
  },

  'update: of many concurrent calls with one version, exactly one succeeds': async (storage) => {
    await addUsers(storage, 1)
    const { values, codes } = await concurrently((i) =>
      storage.updateUser(idOf('usr', 1), rename(`Winner ${i}`), timeOf(50), onlyVersion(1))
    )
    assert.equal(values.length, 1)
    assert.deepEqual(
      codes,
      Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'version_mismatch')
    )
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), values[0]?.user)
  },

  'update: of many concurrent calls without a guard, none is lost': async (storage) => {
    await addUsers(storage, 1)
    const { values } = await concurrently((i) =>
      storage.updateUser(idOf('usr', 1), rename(`Name ${i}`), timeOf(50), anyVersion)
    )
    const versions = values.map((value) => value?.user.version).sort((a = 0, b = 0) => a - b)
    assert.deepEqual(
      versions,
      Array.from({ length: CONCURRENT_CALLS }, (_, i) => i + 2)
    )
  },

  'update: of many concurrent changes to one address, exactly one succeeds': async (storage) => {
    await addUsers(storage, ...Array.from({ length: CONCURRENT_CALLS }, (_, i) => i))
    const { values, codes } = await concurrently((i) =>
      storage.updateUser(idOf('usr', i), readdress('one@example.org'), timeOf(50), anyVersion)
    )
    assert.equal(values.length, 1)
    assert.deepEqual(
      codes,
      Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'email_taken')
    )
  }
}
