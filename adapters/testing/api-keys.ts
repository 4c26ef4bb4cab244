import assert from 'node:assert/strict'
import type { ApiKeyRecord } from '../../lib/storage/storage.ts'
import { addKey, ANY_KEY, countKeys, readBothWays } from './api-key-values.ts'
import type { Cases } from './cases.ts'
import { apiKeyOf, CONCURRENT_CALLS, concurrently, idOf, TEXTS, timeOf } from './values.ts'
import { whileWriting } from './while-writing.ts'

/** Duties of the methods that create, find, list and touch API keys. */
export const apiKeyCases: Cases = {
  'create key, findApiKey: a key is returned as it was given': async (storage) => {
    const full = apiKeyOf(2, {
      name: 'Zoë 🦊',
      scopes: ['keys:write'],
      expiresAt: timeOf(500),
      revokedAt: timeOf(400),
      lastUsedAt: timeOf(300),
      rotatedFrom: idOf('key', 1),
      rotatedAt: timeOf(200),
      lifetime: 31_536_000_000
    })
    for (const key of [apiKeyOf(1), full]) {
      assert.equal(await storage.createApiKey(key, { onlyFirst: false }), true)
      assert.deepEqual(await storage.findApiKey({ id: key.id }), key)
      assert.deepEqual(await storage.findApiKey({ start: key.start }), key)
    }
    assert.equal(await storage.findApiKey({ id: idOf('key', 3) }), null)
    assert.equal(await storage.findApiKey({ start: 'uk_%' }), null)
  },

  'create key, rotate key, findApiKey, listApiKeys: what binds a key, and whose it is, comes back': async (storage) => {
    const bounds = {
      owner: 'Zoë 🦊',
      addresses: ['203.0.113.0/24', '2001:db8::/32', '10.0.0.1/32'],
      rateLimit: { max: 2_000_000_000, window: 86_400 }
    }
    const addresses = Array.from({ length: 100 }, (_, n) => `2001:db8:1111:2222:3333:4444:5555:${n + 1000}/128`)
    const given = [bounds, { owner: 'x'.repeat(200) }, { addresses }, { rateLimit: { max: 1, window: 1 } }]
    const times = { now: timeOf(50), expiresAt: timeOf(200) }
    for (const [i, members] of given.entries()) {
      const [key, successor] = [apiKeyOf(i, members), apiKeyOf(i + 10, { ...members, rotatedFrom: idOf('key', i) })]
      await storage.createApiKey(key, { onlyFirst: i === 0 })
      await storage.touchApiKey(key.id, timeOf(40), timeOf(30))
      await storage.rotateApiKey(key.id, successor, times)
      const rotated = { ...key, lastUsedAt: timeOf(40), expiresAt: times.expiresAt, rotatedAt: times.now }
      assert.deepEqual(await readBothWays(storage, i), [rotated, rotated])
      assert.deepEqual(await readBothWays(storage, i + 10), [successor, successor])
      const { items: listed } = await storage.listApiKeys({ order: 'asc', limit: 50, from: { offset: 0 } })
      assert.deepEqual(listed.filter(({ id }) => [key.id, successor.id].includes(id)), [rotated, successor])
    }
  },

  'create key: names and the order of scopes are stored unchanged': async (storage) => {
    for (const [n, name] of TEXTS.entries()) {
      const key = apiKeyOf(n, { name, scopes: ['users:write', 'keys:read', 'users:read'] })
      await storage.createApiKey(key, { onlyFirst: false })
      assert.deepEqual(await storage.findApiKey({ id: key.id }), key)
    }
  },

  'create key: stored keys share no objects with the caller': async (storage) => {
    const kept = () => apiKeyOf(1, { addresses: ['203.0.113.0/24'], rateLimit: { max: 1, window: 1 } })
    const given = kept()
    const change = (key: ApiKeyRecord | null | undefined): void => {
      key?.scopes.push('keys:write')
      key?.addresses?.push('10.0.0.0/8')
      Object.assign(key?.rateLimit ?? {}, { max: 2 })
    }
    await storage.createApiKey(given, { onlyFirst: false })
    change(given)
    const { id, start } = given
    for (const found of [await storage.findApiKey({ id }), await storage.findApiKey({ start })]) change(found)
    change((await storage.listApiKeys({ order: 'asc', limit: 1, from: { offset: 0 } })).items[0])
    assert.deepEqual(await storage.findApiKey({ id }), kept())
  },

  'create key: an id or a start that another key has is refused': async (storage) => {
    await addKey(storage, 1)
    await assert.rejects(addKey(storage, 1), { code: 'fault' })
    await assert.rejects(addKey(storage, 2, { start: apiKeyOf(1).start }), { code: 'fault' })
    assert.equal(await countKeys(storage), 1)
  },

  'create key: onlyFirst adds a key only to a store without any': async (storage) => {
    assert.equal(await storage.createApiKey(apiKeyOf(1, { expiresAt: timeOf(1) }), { onlyFirst: true }), true)
    assert.equal(await storage.createApiKey(apiKeyOf(2), { onlyFirst: true }), false, 'an expired key is a key')
    assert.equal(await storage.findApiKey({ id: idOf('key', 2) }), null)
    await storage.revokeApiKey(idOf('key', 1), timeOf(50), ANY_KEY)
    assert.equal(await storage.createApiKey(apiKeyOf(2), { onlyFirst: true }), false, 'a revoked key is a key')
  },

  'create key: of many concurrent first keys, exactly one is created': async (storage) => {
    const { values, codes } = await concurrently((i) => storage.createApiKey(apiKeyOf(i), { onlyFirst: true }))
    assert.deepEqual(codes, [])
    assert.equal(values.filter((made) => made).length, 1)
    assert.equal(await countKeys(storage), 1)
  },

  'listApiKeys: keys are ordered by id, in pages, with the exact total': async (storage) => {
    const full = {
      expiresAt: timeOf(500),
      revokedAt: timeOf(400),
      lastUsedAt: timeOf(300),
      rotatedFrom: idOf('key', 1),
      lifetime: 60
    }
    for (const n of [3, 1, 2]) await addKey(storage, n, n === 3 ? full : {})
    assert.deepEqual(await storage.listApiKeys({ order: 'asc', limit: 2, from: { offset: 0 } }), {
      items: [apiKeyOf(1), apiKeyOf(2)],
      total: 3
    })
    assert.deepEqual(await storage.listApiKeys({ order: 'asc', limit: 2, from: { offset: 2 } }), {
      items: [apiKeyOf(3, full)],
      total: 3
    })
    assert.deepEqual(await storage.listApiKeys({ order: 'desc', limit: 2, from: { after: idOf('key', 2) } }), {
      items: [apiKeyOf(1)],
      total: 3
    })
    assert.deepEqual(await storage.listApiKeys({ order: 'asc', limit: 2, from: { offset: 9 } }), {
      items: [],
      total: 3
    })
  },

  'listApiKeys: items and total are from one snapshot during concurrent creations': async (storage) => {
    await whileWriting((n) => addKey(storage, n), async () => {
      for (let i = 0; i < 40; i++) {
        await new Promise((resolve) => setImmediate(resolve))
        const { items, total } = await storage.listApiKeys({ order: 'asc', limit: 10_000, from: { offset: 0 } })
        assert.equal(items.length, total, 'items and total must come from one snapshot')
      }
    })
  },

  'create key: of many concurrent calls with one id or one start, exactly one succeeds': async (storage) => {
    const [{ id }, { start }] = [apiKeyOf(1), apiKeyOf(2)]
    for (const [n, members] of [{ id }, { start }].entries()) {
      const { values, codes } = await concurrently((i) => addKey(storage, 100 * (n + 1) + i, members))
      assert.equal(values.length, 1)
      assert.deepEqual(codes, Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'fault'))
      assert.equal(await countKeys(storage), n + 1)
    }
  },

  'touch key: stores the time of use, unless a later one is stored': async (storage) => {
    await addKey(storage, 1)
    const used = async () => (await storage.findApiKey({ id: idOf('key', 1) }))?.lastUsedAt
    await storage.touchApiKey(idOf('key', 1), timeOf(200), timeOf(140))
    assert.equal(await used(), timeOf(200))
    await storage.touchApiKey(idOf('key', 1), timeOf(250), timeOf(190))
    assert.equal(await used(), timeOf(200))
    await storage.touchApiKey(idOf('key', 1), timeOf(260), timeOf(200))
    assert.equal(await used(), timeOf(260))
    for (const found of await readBothWays(storage, 1)) {
      assert.equal(found?.lastUsedAt, timeOf(260), 'by id and by start')
    }
    await storage.touchApiKey(idOf('key', 2), timeOf(200), timeOf(140))
    assert.equal(await storage.findApiKey({ id: idOf('key', 2) }), null)
  }
}
