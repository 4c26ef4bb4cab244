import assert from 'node:assert/strict'
import type { Storage } from '../../lib/core/storage.ts'
import { addUsers, anyVersion, everyone, idOf, keysOf, timeOf, userOf } from './values.ts'

/** A transaction of the host's, and how it ends. */
export interface HostTransaction {
  transaction: unknown
  commit: () => Promise<unknown>
  rollback: () => Promise<unknown>
}

/** Duties about a transaction of the host's, by name. */
export type TransactionCases = Record<string, (storage: Storage, begin: () => Promise<HostTransaction>) => Promise<void>>

const KEY = 'k'.repeat(43)
const rename = (value: string) => ({ name: { value, key: value.toLowerCase() } })

async function ids (storage: Storage): Promise<string[]> {
  return (await storage.listUsers(everyone, { order: 'asc', limit: 10, from: { offset: 0 } })).items.map(({ id }) => id)
}

/**
 * Once more around the event loop, as often as it takes: a callback after a commit may come later than the commit's
 * own promise.
 */
async function until (condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1000 && !condition(); turns++) await new Promise((resolve) => setImmediate(resolve))
}

/** Duties of stores that can join a transaction. */
export const transactionCases: TransactionCases = {
  'within: writes are seen inside at once, and by all after the commit': async (storage, begin) => {
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
    await until(() => committed === 2)
    assert.equal(committed, 2)
    assert.deepEqual(await ids(storage), [idOf('usr', 1), idOf('usr', 3)])
    assert.equal((await storage.findUser(idOf('usr', 1)))?.version, 2)
  },

  'within: after a rollback nothing has happened': async (storage, begin) => {
    await addUsers(storage, 1, 2)
    const { transaction, rollback } = await begin()
    const inside = storage.joinTransaction(transaction)
    let committed = 0
    await addUsers(inside, 3)
    await inside.updateUser(idOf('usr', 1), rename('Inside'), timeOf(50), anyVersion)
    await inside.deleteUser(idOf('usr', 2), anyVersion)
    const user = userOf(4)
    await inside.createUser(user, keysOf(user), { key: KEY, fingerprint: 'f', now: timeOf(0), expiresAt: timeOf(1000) })
    inside.afterCommit(() => { committed++ })
    await rollback()
    await until(() => committed > 0)
    assert.equal(committed, 0)
    assert.deepEqual(await ids(storage), [idOf('usr', 1), idOf('usr', 2)])
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), userOf(1))
    assert.equal((await storage.createUser(user, keysOf(user), { key: KEY, fingerprint: 'f2', now: timeOf(0), expiresAt: timeOf(1000) })).replayed, false)
  },

  'within: a refusal leaves the transaction usable': async (storage, begin) => {
    await addUsers(storage, 1, 2)
    const { transaction, commit } = await begin()
    const inside = storage.joinTransaction(transaction)
    const taken = userOf(3, { email: 'user1@example.org' })
    await assert.rejects(inside.createUser(taken, keysOf(taken), null), { code: 'email_taken' })
    await assert.rejects(inside.createUser(taken, keysOf(taken), { key: KEY, fingerprint: 'f', now: timeOf(0), expiresAt: timeOf(1000) }), { code: 'email_taken' })
    await assert.rejects(inside.updateUser(idOf('usr', 2), { email: { value: 'user1@example.org', key: 'user1@example.org' } }, timeOf(50), anyVersion), { code: 'email_taken' })
    await assert.rejects(inside.updateUser(idOf('usr', 2), rename('X'), timeOf(50), { ifVersion: [9], unlessVersion: [] }), { code: 'version_mismatch' })
    await addUsers(inside, 4)
    await commit()
    assert.deepEqual(await ids(storage), [idOf('usr', 1), idOf('usr', 2), idOf('usr', 4)])
  },

  'within: work that is asked for at once is done one after the other, each whole': async (storage, begin) => {
    await addUsers(storage, 1)
    const { transaction, commit } = await begin()
    const results = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => {
      // Each on a store of its own in the one transaction, as a host asks for it; every other one is refused.
      const user = userOf(i + 2, i % 2 === 0 ? {} : { email: 'user1@example.org' })
      return storage.joinTransaction(transaction).createUser(user, keysOf(user), { key: String(i).repeat(43), fingerprint: 'f', now: timeOf(0), expiresAt: timeOf(1000) })
    }))
    assert.deepEqual(results.map(({ status }) => status), Array.from({ length: 8 }, (_, i) => i % 2 === 0 ? 'fulfilled' : 'rejected'))
    await commit()
    assert.deepEqual(await ids(storage), [1, 2, 4, 6, 8].map((n) => idOf('usr', n)))
  },

  'within: what is under way when the transaction is rolled back leaves nothing behind': async (storage, begin) => {
    for (let turns = 0; turns < 20; turns++) {
      const { transaction, rollback } = await begin()
      const inside = storage.joinTransaction(transaction)
      let committed = 0
      const user = userOf(turns)
      const idempotency = turns % 2 === 0 ? null : { key: KEY, fingerprint: 'f', now: timeOf(0), expiresAt: timeOf(1000) }
      const creation = inside.createUser(user, keysOf(user), idempotency).then(() => inside.afterCommit(() => { committed++ }), () => {})
      for (let i = 0; i < turns; i++) await null
      await rollback()
      await creation
      await until(() => committed > 0)
      assert.equal(committed, 0)
      assert.deepEqual(await ids(storage), [])
    }
  },

  'within: what is no open transaction is refused': async (storage, begin) => {
    const { transaction, rollback } = await begin()
    await rollback()
    for (const odd of [undefined, null, {}, 'x', () => {}, transaction]) assert.throws(() => storage.joinTransaction(odd), TypeError)
  }
}
