import assert from 'node:assert/strict'
import type { Idempotency, Storage } from '../../lib/core/storage.ts'
import type { Cases } from './cases.ts'
import { addUsers, anyVersion, AT_ONCE, atOnce, everyone, idOf, keysOf, timeOf, userOf } from './values.ts'

/** A key of the form that callers give. */
const keyOf = (name: string): string => name.padEnd(43, '_')

/** The same request under the same key, a thousand milliseconds long, unless something else is given. */
function once (members: Partial<Idempotency> = {}): Idempotency {
  return { key: keyOf('k-1'), fingerprint: 'f-1', now: timeOf(0), expiresAt: timeOf(1000), ...members }
}

function create (storage: Storage, n: number, idempotency: Idempotency) {
  const user = userOf(n)
  return storage.createUser(user, keysOf(user), idempotency)
}

async function count (storage: Storage): Promise<number> {
  return (await storage.listUsers(everyone, { order: 'asc', limit: 1, from: { offset: 0 } })).total
}

/** Duties about creations that are repeated under a key. */
export const idempotencyCases: Cases = {
  'createUser with a key: the second one gives the first one’s user and adds nothing': async (storage) => {
    assert.deepEqual(await create(storage, 1, once()), { user: userOf(1), replayed: false })
    assert.deepEqual(await create(storage, 2, once()), { user: userOf(1), replayed: true })
    assert.equal(await count(storage), 1)
  },

  'createUser with a key: the answer is the user as it was then': async (storage) => {
    await create(storage, 1, once())
    await storage.updateUser(idOf('usr', 1), { name: { value: 'Later', key: 'later' } }, timeOf(50), anyVersion)
    assert.deepEqual((await create(storage, 2, once())).user, userOf(1))
    assert.equal((await storage.findUser(idOf('usr', 1)))?.name, 'Later')
  },

  'createUser with a key: another request under it is refused': async (storage) => {
    await create(storage, 1, once())
    await assert.rejects(create(storage, 2, once({ fingerprint: 'f-2' })), { code: 'idempotency_key_reused' })
    assert.equal(await count(storage), 1)
  },

  'createUser with a key: another key is another creation, also where only the case differs': async (storage) => {
    await create(storage, 1, once())
    assert.equal((await create(storage, 2, once({ key: keyOf('k-2') }))).replayed, false)
    assert.equal((await create(storage, 3, once({ key: keyOf('K-1') }))).replayed, false)
    assert.equal(await count(storage), 3)
  },

  'createUser with a key: a creation that fails leaves no key behind': async (storage) => {
    const [taken] = await addUsers(storage, 1)
    const other = userOf(2, { email: 'USER1@example.org' })
    await assert.rejects(storage.createUser(other, keysOf(other), once()), { code: 'email_taken' })
    assert.deepEqual(await create(storage, 3, once({ fingerprint: 'f-2' })), { user: userOf(3), replayed: false })
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), taken)
  },

  'createUser with a key: once expired the key is free': async (storage) => {
    await create(storage, 1, once())
    assert.equal((await create(storage, 2, once({ now: timeOf(999) }))).replayed, true)
    assert.equal((await create(storage, 2, once({ fingerprint: 'f-2', now: timeOf(1000), expiresAt: timeOf(2000) }))).replayed, false)
    assert.deepEqual(await create(storage, 3, once({ fingerprint: 'f-2', now: timeOf(1500) })), { user: userOf(2), replayed: true })
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    assert.equal((await create(storage, 3, once({ fingerprint: 'f-2', now: timeOf(1500) }))).replayed, true, 'the first user takes along what was its own alone')
  },

  'createUser with a key: a deleted user takes its keys along': async (storage) => {
    await create(storage, 1, once())
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    assert.deepEqual(await create(storage, 2, once({ fingerprint: 'f-2' })), { user: userOf(2), replayed: false })
  },

  'createUser with a key: of many at once exactly one creates': async (storage) => {
    const { values, codes } = await atOnce((i) => create(storage, i, once()))
    assert.equal(values.filter(({ replayed }) => !replayed).length, 1)
    assert.equal(new Set(values.map(({ user }) => user.id)).size, 1)
    assert.ok(codes.every((code) => code === 'idempotency_in_progress'))
    assert.equal(values.length + codes.length, AT_ONCE)
    assert.equal(await count(storage), 1)
  },

  'pruneIdempotency: forgets what is expired and nothing else': async (storage) => {
    await create(storage, 1, once({ key: keyOf('old') }))
    await create(storage, 2, once({ key: keyOf('new'), expiresAt: timeOf(1001) }))
    await storage.pruneIdempotency(timeOf(1000))
    assert.equal((await create(storage, 3, once({ key: keyOf('old') }))).replayed, false, 'what expires at this very moment is forgotten')
    assert.equal((await create(storage, 4, once({ key: keyOf('new') }))).replayed, true)
    assert.equal(await count(storage), 3)
  }
}
