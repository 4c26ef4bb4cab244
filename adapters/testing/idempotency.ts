import assert from 'node:assert/strict'
import type { Idempotency } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import type { CallOf } from './calls.ts'
import type { Cases } from './cases.ts'
import { play } from './everywhere.ts'
import { FIELDS, LOOKALIKES } from './hostile-values.ts'
import { createModel } from './model.ts'
import {
  addUsers, anyVersion, CONCURRENT_CALLS, concurrently, count, idOf, keysOf, onlyVersion, rename, timeOf, userOf
} from './values.ts'

/** A key in the form that callers use. */
const keyOf = (name: string): string => name.padEnd(43, '_')

/** The same request with the same key, valid for a second, unless something else is given. */
function idempotencyOf (members: Partial<Idempotency> = {}): Idempotency {
  return { key: keyOf('k-1'), fingerprint: 'f-1', now: timeOf(0), expiresAt: timeOf(1000), note: null, ...members }
}

function create (storage: KitStorage, n: number, idempotency: Idempotency) {
  const user = userOf(n)
  return storage.createUser(user, keysOf(user), idempotency)
}

/** Duties about creations with an idempotency key. */
export const idempotencyCases: Cases = {
  'create with idempotency: a repetition returns the first user and adds nothing': async (storage) => {
    assert.deepEqual(await create(storage, 1, idempotencyOf()), { user: userOf(1), replayed: false })
    assert.deepEqual(await create(storage, 2, idempotencyOf()), { user: userOf(1), replayed: true })
    assert.equal(await count(storage), 1)
  },

  'create with idempotency: a repetition returns the user as it was created': async (storage) => {
    await create(storage, 1, idempotencyOf())
    await storage.updateUser(idOf('usr', 1), rename('Later'), timeOf(50), anyVersion)
    assert.deepEqual((await create(storage, 2, idempotencyOf())).user, userOf(1))
    assert.equal((await storage.findUser(idOf('usr', 1)))?.name, 'Later')
  },

  'create with idempotency: another request with the same key is refused': async (storage) => {
    await create(storage, 1, idempotencyOf())
    await assert.rejects(create(storage, 2, idempotencyOf({ fingerprint: 'f-2' })), { code: 'idempotency_key_reused' })
    assert.equal(await count(storage), 1)
  },

  'create with idempotency: another key is another creation, even if only its case differs': async (storage) => {
    await create(storage, 1, idempotencyOf())
    assert.equal((await create(storage, 2, idempotencyOf({ key: keyOf('k-2') }))).replayed, false)
    assert.equal((await create(storage, 3, idempotencyOf({ key: keyOf('K-1') }))).replayed, false)
    assert.equal(await count(storage), 3)
  },

  'create with idempotency: a failed creation stores no key': async (storage) => {
    const [taken] = await addUsers(storage, 1)
    const other = userOf(2, { email: 'USER1@example.org' })
    await assert.rejects(storage.createUser(other, keysOf(other), idempotencyOf()), { code: 'email_taken' })
    const created = await create(storage, 3, idempotencyOf({ fingerprint: 'f-2' }))
    assert.deepEqual(created, { user: userOf(3), replayed: false })
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), taken)
  },

  'create with idempotency: an expired key is free': async (storage) => {
    await create(storage, 1, idempotencyOf())
    assert.equal((await create(storage, 2, idempotencyOf({ now: timeOf(999) }))).replayed, true)
    const next = { fingerprint: 'f-2', now: timeOf(1000), expiresAt: timeOf(2000), note: null }
    assert.equal((await create(storage, 2, idempotencyOf(next))).replayed, false)
    const later = idempotencyOf({ fingerprint: 'f-2', now: timeOf(1500) })
    assert.deepEqual(await create(storage, 3, later), { user: userOf(2), replayed: true })
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    const { replayed } = await create(storage, 3, later)
    assert.equal(replayed, true, 'deleting the first user keeps the new record of the key')
  },

  'create with idempotency: deleting a user deletes its keys': async (storage) => {
    await create(storage, 1, idempotencyOf())
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    const created = await create(storage, 2, idempotencyOf({ fingerprint: 'f-2' }))
    assert.deepEqual(created, { user: userOf(2), replayed: false })
  },

  'create with idempotency: of many concurrent calls with one key, exactly one creates': async (storage) => {
    const { values, codes } = await concurrently((i) => create(storage, i, idempotencyOf()))
    assert.equal(values.filter(({ replayed }) => !replayed).length, 1)
    assert.equal(new Set(values.map(({ user }) => user.id)).size, 1)
    assert.ok(codes.every((code) => code === 'idempotency_in_progress'))
    assert.equal(values.length + codes.length, CONCURRENT_CALLS)
    assert.equal(await count(storage), 1)
  },

  'prune: deletes the expired keys and no others': async (storage) => {
    await create(storage, 1, idempotencyOf({ key: keyOf('old') }))
    await create(storage, 2, idempotencyOf({ key: keyOf('new'), expiresAt: timeOf(1001) }))
    await storage.prune(timeOf(1000))
    assert.equal(
      (await create(storage, 3, idempotencyOf({ key: keyOf('old') }))).replayed,
      false,
      'a key that expires at `now` is deleted'
    )
    assert.equal((await create(storage, 4, idempotencyOf({ key: keyOf('new') }))).replayed, true)
    assert.equal(await count(storage), 3)
  },

  'create with idempotency: a known key is judged before the address': async (storage) => {
    const first = userOf(1, { name: 'Zoë', fields: { plan: 'pro', z: [1, { b: null }], a: '' } })
    await storage.createUser(first, keysOf(first), idempotencyOf())
    // A client repeats what it sent, so the address is taken. Each call gets a different id.
    for (const n of [2, 3]) {
      const again = { ...first, id: idOf('usr', n) }
      const repeated = await storage.createUser(again, keysOf(again), idempotencyOf())
      assert.deepEqual(repeated, { user: first, replayed: true })
    }
    const other = { ...first, id: idOf('usr', 4) }
    await assert.rejects(storage.createUser(other, keysOf(other), idempotencyOf({ fingerprint: 'f-2' })), {
      code: 'idempotency_key_reused'
    })
    assert.equal(await count(storage), 1)
  },

  'create with idempotency: concurrent repetitions with one address all get the one user': async (storage) => {
    const { values, codes } = await concurrently((i) => {
      const user = userOf(i, { name: 'Same', email: 'same@example.org' })
      return storage.createUser(user, keysOf(user), idempotencyOf())
    })
    assert.equal(values.filter(({ replayed }) => !replayed).length, 1)
    assert.equal(new Set(values.map(({ user }) => user.id)).size, 1)
    assert.deepEqual(codes.filter((code) => code !== 'idempotency_in_progress'), [])
    assert.equal(await count(storage), 1)
    const user = userOf(50, { name: 'Same', email: 'same@example.org' })
    const { replayed } = await storage.createUser(user, keysOf(user), idempotencyOf())
    assert.equal(replayed, true)
  },

  'create with idempotency: texts and fields of a repetition come back as they were given': async (storage) => {
    for (const [n, fields] of FIELDS.entries()) {
      const idempotency = idempotencyOf({ key: keyOf(`k${n}`) })
      const user = userOf(n, { name: LOOKALIKES[n] ?? 'x', fields })
      await storage.createUser(user, keysOf(user), idempotency)
      await storage.updateUser(user.id, { ...rename('Later'), fields: { later: true } }, timeOf(60), anyVersion)
      const again = userOf(100 + n)
      const repeated = await storage.createUser(again, keysOf(again), idempotency)
      assert.deepEqual(repeated, { user, replayed: true })
      assert.equal(JSON.stringify(repeated.user.fields), JSON.stringify(fields))
    }
  },

  'create with idempotency: a repetition after other writes, deletions and pruning': async (storage) => {
    const renewed = idempotencyOf({ now: timeOf(1000), expiresAt: timeOf(3000) })
    const other = (n: number, members: Partial<Idempotency>): CallOf<'createUser'> => {
      const user = userOf(n)
      return ['createUser', user, keysOf(user), { ...renewed, ...members }]
    }
    await play(storage, createModel(), [
      other(1, idempotencyOf()),
      ['updateUser', idOf('usr', 1), { email: { value: 'X@y.de', key: 'x@y.de' } }, timeOf(5), anyVersion],
      other(2, idempotencyOf()),
      // A deletion that is refused deletes no key.
      ['deleteUser', idOf('usr', 1), onlyVersion(7)],
      ['deleteUser', idOf('usr', 99), anyVersion],
      other(2, idempotencyOf()),
      ['deleteUser', idOf('usr', 1), anyVersion],
      // Deleting the user has freed its key.
      other(3, idempotencyOf()),
      ['prune', timeOf(999)],
      other(4, { now: timeOf(999) }),
      // An expired key is renewed, and lives until the expiry in its new record.
      other(5, {}),
      ['prune', timeOf(1000)],
      other(6, { now: timeOf(2999) }),
      // Deleting the user of the first record does not touch the renewed one.
      ['deleteUser', idOf('usr', 3), anyVersion],
      other(7, { now: timeOf(2999) }),
      other(8, { now: timeOf(2999), fingerprint: 'f-2' }),
      ['prune', timeOf(3000)],
      // A clock goes back: a pruned key stays free.
      other(9, { now: timeOf(1500), fingerprint: 'f-2' }),
      ['prune', timeOf(0)],
      other(10, { now: timeOf(1500), fingerprint: 'f-2' }),
      ['deleteUser', idOf('usr', 5), anyVersion],
      ['deleteUser', idOf('usr', 9), anyVersion],
      other(11, { now: timeOf(1500), fingerprint: 'f-3' })
    ], { recent: 3 })
  },

  'create with idempotency: keys and fingerprints are compared byte by byte': async (storage) => {
    const short = ['k', 'K', 'k_', 'k-', '-k', '_k', 'kK', 'Kk'].map((key) => key.padEnd(43, 'A'))
    const keys = [...short, ...['k', 'K', '-'].map((end) => end.padStart(43, 'B'))]
    for (const [n, key] of keys.entries()) {
      assert.equal((await create(storage, n, idempotencyOf({ key, fingerprint: `f${n}` }))).replayed, false, key)
    }
    for (const [n, key] of keys.entries()) {
      const { user } = await create(storage, 100, idempotencyOf({ key, fingerprint: `f${n}` }))
      assert.equal(user.id, idOf('usr', n), key)
    }
    const whole = idempotencyOf({ key: 'z'.repeat(43), fingerprint: 'f'.repeat(43) })
    await create(storage, 50, whole)
    for (const fingerprint of [`${'f'.repeat(42)}g`, `g${'f'.repeat(42)}`, 'F'.repeat(43), 'f'.repeat(42)]) {
      await assert.rejects(create(storage, 51, { ...whole, fingerprint }), { code: 'idempotency_key_reused' })
    }
  }
}
