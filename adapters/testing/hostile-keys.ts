import assert from 'node:assert/strict'
import type { CallOf, Writer } from './calls.ts'
import type { Cases } from './cases.ts'
import { play } from './everywhere.ts'
import { lookUpsNear } from './hostile-users.ts'
import { LOOKALIKES, MOMENTS } from './hostile-values.ts'
import { createModel } from './model.ts'
import { apiKeyOf, idOf, timeOf } from './values.ts'

function creation (n: number, members: Parameters<typeof apiKeyOf>[1] = {}): CallOf<'createApiKey'> {
  return ['createApiKey', apiKeyOf(n, members), { onlyFirst: false }]
}

const LONG_AGO = '1900-01-01T00:00:00.000Z'
const STARTS = [
  'uk_aaaaaaaaaaaa', 'uk_AAAAAAAAAAAA', 'uk_aaaaaaaaaaaA', 'uk_ÅAAAAAAAAAAA', 'uk_000000000000', 'uk_00000000000',
  'uk_0000000000000', 'uk_zzzzzzzzzzzz', 'uk_ZZZZZZZZZZZZ', 'UK_aaaaaaaaaaaa', 'uk__aaaaaaaaaaa', 'uk_%aaaaaaaaaaa'
]

/** Duties about API keys with values that stores tend to change, fold or confuse. */
export const hostileKeyCases: Cases = {
  'create key, findApiKey: starts are compared byte by byte': async (storage) => {
    await play(storage, createModel(), STARTS.map((start, n) => creation(100 - n, { start })), { recent: 2 })
    for (const [n, start] of STARTS.entries()) {
      assert.equal((await storage.findApiKey({ start }))?.id, idOf('key', 100 - n), start)
    }
  },

  'findApiKey: any text may be looked up, and only the whole text is found': async (storage) => {
    const key = apiKeyOf(10)
    await storage.createApiKey(key, { onlyFirst: false })
    for (const id of lookUpsNear(key.id)) {
      const shown = JSON.stringify(id.slice(0, 60))
      assert.equal(await storage.findApiKey({ id }), null, `findApiKey(${shown})`)
      assert.equal(await storage.revokeApiKey(id, timeOf(50), { keepOneWith: [] }), null, `revokeApiKey(${shown})`)
      const times = { now: timeOf(50), expiresAt: timeOf(60) }
      assert.equal(await storage.rotateApiKey(id, apiKeyOf(11), times), null, `rotateApiKey(${shown})`)
      await storage.touchApiKey(id, timeOf(50), timeOf(40))
    }
    for (const start of lookUpsNear(key.start)) {
      assert.equal(await storage.findApiKey({ start }), null, `findApiKeyByStart(${JSON.stringify(start)})`)
    }
    assert.deepEqual(await storage.findApiKey({ id: key.id }), key)
    assert.equal(await storage.findApiKey({ id: apiKeyOf(11).id }), null)
  },

  'create key: names, scopes, digests and lifetimes come back as they were given': async (storage) => {
    const odd = ['a,b', 'a', 'A', '[]', '{}', 'null', '__proto__', 'a:b', 'a|b', 'a%', 'a_', '\'']
    const scopes = [odd, odd.toReversed(), ['b', 'a', 'c'], ['users:read']]
    const calls: Array<CallOf<Writer>> = [
      ...LOOKALIKES.map((name, n) => creation(n, { name })),
      creation(190, { name: '🦊'.repeat(200) }),
      creation(191, { name: `${'x'.repeat(199)}y` }),
      ...scopes.map((each, n) => creation(200 + n, { scopes: each })),
      ...[1, 60, 2 ** 31, 31_536_000_000].map((lifetime, n) => creation(210 + n, { lifetime })),
      creation(220, { scopes: Array.from({ length: 16 }, (_, i) => `scope:${i}`) }),
      creation(221, { digest: 'A-_'.repeat(14) }),
      creation(222, { digest: 'a-_'.repeat(14) })
    ]
    await play(storage, createModel(), calls, { recent: 1 })
  },

  'create key, rotate key, revoke key, touch key: times come back to the millisecond': async (storage) => {
    const calls: Array<CallOf<Writer>> = MOMENTS.flatMap((at, n) => [
      creation(10 * n, { createdAt: at, expiresAt: at, revokedAt: at, lastUsedAt: at }),
      creation(10 * n + 1),
      ['rotateApiKey', idOf('key', 10 * n + 1), apiKeyOf(10 * n + 2), { now: LONG_AGO, expiresAt: at }],
      creation(10 * n + 3),
      ['touchApiKey', idOf('key', 10 * n + 3), at, at],
      ['touchApiKey', idOf('key', 10 * n + 3), timeOf(1), at],
      ['revokeApiKey', idOf('key', 10 * n + 3), at, { keepOneWith: [] }]
    ])
    await play(storage, createModel(), calls, { recent: 1 })
  },

  'rotate key, revoke key: a key ends at its expiry, to the millisecond, by the given time': async (storage) => {
    const expiresAt = '2026-10-25T01:00:00.500Z'
    const [early, late] = ['2026-10-25T01:00:00.499Z', '2026-10-25T01:00:00.501Z']
    const keep = { keepOneWith: ['keys:write'] }
    const scopes = ['keys:write']
    const calls: Array<CallOf<Writer>> = [
      creation(1, { scopes }),
      creation(2, { scopes, expiresAt }),
      creation(3, { scopes: ['users:read'], expiresAt }),
      ['rotateApiKey', idOf('key', 3), apiKeyOf(4), { now: expiresAt, expiresAt: late }],
      ['rotateApiKey', idOf('key', 3), apiKeyOf(5), { now: late, expiresAt: late }],
      ['rotateApiKey', idOf('key', 3), apiKeyOf(6), { now: early, expiresAt: late }],
      ['revokeApiKey', idOf('key', 1), late, keep],
      ['revokeApiKey', idOf('key', 1), expiresAt, keep],
      ['revokeApiKey', idOf('key', 2), late, keep],
      ['createApiKey', apiKeyOf(7, { scopes, expiresAt }), { onlyFirst: false }],
      ['revokeApiKey', idOf('key', 1), early, keep]
    ]
    await play(storage, createModel(), calls, { recent: 4 })
  },

  'revoke key: with keepOneWith, scopes are compared whole and byte by byte': async (storage) => {
    const near = ['keys:writ', 'keys:writer', 'a:keys:write', 'KEYS:WRITE', 'keys_write', 'keys%', 'keys.write']
    const keep = { keepOneWith: ['keys:write'] }
    await play(storage, createModel(), [
      creation(1, { scopes: ['keys:write'] }),
      creation(2, { scopes: near }),
      ['revokeApiKey', idOf('key', 1), timeOf(50), keep],
      creation(3, { scopes: ['a_b'] }),
      creation(4, { scopes: ['axb', 'A_B', 'a_b_'] }),
      ['revokeApiKey', idOf('key', 3), timeOf(50), { keepOneWith: ['a_b'] }],
      creation(5, { scopes: ['first', 'keys:write', 'last'] }),
      ['revokeApiKey', idOf('key', 1), timeOf(60), keep]
    ], { recent: 2 })
  }
}
