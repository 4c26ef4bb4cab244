// The cache of the verifier: what it may keep, and for how long.
import fc from 'fast-check'
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { digestSecret, generateKey } from '../../lib/api-keys/key-text.ts'
import { createVerifier } from '../../lib/api-keys/verifier.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import type { ApiKeyRecord } from '../../lib/storage/storage.ts'
import { aroundFind } from '../helpers/around.ts'
import { addKey, revokeKey } from '../helpers/writes.ts'

/** A memory store that counts look-ups of keys and can delay them, and a record of a key that is not stored yet. */
function setUp () {
  const storage = memory()
  const { start, secret } = generateKey('uk')
  const record: ApiKeyRecord = {
    id: 'key_01h455vb4pex5vsknk084sn02q',
    name: 'x',
    scopes: ['users:read'],
    start,
    digest: digestSecret(secret, undefined),
    createdAt: new Date().toISOString(),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    rotatedFrom: null,
    rotatedAt: null,
    lifetime: null
  }
  const held: Array<() => void> = []
  const state = { lookUps: 0, hold: false }
  aroundFind(storage, 'apiKeys', async (call, [by]) => {
    // A write looks up by id.
    if (by === undefined || 'id' in by) return call()
    state.lookUps++
    const stored = await call()
    if (state.hold) await new Promise<void>((resolve) => held.push(resolve))
    return stored
  })
  return {
    storage,
    repository: repositoryOf(storage),
    parts: { start, secret },
    record,
    state,
    release: () => {
      for (const resolve of held.splice(0)) resolve()
    }
  }
}

test('concurrent first uses share one look-up, and later uses need none', async (t) => {
  const { storage, repository, parts, record, state, release } = setUp()
  await addKey(storage, record)
  const { verify } = createVerifier({ repository, peppers: [], ttl: 5 })
  state.hold = true
  const answers = Promise.all(Array.from({ length: 20 }, () => verify(parts)))
  await new Promise((resolve) => setImmediate(resolve))
  release()
  t.ok((await answers).every((answer) => answer?.id === record.id))
  await verify(parts)
  t.equal(state.lookUps, 1)
})

test('with cache 0 every use is a look-up', async (t) => {
  const { storage, repository, parts, record, state } = setUp()
  await addKey(storage, record)
  const { verify } = createVerifier({ repository, peppers: [], ttl: 0 })
  for (let i = 0; i < 3; i++) await verify(parts)
  t.equal(state.lookUps, 3)
})

test('caches that a key is unknown, and accepts it once it is created', async (t) => {
  const { storage, repository, parts, record, state } = setUp()
  const { verify, clear } = createVerifier({ repository, peppers: [], ttl: 5 })
  for (let i = 0; i < 3; i++) t.equal(await verify(parts), null)
  t.equal(state.lookUps, 1)
  await addKey(storage, record)
  clear()
  t.equal((await verify(parts))?.id, record.id)
})

test('a record still works while it is cached, and until it ends', async (t) => {
  const { storage, repository, parts, record, state } = setUp()
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  await addKey(storage, { ...record, expiresAt })
  const { verify, stillWorks, clear } = createVerifier({ repository, peppers: [], ttl: 3600 })
  const verified = async (): Promise<ApiKeyRecord> => await verify(parts) ?? record
  const first = await verified()
  t.equal(stillWorks(first), true)
  clear()
  t.equal(stillWorks(first), false, 'nothing is known after a change of a key')
  const second = await verified()
  t.equal(stillWorks(first), false, 'what was read before the change is not taken for what was read after it')
  mock.timers.enable({ apis: ['Date'], now: Date.parse(expiresAt) - 1 })
  t.teardown(() => mock.timers.reset())
  t.equal(stillWorks(second), true)
  mock.timers.setTime(Date.parse(expiresAt))
  t.equal(stillWorks(second), false, 'it has expired')
  t.equal(state.lookUps, 2)
})

test('without a cache no record is known to work still', async (t) => {
  const { storage, repository, parts, record } = setUp()
  await addKey(storage, record)
  const { verify, stillWorks } = createVerifier({ repository, peppers: [], ttl: 0 })
  t.equal(stillWorks(await verify(parts) ?? record), false)
})

test('a look-up that began before a revocation is repeated, and the key refused', async (t) => {
  const { storage, repository, parts, record, state, release } = setUp()
  await addKey(storage, record)
  const { verify, clear } = createVerifier({ repository, peppers: [], ttl: 5 })
  state.hold = true
  const early = verify(parts)
  await new Promise((resolve) => setImmediate(resolve))
  state.hold = false
  clear()
  await revokeKey(storage, record.id, new Date().toISOString())
  clear()
  release()
  t.equal(await early, null, 'it is looked up again')
  t.equal(await verify(parts), null)
})

test('a look-up during which keys keep changing is answered after three attempts, and not cached', async (t) => {
  const { storage, repository, parts, record, state } = setUp()
  await addKey(storage, record)
  const { verify, clear } = createVerifier({ repository, peppers: [], ttl: 5 })
  aroundFind(storage, 'apiKeys', async (call) => {
    clear()
    return call()
  })
  t.match(await verify(parts), { id: record.id })
  t.equal(state.lookUps, 3)
  await verify(parts)
  t.equal(state.lookUps, 6)
})

test('with cache 0 a use does not share a look-up that began before it', async (t) => {
  const { storage, repository, parts, record, state, release } = setUp()
  await addKey(storage, record)
  const { verify } = createVerifier({ repository, peppers: [], ttl: 0 })
  state.hold = true
  const [first, second] = [verify(parts), verify(parts)]
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(state.lookUps, 2)
  release()
  t.match(await Promise.all([first, second]), [{ id: record.id }, { id: record.id }])
})

test('no interleaving of uses and a revocation accepts the key after the revocation was answered', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 6 }), async (scheduler, uses) => {
      const { storage, repository, parts, record } = setUp()
      await addKey(storage, record)
      aroundFind(storage, 'apiKeys', async (call) => {
        await scheduler.schedule(Promise.resolve(), 'before the look-up')
        const stored = await call()
        await scheduler.schedule(Promise.resolve(), 'after the look-up')
        return stored
      })
      const { verify, clear } = createVerifier({ repository, peppers: [], ttl: 5 })
      let revoked = false
      const revoke = async () => {
        clear()
        await scheduler.schedule(Promise.resolve(), 'before the revocation')
        await revokeKey(storage, record.id, new Date().toISOString())
        await scheduler.schedule(Promise.resolve(), 'after the revocation')
        clear()
        revoked = true
      }
      const use = async () => {
        await scheduler.schedule(Promise.resolve(), 'use')
        const beganAfter = revoked
        return beganAfter && (await verify(parts)) !== null
      }
      const race = async () => {
        const late = Promise.all(Array.from({ length: uses }, use))
        await Promise.all([revoke(), ...Array.from({ length: uses }, () => verify(parts))])
        return (await late).includes(true) || (await verify(parts)) !== null
      }
      return !(await scheduler.waitFor(race()))
    }),
    { numRuns: 1000 }
  )
  t.pass('1000 interleavings')
})

test('checks the expiry at every use of a cached key', async (t) => {
  const { storage, repository, parts, record, state } = setUp()
  await addKey(storage, { ...record, expiresAt: new Date(Date.now() + 1000).toISOString() })
  const { verify } = createVerifier({ repository, peppers: [], ttl: 60 })
  t.not(await verify(parts), null)
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 1000 })
  t.equal(await verify(parts), null)
  mock.timers.reset()
  t.equal(state.lookUps, 1)
})
