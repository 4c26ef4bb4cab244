import assert from 'node:assert/strict'
import type { UserWrite } from '../../lib/storage/storage.ts'
import { SINGLE } from './batch-values.ts'
import type { Cases } from './cases.ts'
import { type KitStorage, trashOf } from './kit-storage.ts'
import { firstPage, having, idsOf, listedIds } from './list-values.ts'
import { addAway, awayOf, listedAway, putAway, restore, trashWrites } from './trash-values.ts'
import {
  addUsers, anyVersion, count, everyone, idOf, keysOf, onlyVersion, rename, timeOf, UNKNOWN_IDS, userOf
} from './values.ts'

/** What is there of the nth user: neither, or both if its id was given again. */
async function placesOf (storage: KitStorage, n: number): Promise<{ isThere: boolean, isAway: boolean }> {
  const id = idOf('usr', n)
  return { isThere: await storage.findUser(id) !== null, isAway: await trashOf(storage).find(id) !== null }
}

async function outcomeOf (storage: KitStorage, write: UserWrite) {
  return (await storage.writeUsers([write], SINGLE)).outcomes[0]
}

const newAddress = (value: string) => ({ email: { value, key: value.toLowerCase() } })

/** Adds the nth user with these keys and fields. */
async function addLike (storage: KitStorage, n: number, members: Parameters<typeof userOf>[1]): Promise<void> {
  const user = userOf(n, members)
  await storage.createUser(user, keysOf(user), null)
}

/** Duties about the ways out of the trash. */
export const restorePurgeCases: Cases = {
  'restore: gives back the id, the values, and all by which the user is found': async (storage) => {
    await storage.migrate({ filterable: ['plan'], unique: ['legacyId'] })
    const user = userOf(1, {
      name: 'Ada', fields: { plan: 'pro', legacyId: 'a' }, status: 'suspended', statusReason: 'unpaid'
    })
    await storage.createUser(user, keysOf(user), null)
    await storage.updateUser(user.id, rename('Ada K'), timeOf(900), anyVersion)
    await putAway(storage, 1, 950)
    const back = { ...user, name: 'Ada K', version: 3, updatedAt: timeOf(960) }
    assert.deepEqual(await restore(storage, 1, 960), back)
    assert.deepEqual(await storage.findUser(user.id), back)
    const filters = [
      everyone, { ...everyone, emailKey: 'user1@example.org' }, having('ada', 'k'), having('user1'),
      { ...everyone, fields: { plan: 'pro' } }, { ...everyone, fields: { legacyId: 'a' } },
      { ...everyone, status: 'suspended' as const }
    ]
    for (const filter of filters) {
      const page = await storage.listUsers(filter, firstPage(9))
      assert.deepEqual(page, { items: [back], total: 1 }, JSON.stringify(filter))
    }
    assert.equal(await trashOf(storage).find(user.id), null)
    assert.deepEqual(await listedAway(storage), { ids: [], total: 0 })
    await assert.rejects(addLike(storage, 2, { email: user.email }), { code: 'email_taken' })
    await assert.rejects(addLike(storage, 2, { fields: { legacyId: 'a' } }), { code: 'field_taken' })
    assert.equal(await restore(storage, 1, 970), null, 'it is there already')
  },

  'restore: the version goes on, and updatedAt never goes back': async (storage) => {
    await addUsers(storage, 1)
    await storage.updateUser(idOf('usr', 1), rename('New'), timeOf(500), anyVersion)
    for (const [i, at] of [400, 600, 550].entries()) {
      await putAway(storage, 1, 700 + i)
      const updatedAt = timeOf([500, 600, 600][i] ?? 0)
      assert.deepEqual(await restore(storage, 1, at), userOf(1, { name: 'New', version: 3 + i, updatedAt }))
    }
    const renamed = await storage.updateUser(idOf('usr', 1), rename('Last'), timeOf(900), onlyVersion(5))
    assert.equal(renamed?.user.version, 6)
  },

  'restore: an address that somebody has meanwhile is refused as email_taken': async (storage) => {
    await addAway(storage, 1)
    await addLike(storage, 2, { email: 'USER1@example.org' })
    await assert.rejects(restore(storage, 1, 900), { code: 'email_taken' })
    assert.equal(await storage.findUser(idOf('usr', 1)), null)
    assert.deepEqual(await trashOf(storage).find(idOf('usr', 1)), awayOf(userOf(1), 101), 'it stays as it was')
    assert.equal(await count(storage), 1)
    await storage.updateUser(idOf('usr', 2), newAddress('other@example.org'), timeOf(901), anyVersion)
    assert.equal((await restore(storage, 1, 902))?.version, 2)
  },

  'restore: a unique value that somebody has meanwhile is refused as field_taken': async (storage) => {
    await storage.migrate({ unique: ['legacyId'] })
    await addLike(storage, 1, { fields: { legacyId: 7 } })
    await putAway(storage, 1, 101)
    await addLike(storage, 2, { fields: { legacyId: 7 } })
    assert.deepEqual(await outcomeOf(storage, trashWrites.restore(1, 900)), { code: 'field_taken', field: 'legacyId' })
    assert.deepEqual(await placesOf(storage, 1), { isThere: false, isAway: true })
    await storage.deleteUser(idOf('usr', 2), anyVersion)
    assert.equal((await restore(storage, 1, 902))?.version, 2)
  },

  'restore: an id that a user has again is refused as field_taken, with the field id': async (storage) => {
    await addAway(storage, 1)
    await addLike(storage, 1, { name: 'Again', email: 'again@example.org' })
    assert.deepEqual(await outcomeOf(storage, trashWrites.restore(1, 900)), { code: 'field_taken', field: 'id' })
    assert.equal((await storage.findUser(idOf('usr', 1)))?.name, 'Again')
    assert.deepEqual(await trashOf(storage).find(idOf('usr', 1)), awayOf(userOf(1), 101))
  },

  'restore: only a user that is put away is found, and the guard is for its version': async (storage) => {
    await addAway(storage, 1)
    await addUsers(storage, 2)
    for (const id of [...UNKNOWN_IDS, idOf('usr', 2)]) {
      assert.equal(await storage.restoreUser(id, timeOf(900), anyVersion), null)
    }
    const id = idOf('usr', 1)
    await assert.rejects(storage.restoreUser(id, timeOf(900), onlyVersion(2)), { code: 'version_mismatch' })
    assert.deepEqual(await placesOf(storage, 1), { isThere: false, isAway: true })
    assert.equal((await storage.restoreUser(id, timeOf(900), onlyVersion(1)))?.version, 2)
  },

  'purge: a user that is put away is gone for good': async (storage) => {
    await addAway(storage, 1, 2)
    const id = idOf('usr', 1)
    await assert.rejects(storage.purgeUser(id, onlyVersion(2), null), { code: 'version_mismatch' })
    assert.deepEqual(await outcomeOf(storage, trashWrites.purge(1)), { code: 'done', changed: true, user: userOf(1) })
    assert.equal(await storage.purgeUser(id, anyVersion, null), null)
    assert.equal(await restore(storage, 1, 900), null)
    assert.deepEqual(await listedAway(storage), { ids: idsOf([2]), total: 1 })
  },

  'purge: a user that is not put away is deleted for good': async (storage) => {
    await addUsers(storage, 1, 2)
    for (const id of UNKNOWN_IDS) assert.equal(await storage.purgeUser(id, anyVersion, null), null)
    await assert.rejects(storage.purgeUser(idOf('usr', 1), onlyVersion(2), null), { code: 'version_mismatch' })
    const types = ['user.deleted', 'user.purged']
    assert.deepEqual(await outcomeOf(storage, trashWrites.purge(1)),
      { code: 'done', changed: true, user: userOf(1), types })
    assert.deepEqual(await placesOf(storage, 1), { isThere: false, isAway: false })
    assert.deepEqual(await listedIds(storage, everyone, firstPage(9)), idsOf([2]))
    // One with the address of the first, and one that was put away with its id: both go.
    await addLike(storage, 1, {})
    await putAway(storage, 1, 101)
    await addLike(storage, 1, { name: 'Again' })
    assert.equal((await storage.purgeUser(idOf('usr', 1), anyVersion, null))?.name, 'Again')
    assert.deepEqual(await placesOf(storage, 1), { isThere: false, isAway: false })
  },

  'purge: with putAwayBefore only a user goes that was put away by then': async (storage) => {
    await addAway(storage, 1, 2, 3)
    await addUsers(storage, 4)
    await restore(storage, 3, 200)
    const purge = (n: number, at: number) => storage.purgeUser(idOf('usr', n), anyVersion, timeOf(at))
    assert.equal(await purge(1, 100), null, 'it was put away later')
    assert.equal(await purge(3, 900), null, 'it was restored')
    assert.equal(await purge(4, 900), null, 'it was never put away')
    assert.deepEqual(await purge(1, 101), userOf(1))
    assert.deepEqual(await purge(2, 900), userOf(2))
    assert.equal(await count(storage), 2)
    await putAway(storage, 3, 300)
    assert.equal(await purge(3, 299), null, 'its last deletion counts')
    // Its id was given again: that user stays.
    await addLike(storage, 3, {})
    assert.equal((await purge(3, 300))?.version, 2)
    assert.deepEqual(await placesOf(storage, 3), { isThere: true, isAway: false })
  }
}
