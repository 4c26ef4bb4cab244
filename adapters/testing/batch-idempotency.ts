import assert from 'node:assert/strict'
import type { JsonObject, WritesOptions } from '../../lib/storage/storage.ts'
import { after, creation, deletion, done, everything, keyed, update, writeBatch } from './batch-values.ts'
import type { Cases } from './cases.ts'
import { addUsers, anyVersion, count, idempotencyOf, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

/** Duties about batches with an idempotency key. */
export const batchIdempotencyCases: Cases = {
  'writeUsers with idempotency: a repetition returns the first outcomes and note and writes nothing': async (
    storage
  ) => {
    const [first] = await addUsers(storage, 1)
    const fields: JsonObject = { z: 1, a: '', deep: [{ b: null }] }
    const note = { z: [1, null], text: 'it’s "quoted" \\ 🦊' }
    const writes = [
      creation(userOf(2, { fields })), update(1, rename('New')), update(1, rename('New')), deletion(99),
      creation(userOf(3, { email: 'USER1@example.org' })), update(2, null)
    ]
    const refuse = () => ({ refused: { why: 'not' } })
    const made = await writeBatch(storage, writes, keyed(1, { note }), refuse)
    const outcomes = [
      done(userOf(2, { fields })), done(after(1, { name: 'New' })), done(after(1, { name: 'New' }), false),
      { code: 'not_found' }, { code: 'email_taken' }, { code: 'refused', reason: { why: 'not' } }
    ]
    assert.deepEqual(made, { outcomes, note, replayed: false })
    // As they were then.
    await storage.updateUser(idOf('usr', 2), { ...rename('Later'), fields: {} }, timeOf(950), anyVersion)
    const before = await everything(storage)
    const repeated = await writeBatch(storage, [creation(userOf(7))], keyed(1, { note: 'another' }))
    assert.deepEqual(repeated, { outcomes, note, replayed: true })
    const [kept] = repeated.outcomes
    assert.equal(kept?.code === 'done' && JSON.stringify(kept.user?.fields), JSON.stringify(fields))
    assert.deepEqual(await everything(storage), before)
    assert.ok(first !== undefined)
  },

  'writeUsers with idempotency: a key of another request is refused, a creation’s too': async (storage) => {
    await writeBatch(storage, [creation(userOf(1))], keyed(1))
    await storage.createUser(userOf(2), keysOf(userOf(2)), idempotencyOf(2))
    const other = 'g'.repeat(43)
    const reused = { code: 'idempotency_key_reused' }
    await assert.rejects(writeBatch(storage, [creation(userOf(3))], keyed(1, { fingerprint: other })), reused)
    await assert.rejects(writeBatch(storage, [creation(userOf(3))], keyed(2, { fingerprint: other })), reused)
    const again = { ...idempotencyOf(1), fingerprint: other }
    await assert.rejects(storage.createUser(userOf(3), keysOf(userOf(3)), again), reused)
    assert.equal(await count(storage), 2)
  },

  'writeUsers with idempotency: a batch that is undone, or fails, keeps no key': async (storage) => {
    await addUsers(storage, 1)
    const options = (fingerprint: string): WritesOptions => ({ ...keyed(1, { fingerprint }), atomic: true })
    const undone = await writeBatch(storage, [creation(userOf(2)), deletion(99)], options('f'.repeat(43)))
    assert.deepEqual(undone.outcomes, [done(userOf(2)), { code: 'not_found' }])
    const taken = creation(userOf(1, { email: 'other@example.org' }))
    await assert.rejects(writeBatch(storage, [creation(userOf(2)), taken], options('g'.repeat(43))), { code: 'fault' })
    const made = await writeBatch(storage, [creation(userOf(2))], options('h'.repeat(43)))
    assert.deepEqual(made, { outcomes: [done(userOf(2))], note: null, replayed: false })
  },

  'writeUsers with idempotency: the outcomes lose each user that is deleted, and no other': async (storage) => {
    await addUsers(storage, 1, 2)
    const writes = [
      creation(userOf(3)), creation(userOf(4)), update(1, rename('New')), deletion(2), creation(userOf(5)),
      update(5, rename('New')), deletion(5)
    ]
    await writeBatch(storage, writes, keyed(1))
    await storage.deleteUser(idOf('usr', 3), anyVersion)
    const without = [done(null), done(userOf(4)), done(after(1, { name: 'New' })), done(null), done(null), done(null)]
    const { outcomes, replayed } = await writeBatch(storage, writes, keyed(1))
    assert.deepEqual({ outcomes, replayed }, { outcomes: [...without, done(null)], replayed: true })
    for (const n of [1, 4]) await storage.deleteUser(idOf('usr', n), anyVersion)
    assert.deepEqual((await writeBatch(storage, writes, keyed(1))).outcomes, writes.map(() => done(null)))
    assert.equal(await count(storage), 0)
  },

  'writeUsers with idempotency: a batch that changes nothing keeps its key, whatever its writes were refused for':
    async (storage) => {
      await addUsers(storage, 1)
      const refusals = [creation(userOf(2, { email: userOf(1).email })), deletion(99), update(1, null)]
      const refused = [{ code: 'email_taken' }, { code: 'not_found' }, { code: 'refused', reason: 'why' }]
      const same = [update(1, {})]
      for (const [n, [writes, outcomes]] of [[refusals, refused] as const, [same, [done(userOf(1), false)]] as const]
        .entries()) {
        const options = keyed(n, { note: n })
        const made = await writeBatch(storage, writes, options, () => ({ refused: 'why' }))
        assert.deepEqual(made, { outcomes, note: n, replayed: false })
        // By now the writes could be made.
        const again = await writeBatch(storage, [creation(userOf(3))], options)
        assert.deepEqual(again, { outcomes, note: n, replayed: true })
      }
      assert.equal(await count(storage), 1)
    },

  'writeUsers with idempotency: a deletion by a batch is one for the keys of creations and of other batches': async (
    storage
  ) => {
    const user = userOf(1)
    await storage.createUser(user, keysOf(user), idempotencyOf(1))
    await writeBatch(storage, [creation(userOf(2)), creation(userOf(3))], keyed(2))
    const { outcomes } = await writeBatch(storage, [deletion(1), deletion(2)])
    assert.deepEqual(outcomes, [done(user), done(userOf(2))])
    const kept = await writeBatch(storage, [], keyed(2))
    assert.deepEqual(kept, { outcomes: [done(null), done(userOf(3))], note: null, replayed: true })
    const next = userOf(4)
    const created = await storage.createUser(next, keysOf(next), idempotencyOf(1))
    assert.deepEqual(created, { user: next, replayed: false }, 'the key of a deleted user is free')
  },

  'writeUsers with idempotency: a deletion empties every outcome of its user': async (storage) => {
    await addUsers(storage, 1)
    const writes = [
      update(1, rename('New')), creation(userOf(2)), update(1, rename('Newer')), update(2, rename('New')), update(1, {})
    ]
    await writeBatch(storage, writes, { ...keyed(1), atomic: true })
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    const outcomesOf = async () => (await writeBatch(storage, [], { ...keyed(1), atomic: true })).outcomes
    const other = [done(userOf(2)), done(after(2, { name: 'New' }))]
    assert.deepEqual(await outcomesOf(), [done(null), other[0], done(null), other[1], done(null, false)])
    await writeBatch(storage, [deletion(2)])
    assert.deepEqual(await outcomesOf(), [...Array.from({ length: 4 }, () => done(null)), done(null, false)])
  },

  'writeUsers with idempotency: an expired key is free, and is pruned with all that it keeps': async (storage) => {
    await writeBatch(storage, [creation(userOf(1)), creation(userOf(2))], keyed(1, { expiresAt: timeOf(1000) }))
    const later = { now: timeOf(1000), expiresAt: timeOf(2000), fingerprint: 'g'.repeat(43), note: 2 }
    const writes = [creation(userOf(6)), creation(userOf(3)), deletion(6), deletion(99)]
    const renewed = await writeBatch(storage, writes, keyed(1, later))
    const end = [{ code: 'not_found' }]
    assert.deepEqual(renewed, {
      outcomes: [done(userOf(6)), done(userOf(3)), done(userOf(6)), ...end], note: 2, replayed: false
    })
    // Nothing of the first batch is in it.
    const outcomes = [done(null), done(userOf(3)), done(null), ...end]
    assert.deepEqual(await writeBatch(storage, [], keyed(1, later)), { outcomes, note: 2, replayed: true })
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    assert.deepEqual((await writeBatch(storage, [], keyed(1, later))).outcomes, outcomes)
    await storage.prune(timeOf(1999))
    assert.equal((await writeBatch(storage, [], keyed(1, later))).replayed, true)
    await storage.prune(timeOf(2000))
    const last = await writeBatch(storage, [], keyed(1, { ...later, fingerprint: 'h'.repeat(43) }))
    assert.deepEqual(last, { outcomes: [], note: 2, replayed: false })
  }
}
