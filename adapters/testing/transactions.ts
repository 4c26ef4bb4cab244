import assert from 'node:assert/strict'
import type { KitStorage } from './kit-storage.ts'
import { awaitedLater } from './awaited-later.ts'
import type { Context } from './cases.ts'
import type { HostTransaction } from './host-transaction.ts'
import {
  addUsers, anyVersion, apiKeyOf, everyone, idOf, keysOf, onlyVersion, rename, timeOf, userOf
} from './values.ts'

/** Duties by name: each gets an empty store, and begins transactions on its database. */
export type TransactionCases = Record<
  string,
  (storage: KitStorage, begin: () => Promise<HostTransaction>, context: Context) => Promise<void>
>

const KEY = 'k'.repeat(43)
const idempotency = { key: KEY, fingerprint: 'f', now: timeOf(0), expiresAt: timeOf(1000), note: null }

async function ids (storage: KitStorage): Promise<string[]> {
  return (await storage.listUsers(everyone, { order: 'asc', limit: 10, from: { offset: 0 } })).items.map(
    ({ id }) => id
  )
}

/**
 * Gives callbacks time: the one after a commit may come later than the commit's own promise. Ends when the condition
 * holds, or after 1,000 rounds of the event loop.
 */
async function letCallbacksRun (condition: () => boolean): Promise<void> {
  for (let round = 0; round < 1000 && !condition(); round++) await new Promise((resolve) => setImmediate(resolve))
}

/** Duties of stores that can join a transaction. */
export const transactionCases: TransactionCases = {
  'joinTransaction: writes are visible inside immediately, and everywhere after the commit': async (storage, begin) => {
    await addUsers(storage, 1, 2)
    const { transaction, commit } = await begin()
    const inside = storage.joinTransaction(transaction)
    let committed = 0
    await addUsers(inside, 3)
    await inside.updateUser(idOf('usr', 1), rename('Inside'), timeOf(50), anyVersion)
    await inside.deleteUser(idOf('usr', 2), anyVersion)
    inside.afterCommit(() => { committed++ })
    storage.joinTransaction(transaction).afterCommit(() => { committed++ })
    assert.deepEqual(await ids(inside), [idOf('usr', 1), idOf('usr', 3)])
    assert.equal((await inside.findUser(idOf('usr', 1)))?.name, 'Inside')
    assert.equal(committed, 0)
    await commit()
    await letCallbacksRun(() => committed === 2)
    assert.equal(committed, 2)
    assert.deepEqual(await ids(storage), [idOf('usr', 1), idOf('usr', 3)])
    assert.equal((await storage.findUser(idOf('usr', 1)))?.version, 2)
  },

  'joinTransaction: a rollback undoes every write': async (storage, begin) => {
    await addUsers(storage, 1, 2)
    const { transaction, rollback } = await begin()
    const inside = storage.joinTransaction(transaction)
    let committed = 0
    await addUsers(inside, 3)
    await inside.updateUser(idOf('usr', 1), rename('Inside'), timeOf(50), anyVersion)
    await inside.deleteUser(idOf('usr', 2), anyVersion)
    const user = userOf(4)
    await inside.createUser(user, keysOf(user), idempotency)
    inside.afterCommit(() => { committed++ })
    await rollback()
    await letCallbacksRun(() => committed > 0)
    assert.equal(committed, 0)
    assert.deepEqual(await ids(storage), [idOf('usr', 1), idOf('usr', 2)])
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), userOf(1))
    const { replayed } = await storage.createUser(user, keysOf(user), { ...idempotency, fingerprint: 'f2' })
    assert.equal(replayed, false, 'the key is free too')
  },

  'joinTransaction: a refusal leaves the transaction usable': async (storage, begin) => {
    await addUsers(storage, 1, 2)
    const { transaction, commit } = await begin()
    const inside = storage.joinTransaction(transaction)
    const taken = userOf(3, { email: 'user1@example.org' })
    await assert.rejects(inside.createUser(taken, keysOf(taken), null), { code: 'email_taken' })
    await assert.rejects(
      inside.createUser(taken, keysOf(taken), idempotency),
      { code: 'email_taken' }
    )
    await assert.rejects(
      inside.updateUser(
        idOf('usr', 2),
        { email: { value: 'user1@example.org', key: 'user1@example.org' } },
        timeOf(50),
        anyVersion
      ),
      { code: 'email_taken' }
    )
    await assert.rejects(
      inside.updateUser(idOf('usr', 2), rename('X'), timeOf(50), onlyVersion(9)),
      { code: 'version_mismatch' }
    )
    await addUsers(inside, 4)
    await commit()
    assert.deepEqual(await ids(storage), [idOf('usr', 1), idOf('usr', 2), idOf('usr', 4)])
  },

  'joinTransaction: concurrent calls in one transaction are applied or refused as a whole': async (storage, begin) => {
    await addUsers(storage, 1)
    const { transaction, commit } = await begin()
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => {
        // Each on a store of its own in the one transaction, as a host has it. Every second one is refused.
        const user = userOf(i + 2, i % 2 === 0 ? {} : { email: 'user1@example.org' })
        return storage
          .joinTransaction(transaction)
          .createUser(user, keysOf(user), { ...idempotency, key: String(i).repeat(43) })
      })
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? 'fulfilled' : 'rejected'))
    )
    await commit()
    assert.deepEqual(
      await ids(storage),
      [1, 2, 4, 6, 8].map((n) => idOf('usr', n))
    )
  },

  'joinTransaction: a call that runs during the rollback stores nothing': async (storage, begin) => {
    for (let i = 0; i < 20; i++) {
      const { transaction, rollback } = await begin()
      const inside = storage.joinTransaction(transaction)
      let committed = 0
      const user = userOf(i)
      const creation = inside.createUser(user, keysOf(user), i % 2 === 0 ? null : idempotency).then(
        () => inside.afterCommit(() => { committed++ }),
        () => {}
      )
      for (let microtasks = 0; microtasks < i; microtasks++) await null
      await rollback()
      await creation
      await letCallbacksRun(() => committed > 0)
      assert.equal(committed, 0)
      assert.deepEqual(await ids(storage), [])
    }
  },

  'joinTransaction: anything but an open transaction is refused': async (storage, begin) => {
    const { transaction, rollback } = await begin()
    await rollback()
    for (const odd of [undefined, null, {}, 'x', () => {}, transaction]) {
      assert.throws(() => storage.joinTransaction(odd), TypeError)
    }
  },

  'joinTransaction: a read outside never sees what is rolled back': async (storage, begin) => {
    await addUsers(storage, 1)
    const { transaction, rollback } = await begin()
    const inside = storage.joinTransaction(transaction)
    await addUsers(inside, 2)
    await inside.updateUser(idOf('usr', 1), rename('Inside'), timeOf(50), anyVersion)
    await inside.createApiKey(apiKeyOf(1), { onlyFirst: false })
    // A store may hold these back until the transaction has ended.
    const reads = awaitedLater(Promise.all([
      storage.findUser(idOf('usr', 1)), storage.findUser(idOf('usr', 2)), ids(storage),
      storage.findApiKey({ id: idOf('key', 1) })
    ]))
    for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
    await rollback()
    assert.deepEqual(await reads, [userOf(1), null, [idOf('usr', 1)], null])
  },

  'joinTransaction: afterCommit calls back once for each call, in order, and not before the commit': async (
    storage,
    begin
  ) => {
    const { transaction, commit } = await begin()
    const called: number[] = []
    for (const n of [1, 2, 3]) storage.joinTransaction(transaction).afterCommit(() => called.push(n))
    const inside = storage.joinTransaction(transaction)
    await addUsers(inside, 1)
    const same = () => called.push(4)
    inside.afterCommit(same)
    inside.afterCommit(same)
    await letCallbacksRun(() => called.length > 0)
    assert.deepEqual(called, [])
    await commit()
    await letCallbacksRun(() => called.length === 5)
    assert.deepEqual(called, [1, 2, 3, 4, 4])
    await letCallbacksRun(() => called.length > 5)
    assert.equal(called.length, 5)
  },

  'joinTransaction: closing the store in a transaction closes nothing': async (storage, begin) => {
    const { transaction, commit } = await begin()
    const inside = storage.joinTransaction(transaction)
    await addUsers(inside, 1)
    await inside.close()
    await addUsers(inside, 2)
    assert.deepEqual(await inside.findUser(idOf('usr', 1)), userOf(1))
    assert.deepEqual(await ids(inside), [idOf('usr', 1), idOf('usr', 2)])
    await commit()
    assert.deepEqual(await ids(storage), [idOf('usr', 1), idOf('usr', 2)])
  },

  'joinTransaction: API keys and idempotency keys commit and roll back with it': async (storage, begin) => {
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false })
    for (const isCommitted of [false, true]) {
      const { transaction, commit, rollback } = await begin()
      const inside = storage.joinTransaction(transaction)
      await inside.touchApiKey(idOf('key', 1), timeOf(100), timeOf(50))
      await inside.rotateApiKey(idOf('key', 1), apiKeyOf(2), { now: timeOf(100), expiresAt: timeOf(200) })
      await inside.revokeApiKey(idOf('key', 1), timeOf(150), { keepOneWith: [] })
      await inside.createApiKey(apiKeyOf(3), { onlyFirst: false })
      const user = userOf(1)
      assert.equal((await inside.createUser(user, keysOf(user), idempotency)).replayed, false)
      const again = userOf(2)
      assert.deepEqual(await inside.createUser(again, keysOf(again), idempotency), { user, replayed: true })
      await (isCommitted ? commit() : rollback())
      const { items } = await storage.listApiKeys({ order: 'asc', limit: 9, from: { offset: 0 } })
      const ended = { rotatedAt: timeOf(100), expiresAt: timeOf(200), revokedAt: timeOf(150) }
      const old = apiKeyOf(1, { lastUsedAt: timeOf(100), ...ended })
      assert.deepEqual(items, isCommitted ? [old, apiKeyOf(2), apiKeyOf(3)] : [apiKeyOf(1)])
      assert.deepEqual(await storage.findApiKey({ start: apiKeyOf(1).start }), items[0])
      assert.deepEqual(await ids(storage), isCommitted ? [user.id] : [])
    }
    const other = userOf(3)
    assert.equal((await storage.createUser(other, keysOf(other), idempotency)).replayed, true)
  }
}
