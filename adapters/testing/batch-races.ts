import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { allUsers, ATOMIC, creation, update, writeBatch } from './batch-values.ts'
import type { Cases } from './cases.ts'
import {
  addUsers, anyVersion, concurrently, CONCURRENT_CALLS, count, idempotencyOf, idOf, rename, timeOf, userOf
} from './values.ts'

/** Duties about concurrent batches. */
export const batchRaceCases: Cases = {
  'writeUsers with idempotency: of many concurrent calls with one key, exactly one writes': async (storage) => {
    const { values, codes } = await concurrently((i) => {
      const writes = [creation(userOf(2 * i + 1)), creation(userOf(2 * i + 2))]
      return writeBatch(storage, writes, { atomic: true, idempotency: { ...idempotencyOf(1), note: i } })
    })
    assert.deepEqual(codes.filter((code) => code !== 'idempotency_in_progress'), [])
    assert.equal(values.filter(({ replayed }) => !replayed).length, 1)
    assert.equal(new Set(values.map(({ outcomes, note }) => JSON.stringify([outcomes, note]))).size, 1)
    assert.equal(await count(storage), 2)
  },

  'writeUsers with atomic: of many concurrent calls that need one address, exactly one is made': async (storage) => {
    const { values, codes } = await concurrently((i) => writeBatch(storage, [
      creation(userOf(2 * i + 1)), creation(userOf(2 * i + 2, { email: 'same@example.org' }))
    ], ATOMIC))
    assert.deepEqual(codes, [])
    const ends = values.map(({ outcomes }) => outcomes.map(({ code }) => code).join())
    assert.deepEqual(ends.toSorted(), ['done,done', ...Array(CONCURRENT_CALLS - 1).fill('done,email_taken')])
    const winner = ends.indexOf('done,done')
    const ids = (await allUsers(storage)).map(({ id }) => id)
    assert.deepEqual(ids, [idOf('usr', 2 * winner + 1), idOf('usr', 2 * winner + 2)])
  },

  'writeUsers: concurrent batches that change the same users in another order are all made': async (storage) => {
    await addUsers(storage, 1, 2, 3)
    const { values, codes } = await concurrently((i) => {
      const order = i % 2 === 0 ? [1, 2, 3] : [3, 2, 1]
      return writeBatch(storage, order.map((n) => update(n, rename(`${n} of ${i}`))), ATOMIC)
    })
    assert.deepEqual(codes, [])
    assert.equal(values.length, CONCURRENT_CALLS)
    const users = await allUsers(storage)
    assert.deepEqual(users.map(({ version }) => version), Array(3).fill(1 + CONCURRENT_CALLS))
    // The last batch changed all of them.
    assert.equal(new Set(users.map(({ name }) => name.replace(/^\d+ of /, ''))).size, 1)
  },

  'writeUsers: concurrent batches that create the same users in another order make each once': async (storage) => {
    const { values, codes } = await concurrently((i) => {
      const order = i % 2 === 0 ? [1, 2, 3] : [3, 2, 1]
      return writeBatch(storage, order.map((n) => creation(userOf(10 * (i + 1) + n, { email: `${n}@example.org` }))))
    })
    assert.deepEqual(codes, [])
    const outcomes = values.flatMap((value) => value.outcomes)
    assert.equal(outcomes.filter(({ code }) => code === 'done').length, 3)
    assert.equal(outcomes.filter(({ code }) => code === 'email_taken').length, 3 * CONCURRENT_CALLS - 3)
    const emails = (await allUsers(storage)).map(({ email }) => email)
    assert.deepEqual(emails.toSorted(), [1, 2, 3].map((n) => `${n}@example.org`))
  },

  'writeUsers: no change is lost that another writer makes while changes are asked for': async (storage) => {
    await storage.createUser(userOf(1, { fields: { batches: 0 } }), { emailKey: 'a', nameKey: 'a' }, null)
    const { codes } = await concurrently(async (i) => {
      if (i % 2 === 0) return storage.updateUser(idOf('usr', 1), rename(`Name ${i}`), timeOf(500 + i), anyVersion)
      return writeBatch(storage, [update(1, null)], { atomic: i % 4 === 1, idempotency: null }, (_index, { fields }) =>
        ({ fields: { batches: Number(fields['batches']) + 1 } }))
    })
    assert.deepEqual(codes, [])
    const [user] = await allUsers(storage)
    assert.deepEqual(user?.fields, { batches: CONCURRENT_CALLS / 2 })
    assert.equal(user?.version, 1 + CONCURRENT_CALLS)
  },

  'writeUsers: readers see all of a batch or nothing': async (storage) => {
    await addUsers(storage, 1, 2)
    const writing = (async () => {
      for (let i = 0; i < CONCURRENT_CALLS; i++) {
        const writes = [update(1, rename(`Both ${i}`)), update(2, rename(`Both ${i}`)), update(1, { fields: { i } })]
        await writeBatch(storage, writes)
      }
      return 'written'
    })()
    while (await Promise.race([writing, turn('not yet')]) !== 'written') {
      const [one, two] = await allUsers(storage)
      const changes = [Number(one?.version) - 1, Number(two?.version) - 1]
      assert.equal(changes[0], 2 * Number(changes[1]), 'a list has two changes of user 1 for each change of user 2')
      assert.ok(one?.name === two?.name || changes[0] === 0)
    }
  }
}
