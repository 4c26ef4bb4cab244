import assert from 'node:assert/strict'
import type { Idempotency, Storage } from '../../lib/core/storage.ts'
import type { Cases } from './cases.ts'
import {
  addUsers, anyVersion, CONCURRENT_CALLS, concurrently, count, idOf, keysOf, rename, timeOf, userOf
} from './values.ts'

/** A key of the form that callers give. */
const keyOf = (name: string): string => name.padEnd(43, '_')

/** The same request with the same key, valid for a second, unless something else is given. */
function idempotencyOf (members: Partial<Idempotency> = {}): Idempotency {
  return { key: keyOf('k-1'), fingerprint: 'f-1', now: timeOf(0), expiresAt: timeOf(1000), ...members }
}

function create (storage: Storage, n: number, idempotency: Idempotency) {
  const user = userOf(n)
  return storage.createUser(user, keysOf(user), idempotency)
}

/** Duties about creations with an idempotency key. */
export const idempotencyCases: Cases = {
  'createUser with idempotency: a repetition returns the first user and adds nothing': async (storage) => {
    assert.deepEqual(await create(storage, 1, idempotencyOf()), { user: userOf(1), replayed: false })
    assert.deepEqual(await create(storage, 2, idempotencyOf()), { user: userOf(1), replayed: true })
    assert.equal(await count(storage), 1)
  },

  'createUser with idempotency: a repetition returns the user as it was created': async (storage) => {
    await create(storage, 1, idempotencyOf())
    await storage.updateUser(idOf('usr', 1), rename('Later'), timeOf(50), anyVersion)
    assert.deepEqual((await create(storage, 2, idempotencyOf())).user, userOf(1))
    assert.equal((await storage.findUser(idOf('usr', 1)))?.name, 'Later')
  },

  'createUser with idempotency: another request with the same key is refused': async (storage) => {
    await create(storage, 1, idempotencyOf())
    await assert.rejects(create(storage, 2, idempotencyOf({ fingerprint: 'f-2' })), { code: 'idempotency_key_reused' })
    assert.equal(await count(storage), 1)
  },

  'createUser with idempotency: another key is another creation, even if only its case differs': async (storage) => {
    await create(storage, 1, idempotencyOf())
    assert.equal((await create(storage, 2, idempotencyOf({ key: keyOf('k-2') }))).replayed, false)
    assert.equal((await create(storage, 3, idempotencyOf({ key: keyOf('K-1') }))).replayed, false)
    assert.equal(await count(storage), 3)
  },

  'createUser with idempotency: a failed creation stores no key': async (storage) => {
    const [taken] = await addUsers(storage, 1)
    const other = userOf(2, { email: 'USER1@example.org' })
    await assert.rejects(storage.createUser(other, keysOf(other), idempotencyOf()), { code: 'email_taken' })
    const created = await create(storage, 3, idempotencyOf({ fingerprint: 'f-2' }))
    assert.deepEqual(created, { user: userOf(3), replayed: false })
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), taken)
  },

  'createUser with idempotency: an expired key is free': async (storage) => {
    await create(storage, 1, idempotencyOf())
    assert.equal((await create(storage, 2, idempotencyOf({ now: timeOf(999) }))).replayed, true)
    const next = { fingerprint: 'f-2', now: timeOf(1000), expiresAt: timeOf(2000) }
    assert.equal((await create(storage, 2, idempotencyOf(next))).replayed, false)
    const later = idempotencyOf({ fingerprint: 'f-2', now: timeOf(1500) })
    assert.deepEqual(await create(storage, 3, later), { user: userOf(2), replayed: true })
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    const { replayed } = await create(storage, 3, later)
    assert.equal(replayed, true, 'deleting the first user keeps the new record of the key')
  },

  'createUser with idempotency: deleting a user deletes its keys': async (storage) => {
    await create(storage, 1, idempotencyOf())
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    const created = await create(storage, 2, idempotencyOf({ fingerprint: 'f-2' }))
    assert.deepEqual(created, { user: userOf(2), replayed: false })
  },

  'createUser with idempotency: of many concurrent calls with one key, exactly one creates': async (storage) => {
    const { values, codes } = await concurrently((i) => create(storage, i, idempotencyOf()))
    assert.equal(values.filter(({ replayed }) => !replayed).length, 1)
    assert.equal(new Set(values.map(({ user }) => user.id)).size, 1)
    assert.ok(codes.every((code) => code === 'idempotency_in_progress'))
    assert.equal(values.length + codes.length, CONCURRENT_CALLS)
    assert.equal(await count(storage), 1)
  },

  'pruneIdempotency: deletes the expired keys and no others': async (storage) => {
    await create(storage, 1, idempotencyOf({ key: keyOf('old') }))
    await create(storage, 2, idempotencyOf({ key: keyOf('new'), expiresAt: timeOf(1001) }))
    await storage.pruneIdempotency(timeOf(1000))
    assert.equal(
      (await create(storage, 3, idempotencyOf({ key: keyOf('old') }))).replayed,
      false,
      'a key that expires at `now` is deleted'
    )
    assert.equal((await create(storage, 4, idempotencyOf({ key: keyOf('new') }))).replayed, true)
    assert.equal(await count(storage), 3)
  }
}
