// The cache of the verifier: what it may keep, and for how long. In every interleaving: model.test.ts.
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { digestSecret, generateKey } from '../../lib/api-keys/key-text.ts'
import { createVerifier } from '../../lib/api-keys/verifier.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import type { ApiKeyRecord } from '../../lib/storage/storage.ts'
import { aroundFind } from '../helpers/around.ts'
import { apiKeyOf } from '../helpers/records.ts'
import { addKey, revokeKey } from '../helpers/writes.ts'

/** A verifier on a memory store that counts look-ups of keys and can delay them, and the record of a key. */
async function setUp (ttl: number, members: Partial<ApiKeyRecord> = {}, isStored = true) {
  const storage = memory()
  const { start, secret } = generateKey('uk')
  const record = { ...apiKeyOf(1), start, digest: digestSecret(secret, undefined), ...members }
  if (isStored) await addKey(storage, record)
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
  const { verify, clear, stillWorks } = createVerifier({ repository: repositoryOf(storage), peppers: [], ttl })
  return {
    storage,
    record,
    state,
    clear,
    stillWorks,
    verify: () => verify({ start, secret }),
    release: () => { for (const resolve of held.splice(0)) resolve() }
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('concurrent first uses share one look-up, and later uses need none', async (t) => {
  const { verify, record, state, release } = await setUp(5)
  state.hold = true
  const answers = Promise.all(Array.from({ length: 20 }, verify))
  await nextTurn()
  release()
  t.ok((await answers).every((answer) => answer?.id === record.id))
  await verify()
  t.equal(state.lookUps, 1)
})

test('with cache 0 every use is a look-up, shared with none that began before it', async (t) => {
  const { verify, stillWorks, record, state, release } = await setUp(0)
  state.hold = true
  const [first, second] = [verify(), verify()]
  await nextTurn()
  t.equal(state.lookUps, 2)
  release()
  t.match(await Promise.all([first, second]), [{ id: record.id }, { id: record.id }])
  state.hold = false
  t.equal(stillWorks(await verify() ?? record), false, 'no record is known to work still')
  t.equal(state.lookUps, 3)
})

test('caches that a key is unknown, and accepts it once it is created', async (t) => {
  const { storage, verify, clear, record, state } = await setUp(5, {}, false)
  for (let i = 0; i < 3; i++) t.equal(await verify(), null)
  t.equal(state.lookUps, 1)
  await addKey(storage, record)
  clear()
  t.equal((await verify())?.id, record.id)
})

test('a record still works while it is cached, and until it ends', async (t) => {
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  const { verify, stillWorks, clear, record, state } = await setUp(3600, { expiresAt })
  const verified = async (): Promise<ApiKeyRecord> => await verify() ?? record
  const first = await verified()
  t.equal(stillWorks(first), true)
  clear()
  t.equal(stillWorks(first), false, 'nothing is known after a change of a key')
  const second = await verified()
  t.equal(stillWorks(first), false, 'what was read before the change is not taken for what was read after it')
  mock.timers.enable({ apis: ['Date'], now: Date.parse(expiresAt) - 1 })
  t.teardown(() => mock.timers.reset())
  t.equal(stillWorks(second), true)
  t.not(await verify(), null)
  mock.timers.setTime(Date.parse(expiresAt))
  t.equal(stillWorks(second), false, 'it has expired')
  t.equal(await verify(), null)
  t.equal(state.lookUps, 2)
})

test('a look-up that began before a revocation is repeated, and the key refused', async (t) => {
  const { storage, verify, clear, record, state, release } = await setUp(5)
  state.hold = true
  const early = verify()
  await nextTurn()
  state.hold = false
  clear()
  await revokeKey(storage, record.id, new Date().toISOString())
  clear()
  release()
  t.equal(await early, null, 'it is looked up again')
  t.equal(await verify(), null)
})

test('a look-up during which keys keep changing is answered after three attempts, and not cached', async (t) => {
  const { storage, verify, clear, record, state } = await setUp(5)
  aroundFind(storage, 'apiKeys', async (call) => {
    clear()
    return call()
  })
  t.match(await verify(), { id: record.id })
  t.equal(state.lookUps, 3)
  await verify()
  t.equal(state.lookUps, 6)
})
