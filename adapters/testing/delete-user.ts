import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { having } from './list-values.ts'
import {
  addUsers, anyVersion, CONCURRENT_CALLS, concurrently, everyone, idOf, keysOf, onlyVersion, rename, timeOf,
  UNKNOWN_IDS, userOf
} from './values.ts'

/** Duties of `deleteUser`. */
export const userDeletionCases: Cases = {
  'delete: returns the last state, and no method finds the user afterwards': async (storage) => {
    const [user] = await addUsers(storage, 1, 2)
    assert.deepEqual(await storage.deleteUser(idOf('usr', 1), anyVersion), user)
    assert.equal(await storage.findUser(idOf('usr', 1)), null)
    assert.equal(await storage.deleteUser(idOf('usr', 1), anyVersion), null)
    assert.equal(await storage.updateUser(idOf('usr', 1), rename('X'), timeOf(50), anyVersion), null)
    for (const filter of [everyone, having('user')]) {
      assert.deepEqual(await storage.listUsers(filter, { order: 'asc', limit: 9, from: { offset: 0 } }), {
        items: [userOf(2)],
        total: 1
      })
    }
    assert.equal(
      (
        await storage.listUsers(
          { emailKey: 'user1@example.org', words: null, fields: {} },
          { order: 'asc', limit: 9, from: { offset: 0 } }
        )
      ).total,
      0
    )
  },

  'delete: the address is free again': async (storage) => {
    await addUsers(storage, 1)
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    const next = userOf(2, { email: 'user1@example.org' })
    await storage.createUser(next, keysOf(next), null)
    assert.deepEqual(await storage.findUser(next.id), next)
  },

  'update, delete: an address that another user has by now stays taken': async (storage) => {
    await addUsers(storage, 1, 2)
    const readdress = (n: number, value: string) =>
      storage.updateUser(idOf('usr', n), { email: { value, key: value } }, timeOf(50), anyVersion)
    const requireTaken = async (key: string, n: number) => {
      const next = userOf(n, { email: key })
      await assert.rejects(storage.createUser(next, keysOf(next), null), { code: 'email_taken' }, key)
    }
    await readdress(1, 'next@example.org')
    // The first address of the user 1 is that of another one, by a creation and by an update.
    const heir = userOf(3, { email: 'user1@example.org' })
    await storage.createUser(heir, keysOf(heir), null)
    await readdress(1, 'last@example.org')
    await readdress(2, 'next@example.org')
    await readdress(1, 'end@example.org')
    for (const [i, key] of ['user1@example.org', 'next@example.org'].entries()) await requireTaken(key, 10 + i)
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    for (const [i, key] of ['user1@example.org', 'next@example.org'].entries()) await requireTaken(key, 20 + i)
    await assert.rejects(readdress(2, 'user1@example.org'), { code: 'email_taken' })
    const free = ['user2@example.org', 'last@example.org', 'end@example.org']
    for (const [i, email] of free.entries()) {
      const user = userOf(30 + i, { email })
      assert.deepEqual(await storage.createUser(user, keysOf(user), null), { user, replayed: false })
    }
  },

  'delete: a guard accepts exactly its versions': async (storage) => {
    await addUsers(storage, 1)
    for (const guard of [onlyVersion(2), onlyVersion(), { ifVersion: null, unlessVersion: [1] }]) {
      await assert.rejects(storage.deleteUser(idOf('usr', 1), guard), { code: 'version_mismatch' })
      assert.equal(await storage.deleteUser(idOf('usr', 2), guard), null)
    }
    for (const id of UNKNOWN_IDS) assert.equal(await storage.deleteUser(id, onlyVersion(1)), null)
    assert.deepEqual(await storage.deleteUser(idOf('usr', 1), { ifVersion: [3, 1], unlessVersion: [3] }), userOf(1))
  },

  'delete: of many concurrent calls, exactly one returns the user': async (storage) => {
    await addUsers(storage, 1)
    const { values } = await concurrently(() => storage.deleteUser(idOf('usr', 1), anyVersion))
    assert.deepEqual(
      values.filter((value) => value !== null),
      [userOf(1)]
    )
    assert.equal(values.length, CONCURRENT_CALLS)
  },

  'delete, update: a concurrent update is in the deleted user, or returns null': async (storage) => {
    await addUsers(storage, 1)
    const { values, codes } = await concurrently(async (i) =>
      i === CONCURRENT_CALLS / 2
        ? { deleted: await storage.deleteUser(idOf('usr', 1), anyVersion), updated: null }
        : {
            deleted: null,
            updated: await storage.updateUser(idOf('usr', 1), rename(`Name ${i}`), timeOf(50), anyVersion)
          }
    )
    assert.deepEqual(codes, [])
    const updates = values.filter(({ updated }) => updated !== null).length
    const last = values.find(({ deleted }) => deleted !== null)?.deleted
    assert.equal(last?.version, updates + 1, 'the deleted user had every update that was answered')
    assert.equal(await storage.findUser(idOf('usr', 1)), null)
  }
}
