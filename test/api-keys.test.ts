// The text of a key, and the memory of the verifier: what it may remember, and for how long.
import fc from 'fast-check'
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { digestSecret, generateKey, isApiKey, keyReader } from '../lib/api-keys/key-text.ts'
import { createVerifier } from '../lib/api-keys/verifier.ts'
import type { ApiKeyRecord } from '../lib/index.ts'
import { inject, testApp } from './helpers/app.ts'
import { captureLog } from './helpers/log.ts'
import './helpers/watch-all.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('the text of a key', (t) => {
  const read = keyReader('uk')
  const texts = new Set<string>()
  const counts = new Map<string, number>()
  for (let i = 0; i < 20_000; i++) {
    const { text, start, secret } = generateKey('uk')
    texts.add(text)
    for (const character of secret) counts.set(character, (counts.get(character) ?? 0) + 1)
    const parts = read(text)
    if (parts === null || parts === 'malformed' || parts.start !== start || parts.secret !== secret) t.fail('what was made can be read')
  }
  t.equal(texts.size, 20_000, 'no two are the same')
  const expected = 20_000 * 43 / 62
  const chiSquare = [...ALPHABET].reduce((sum, character) => sum + ((counts.get(character) ?? 0) - expected) ** 2 / expected, 0)
  t.ok(chiSquare < 125, `every character is equally likely: ${chiSquare} of 61 degrees of freedom`)

  // A fixed text, so that the format can't change unseen: the CRC-32 of the rest in six base62 digits.
  const fixed = 'uk_ABCDEFGHIJKL_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
  t.strictSame(read(`${fixed}2rm10u`), { start: 'uk_ABCDEFGHIJKL', secret: '0123456789abcdefghijklmnopqrstuvwxyzABCDEFG' })
  t.equal(read(`${fixed}2rm100`), 'malformed')
  for (const text of ['', 'uk_', fixed, `${fixed}2rm10u `, ` ${fixed}2rm10u`, `xk${fixed.slice(2)}2rm10u`, `${fixed}1jQbU-`, `${fixed}2rm10u\n`]) t.equal(read(text), null)
  t.equal(keyReader('acme')(generateKey('uk').text), null)

  t.ok(isApiKey(`${fixed}2rm10u`))
  t.ok(isApiKey(generateKey('acme').text, 'acme'))
  for (const other of [`${fixed}2rm100`, `${fixed}2rm10u `, fixed, '', 5, null, undefined, [`${fixed}2rm10u`]]) t.notOk(isApiKey(other))
  t.notOk(isApiKey(`${fixed}2rm10u`, 'acme'))
  t.notOk(isApiKey(`${fixed}2rm10u`, '.*'), 'a prefix is no pattern')
  t.end()
})

test('every wrong character and every swap of neighbours is found without a look-up', (t) => {
  const read = keyReader('uk')
  const { text } = generateKey('uk')
  let tried = 0
  let accepted = 0
  const attempt = (changed: string) => {
    if (changed === text) return
    tried++
    if (typeof read(changed) === 'object' && read(changed) !== null) accepted++
  }
  for (let i = 0; i < text.length; i++) {
    for (const character of ALPHABET) attempt(text.slice(0, i) + character + text.slice(i + 1))
    attempt(text.slice(0, i) + text.charAt(i + 1) + text.charAt(i) + text.slice(i + 2))
  }
  t.ok(tried > 3900)
  t.equal(accepted, 0)
  t.end()
})

test('what is stored proves a secret and does not hold it', (t) => {
  t.equal(digestSecret('secret', undefined), 'K7gNU3sdo-OL0wNhqoVWhr3g6s1xYv72ol_pe_Unols')
  t.not(digestSecret('secret', 'pepper'), digestSecret('secret', undefined))
  t.not(digestSecret('secret', 'pepper'), digestSecret('secret', 'salt'))
  t.end()
})

/** A memory store with one key, whose look-ups are counted and can be held back. */
function setUp () {
  const storage = memory()
  const { start, secret } = generateKey('uk')
  const record: ApiKeyRecord = {
    id: 'key_01h455vb4pex5vsknk084sn02q', name: 'x', scopes: ['users:read'], start, digest: digestSecret(secret, undefined), createdAt: new Date().toISOString(), expiresAt: null, revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null
  }
  const held: Array<() => void> = []
  const state = { lookUps: 0, hold: false }
  const { findApiKeyByStart } = storage
  storage.findApiKeyByStart = async (text) => {
    state.lookUps++
    const found = await findApiKeyByStart(text)
    if (state.hold) await new Promise<void>((resolve) => held.push(resolve))
    return found
  }
  return { storage, parts: { start, secret }, record, state, release: () => { for (const resolve of held.splice(0)) resolve() } }
}

test('simultaneous first uses share one look-up, and later ones need none', async (t) => {
  const { storage, parts, record, state, release } = setUp()
  await storage.createApiKey(record, { onlyFirst: false })
  const { verify } = createVerifier({ storage, peppers: [], keyCache: 5 })
  state.hold = true
  const answers = Promise.all(Array.from({ length: 20 }, () => verify(parts)))
  await new Promise((resolve) => setImmediate(resolve))
  release()
  t.ok((await answers).every((answer) => answer?.id === record.id))
  await verify(parts)
  t.equal(state.lookUps, 1)
})

test('without a cache every use is a look-up', async (t) => {
  const { storage, parts, record, state } = setUp()
  await storage.createApiKey(record, { onlyFirst: false })
  const { verify } = createVerifier({ storage, peppers: [], keyCache: 0 })
  for (let i = 0; i < 3; i++) await verify(parts)
  t.equal(state.lookUps, 3)
})

test('an unknown key is remembered too, and is known once it is made', async (t) => {
  const { storage, parts, record, state } = setUp()
  const { verify, clear } = createVerifier({ storage, peppers: [], keyCache: 5 })
  for (let i = 0; i < 3; i++) t.equal(await verify(parts), null)
  t.equal(state.lookUps, 1)
  await storage.createApiKey(record, { onlyFirst: false })
  clear()
  t.equal((await verify(parts))?.id, record.id)
})

test('a look-up that began before a revocation does not bring the key back', async (t) => {
  const { storage, parts, record, state, release } = setUp()
  await storage.createApiKey(record, { onlyFirst: false })
  const { verify, clear } = createVerifier({ storage, peppers: [], keyCache: 5 })
  state.hold = true
  const early = verify(parts)
  await new Promise((resolve) => setImmediate(resolve))
  state.hold = false
  clear()
  await storage.revokeApiKey(record.id, new Date().toISOString(), { keepOneWith: null })
  clear()
  release()
  t.equal(await early, null, 'it looks again')
  t.equal(await verify(parts), null)
})

test('a look-up that changes overtake again and again is answered all the same, and not remembered', async (t) => {
  const { storage, parts, record, state } = setUp()
  await storage.createApiKey(record, { onlyFirst: false })
  const { verify, clear } = createVerifier({ storage, peppers: [], keyCache: 5 })
  const { findApiKeyByStart } = storage
  storage.findApiKeyByStart = async (start) => {
    clear()
    return findApiKeyByStart(start)
  }
  t.match(await verify(parts), { id: record.id })
  t.equal(state.lookUps, 3)
  await verify(parts)
  t.equal(state.lookUps, 6)
})

test('where nothing may be remembered nobody joins a look-up that began before', async (t) => {
  const { storage, parts, record, state, release } = setUp()
  await storage.createApiKey(record, { onlyFirst: false })
  const { verify } = createVerifier({ storage, peppers: [], keyCache: 0 })
  state.hold = true
  const [first, second] = [verify(parts), verify(parts)]
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(state.lookUps, 2)
  release()
  t.match(await Promise.all([first, second]), [{ id: record.id }, { id: record.id }])
})

test('no interleaving of uses and a revocation lets the key in after the revocation was answered', async (t) => {
  await fc.assert(fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 6 }), async (scheduler, uses) => {
    const { storage, parts, record } = setUp()
    await storage.createApiKey(record, { onlyFirst: false })
    const { findApiKeyByStart, revokeApiKey } = storage
    storage.findApiKeyByStart = async (text) => {
      await scheduler.schedule(Promise.resolve(), 'before the look-up')
      const found = await findApiKeyByStart(text)
      await scheduler.schedule(Promise.resolve(), 'after the look-up')
      return found
    }
    const { verify, clear } = createVerifier({ storage, peppers: [], keyCache: 5 })
    let revoked = false
    const revoke = async () => {
      clear()
      await scheduler.schedule(Promise.resolve(), 'before the revocation')
      await revokeApiKey(record.id, new Date().toISOString(), { keepOneWith: null })
      await scheduler.schedule(Promise.resolve(), 'after the revocation')
      clear()
      revoked = true
    }
    const use = async () => {
      await scheduler.schedule(Promise.resolve(), 'use')
      const begunAfter = revoked
      return begunAfter && await verify(parts) !== null
    }
    const race = async () => {
      const late = Promise.all(Array.from({ length: uses }, use))
      await Promise.all([revoke(), ...Array.from({ length: uses }, () => verify(parts))])
      return (await late).includes(true) || await verify(parts) !== null
    }
    return !await scheduler.waitFor(race())
  }), { numRuns: 1000 })
  t.pass('1000 interleavings')
})

test('expiry is judged at every use, remembered or not', async (t) => {
  const { storage, parts, record, state } = setUp()
  await storage.createApiKey({ ...record, expiresAt: new Date(Date.now() + 1000).toISOString() }, { onlyFirst: false })
  const { verify } = createVerifier({ storage, peppers: [], keyCache: 60 })
  t.not(await verify(parts), null)
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 1000 })
  t.equal(await verify(parts), null)
  mock.timers.reset()
  t.equal(state.lookUps, 1)
})

test('a note of a use that fails is logged and answers nobody', async (t) => {
  for (const [thrown, code] of [[new TypeError('secret'), 'internal'], [Object.assign(new Error('busy'), { name: 'StorageError', code: 'unavailable' }), 'storage_unavailable']] as const) {
    const log = captureLog()
    const storage = memory()
    const { app, key } = await testApp(t, { storage, server: { logger: { stream: log.stream } } })
    storage.touchApiKey = () => { throw thrown }
    t.equal((await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })).statusCode, 200)
    await app.close()
    t.match(log.entries().filter(({ level }) => level === 40), [{ msg: 'could not store the time of an API key’s last use', keyId: /^key_/, err: { code, stack: /at .*api-keys\.test/ } }])
    if (code === 'internal') t.match(log.text(), 'an unexpected TypeError')
    t.notMatch(log.text(), 'secret')
  }
})

test('another process\'s note of a use counts', async (t) => {
  const storage = memory()
  const { app, key } = await testApp(t, { storage })
  const [record] = (await app.users.apiKeys.list()).data
  const noted = new Date(Date.now() - 30_000).toISOString()
  await storage.touchApiKey(record?.id ?? '', noted, noted)
  await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })
  await app.close()
  t.equal((await storage.findApiKey(record?.id ?? ''))?.lastUsedAt, noted)
})

test('a storage that breaks its word about keys is an error', async (t) => {
  const storage = memory()
  const { app: { users: { apiKeys } } } = await testApp(t, { storage })
  const { id } = await apiKeys.create({ name: 'x' })
  storage.createApiKey = async () => false
  await t.rejects(apiKeys.create({ name: 'x' }), { code: 'internal' })
  storage.rotateApiKey = async () => null
  await t.rejects(apiKeys.rotate(id), { code: 'api_key_not_found' }, 'gone meanwhile')
})

test('closing waits for notes under way', async (t) => {
  const storage = memory()
  const order: string[] = []
  const { app, key } = await testApp(t, { storage: { ...storage, close: async () => { order.push('closed') } } })
  const { app: other, key: otherKey } = await testApp(t, {
    storage: {
      ...storage,
      touchApiKey: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        order.push('noted')
      },
      close: async () => { order.push('closed') }
    }
  })
  t.ok(app && key)
  await inject(other, 'GET', '/v1/users', { headers: { authorization: `Bearer ${otherKey}` } })
  await other.close()
  t.strictSame(order, ['noted', 'closed'])
})

test('closing does not wait for ever for a note of a use', async (t) => {
  const storage = memory()
  const { app, key } = await testApp(t, { storage })
  storage.touchApiKey = () => new Promise(() => {})
  await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })
  mock.timers.enable({ apis: ['setTimeout'] })
  const closed = app.close()
  // The limit is set somewhere on the way of the close; the clock goes on until it has passed.
  const state = { closed: false }
  const finished = closed.then(() => { state.closed = true })
  while (!state.closed) {
    mock.timers.tick(2000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  mock.timers.reset()
  await finished
  t.pass('closed')
})

test('the first key of a store is made once', async (t) => {
  const storage = memory()
  const { app } = await testApp(t, { storage })
  t.equal(await app.users.apiKeys.createFirst({ name: 'first' }), null, 'there is one already')
  const { default: users } = await import('../lib/index.ts')
  const { default: Fastify } = await import('fastify')
  const fresh = Fastify()
  t.teardown(() => fresh.close())
  await fresh.register(users, { storage: memory() })
  const made = await Promise.all([1, 2, 3].map((n) => fresh.users.apiKeys.createFirst({ name: `first ${n}` })))
  t.equal(made.filter((key) => key !== null).length, 1)
  t.equal((await fresh.users.apiKeys.list()).meta.total, 1)
})
