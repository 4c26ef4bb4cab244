import assert from 'node:assert/strict'
import type { UserWrite, WriteOutcome } from '../../lib/storage/storage.ts'
import { ATOMIC, creation, done, keyed, SINGLE, update, writeBatch } from './batch-values.ts'
import type { Cases } from './cases.ts'
import { trashOf } from './kit-storage.ts'
import { idsOf } from './list-values.ts'
import type { TransactionCases } from './transactions.ts'
import { addAway, awayOf, listedAway, putAway, restore, trashWrites, usersAndAway } from './trash-values.ts'
import {
  addUsers, anyVersion, concurrently, CONCURRENT_CALLS, count, everyone, idOf, keysOf, rename, timeOf, userOf
} from './values.ts'

const codes = (outcomes: readonly WriteOutcome[]) => outcomes.map(({ code }) => code)

/** Duties about putting away, restoring and purging in calls of several writes. */
export const trashBatchCases: Cases = {
  'put away, restore, purge: writes of one call see what those before them have made': async (storage) => {
    await addUsers(storage, 1, 2, 3)
    const { outcomes } = await writeBatch(storage, [
      trashWrites.putAway(1, 100),
      trashWrites.restore(1, 900),
      update(1, rename('Back')),
      trashWrites.putAway(2, 101),
      creation(userOf(4, { email: 'user2@example.org' })),
      trashWrites.restore(2, 901),
      trashWrites.putAway(3, 102),
      trashWrites.purge(3),
      trashWrites.restore(3, 902)
    ])
    assert.deepEqual(codes(outcomes),
      ['done', 'done', 'done', 'done', 'done', 'email_taken', 'done', 'done', 'not_found'])
    assert.deepEqual(outcomes[2], done(userOf(1, { name: 'Back', version: 3, updatedAt: timeOf(900) })))
    assert.deepEqual(await listedAway(storage), { ids: idsOf([2]), total: 1 })
    assert.equal(await count(storage), 2)
  },

  'put away, restore, purge: an atomic call that is refused leaves all as it was': async (storage) => {
    await addAway(storage, 4, 5, 6)
    await addUsers(storage, 1, 2, 3)
    const again = userOf(6, { name: 'Again' })
    await storage.createUser(again, keysOf(again), null)
    const before = await usersAndAway(storage)
    const { outcomes } = await writeBatch(storage, [
      trashWrites.putAway(1, 200), trashWrites.restore(4, 900), trashWrites.purge(5), trashWrites.purge(2),
      trashWrites.putAway(6, 201), trashWrites.restore(99, 901)
    ], ATOMIC)
    assert.deepEqual(codes(outcomes), ['done', 'done', 'done', 'done', 'done', 'not_found'])
    assert.deepEqual(await usersAndAway(storage), before)
    assert.equal((await putAway(storage, 1, 300))?.version, 1)
    assert.equal((await restore(storage, 4, 900))?.version, 2)
  },

  'restore with idempotency: a repetition gives the user that was restored, and restores nobody': async (storage) => {
    await addAway(storage, 1)
    const first = await writeBatch(storage, [trashWrites.restore(1, 900)], keyed(1))
    const back = userOf(1, { version: 2, updatedAt: timeOf(900) })
    assert.deepEqual(first, { outcomes: [done(back)], note: null, replayed: false })
    assert.deepEqual(await writeBatch(storage, [trashWrites.restore(1, 900)], keyed(1)), { ...first, replayed: true })
    await putAway(storage, 1, 950)
    const { outcomes } = await writeBatch(storage, [trashWrites.restore(1, 900)], keyed(1))
    assert.deepEqual(outcomes, [done(null)], 'the user is deleted since')
    assert.equal(await storage.findUser(idOf('usr', 1)), null)
  },

  'restore, purge: concurrent calls that name the same users in another order all end': async (storage) => {
    await addAway(storage, 1, 2, 3)
    const { values, codes: refused } = await concurrently((i) => {
      const order = i % 2 === 0 ? [1, 2, 3] : [3, 2, 1]
      return writeBatch(storage, order.flatMap((n): UserWrite[] => i % 4 < 2
        ? [trashWrites.restore(n, 900 + i), trashWrites.putAway(n, 900 + i)]
        : [trashWrites.putAway(n, 900 + i), trashWrites.restore(n, 900 + i)]))
    })
    assert.deepEqual(refused, [])
    assert.equal(values.length, CONCURRENT_CALLS)
    const [there, away] = [await count(storage), (await listedAway(storage)).total]
    assert.equal(there + away, 3, 'each user is at one place')
  }
}

/** Duties of stores that can join a transaction. */
export const trashTransactionCases: TransactionCases = {
  'joinTransaction: putting away, restoring and purging are there after the commit, and never after a rollback': async (
    storage,
    begin
  ) => {
    await addAway(storage, 4, 5)
    await addUsers(storage, 1, 2, 3)
    for (const end of ['rollback', 'commit'] as const) {
      const before = await usersAndAway(storage)
      const transaction = await begin()
      const inside = storage.joinTransaction(transaction.transaction)
      await putAway(inside, 1, 200)
      assert.equal((await restore(inside, 4, 900))?.version, 2)
      await assert.rejects(restore(inside, 5, 900).then(() => inside.createUser(userOf(9), keysOf(userOf(5)), null)),
        { code: 'email_taken' })
      await inside.purgeUser(idOf('usr', 2), anyVersion, null)
      await putAway(inside, 5, 300)
      await inside.purgeUser(idOf('usr', 5), anyVersion, timeOf(300))
      assert.deepEqual(await listedAway(inside), { ids: idsOf([1]), total: 1 })
      await transaction[end]()
      if (end === 'rollback') assert.deepEqual(await usersAndAway(storage), before)
    }
    assert.deepEqual(await listedAway(storage), { ids: idsOf([1]), total: 1 })
    const { items } = await storage.listUsers(everyone, { order: 'asc', limit: 9, from: { offset: 0 } })
    assert.deepEqual(items.map(({ id }) => id), idsOf([3, 4]))
  }
}

/** Duties of stores with tenants. */
export const trashTenantCases: Cases = {
  'tenants: users that are put away are those of their tenant, and go with it': async (storage) => {
    for (const [n, tenant] of [[1, 'acme'], [2, 'beta'], [3, undefined], [4, 'acme'], [5, 'beta']] as const) {
      const user = userOf(n, tenant === undefined ? {} : { tenant })
      await storage.createUser(user, keysOf(user), null)
      await putAway(storage, n, 100 + n)
    }
    const listed = (tenant: string, offset = 0) => listedAway(storage, { offset, limit: 1, tenant })
    assert.deepEqual(await listed('acme'), { ids: idsOf([4]), total: 2 })
    assert.deepEqual(await listed('acme', 1), { ids: idsOf([1]), total: 2 })
    assert.deepEqual(await listed('none'), { ids: [], total: 0 })
    assert.equal((await listedAway(storage)).total, 5)
    assert.deepEqual(await trashOf(storage).find(idOf('usr', 1)), awayOf(userOf(1, { tenant: 'acme' }), 101))
    for (const write of [trashWrites.restore(1, 900), trashWrites.purge(1), trashWrites.purge(1, timeOf(900))]) {
      const { outcomes } = await storage.writeUsers([{ ...write, tenant: 'beta' }], SINGLE)
      assert.deepEqual(outcomes, [{ code: 'not_found' }], `${write.type} for another tenant`)
    }
    const own = [{ ...trashWrites.restore(1, 900), tenant: 'acme' }]
    const back = userOf(1, { tenant: 'acme', version: 2, updatedAt: timeOf(900) })
    assert.deepEqual((await storage.writeUsers(own, SINGLE)).outcomes, [done(back)])
    const { tenants } = storage
    assert.ok(tenants !== undefined)
    const { items } = await tenants.list({ order: 'asc', limit: 9, from: { offset: 0 } })
    assert.deepEqual(items, [{ id: 'acme', users: 1 }], 'who is put away is counted in no tenant')
    for (let steps = 0; await tenants.remove('beta', 1) > 0; steps++) {
      assert.ok(steps < 20, 'tenants.remove: a step that has nothing to do returns 0')
    }
    assert.deepEqual(await listedAway(storage), { ids: idsOf([4, 3]), total: 2 })
  }
}
