import assert from 'node:assert/strict'
import { missingFrom } from '../../lib/storage/storage-rules.ts'
import { awaitedLater } from './awaited-later.ts'
import { firstPage } from './list-values.ts'
import type { TransactionCases } from './transactions.ts'
import { addUsers, anyVersion, everyone, idOf, onlyVersion, rename, timeOf, userOf } from './values.ts'

async function turns (n: number): Promise<void> {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Duties about what a transaction shares with calls outside of it, and about its end. */
export const transactionEndCases: TransactionCases = {
  'joinTransaction: gives a whole storage, which says what the store says': async (storage, begin) => {
    const { transaction, rollback } = await begin()
    const inside = storage.joinTransaction(transaction)
    // Its events are read outside the transaction, after the commit.
    assert.deepEqual(missingFrom(inside).filter((name) => name !== 'eventLog'), [])
    assert.equal(typeof inside.afterCommit, 'function')
    await rollback()
  },

  'joinTransaction: guards and look-ups see the transaction, not what was read before': async (storage, begin) => {
    await addUsers(storage, 1, 2)
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), userOf(1))
    assert.deepEqual(await storage.findUser(idOf('usr', 2)), userOf(2))
    assert.equal((await storage.listUsers({ ...everyone, emailKey: 'user2@example.org' }, firstPage(9))).total, 1)
    const { transaction, commit } = await begin()
    const inside = storage.joinTransaction(transaction)
    assert.equal((await inside.updateUser(idOf('usr', 1), rename('A'), timeOf(1), onlyVersion(1)))?.user.version, 2)
    await assert.rejects(inside.updateUser(idOf('usr', 1), rename('B'), timeOf(2), onlyVersion(1)), {
      code: 'version_mismatch'
    })
    assert.equal((await inside.updateUser(idOf('usr', 1), rename('C'), timeOf(3), onlyVersion(2)))?.user.version, 3)
    await assert.rejects(inside.deleteUser(idOf('usr', 1), onlyVersion(1)), { code: 'version_mismatch' })
    assert.equal((await inside.deleteUser(idOf('usr', 1), onlyVersion(3)))?.name, 'C')
    assert.equal(await inside.findUser(idOf('usr', 1)), null)
    await inside.deleteUser(idOf('usr', 2), anyVersion)
    assert.equal(await inside.findUser(idOf('usr', 2)), null)
    const filter = { ...everyone, emailKey: 'user2@example.org' }
    assert.deepEqual(await inside.listUsers(filter, firstPage(9)), { items: [], total: 0 })
    await commit()
    assert.equal(await storage.findUser(idOf('usr', 1)), null)
    assert.deepEqual(await storage.listUsers(everyone, firstPage(9)), { items: [], total: 0 })
  },

  'joinTransaction: a write outside meanwhile is kept, whichever ends first': async (storage, begin) => {
    await addUsers(storage, 1)
    for (const isCommitted of [true, false]) {
      const [own, other] = isCommitted ? [2, 3] : [4, 5]
      const { transaction, commit, rollback } = await begin()
      await addUsers(storage.joinTransaction(transaction), own)
      // A store may delay this write until the transaction has ended.
      const outside = awaitedLater(addUsers(storage, other))
      await turns(5)
      await (isCommitted ? commit() : rollback())
      await outside
      assert.deepEqual(await storage.findUser(idOf('usr', other)), userOf(other))
      assert.deepEqual(await storage.findUser(idOf('usr', own)), isCommitted ? userOf(own) : null)
    }
    assert.equal((await storage.listUsers(everyone, firstPage(9))).total, 4)
  },

  'joinTransaction: what has committed is visible when afterCommit calls back': async (storage, begin) => {
    const { transaction, commit } = await begin()
    const inside = storage.joinTransaction(transaction)
    await addUsers(inside, 1)
    const seen = awaitedLater(new Promise((resolve, reject) => {
      inside.afterCommit(() => { storage.findUser(idOf('usr', 1)).then(resolve, reject) })
    }))
    await commit()
    assert.deepEqual(await seen, userOf(1))
  },

  'joinTransaction: afterCommit of a rolled back transaction is called by no later one': async (storage, begin) => {
    const called: string[] = []
    const first = await begin()
    storage.joinTransaction(first.transaction).afterCommit(() => called.push('rolled back'))
    await first.rollback()
    const second = await begin()
    const inside = storage.joinTransaction(second.transaction)
    await addUsers(inside, 1)
    inside.afterCommit(() => called.push('committed'))
    await second.commit()
    for (let i = 0; i < 1000 && called.length === 0; i++) await turns(1)
    await turns(20)
    assert.deepEqual(called, ['committed'])
  }
}
