import assert from 'node:assert/strict'
import type { ApiKeyRecord, Storage } from '../../lib/core/storage.ts'
import type { Cases } from './cases.ts'
import { apiKeyOf, AT_ONCE, atOnce, idOf, TEXTS, timeOf } from './values.ts'

async function add (storage: Storage, n: number, members: Parameters<typeof apiKeyOf>[1] = {}): Promise<void> {
  await storage.createApiKey(apiKeyOf(n, members), { onlyFirst: false })
}

const ANY = { keepOneWith: null }
const KEEP = { keepOneWith: 'keys:write' }

/** A key as both look-ups find it. */
async function bothWays (storage: Storage, n: number): Promise<Array<ApiKeyRecord | null>> {
  return [await storage.findApiKey(idOf('key', n)), await storage.findApiKeyByStart(apiKeyOf(n).start)]
}

async function count (storage: Storage): Promise<number> {
  return (await storage.listApiKeys({ order: 'asc', limit: 1, from: { offset: 0 } })).total
}

/** Duties about API keys. */
export const apiKeyCases: Cases = {
  'createApiKey: the key comes back as it was given, by id and by start': async (storage) => {
    const full = apiKeyOf(2, { name: 'Zoë 🦊', scopes: ['keys:write'], expiresAt: timeOf(500), revokedAt: timeOf(400), lastUsedAt: timeOf(300), rotatedFrom: idOf('key', 1), lifetime: 31_536_000_000 })
    for (const key of [apiKeyOf(1), full]) {
      assert.equal(await storage.createApiKey(key, { onlyFirst: false }), true)
      assert.deepEqual(await storage.findApiKey(key.id), key)
      assert.deepEqual(await storage.findApiKeyByStart(key.start), key)
    }
    assert.equal(await storage.findApiKey(idOf('key', 3)), null)
    assert.equal(await storage.findApiKeyByStart('uk_%'), null)
  },

  'createApiKey: names and the order of scopes come back unchanged': async (storage) => {
    for (const [n, name] of TEXTS.entries()) {
      const key = apiKeyOf(n, { name, scopes: ['users:write', 'keys:read', 'users:read'] })
      await storage.createApiKey(key, { onlyFirst: false })
      assert.deepEqual(await storage.findApiKey(key.id), key)
    }
  },

  'createApiKey: nothing is shared with the store': async (storage) => {
    const given = apiKeyOf(1)
    await storage.createApiKey(given, { onlyFirst: false })
    given.scopes.push('keys:write')
    for (const found of [await storage.findApiKey(given.id), await storage.findApiKeyByStart(given.start)]) found?.scopes.push('keys:write')
    for (const listed of (await storage.listApiKeys({ order: 'asc', limit: 1, from: { offset: 0 } })).items) listed.scopes.push('keys:write')
    assert.deepEqual(await storage.findApiKey(given.id), apiKeyOf(1))
  },

  'createApiKey: an id or a start that is taken is refused': async (storage) => {
    await add(storage, 1)
    await assert.rejects(add(storage, 1), { code: 'fault' })
    await assert.rejects(add(storage, 2, { start: apiKeyOf(1).start }), { code: 'fault' })
    assert.equal(await count(storage), 1)
  },

  'createApiKey: onlyFirst adds to an empty store alone': async (storage) => {
    assert.equal(await storage.createApiKey(apiKeyOf(1, { expiresAt: timeOf(1) }), { onlyFirst: true }), true)
    assert.equal(await storage.createApiKey(apiKeyOf(2), { onlyFirst: true }), false, 'an expired key is a key')
    assert.equal(await storage.findApiKey(idOf('key', 2)), null)
    await storage.revokeApiKey(idOf('key', 1), timeOf(50), ANY)
    assert.equal(await storage.createApiKey(apiKeyOf(2), { onlyFirst: true }), false, 'a revoked key is a key')
  },

  'createApiKey: of many first keys at once exactly one is made': async (storage) => {
    const { values, codes } = await atOnce((i) => storage.createApiKey(apiKeyOf(i), { onlyFirst: true }))
    assert.deepEqual(codes, [])
    assert.equal(values.filter((made) => made).length, 1)
    assert.equal(await count(storage), 1)
  },

  'listApiKeys: in the order of ids, by pages, with the total': async (storage) => {
    const full = { expiresAt: timeOf(500), revokedAt: timeOf(400), lastUsedAt: timeOf(300), rotatedFrom: idOf('key', 1), lifetime: 60 }
    for (const n of [3, 1, 2]) await add(storage, n, n === 3 ? full : {})
    assert.deepEqual(await storage.listApiKeys({ order: 'asc', limit: 2, from: { offset: 0 } }), { items: [apiKeyOf(1), apiKeyOf(2)], total: 3 })
    assert.deepEqual(await storage.listApiKeys({ order: 'asc', limit: 2, from: { offset: 2 } }), { items: [apiKeyOf(3, full)], total: 3 })
    assert.deepEqual(await storage.listApiKeys({ order: 'desc', limit: 2, from: { after: idOf('key', 2) } }), { items: [apiKeyOf(1)], total: 3 })
    assert.deepEqual(await storage.listApiKeys({ order: 'asc', limit: 2, from: { offset: 9 } }), { items: [], total: 3 })
  },

  'rotateApiKey: adds the successor and lets the old key expire': async (storage) => {
    await add(storage, 1)
    await add(storage, 2, { expiresAt: timeOf(100) })
    const times = { now: timeOf(50), expiresAt: timeOf(200) }
    assert.deepEqual(await storage.rotateApiKey(idOf('key', 1), apiKeyOf(3, { rotatedFrom: idOf('key', 1) }), times), apiKeyOf(1, { expiresAt: timeOf(200) }))
    for (const found of await bothWays(storage, 1)) assert.deepEqual(found, apiKeyOf(1, { expiresAt: timeOf(200) }), 'by id and by start: requests are answered by the start')
    assert.deepEqual(await storage.findApiKey(idOf('key', 3)), apiKeyOf(3, { rotatedFrom: idOf('key', 1) }))
    // A store reads no clock of its own: what is expired is judged by the `now` that it is given, which may lie in the
    // past.
    assert.equal((await storage.rotateApiKey(idOf('key', 2), apiKeyOf(4), times))?.expiresAt, timeOf(100), 'never later than its own expiry')
    assert.equal((await storage.findApiKey(idOf('key', 2)))?.expiresAt, timeOf(100))
  },

  'rotateApiKey: a key that is not active keeps its state and has no successor': async (storage) => {
    await add(storage, 1, { revokedAt: timeOf(40) })
    await add(storage, 2, { expiresAt: timeOf(50) })
    const times = { now: timeOf(50), expiresAt: timeOf(200) }
    for (const n of [1, 2]) await assert.rejects(storage.rotateApiKey(idOf('key', n), apiKeyOf(9), times), { code: 'api_key_inactive' })
    assert.equal(await storage.rotateApiKey(idOf('key', 3), apiKeyOf(9), times), null)
    assert.equal(await storage.findApiKey(idOf('key', 9)), null)
    assert.deepEqual(await storage.findApiKey(idOf('key', 2)), apiKeyOf(2, { expiresAt: timeOf(50) }))
  },

  'rotateApiKey: where the successor cannot be added the old key stays as it was': async (storage) => {
    await add(storage, 1)
    await add(storage, 2)
    await assert.rejects(storage.rotateApiKey(idOf('key', 1), apiKeyOf(3, { start: apiKeyOf(2).start }), { now: timeOf(50), expiresAt: timeOf(200) }), { code: 'fault' })
    assert.deepEqual(await storage.findApiKey(idOf('key', 1)), apiKeyOf(1))
  },

  'rotateApiKey: of many at once without overlap exactly one succeeds': async (storage) => {
    await add(storage, 100)
    const { values, codes } = await atOnce((i) => storage.rotateApiKey(idOf('key', 100), apiKeyOf(i), { now: timeOf(200), expiresAt: timeOf(200) }))
    assert.equal(values.length, 1)
    assert.deepEqual(codes, Array.from({ length: AT_ONCE - 1 }, () => 'api_key_inactive'))
    assert.equal(await count(storage), 2)
  },

  'revokeApiKey: marks the key once and keeps the first moment': async (storage) => {
    await add(storage, 1)
    assert.deepEqual(await storage.revokeApiKey(idOf('key', 1), timeOf(70), ANY), { key: apiKeyOf(1, { revokedAt: timeOf(70) }), changed: true })
    assert.deepEqual(await storage.revokeApiKey(idOf('key', 1), timeOf(80), ANY), { key: apiKeyOf(1, { revokedAt: timeOf(70) }), changed: false })
    assert.deepEqual(await storage.findApiKeyByStart(apiKeyOf(1).start), apiKeyOf(1, { revokedAt: timeOf(70) }))
    assert.equal(await storage.revokeApiKey(idOf('key', 2), timeOf(70), ANY), null)
  },

  'revokeApiKey: of many at once exactly one changes the key': async (storage) => {
    await add(storage, 1)
    const { values } = await atOnce((i) => storage.revokeApiKey(idOf('key', 1), timeOf(100 + i), ANY))
    assert.equal(values.filter((value) => value?.changed).length, 1)
    assert.equal(new Set(values.map((value) => value?.key.revokedAt)).size, 1)
  },

  'revokeApiKey: where a scope must not run out the last active key that has it stays': async (storage) => {
    const admin = { scopes: ['users:read', 'keys:write'] }
    await add(storage, 1, admin)
    await add(storage, 2, { scopes: ['users:read', 'monkeys:write', 'keys:writer'] })
    await add(storage, 3, { ...admin, expiresAt: timeOf(70) })
    await add(storage, 4, { ...admin, revokedAt: timeOf(20) })
    await assert.rejects(storage.revokeApiKey(idOf('key', 1), timeOf(70), KEEP), { code: 'last_admin_key' }, 'keys that are expired or revoked, or have other scopes, are no others')
    for (const found of await bothWays(storage, 1)) assert.deepEqual(found, apiKeyOf(1, admin), 'nothing has changed')
    // What is not active, or lacks the scope, is not the last one that has it.
    for (const [n, changed] of [[2, true], [3, true], [4, false]] as const) assert.equal((await storage.revokeApiKey(idOf('key', n), timeOf(70), KEEP))?.changed, changed)
    assert.equal(await storage.revokeApiKey(idOf('key', 9), timeOf(70), KEEP), null)
    await add(storage, 5, { ...admin, expiresAt: timeOf(71) })
    assert.equal((await storage.revokeApiKey(idOf('key', 1), timeOf(70), KEEP))?.key.revokedAt, timeOf(70), 'another one is active')
    assert.equal((await storage.revokeApiKey(idOf('key', 1), timeOf(72), KEEP))?.changed, false)
    await assert.rejects(storage.revokeApiKey(idOf('key', 5), timeOf(70), KEEP), { code: 'last_admin_key' })
    assert.equal((await storage.revokeApiKey(idOf('key', 5), timeOf(70), ANY))?.changed, true)
  },

  'revokeApiKey: of many with a scope that must not run out, revoked at once, one stays': async (storage) => {
    for (let i = 0; i < AT_ONCE; i++) await add(storage, i, { scopes: ['keys:write'] })
    const { values, codes } = await atOnce((i) => storage.revokeApiKey(idOf('key', i), timeOf(100), KEEP))
    assert.equal(values.length, AT_ONCE - 1)
    assert.deepEqual(codes, ['last_admin_key'])
    const { items } = await storage.listApiKeys({ order: 'asc', limit: AT_ONCE, from: { offset: 0 } })
    assert.equal(items.filter(({ revokedAt }) => revokedAt === null).length, 1)
  },

  'touchApiKey: notes a use, unless a later one is known': async (storage) => {
    await add(storage, 1)
    const used = async () => (await storage.findApiKey(idOf('key', 1)))?.lastUsedAt
    await storage.touchApiKey(idOf('key', 1), timeOf(200), timeOf(140))
    assert.equal(await used(), timeOf(200))
    await storage.touchApiKey(idOf('key', 1), timeOf(250), timeOf(190))
    assert.equal(await used(), timeOf(200))
    await storage.touchApiKey(idOf('key', 1), timeOf(260), timeOf(200))
    assert.equal(await used(), timeOf(260))
    for (const found of await bothWays(storage, 1)) assert.equal(found?.lastUsedAt, timeOf(260), 'by id and by start')
    await storage.touchApiKey(idOf('key', 2), timeOf(200), timeOf(140))
    assert.equal(await storage.findApiKey(idOf('key', 2)), null)
  }
}
