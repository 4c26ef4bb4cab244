import assert from 'node:assert/strict'
import { addKey, ANY_KEY, countKeys, KEEP_ADMIN, readBothWays } from './api-key-values.ts'
import type { Cases } from './cases.ts'
import { apiKeyOf, CONCURRENT_CALLS, concurrently, idOf, timeOf } from './values.ts'

/** Duties of `rotateApiKey` and `revokeApiKey`. */
export const apiKeyEndCases: Cases = {
  'rotate key: adds the successor and lets the old key expire': async (storage) => {
    await addKey(storage, 1)
    await addKey(storage, 2, { expiresAt: timeOf(100) })
    const times = { now: timeOf(50), expiresAt: timeOf(200) }
    const rotated = apiKeyOf(1, { expiresAt: timeOf(200), rotatedAt: timeOf(50) })
    assert.deepEqual(
      await storage.rotateApiKey(idOf('key', 1), apiKeyOf(3, { rotatedFrom: idOf('key', 1) }), times),
      rotated
    )
    for (const found of await readBothWays(storage, 1)) {
      assert.deepEqual(
        found,
        rotated,
        'found by id and by start'
      )
    }
    assert.deepEqual(await storage.findApiKey({ id: idOf('key', 3) }), apiKeyOf(3, { rotatedFrom: idOf('key', 1) }))
    // A store reads no clock: a key is expired at the `now` that is given, which may be in the past.
    assert.equal(
      (await storage.rotateApiKey(idOf('key', 2), apiKeyOf(4), times))?.expiresAt,
      timeOf(100),
      'not later than its own expiry'
    )
    assert.equal((await storage.findApiKey({ id: idOf('key', 2) }))?.expiresAt, timeOf(100))
  },

  'rotate key: an inactive key is refused and gets no successor': async (storage) => {
    await addKey(storage, 1, { revokedAt: timeOf(40) })
    await addKey(storage, 2, { expiresAt: timeOf(50) })
    const times = { now: timeOf(50), expiresAt: timeOf(200) }
    for (const n of [1, 2]) {
      await assert.rejects(storage.rotateApiKey(idOf('key', n), apiKeyOf(9), times), { code: 'api_key_inactive' })
    }
    assert.equal(await storage.rotateApiKey(idOf('key', 3), apiKeyOf(9), times), null)
    assert.equal(await storage.findApiKey({ id: idOf('key', 9) }), null)
    assert.deepEqual(await storage.findApiKey({ id: idOf('key', 2) }), apiKeyOf(2, { expiresAt: timeOf(50) }))
  },

  'rotate key: if the successor cannot be added, the old key is unchanged': async (storage) => {
    await addKey(storage, 1)
    await addKey(storage, 2)
    await assert.rejects(
      storage.rotateApiKey(idOf('key', 1), apiKeyOf(3, { start: apiKeyOf(2).start }), {
        now: timeOf(50),
        expiresAt: timeOf(200)
      }),
      { code: 'fault' }
    )
    assert.deepEqual(await storage.findApiKey({ id: idOf('key', 1) }), apiKeyOf(1))
  },

  'rotate key: after a rotation without overlap, one with an earlier moment is refused': async (storage) => {
    await addKey(storage, 1)
    await addKey(storage, 2)
    const at = (now: number, end: number) => ({ now: timeOf(now), expiresAt: timeOf(end) })
    await storage.rotateApiKey(idOf('key', 1), apiKeyOf(3), at(200, 200))
    await assert.rejects(storage.rotateApiKey(idOf('key', 1), apiKeyOf(4), at(199, 500)), { code: 'api_key_inactive' })
    assert.equal(await storage.findApiKey({ id: idOf('key', 4) }), null)
    await storage.rotateApiKey(idOf('key', 2), apiKeyOf(5), at(200, 201))
    const again = await storage.rotateApiKey(idOf('key', 2), apiKeyOf(6), at(199, 500))
    assert.equal(again?.expiresAt, timeOf(201), 'within the overlap it is made')
  },

  'rotate key: of many concurrent rotations without overlap, exactly one succeeds': async (storage) => {
    await addKey(storage, 100)
    const { values, codes } = await concurrently((i) =>
      storage.rotateApiKey(idOf('key', 100), apiKeyOf(i), { now: timeOf(200 - i), expiresAt: timeOf(200 - i) })
    )
    assert.equal(values.length, 1)
    assert.deepEqual(
      codes,
      Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'api_key_inactive')
    )
    assert.equal(await countKeys(storage), 2)
  },

  'revoke key: a repeated revocation keeps the time of the first': async (storage) => {
    await addKey(storage, 1)
    assert.deepEqual(await storage.revokeApiKey(idOf('key', 1), timeOf(70), ANY_KEY), {
      key: apiKeyOf(1, { revokedAt: timeOf(70) }),
      changed: true
    })
    assert.deepEqual(await storage.revokeApiKey(idOf('key', 1), timeOf(80), ANY_KEY), {
      key: apiKeyOf(1, { revokedAt: timeOf(70) }),
      changed: false
    })
    assert.deepEqual(await storage.findApiKey({ start: apiKeyOf(1).start }), apiKeyOf(1, { revokedAt: timeOf(70) }))
    assert.equal(await storage.revokeApiKey(idOf('key', 2), timeOf(70), ANY_KEY), null)
  },

  'revoke key: of many concurrent calls, exactly one changes the key': async (storage) => {
    await addKey(storage, 1)
    const { values } = await concurrently((i) => storage.revokeApiKey(idOf('key', 1), timeOf(100 + i), ANY_KEY))
    assert.equal(values.filter((value) => value?.changed).length, 1)
    assert.equal(new Set(values.map((value) => value?.key.revokedAt)).size, 1)
  },

  'revoke key: with keepOneWith, the last active key with the scope is kept': async (storage) => {
    const admin = { scopes: ['users:read', 'keys:write'] }
    await addKey(storage, 1, admin)
    await addKey(storage, 2, { scopes: ['users:read', 'monkeys:write', 'keys:writer'] })
    await addKey(storage, 3, { ...admin, expiresAt: timeOf(70) })
    await addKey(storage, 4, { ...admin, revokedAt: timeOf(20) })
    await assert.rejects(
      storage.revokeApiKey(idOf('key', 1), timeOf(70), KEEP_ADMIN),
      { code: 'last_admin_key' },
      'expired keys, revoked keys and keys with other scopes do not count'
    )
    for (const found of await readBothWays(storage, 1)) {
      assert.deepEqual(found, apiKeyOf(1, admin), 'nothing has changed')
    }
    // A key that is inactive, or lacks the scope, may be revoked.
    for (const [n, changed] of [
      [2, true],
      [3, true],
      [4, false]
    ] as const) { assert.equal((await storage.revokeApiKey(idOf('key', n), timeOf(70), KEEP_ADMIN))?.changed, changed) }
    assert.equal(await storage.revokeApiKey(idOf('key', 9), timeOf(70), KEEP_ADMIN), null)
    await addKey(storage, 5, { ...admin, expiresAt: timeOf(71) })
    assert.equal(
      (await storage.revokeApiKey(idOf('key', 1), timeOf(70), KEEP_ADMIN))?.key.revokedAt,
      timeOf(70),
      'another key is active'
    )
    assert.equal((await storage.revokeApiKey(idOf('key', 1), timeOf(72), KEEP_ADMIN))?.changed, false)
    await assert.rejects(storage.revokeApiKey(idOf('key', 5), timeOf(70), KEEP_ADMIN), { code: 'last_admin_key' })
    assert.equal((await storage.revokeApiKey(idOf('key', 5), timeOf(70), ANY_KEY))?.changed, true)
  },

  'revoke key: with several scopes in keepOneWith, another key must have all of them': async (storage) => {
    const scopes = ['keys:write', 'users:read', 'users:write']
    const keep = { keepOneWith: ['users:read', 'keys:write'] }
    await addKey(storage, 1, { scopes })
    for (const [i, own] of [['keys:write'], ['users:read', 'users:write'], ['keys:write', 'users:reader']].entries()) {
      await addKey(storage, 10 + i, { scopes: own })
    }
    await assert.rejects(
      storage.revokeApiKey(idOf('key', 1), timeOf(70), keep),
      { code: 'last_admin_key' },
      'keys with some of the scopes do not count, not even together'
    )
    assert.deepEqual(await storage.findApiKey({ id: idOf('key', 1) }), apiKeyOf(1, { scopes }), 'nothing has changed')
    // A key with some of the scopes may be revoked.
    assert.equal((await storage.revokeApiKey(idOf('key', 10), timeOf(70), keep))?.changed, true)
    await addKey(storage, 2, { scopes: ['keys:read', 'keys:write', 'users:delete', 'users:read'] })
    assert.equal((await storage.revokeApiKey(idOf('key', 1), timeOf(70), keep))?.changed, true, 'in any order')
    await assert.rejects(storage.revokeApiKey(idOf('key', 2), timeOf(70), keep), { code: 'last_admin_key' })
  },

  'revoke key: with keepOneWith, one of many concurrently revoked keys is kept': async (storage) => {
    for (let i = 0; i < CONCURRENT_CALLS; i++) await addKey(storage, i, { scopes: ['keys:write'] })
    const { values, codes } = await concurrently((i) => storage.revokeApiKey(idOf('key', i), timeOf(100), KEEP_ADMIN))
    assert.equal(values.length, CONCURRENT_CALLS - 1)
    assert.deepEqual(codes, ['last_admin_key'])
    const { items } = await storage.listApiKeys({ order: 'asc', limit: CONCURRENT_CALLS, from: { offset: 0 } })
    assert.equal(items.filter(({ revokedAt }) => revokedAt === null).length, 1)
  },

  'revoke key: with keepOneWith, the last key is kept while other keys change': async (storage) => {
    await addKey(storage, 1, { scopes: ['keys:write'] })
    for (let n = 10; n < 60; n += 10) {
      for (const i of [0, 1, 2]) await addKey(storage, n + i)
      const times = { now: timeOf(100), expiresAt: timeOf(200) }
      // In vain, before and after the others have begun.
      const refused = Array.from({ length: 4 }, async (_, turns) => {
        for (let i = 1; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
        await assert.rejects(storage.revokeApiKey(idOf('key', 1), timeOf(150), KEEP_ADMIN), { code: 'last_admin_key' })
      })
      await Promise.all([
        ...refused,
        storage.rotateApiKey(idOf('key', n), apiKeyOf(n + 5), times),
        storage.touchApiKey(idOf('key', n + 1), timeOf(100), timeOf(50)),
        storage.revokeApiKey(idOf('key', n + 2), timeOf(100), ANY_KEY),
        addKey(storage, n + 6)
      ])
    }
    assert.equal((await storage.findApiKey({ id: idOf('key', 1) }))?.revokedAt, null)
  }
}
