import assert from 'node:assert/strict'
import { missingFrom } from '../../lib/storage/storage-rules.ts'
import type { Storage, StorageInTransaction } from '../../lib/storage/storage.ts'
import type { Context } from './cases.ts'
import type { Begin, HostTransaction } from './host-transaction.ts'
import { wholeLog } from './log.ts'
import { awaitedLater, concurrently, turns } from './concurrency.ts'
import {
  add, addNth, CHANGES, changedAt, COLLECTIONS, commit, countAll, drop, eventOf, make, move, nextOf, nth, OK, rowIn,
  withMembers
} from './rows.ts'
import { everyone, idOf } from './values.ts'

/** Duties by name: each gets an empty store, and begins transactions on its database. */
export type TransactionCases = Record<string, (storage: Storage, begin: Begin, context: Context) => Promise<void>>

const first = { order: 'asc', limit: 10, from: { offset: 0 } } as const

export const userIds = async (storage: Storage): Promise<string[]> =>
  (await storage.users.list(everyone, first)).items.map(({ id }) => id)
export const ids = (...numbers: number[]): string[] => numbers.map((n) => idOf('usr', n))

/** The store in a transaction. */
export function inside (storage: Storage, { transaction }: HostTransaction): StorageInTransaction {
  assert.ok(storage.join !== undefined, 'the store joins transactions')
  return storage.join(transaction)
}

/** Gives callbacks time: one after a commit may come later than the commit's own promise. */
export async function letCallbacksRun (condition: () => boolean): Promise<void> {
  for (let round = 0; round < 1000 && !condition(); round++) await turns(1)
}

const refusals = (there: number) => {
  const taken = nth.users(there)
  const { start } = nth.apiKeys(there).record
  return [
    [[add('users', { ...nth.users(50), keys: taken.keys })], { code: 'taken', at: 0, member: 'emailKey' }],
    [
      [add('marks', nth.marks(50)), add('apiKeys', withMembers(nth.apiKeys(50), { start }))],
      { code: 'taken', at: 1, member: 'start' }
    ],
    [[add('users', nth.users(51)), move('users', nextOf(taken))], changedAt(1)],
    [[drop('marks', nth.marks(99))], changedAt(0)],
    [[add('deliveries', nth.deliveries(99))], changedAt(0)]
  ] as const
}

/** Duties about a store in a transaction of the host's. */
export const transactionCases: TransactionCases = {
  'join: gives a whole store, which closes nothing': async (storage, begin) => {
    const host = await begin()
    const within = inside(storage, host)
    assert.deepEqual(missingFrom(within), [])
    assert.equal(typeof within.afterCommit, 'function')
    assert.equal(within.name, storage.name)
    await addNth(within, 'users', 1)
    await within.close()
    await addNth(within, 'users', 2)
    assert.deepEqual(await userIds(within), ids(1, 2))
    await host.commit()
    assert.deepEqual(await userIds(storage), ids(1, 2))
  },

  'join: writes of every collection are visible inside immediately, and everywhere after the commit': async (
    storage, begin
  ) => {
    for (const name of COLLECTIONS) await addNth(storage, name, 1, 2)
    for (const end of ['rollback', 'commit'] as const) {
      const before = await countAll(storage)
      const host = await begin()
      const within = inside(storage, host)
      for (const [at, name] of COLLECTIONS.entries()) {
        const [one, two] = [nth[name](1), nth[name](2)]
        const three = { ...withMembers(nth[name](3), name === 'deliveries' ? { webhook: one.of } : {}), of: one.of }
        const next = nextOf(one, CHANGES[name])
        await make(within, [add(name, three), move(name, one, next)], [eventOf(at)])
        assert.deepEqual(await rowIn(within, name, one.record.id), next, name)
        assert.deepEqual(await rowIn(within, name, three.record.id), three, name)
        // What is of it would go too, which others are looked up by.
        if (name === 'trash' || name === 'marks') await make(within, [drop(name, two)])
        const left = name === 'trash' || name === 'marks' ? 2 : 3
        if (name !== 'users') assert.equal((await within.list(name, { page: first })).total, left)
      }
      assert.deepEqual(await userIds(within), ids(1, 2, 3))
      await host[end]()
      if (end === 'rollback') {
        assert.deepEqual(await countAll(storage), before)
        for (const name of COLLECTIONS) {
          assert.deepEqual(await rowIn(storage, name, nth[name](1).record.id), nth[name](1))
        }
        continue
      }
      for (const name of COLLECTIONS) {
        assert.deepEqual(await rowIn(storage, name, nth[name](1).record.id), nextOf(nth[name](1), CHANGES[name]), name)
      }
      assert.deepEqual((await wholeLog(storage)).map(({ id }) => id), COLLECTIONS.map((_, at) => idOf('evt', at)))
    }
  },

  'join: versions and values are compared with what the transaction sees': async (storage, begin) => {
    await addNth(storage, 'users', 1, 2)
    assert.deepEqual((await storage.users.find(idOf('usr', 1)))?.version, 1)
    const host = await begin()
    const within = inside(storage, host)
    const row = nth.users(1)
    assert.deepEqual(await commit(within, [move('users', row)]), OK)
    assert.deepEqual(await commit(within, [move('users', row)]), changedAt(0))
    assert.deepEqual(await commit(within, [drop('users', nextOf(row))]), OK)
    assert.equal(await within.users.find(row.record.id), null)
    assert.deepEqual(await commit(within, [move('users', nextOf(row))]), changedAt(0))
    const heir = { ...nth.users(3), keys: row.keys }
    assert.deepEqual(await commit(within, [add('users', heir)]), OK)
    await host.commit()
    assert.deepEqual(await userIds(storage), ids(2, 3))
  },

  'join: a refusal or a fault leaves the transaction usable': async (storage, begin) => {
    for (const isolation of [undefined, 'read committed', 'repeatable read', 'serializable'] as const) {
      const there = isolation?.length ?? 1
      await addNth(storage, 'users', there)
      await addNth(storage, 'apiKeys', there)
      const host = await begin(isolation)
      const within = inside(storage, host)
      await make(within, [add('marks', nth.marks(there))])
      for (const [writes, outcome] of refusals(there)) {
        assert.deepEqual(await commit(within, writes, [eventOf(50)]), outcome)
        const text = withMembers(nth.users(52), { name: 'unkeepable\u0000b' })
        await commit(within, [add('marks', nth.marks(52)), add('users', text)]).then(
          async ({ code }) => {
            if (code === 'ok') await make(within, [drop('users', text), drop('marks', nth.marks(52))])
          },
          (error: unknown) => assert.equal(Object(error).code, 'fault'))
      }
      await make(within, [add('marks', nth.marks(100 + there))], [eventOf(there)])
      await host.commit()
      const keys = [there, 100 + there, 50, 52].map((n) => ({ id: nth.marks(n).record.id }))
      const found = await storage.find('marks', keys)
      assert.deepEqual(found.map((row) => row !== null), [true, true, false, false], isolation)
      assert.equal(await storage.log.find(idOf('evt', 50)), null, 'no event of what was refused')
      assert.notEqual(await storage.log.find(idOf('evt', there)), null)
    }
  },

  'join: concurrent units of one transaction are each made or refused by itself': async (storage, begin) => {
    await addNth(storage, 'users', 100)
    const host = await begin()
    const outcomes = await concurrently((i) => {
      // Each on a store of its own in the one transaction, as a host has it. Every second one is refused.
      const user = i % 2 === 0 ? add('users', nth.users(i)) : move('users', nextOf(nth.users(100)))
      return commit(inside(storage, host), [add('marks', nth.marks(i)), user], [eventOf(i)])
    }, 8)
    assert.deepEqual(outcomes, outcomes.map((_, i) => i % 2 === 0 ? OK : changedAt(1)))
    await host.commit()
    assert.deepEqual(await userIds(storage), ids(0, 2, 4, 6, 100))
    assert.equal((await storage.list('marks', { page: first })).total, 4)
    assert.equal((await wholeLog(storage)).length, 4)
  },

  'join: a unit that is under way during the rollback leaves nothing': async (storage, begin) => {
    for (let i = 0; i < 20; i++) {
      const host = await begin()
      const within = inside(storage, host)
      let called = 0
      const units = awaitedLater(commit(within, i % 2 === 0
        ? [add('users', nth.users(i))]
        : [add('users', nth.users(i)), add('marks', nth.marks(i))], [eventOf(i)])
        .then(() => within.afterCommit(() => { called++ }), () => {}))
      for (let microtasks = 0; microtasks < i; microtasks++) await null
      await host.rollback()
      await units
      await letCallbacksRun(() => called > 0)
      assert.equal(called, 0)
      const { users, marks, events } = await countAll(storage)
      assert.deepEqual({ users, marks, events }, { users: 0, marks: 0, events: 0 })
    }
  },

  'join: anything but an open transaction is refused': async (storage, begin) => {
    const [committed, rolledBack] = [await begin(), null]
    await committed.commit()
    const other = await begin()
    await other.rollback()
    for (const odd of [undefined, null, {}, 'x', () => {}, rolledBack, committed.transaction, other.transaction]) {
      assert.throws(() => inside(storage, { ...other, transaction: odd }), TypeError)
    }
  },

  'join: a call after the end of the transaction is refused, and writes nothing': async (storage, begin) => {
    for (const [n, end] of (['commit', 'rollback'] as const).entries()) {
      const host = await begin()
      const within = inside(storage, host)
      await make(within, [add('marks', nth.marks(n))])
      await host[end]()
      await assert.rejects(commit(within, [add('marks', nth.marks(9))]), { name: 'StorageError' })
      assert.equal(await rowIn(storage, 'marks', nth.marks(9).record.id), null)
    }
  },

  'join: a read outside never sees what is rolled back': async (storage, begin) => {
    await addNth(storage, 'users', 1)
    const host = await begin()
    const within = inside(storage, host)
    await make(within, [add('users', nth.users(2)), move('users', nth.users(1))], [eventOf(1)])
    // A store may hold these back until the transaction has ended.
    const reads = awaitedLater(Promise.all([
      storage.users.find(idOf('usr', 1)), storage.users.find(idOf('usr', 2)), userIds(storage),
      rowIn(storage, 'users', idOf('usr', 2)), storage.log.find(idOf('evt', 1))
    ]))
    await turns(5)
    await host.rollback()
    assert.deepEqual(await reads, [nth.users(1).record, null, ids(1), null, null])
  }
}
