import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { trashOf } from './kit-storage.ts'
import { firstPage, having, idsOf, listedIds, upTo } from './list-values.ts'
import { addAway, awayOf, DESK, listedAway, putAway, putAwayAt } from './trash-values.ts'
import {
  addUsers, anyVersion, count, everyone, idempotencyOf, idOf, keysOf, onlyVersion, rename, TEXTS, timeOf, UNKNOWN_IDS,
  userOf
} from './values.ts'

/** Duties about putting users away, and of the list of them. */
export const trashCases: Cases = {
  'put away: a user is in no look-up, list or total any more': async (storage) => {
    await storage.migrate({ filterable: ['plan'] })
    for (const n of [1, 2, 3]) {
      const user = userOf(n, { fields: { plan: 'pro' }, ...(n > 1 && { status: 'suspended' }) })
      await storage.createUser(user, keysOf(user), null)
    }
    const last = userOf(2, { fields: { plan: 'pro' }, status: 'suspended' })
    assert.deepEqual(await putAway(storage, 2, 100), last, 'a deletion gives the last state')
    assert.equal(await storage.findUser(idOf('usr', 2)), null)
    const filters = [
      [everyone, [1, 3]], [{ ...everyone, emailKey: 'user2@example.org' }, []], [having('user'), [1, 3]],
      [having('user', '2'), []], [having('user2'), []], [{ ...everyone, fields: { plan: 'pro' } }, [1, 3]],
      [{ ...everyone, status: 'suspended' }, [3]]
    ] as const
    for (const [filter, numbers] of filters) {
      const { items, total } = await storage.listUsers(filter, firstPage(9))
      assert.deepEqual({ ids: items.map(({ id }) => id), total }, { ids: idsOf(numbers), total: numbers.length },
        JSON.stringify(filter))
      const read: string[] = []
      await storage.readUsers(filter, 'asc', async (users) => { read.push(...users.map(({ id }) => id)) })
      assert.deepEqual(read, idsOf(numbers), JSON.stringify(filter))
    }
    assert.equal(await storage.updateUser(idOf('usr', 2), rename('X'), timeOf(900), anyVersion), null)
    assert.equal(await putAway(storage, 2, 101), null, 'it is not there a second time')
    assert.equal(await storage.deleteUser(idOf('usr', 2), anyVersion), null)
    assert.deepEqual(await trashOf(storage).find(idOf('usr', 2)), awayOf(last, 100), 'refusals change nothing')
  },

  'put away: its address, its unique values and its idempotency keys are free immediately': async (storage) => {
    await storage.migrate({ unique: ['legacyId'] })
    const fields = { legacyId: 'a' }
    const user = userOf(1, { fields })
    await storage.createUser(user, keysOf(user), idempotencyOf(1))
    await putAway(storage, 1, 100)
    const next = userOf(2, { email: user.email, fields })
    const made = await storage.createUser(next, keysOf(next), { ...idempotencyOf(1), fingerprint: 'g'.repeat(43) })
    assert.deepEqual(made, { user: next, replayed: false })
    const { emailKey } = keysOf(user)
    assert.deepEqual(await listedIds(storage, { ...everyone, emailKey }, firstPage(9)), idsOf([2]))
    assert.deepEqual((await trashOf(storage).find(user.id))?.user, user)
  },

  'put away: a guard that does not hold leaves the user where it is': async (storage) => {
    await addUsers(storage, 1)
    const id = idOf('usr', 1)
    await assert.rejects(storage.putAwayUser(id, onlyVersion(2), putAwayAt(100)), { code: 'version_mismatch' })
    assert.deepEqual(await storage.findUser(id), userOf(1))
    assert.equal(await trashOf(storage).find(id), null)
    assert.deepEqual(await storage.putAwayUser(id, onlyVersion(1), putAwayAt(100)), userOf(1))
  },

  'put away: a user takes the place of another one that had its id': async (storage) => {
    await addAway(storage, 1, 2)
    const again = userOf(1, { name: 'Again', email: 'again@example.org', createdAt: timeOf(150) })
    await storage.createUser(again, keysOf(again), null)
    assert.equal((await trashOf(storage).find(again.id))?.user.name, 'User 1', 'a creation leaves it there')
    await storage.putAwayUser(again.id, anyVersion, putAwayAt(200, DESK))
    assert.deepEqual(await trashOf(storage).find(again.id), awayOf(again, 200, DESK))
    assert.deepEqual(await listedAway(storage), { ids: idsOf([1, 2]), total: 2 })
    // A deletion that is final leaves it there too.
    await storage.createUser(again, keysOf(again), null)
    await storage.deleteUser(again.id, anyVersion)
    assert.equal((await listedAway(storage)).total, 2)
  },

  'trash.find: gives the user as it was, with when it was put away and by whom': async (storage) => {
    for (const [n, text] of TEXTS.entries()) {
      const user = userOf(n, {
        name: text, fields: { plan: text, list: [null, { [text]: 1 }] }, status: 'suspended', statusReason: text
      })
      await storage.createUser(user, keysOf(user), null)
      const by = n % 2 === 0 ? null : { ...DESK, name: n % 4 === 1 ? text : null }
      await storage.putAwayUser(user.id, anyVersion, putAwayAt(100 + n, by))
      assert.deepEqual(await trashOf(storage).find(user.id), awayOf(user, 100 + n, by))
    }
    await addUsers(storage, 50)
    for (const id of [...UNKNOWN_IDS, idOf('usr', 50)]) assert.equal(await trashOf(storage).find(id), null)
  },

  'trash.list: has the latest first, of one moment the greatest id, with the exact total': async (storage) => {
    assert.deepEqual(await listedAway(storage), { ids: [], total: 0 })
    const moments = [300, 100, 200, 200, 200, 400, 100]
    await addUsers(storage, ...upTo(9))
    for (const [i, at] of moments.entries()) await putAway(storage, i + 1, at)
    const ids = idsOf([6, 1, 5, 4, 3, 7, 2])
    for (const [offset, limit] of [[0, 50], [0, 3], [2, 2], [3, 1], [5, 9], [7, 5], [50, 5]] as const) {
      assert.deepEqual(await listedAway(storage, { offset, limit }),
        { ids: ids.slice(offset, offset + limit), total: 7 }, `from ${offset}, ${limit} at most`)
    }
    const { items } = await trashOf(storage).list({ offset: 1, limit: 1 })
    assert.deepEqual(items, [awayOf(userOf(1), 300)])
    assert.equal(await count(storage), 2)
  }
}

/** Duties about what has been put away for long, which only the mount itself asks for. */
export const expiryCases: Cases = {
  'trash.expired: gives those that were put away by a moment, the oldest first, at most so many': async (storage) => {
    const trash = trashOf(storage)
    assert.deepEqual(await trash.expired(timeOf(900), 9), [])
    await addUsers(storage, ...upTo(7))
    for (const [n, at] of [[1, 400], [2, 100], [3, 300], [4, 200], [5, 300]] as const) await putAway(storage, n, at)
    assert.deepEqual(await trash.expired(timeOf(99), 9), [])
    assert.deepEqual(await trash.expired(timeOf(100), 9), idsOf([2]), 'at this moment is not too late')
    assert.deepEqual(await trash.expired(timeOf(300), 9), idsOf([2, 4, 3, 5]))
    assert.deepEqual(await trash.expired(timeOf(900), 3), idsOf([2, 4, 3]))
    await storage.restoreUser(idOf('usr', 2), timeOf(500), anyVersion)
    await storage.purgeUser(idOf('usr', 4), anyVersion, null)
    assert.deepEqual(await trash.expired(timeOf(900), 3), idsOf([3, 5, 1]))
  }
}
