import assert from 'node:assert/strict'
import { userEvent } from '../../lib/storage/recorded-events.ts'
import type { NewEvent } from '../../lib/storage/storage.ts'
import {
  after, allUsers, ATOMIC, type BatchWrite, creation, deletion, done, everything, keyed, SINGLE, update, writeBatch
} from './batch-values.ts'
import type { Cases } from './cases.ts'
import { eventOf, readWholeLog } from './event-values.ts'
import { UNIQUE_FIELDS } from './unique-fields.ts'
import { addUsers, count, idempotencyOf, idOf, keysOf, onlyVersion, rename, userOf } from './values.ts'

const address = (value: string) => ({ email: { value, key: value.toLowerCase() } })

/** Duties of stores that write batches. */
export const batchCases: Cases = {
  'writeUsers: makes one write after the other, each as its own method would': async (storage) => {
    await addUsers(storage, 1, 2)
    const named = after(3, { name: 'Named' })
    const heir = userOf(4, { email: userOf(1).email, fields: { z: 1, a: [null] } })
    const { outcomes, note, replayed } = await writeBatch(storage, [
      creation(userOf(3)),
      update(3, rename('Named')),
      deletion(1),
      // The deletion above has freed the address.
      creation(heir),
      update(2, rename('User 2')),
      update(4, { ...rename('Heir'), ...address('Next@example.org'), fields: { plan: 'pro' } }),
      deletion(2, { guard: onlyVersion(1) })
    ])
    assert.deepEqual({ note, replayed }, { note: null, replayed: false })
    const changed = after(4, {
      name: 'Heir', email: 'Next@example.org', fields: { plan: 'pro' }, createdAt: heir.createdAt
    })
    assert.deepEqual(outcomes, [
      done(userOf(3)), done(named), done(userOf(1)), done(heir), done(userOf(2), false), done(changed), done(userOf(2))
    ])
    assert.deepEqual(await everything(storage), {
      users: [named, changed],
      holders: [[], [], [idOf('usr', 3)], [idOf('usr', 4)], []]
    })
  },

  'writeUsers: a write that is refused, or finds nobody, changes nothing, and the others are made': async (storage) => {
    await storage.migrate({ unique: UNIQUE_FIELDS })
    await addUsers(storage, 1, 2)
    const unique = userOf(5, { fields: { badge: 7 } })
    const again = userOf(6, { fields: { badge: 7 } })
    const { outcomes } = await writeBatch(storage, [
      creation(userOf(3, { email: 'USER1@example.org' })),
      update(99, rename('Nobody')),
      deletion(99),
      update(1, { ...rename('Both'), ...address('User2@example.org') }),
      update(1, rename('Guarded'), { guard: onlyVersion(7) }),
      deletion(1, { guard: { ifVersion: null, unlessVersion: [1] } }),
      creation(unique),
      creation(again),
      update(2, { fields: { badge: 7 } }),
      update(1, rename('Last'))
    ])
    assert.deepEqual(outcomes, [
      { code: 'email_taken' }, { code: 'not_found' }, { code: 'not_found' }, { code: 'email_taken' },
      { code: 'version_mismatch' }, { code: 'version_mismatch' }, done(unique), { code: 'field_taken', field: 'badge' },
      { code: 'field_taken', field: 'badge' }, done(after(1, { name: 'Last' }))
    ])
    assert.deepEqual(await allUsers(storage), [after(1, { name: 'Last' }), userOf(2), unique])
  },

  'writeUsers with atomic: the first write that is not done ends the batch and undoes it': async (storage) => {
    const [first, second] = await addUsers(storage, 1, 2)
    const kept = userOf(3, { fields: { plan: 'pro' } })
    await storage.createUser(kept, keysOf(kept), idempotencyOf(1))
    const before = await everything(storage)
    const writes = [
      creation(userOf(8)), update(1, { ...rename('New'), ...address('Next@example.org') }), update(1, rename('Newer')),
      deletion(3), creation(userOf(9, { email: kept.email })), update(9, { fields: { x: 1 } }), deletion(2),
      update(8, address('User2@example.org'))
    ]
    const ends: Array<[BatchWrite, unknown]> = [
      [creation(userOf(7, { email: 'Next@example.org' })), { code: 'email_taken' }],
      [update(1, rename('Guarded'), { guard: onlyVersion(2) }), { code: 'version_mismatch' }],
      [update(3, rename('Gone')), { code: 'not_found' }],
      [deletion(2), { code: 'not_found' }],
      [update(1, null), { code: 'refused', reason: ['why', { it: 'is' }] }]
    ]
    for (const [end, outcome] of ends) {
      const refuse = () => ({ refused: ['why', { it: 'is' }] })
      const result = await writeBatch(storage, [...writes, end, deletion(1)], ATOMIC, refuse)
      assert.equal(result.outcomes.length, writes.length + 1)
      assert.deepEqual(result.outcomes.at(-1), outcome)
      assert.deepEqual(await everything(storage), before)
    }
    // The undone batches left no trace: the deletions succeed, and the earlier key is still known.
    const repeated = await storage.createUser(userOf(50), keysOf(userOf(50)), idempotencyOf(1))
    assert.deepEqual(repeated, { user: kept, replayed: true })
    const { outcomes } = await writeBatch(storage, [deletion(1), deletion(2), deletion(3)], ATOMIC)
    assert.deepEqual(outcomes, [done(first ?? null), done(second ?? null), done(kept)])
    assert.equal(await count(storage), 0)
  },

  'writeUsers with atomic: all writes are made if none is refused, also those without a change': async (storage) => {
    await addUsers(storage, 1)
    const { outcomes } = await writeBatch(storage, [update(1, {}), creation(userOf(2)), update(2, {})], ATOMIC)
    assert.deepEqual(outcomes, [done(userOf(1), false), done(userOf(2)), done(userOf(2), false)])
    assert.deepEqual(await allUsers(storage), [userOf(1), userOf(2)])
  },

  'writeUsers: asks for changes with the user as the writes before have left it': async (storage) => {
    await addUsers(storage, 1, 2)
    const asked: unknown[] = []
    const { outcomes } = await writeBatch(storage, [
      update(1, { fields: { n: 1 } }), update(1, null), update(2, null), update(99, null),
      update(2, null, { guard: onlyVersion(9) }), update(1, null)
    ], SINGLE, (index, user) => {
      asked.push([index, user.id, user.version])
      if (index === 2) return { refused: { pointer: '/n' } }
      return index === 1 ? { fields: { n: Number(user.fields['n']) + 1 } } : {}
    })
    // A store may ask more than once, for example after a conflict.
    const once = [...new Set(asked.map((each) => JSON.stringify(each)))].map((text) => JSON.parse(text))
    assert.deepEqual(once, [[1, idOf('usr', 1), 2], [2, idOf('usr', 2), 1], [5, idOf('usr', 1), 3]])
    const [one, two] = [after(1, { fields: { n: 1 } }), after(1, { fields: { n: 2 }, version: 3 })]
    assert.deepEqual(outcomes, [
      done(one), done(two), { code: 'refused', reason: { pointer: '/n' } }, { code: 'not_found' },
      { code: 'version_mismatch' }, done(two, false)
    ])
    assert.deepEqual(await allUsers(storage), [two, userOf(2)])
  },

  'writeUsers: a new user with the id of another one makes the whole call fail': async (storage) => {
    await addUsers(storage, 1)
    const taken = creation(userOf(1, { email: 'other@example.org' }))
    await assert.rejects(writeBatch(storage, [creation(userOf(2)), update(1, rename('New')), taken]), { code: 'fault' })
    assert.deepEqual(await allUsers(storage), [userOf(1)])
  },

  'writeUsers: makes a thousand writes': async (storage) => {
    const numbers = Array.from({ length: 500 }, (_, i) => i + 1)
    const writes = numbers.flatMap((n) => [creation(userOf(n)), update(n, rename(`New ${n}`))])
    const { outcomes } = await writeBatch(storage, writes, { ...keyed(1), atomic: true })
    assert.deepEqual(outcomes.filter(({ code }) => code !== 'done'), [])
    assert.deepEqual(await allUsers(storage), numbers.map((n) => after(n, { name: `New ${n}` })))
    const { outcomes: kept } = await writeBatch(storage, writes, keyed(1))
    assert.deepEqual(kept, outcomes)
  }
}

/** Duties of stores that write batches and have an event log. */
export const batchEventCases: Cases = {
  'eventLog: the writes of a batch are recorded in their order, and nothing of one that is undone or repeated': async (
    storage
  ) => {
    await addUsers(storage, 1)
    const event = (n: number, what: string): NewEvent => eventOf(n, `user.${what}`)
    const writes = [
      creation(userOf(2), event(1, 'created')), update(1, rename('New'), { event: event(2, 'updated') }),
      update(1, rename('New'), { event: event(3, 'updated') }), deletion(99, { event: event(4, 'deleted') }),
      deletion(2, { event: event(5, 'deleted') })
    ]
    const undone = [...writes.slice(0, 2), deletion(1, { event: event(6, 'deleted') }), deletion(99)]
    await writeBatch(storage, undone, ATOMIC)
    await writeBatch(storage, writes, keyed(1))
    await writeBatch(storage, writes, keyed(1))
    const all = await readWholeLog(storage)
    assert.deepEqual(all.map(({ id }) => id), [event(1, ''), event(2, ''), event(5, '')].map(({ id }) => id))
    assert.deepEqual(all[0], userEvent(event(1, 'created'), userOf(2)))
    assert.deepEqual(all[1]?.before, { name: 'User 1' })
    assert.deepEqual(all[2], userEvent(event(5, 'deleted'), userOf(2)))
  }
}
