import assert from 'node:assert/strict'
import type { KeyUseStore } from '../../lib/storage/storage.ts'
import { addKey } from './api-key-values.ts'
import type { Cases } from './cases.ts'
import type { KitStorage } from './kit-storage.ts'
import { upTo } from './list-values.ts'
import { OTHER, OWN } from './tenant-values.ts'
import { apiKeyOf, idOf, timeOf } from './values.ts'

const DAYS = ['2025-12-31', '2026-01-01', '2026-01-02'] as const
const CONCURRENT_CALLS = 20
const UNKNOWN = ['', 'key_', idOf('key', 9), idOf('usr', 1), `${idOf('key', 1)}\0`, '\uD800', 'x'.repeat(1000)]

/** The uses of the key with this number on a day. */
const usesOf = (n: number, day: string, uses: number) => ({ key: idOf('key', n), day, uses })

/** Adds keys with these numbers, and gives the part of the store that counts their uses. */
export async function addCounted (storage: KitStorage, ...numbers: number[]): Promise<KeyUseStore> {
  const { keyUses } = storage
  assert.ok(keyUses !== undefined)
  for (const n of numbers) await addKey(storage, n)
  return keyUses
}

/** The duties of a store that counts the uses of API keys. */
export const keyUseCases: Cases = {
  'keyUses.add, keyUses.list: each key has its own uses of each day, oldest first': async (storage) => {
    const store = await addCounted(storage, 1, 2, 3)
    const [first, second, third] = DAYS
    await store.add([usesOf(1, third, 7), usesOf(2, third, 1)])
    await store.add([usesOf(2, first, 2), usesOf(1, second, 5), usesOf(1, first, 9_007_199_254)])
    await store.add([usesOf(1, third, 4)])
    await store.add([])
    assert.deepEqual(await store.list(idOf('key', 1)), [
      { day: first, uses: 9_007_199_254 }, { day: second, uses: 5 }, { day: third, uses: 11 }
    ])
    assert.deepEqual(await store.list(idOf('key', 2)), [{ day: first, uses: 2 }, { day: third, uses: 1 }])
    assert.deepEqual(await store.list(idOf('key', 3)), [])
  },

  'keyUses.add: of many concurrent calls for one day, none is lost': async (storage) => {
    const store = await addCounted(storage, 1, 2)
    const [day] = DAYS
    // In both orders: writers that lock the rows of one call in turn must not end in a deadlock.
    await Promise.all(upTo(CONCURRENT_CALLS).map((n) => {
      const uses = [usesOf(1, day, n), usesOf(2, day, 1)]
      return store.add(n % 2 === 0 ? uses : uses.reverse())
    }))
    assert.deepEqual(await store.list(idOf('key', 1)), [{ day, uses: CONCURRENT_CALLS * (CONCURRENT_CALLS + 1) / 2 }])
    assert.deepEqual(await store.list(idOf('key', 2)), [{ day, uses: CONCURRENT_CALLS }])
  },

  'keyUses.add, keyUses.list: an unknown id has no uses, and takes none from the others of a call': async (storage) => {
    const store = await addCounted(storage, 1)
    const [day] = DAYS
    await store.add([...UNKNOWN.map((key) => ({ key, day, uses: 1 })), usesOf(1, day, 3)])
    for (const key of UNKNOWN) assert.deepEqual(await store.list(key), [], `the uses of ${JSON.stringify(key)}`)
    assert.deepEqual(await store.list(idOf('key', 1)), [{ day, uses: 3 }])
    await addKey(storage, 9)
    assert.deepEqual(await store.list(idOf('key', 9)), [], 'a new key was never used')
  },

  'keyUses.list: a rotated key keeps its uses, and its successor has its own': async (storage) => {
    const store = await addCounted(storage, 1)
    const [day] = DAYS
    await store.add([usesOf(1, day, 3)])
    await storage.rotateApiKey(idOf('key', 1), apiKeyOf(2, { rotatedFrom: idOf('key', 1) }),
      { now: timeOf(1), expiresAt: timeOf(2) })
    await store.add([usesOf(1, day, 1), usesOf(2, day, 2)])
    await storage.revokeApiKey(idOf('key', 1), timeOf(3), { keepOneWith: [] })
    assert.deepEqual(await store.list(idOf('key', 1)), [{ day, uses: 4 }])
    assert.deepEqual(await store.list(idOf('key', 2)), [{ day, uses: 2 }])
  },

  'keyUses.prune: deletes the days before one, at most as many as asked, and says how many': async (storage) => {
    const store = await addCounted(storage, 1, 2)
    const [first, second, third] = DAYS
    await store.add([1, 2].flatMap((n) => DAYS.map((day) => usesOf(n, day, n))))
    assert.equal(await store.prune(first, 9), 0)
    assert.equal(await store.prune(third, 3), 3)
    const left = [...await store.list(idOf('key', 1)), ...await store.list(idOf('key', 2))]
    assert.equal(left.filter(({ day }) => day === third).length, 2, 'the day itself stays')
    assert.equal(left.length, 3)
    assert.equal(await store.prune(third, 3), 1)
    assert.equal(await store.prune(third, 3), 0)
    for (const n of [1, 2]) assert.deepEqual(await store.list(idOf('key', n)), [{ day: third, uses: n }])
    await store.add([usesOf(1, second, 5)])
    assert.deepEqual(await store.list(idOf('key', 1)), [{ day: second, uses: 5 }, { day: third, uses: 1 }])
  }
}

/** Those of a store that also has tenants. */
export const tenantKeyUseCases: Cases = {
  'tenants: the uses of keys go with their tenant, and nothing of others goes': async (storage) => {
    const { tenants, keyUses } = storage
    assert.ok(tenants !== undefined && keyUses !== undefined)
    await addKey(storage, 1, { tenant: OWN })
    await addKey(storage, 2, { tenant: OTHER })
    await addKey(storage, 3)
    const [day] = DAYS
    await keyUses.add(upTo(3).map((n) => usesOf(n, day, n)))
    while (await tenants.remove(OWN, 10) > 0);
    assert.deepEqual(await keyUses.list(idOf('key', 1)), [])
    // What another process has counted meanwhile.
    await keyUses.add([usesOf(1, day, 1)])
    assert.deepEqual(await keyUses.list(idOf('key', 1)), [])
    for (const n of [2, 3]) assert.deepEqual(await keyUses.list(idOf('key', n)), [{ day, uses: n }])
  }
}
