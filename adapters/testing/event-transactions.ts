import assert from 'node:assert/strict'
import { eventOf, readEvents, readWholeLog } from './event-values.ts'
import type { TransactionCases } from './transactions.ts'
import {
  addUsers, anyVersion, apiKeyOf, idempotencyOf, idOf, keysOf, onlyVersion, rename, timeOf, userOf
} from './values.ts'

/** The result, or null if it takes too long: a store with one connection has to wait for the transaction. */
async function unlessLate<Value> (result: Promise<Value>): Promise<Value | null> {
  return Promise.race([result, new Promise<null>((resolve) => { setTimeout(resolve, 100, null) })])
}

const updated = (n: number) => eventOf(n, 'user.updated')

/** Duties of stores with an event log that can join a transaction. */
export const eventTransactionCases: TransactionCases = {
  'joinTransaction, eventLog: events are there after the commit, and never after a rollback': async (
    storage,
    begin
  ) => {
    await addUsers(storage, 1, 2)
    for (const end of ['rollback', 'commit'] as const) {
      const transaction = await begin()
      const inside = storage.joinTransaction(transaction.transaction)
      const user = userOf(3)
      await inside.createUser(user, keysOf(user), idempotencyOf(1), eventOf(1, 'user.created'))
      await inside.updateUser(idOf('usr', 1), rename('Inside'), timeOf(50), anyVersion, updated(2))
      await assert.rejects(
        inside.updateUser(idOf('usr', 1), rename('Guarded'), timeOf(51), onlyVersion(9), updated(3)),
        { code: 'version_mismatch' }
      )
      const taken = { email: { value: 'x', key: 'user2@example.org' } }
      await assert.rejects(inside.updateUser(idOf('usr', 1), taken, timeOf(52), anyVersion, updated(4)), {
        code: 'email_taken'
      })
      await inside.deleteUser(idOf('usr', 2), anyVersion, { ...eventOf(5, 'user.deleted'), erase: false })
      await inside.createApiKey(apiKeyOf(1), { onlyFirst: false }, eventOf(6, 'api_key.created'))
      const whole = readWholeLog(storage)
      const early = await unlessLate(whole)
      if (early !== null) assert.deepEqual(early, [], 'before the end of the transaction')
      await transaction[end]()
      await whole
      const ids = (await readWholeLog(storage)).map(({ id }) => id)
      assert.deepEqual(ids, end === 'commit' ? [1, 2, 5, 6].map((n) => idOf('evt', n)) : [], `after the ${end}`)
    }
  },

  'joinTransaction, eventLog: what commits later is read later, and nothing is missed': async (storage, begin) => {
    await addUsers(storage, 1, 2)
    const open = await begin()
    const inside = storage.joinTransaction(open.transaction)
    await inside.updateUser(idOf('usr', 1), rename('Inside'), timeOf(50), anyVersion, updated(1))
    // On a store with one writer, this update waits for the transaction.
    const outside = storage.updateUser(idOf('usr', 2), rename('Outside'), timeOf(51), anyVersion, updated(2))
    const before = await unlessLate(outside.then(() => readEvents(storage))) ?? []
    if (before.length > 0) assert.deepEqual(before.map(({ id }) => id), [idOf('evt', 2)])
    await open.commit()
    await outside
    // A host's database may refuse the commit, for example of a serializable transaction.
    const isCommitted = (await storage.findUser(idOf('usr', 1)))?.version === 2
    const after = await readEvents(storage, { after: before.at(-1)?.id ?? null })
    const ids = [...before, ...after].map(({ id }) => id)
    assert.deepEqual(ids.toSorted(), (isCommitted ? [1, 2] : [2]).map((n) => idOf('evt', n)))
  }
}
