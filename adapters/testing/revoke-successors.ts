import assert from 'node:assert/strict'
import type { ApiKeyRecord } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { addKey } from './api-key-values.ts'
import type { Cases } from './cases.ts'
import { apiKeyOf, idOf, timeOf } from './values.ts'

const ALL = { keepOneWith: [], successors: true }
const KEEP_ADMIN = { keepOneWith: ['keys:write'], successors: true }
const TIMES = { now: timeOf(60), expiresAt: timeOf(500) }

/** Makes the key with the second number the successor of that with the first. */
async function rotate (
  storage: KitStorage, from: number, to: number, members: Partial<ApiKeyRecord> = {}
): Promise<void> {
  await storage.rotateApiKey(idOf('key', from), apiKeyOf(to, { rotatedFrom: idOf('key', from), ...members }), TIMES)
}

/** Adds the key 1, its successors 2 and 3, the successors 4 of 2 and 5 of 4, and the keys 8 and its successor 9. */
async function addChain (storage: KitStorage, members: Partial<ApiKeyRecord> = {}): Promise<void> {
  await addKey(storage, 1, members)
  await addKey(storage, 8, members)
  for (const [from, to] of [[1, 2], [1, 3], [2, 4], [4, 5], [8, 9]] as const) await rotate(storage, from, to, members)
}

async function allKeys (storage: KitStorage): Promise<ApiKeyRecord[]> {
  return (await storage.listApiKeys({ order: 'asc', limit: 1000, from: { offset: 0 } })).items
}

/** The number and the revocation of each key. */
async function revocations (storage: KitStorage): Promise<Array<[id: string, revokedAt: string | null]>> {
  return (await allKeys(storage)).map(({ id, revokedAt }) => [id, revokedAt])
}

const expected = (...all: Array<[n: number, revokedAt: number | null]>): Array<[string, string | null]> =>
  all.map(([n, at]) => [idOf('key', n), at === null ? null : timeOf(at)])

/** What comes from a key by rotation. */
function chainOf (keys: readonly ApiKeyRecord[], id: string): ApiKeyRecord[] {
  return keys.filter((key) => key.rotatedFrom === id).flatMap((key) => [key, ...chainOf(keys, key.id)])
}

/** Duties of `revokeApiKey` with `successors`. */
export const successorCases: Cases = {
  'revoke key: with successors, all that came from the key by rotation go, and nothing else': async (storage) => {
    await addChain(storage)
    await storage.revokeApiKey(idOf('key', 4), timeOf(70), { keepOneWith: [] })
    const before = new Map((await allKeys(storage)).map((key) => [key.id, key]))
    const result = await storage.revokeApiKey(idOf('key', 2), timeOf(80), ALL)
    assert.deepEqual(result?.key, { ...before.get(idOf('key', 2)), revokedAt: timeOf(80) })
    assert.equal(result?.changed, true)
    assert.deepEqual(result?.successors?.map(({ key }) => key), [
      { ...before.get(idOf('key', 5)), revokedAt: timeOf(80) }
    ], 'those that this call has revoked')
    assert.deepEqual(await revocations(storage), expected([1, null], [2, 80], [3, null], [4, 70], [5, 80], [8, null],
      [9, null]))
    const again = await storage.revokeApiKey(idOf('key', 1), timeOf(90), ALL)
    assert.deepEqual([again?.changed, again?.successors?.map(({ key: { id } }) => id)], [true, [idOf('key', 3)]])
    assert.deepEqual(await revocations(storage), expected([1, 90], [2, 80], [3, 90], [4, 70], [5, 80], [8, null],
      [9, null]))
  },

  'revoke key: with successors, those of a key that was revoked before go too': async (storage) => {
    await addChain(storage)
    await storage.revokeApiKey(idOf('key', 1), timeOf(70), { keepOneWith: [] })
    const result = await storage.revokeApiKey(idOf('key', 1), timeOf(80), ALL)
    assert.deepEqual([result?.changed, result?.key.revokedAt], [false, timeOf(70)])
    const ids = result?.successors?.map(({ key: { id } }) => id).toSorted()
    assert.deepEqual(ids, [2, 3, 4, 5].map((n) => idOf('key', n)))
    assert.deepEqual(await revocations(storage), expected([1, 70], [2, 80], [3, 80], [4, 80], [5, 80], [8, null],
      [9, null]))
    const repeated = await storage.revokeApiKey(idOf('key', 1), timeOf(90), ALL)
    assert.deepEqual([repeated?.changed, repeated?.successors], [false, []])
    assert.equal(await storage.revokeApiKey(idOf('key', 99), timeOf(90), ALL), null)
  },

  'revoke key: with successors and keepOneWith, none of them counts as the key that stays': async (storage) => {
    await addChain(storage, { scopes: ['keys:write'] })
    assert.equal((await storage.revokeApiKey(idOf('key', 1), timeOf(80), KEEP_ADMIN))?.successors?.length, 4)
    const before = await allKeys(storage)
    await assert.rejects(storage.revokeApiKey(idOf('key', 8), timeOf(80), KEEP_ADMIN), { code: 'last_admin_key' })
    assert.deepEqual(await allKeys(storage), before, 'a refusal changes nothing')
    const alone = await storage.revokeApiKey(idOf('key', 8), timeOf(80), { ...KEEP_ADMIN, successors: false })
    assert.equal(alone?.changed, true)
    await assert.rejects(storage.revokeApiKey(idOf('key', 8), timeOf(90), KEEP_ADMIN), { code: 'last_admin_key' },
      'the key is revoked, and its successor is the last one')
    await addKey(storage, 10, { scopes: ['keys:write'], expiresAt: timeOf(90) })
    await assert.rejects(storage.revokeApiKey(idOf('key', 8), timeOf(90), KEEP_ADMIN), { code: 'last_admin_key' },
      'an expired key does not count')
    await addKey(storage, 11, { scopes: ['users:read', 'keys:write'] })
    assert.equal((await storage.revokeApiKey(idOf('key', 8), timeOf(90), KEEP_ADMIN))?.successors?.length, 1)
  },

  'revoke key: with successors, none that a concurrent rotation adds survives': async (storage) => {
    for (const turns of [0, 1, 2, 3, 5, 8]) {
      const first = 100 + turns * 20
      await addKey(storage, first)
      // Each rotates the key, then what it has made, until it is refused.
      const rotating = [1, 6, 11].map(async (own) => {
        try {
          for (let i = 0; i < 5; i++) await rotate(storage, i === 0 ? first : first + own + i - 1, first + own + i)
        } catch (error) {
          assert.equal(Object(error).code, 'api_key_inactive')
        }
      })
      for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
      await Promise.all([...rotating, storage.revokeApiKey(idOf('key', first), timeOf(80), ALL)])
      const chain = chainOf(await allKeys(storage), idOf('key', first))
      assert.deepEqual(chain.filter(({ revokedAt }) => revokedAt !== timeOf(80)), [], `after ${turns} turns`)
    }
  }
}
