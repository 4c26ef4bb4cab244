import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { addUsers, anyVersion, AT_ONCE, atOnce, count, everyone, idOf, keysOf, ODD_IDS, rename, TEXTS, timeOf, userOf } from './values.ts'

const readdress = (value: string) => ({ email: { value, key: value.toLowerCase() } })
const onlyVersion = (...versions: number[]) => ({ ifVersion: versions, unlessVersion: [] })

/** Duties about changing and deleting users: what a guard means, who wins. */
export const userChangeCases: Cases = {
  'updateUser: sets the values, adds one to the version, keeps the rest': async (storage) => {
    const [user] = await addUsers(storage, 1, 2)
    const expected = { ...user, name: 'New', version: 2, updatedAt: timeOf(50) }
    assert.deepEqual(await storage.updateUser(idOf('usr', 1), rename('New'), timeOf(50), anyVersion), { user: expected, changed: true })
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), expected)
    const again = { ...expected, email: 'new@example.org', version: 3, updatedAt: timeOf(60) }
    assert.deepEqual(await storage.updateUser(idOf('usr', 1), readdress('new@example.org'), timeOf(60), anyVersion), { user: again, changed: true })
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), again)
    assert.equal((await storage.updateUser(idOf('usr', 1), rename('NEW'), timeOf(70), anyVersion))?.user.name, 'NEW', 'another spelling is another value, though its key is the same')
    assert.deepEqual(await storage.findUser(idOf('usr', 2)), userOf(2))
  },

  'updateUser: name and address change together, and any text comes back': async (storage) => {
    await addUsers(storage, 1)
    for (const [i, name] of TEXTS.entries()) {
      const email = `New${i}@Example.org`
      const expected = { ...userOf(1), name, email, version: i + 2, updatedAt: timeOf(i) }
      assert.deepEqual(await storage.updateUser(idOf('usr', 1), { ...rename(name), ...readdress(email) }, timeOf(i), anyVersion), { user: expected, changed: true })
      assert.deepEqual(await storage.findUser(idOf('usr', 1)), expected)
      for (const filter of [everyone, { emailKey: email.toLowerCase(), prefix: null, fields: {} }, { emailKey: null, prefix: name.toLowerCase(), fields: {} }]) {
        assert.deepEqual(await storage.listUsers(filter, { order: 'asc', limit: 9, from: { offset: 0 } }), { items: [expected], total: 1 }, 'a list shows users as they are now')
      }
    }
  },

  'updateUser: values that are in place already change nothing': async (storage) => {
    const [user] = await addUsers(storage, 1)
    for (const changes of [{}, rename('User 1'), { ...rename('User 1'), email: { value: 'User1@Example.org', key: 'user1@example.org' } }]) {
      assert.deepEqual(await storage.updateUser(idOf('usr', 1), changes, timeOf(50), anyVersion), { user, changed: false })
    }
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), user)
  },

  'updateUser: what it returns is the caller’s': async (storage) => {
    await addUsers(storage, 1)
    for (const name of ['New', 'New']) {
      const result = await storage.updateUser(idOf('usr', 1), rename(name), timeOf(50), anyVersion)
      if (result !== null) result.user.name = 'changed by the caller'
    }
    assert.equal((await storage.findUser(idOf('usr', 1)))?.name, 'New')
  },

  'updateUser: an unknown user is null, with a guard too': async (storage) => {
    await addUsers(storage, 1)
    for (const id of [idOf('usr', 2), ...ODD_IDS]) {
      assert.equal(await storage.updateUser(id, rename('X'), timeOf(50), anyVersion), null)
      assert.equal(await storage.updateUser(id, rename('X'), timeOf(50), onlyVersion(1)), null)
    }
  },

  'updateUser: an e-mail key that is taken is refused, and nothing changes': async (storage) => {
    await addUsers(storage, 1, 2)
    await assert.rejects(storage.updateUser(idOf('usr', 2), { ...rename('X'), ...readdress('USER1@example.org') }, timeOf(50), anyVersion), { code: 'email_taken' })
    assert.deepEqual(await storage.findUser(idOf('usr', 2)), userOf(2))
  },

  'updateUser: an address may change its case, and gives its old key back': async (storage) => {
    await addUsers(storage, 1)
    assert.equal((await storage.updateUser(idOf('usr', 1), readdress('USER1@example.ORG'), timeOf(50), anyVersion))?.user.email, 'USER1@example.ORG')
    await storage.updateUser(idOf('usr', 1), readdress('else@example.org'), timeOf(51), anyVersion)
    const next = userOf(3, { email: 'user1@example.org' })
    await storage.createUser(next, keysOf(next), null)
    assert.equal(await count(storage), 2)
  },

  'updateUser: a guard lets its versions pass and no others': async (storage) => {
    await addUsers(storage, 1)
    const id = idOf('usr', 1)
    for (const guard of [onlyVersion(2), onlyVersion(), onlyVersion(0, 10), { ifVersion: null, unlessVersion: [1] }, { ifVersion: [1], unlessVersion: [2, 1] }]) {
      await assert.rejects(storage.updateUser(id, rename('X'), timeOf(50), guard), { code: 'version_mismatch' })
    }
    assert.deepEqual(await storage.findUser(id), userOf(1))
    assert.equal((await storage.updateUser(id, rename('A'), timeOf(50), onlyVersion(7, 1)))?.user.version, 2)
    assert.equal((await storage.updateUser(id, rename('B'), timeOf(50), { ifVersion: null, unlessVersion: [1, 3, 2 ** 40] }))?.user.version, 3)
  },

  'updateUser: the guard is judged before the values and before the e-mail key': async (storage) => {
    await addUsers(storage, 1, 2)
    await assert.rejects(storage.updateUser(idOf('usr', 1), rename('User 1'), timeOf(50), onlyVersion(9)), { code: 'version_mismatch' })
    await assert.rejects(storage.updateUser(idOf('usr', 1), {}, timeOf(50), onlyVersion(9)), { code: 'version_mismatch' })
    await assert.rejects(storage.updateUser(idOf('usr', 1), readdress('user2@example.org'), timeOf(50), onlyVersion(9)), { code: 'version_mismatch' })
  },

  'updateUser: of many at once under one version exactly one wins': async (storage) => {
    await addUsers(storage, 1)
    const { values, codes } = await atOnce((i) => storage.updateUser(idOf('usr', 1), rename(`Winner ${i}`), timeOf(50), onlyVersion(1)))
    assert.equal(values.length, 1)
    assert.deepEqual(codes, Array.from({ length: AT_ONCE - 1 }, () => 'version_mismatch'))
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), values[0]?.user)
  },

  'updateUser: of many at once without a guard none is lost': async (storage) => {
    await addUsers(storage, 1)
    const { values } = await atOnce((i) => storage.updateUser(idOf('usr', 1), rename(`Name ${i}`), timeOf(50), anyVersion))
    const versions = values.map((value) => value?.user.version).sort((a = 0, b = 0) => a - b)
    assert.deepEqual(versions, Array.from({ length: AT_ONCE }, (_, i) => i + 2))
  },

  'updateUser: of many at once to one e-mail key exactly one wins': async (storage) => {
    await addUsers(storage, ...Array.from({ length: AT_ONCE }, (_, i) => i))
    const { values, codes } = await atOnce((i) => storage.updateUser(idOf('usr', i), readdress('one@example.org'), timeOf(50), anyVersion))
    assert.equal(values.length, 1)
    assert.deepEqual(codes, Array.from({ length: AT_ONCE - 1 }, () => 'email_taken'))
  },

  'deleteUser: gives back the last state, and the user is gone from everywhere': async (storage) => {
    const [user] = await addUsers(storage, 1, 2)
    assert.deepEqual(await storage.deleteUser(idOf('usr', 1), anyVersion), user)
    assert.equal(await storage.findUser(idOf('usr', 1)), null)
    assert.equal(await storage.deleteUser(idOf('usr', 1), anyVersion), null)
    assert.equal(await storage.updateUser(idOf('usr', 1), rename('X'), timeOf(50), anyVersion), null)
    for (const filter of [everyone, { emailKey: null, prefix: 'user', fields: {} }]) {
      assert.deepEqual(await storage.listUsers(filter, { order: 'asc', limit: 9, from: { offset: 0 } }), { items: [userOf(2)], total: 1 })
    }
    assert.equal((await storage.listUsers({ emailKey: 'user1@example.org', prefix: null, fields: {} }, { order: 'asc', limit: 9, from: { offset: 0 } })).total, 0)
  },

  'deleteUser: the e-mail key is free again': async (storage) => {
    await addUsers(storage, 1)
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    const next = userOf(2, { email: 'user1@example.org' })
    await storage.createUser(next, keysOf(next), null)
    assert.deepEqual(await storage.findUser(next.id), next)
  },

  'deleteUser: a guard lets its versions pass and no others': async (storage) => {
    await addUsers(storage, 1)
    for (const guard of [onlyVersion(2), onlyVersion(), { ifVersion: null, unlessVersion: [1] }]) {
      await assert.rejects(storage.deleteUser(idOf('usr', 1), guard), { code: 'version_mismatch' })
      assert.equal(await storage.deleteUser(idOf('usr', 2), guard), null)
    }
    for (const id of ODD_IDS) assert.equal(await storage.deleteUser(id, onlyVersion(1)), null)
    assert.deepEqual(await storage.deleteUser(idOf('usr', 1), { ifVersion: [3, 1], unlessVersion: [3] }), userOf(1))
  },

  'deleteUser: of many at once exactly one gets the user': async (storage) => {
    await addUsers(storage, 1)
    const { values } = await atOnce(() => storage.deleteUser(idOf('usr', 1), anyVersion))
    assert.deepEqual(values.filter((value) => value !== null), [userOf(1)])
    assert.equal(values.length, AT_ONCE)
  },

  'deleteUser and updateUser at once: an update is seen, or finds nobody': async (storage) => {
    await addUsers(storage, 1)
    const { values, codes } = await atOnce(async (i) => i === AT_ONCE / 2
      ? { deleted: await storage.deleteUser(idOf('usr', 1), anyVersion), updated: null }
      : { deleted: null, updated: await storage.updateUser(idOf('usr', 1), rename(`Name ${i}`), timeOf(50), anyVersion) })
    assert.deepEqual(codes, [])
    const updates = values.filter(({ updated }) => updated !== null).length
    const last = values.find(({ deleted }) => deleted !== null)?.deleted
    assert.equal(last?.version, updates + 1, 'the deleted user had every update that was answered')
    assert.equal(await storage.findUser(idOf('usr', 1)), null)
  }
}
