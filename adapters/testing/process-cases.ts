import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { READ_PART_MAX } from '../../lib/core/limits.ts'
import type { KitStorage } from './kit-storage.ts'
import { FILTERABLE, play } from './everywhere.ts'
import { firstPage } from './list-values.ts'
import { createModel } from './model.ts'
import { playKeyChanges, playUserChanges } from './seen-everywhere.ts'
import type { StorageProcess } from './storage-process.ts'
import {
  anyVersion, apiKeyOf, everyone, idempotencyOf, idOf, keysOf, onlyVersion, rename, timeOf, userOf
} from './values.ts'

export type Start = () => Promise<StorageProcess>
/** Duties by name. */
export type ProcessCases = Record<string, (start: Start) => Promise<void>>

const PROCESSES = 3
const CALLS = 24
const DEADLINE_MS = 15_000
/** Six full parts of `readUsers` and one more user, each with a text of its own. */
const READ = 6 * READ_PART_MAX + 1
const TEXT_BYTES = 2048

/** Starts processes on one place, whose schema is ready. */
export async function several (start: Start): Promise<StorageProcess[]> {
  const started = await Promise.all(Array.from({ length: PROCESSES }, start))
  await started[0]?.storage.migrate({ filterable: FILTERABLE })
  return started
}

/** A store whose calls go to the processes in turn. */
function inTurn (processes: readonly StorageProcess[]): KitStorage {
  let calls = 0
  return new Proxy(Object(processes[0]?.storage), {
    get: (_target, name) => {
      const storage: object = processes[calls++ % processes.length]?.storage ?? {}
      return Reflect.get(storage, name)
    }
  })
}

/** The outcomes of concurrent calls in every process: values, and codes of errors. */
export async function everywhere<Value> (
  processes: readonly StorageProcess[],
  call: (storage: KitStorage, i: number) => Promise<Value>
): Promise<{ values: Value[], codes: unknown[] }> {
  const results = await Promise.allSettled(Array.from({ length: CALLS }, (_, i) => {
    const one = processes[i % processes.length]
    assert.ok(one)
    return call(one.storage, i)
  }))
  return {
    values: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    codes: results.flatMap((result) => (result.status === 'rejected' ? [codeOf(result.reason)] : []))
  }
}

const codeOf = (error: unknown): unknown => Object(error).code ?? error

const times = <Item>(n: number, item: Item): Item[] => Array.from({ length: n }, () => item)

/** Duties that take several processes, by name. */
export const processCases: ProcessCases = {
  'several make the schema ready at the same time': async (start) => {
    const started = await Promise.all(Array.from({ length: PROCESSES }, start))
    await Promise.all(started.map(({ storage }) => storage.migrate({ filterable: ['plan'] })))
    for (const { storage } of started) await storage.check({ filterable: ['plan'] })
    const user = userOf(1)
    await started[0]?.storage.createUser(user, keysOf(user), null)
    for (const { storage } of started) assert.deepEqual(await storage.findUser(user.id), user)
  },

  'a change of a user is seen in every process': async (start) => {
    await playUserChanges(inTurn(await several(start)))
  },

  'a change of a key is seen in every process': async (start) => {
    await playKeyChanges(inTurn(await several(start)))
  },

  'of many creations with one address in all processes, one succeeds': async (start) => {
    const started = await several(start)
    const { values, codes } = await everywhere(started, (storage, i) => {
      const user = userOf(i, { email: 'one@example.org' })
      return storage.createUser(user, keysOf(user), null)
    })
    assert.equal(values.length, 1)
    assert.deepEqual(codes, times(CALLS - 1, 'email_taken'))
    for (const { storage } of started) {
      assert.deepEqual(await storage.listUsers(everyone, firstPage(9)), { items: [values[0]?.user], total: 1 })
    }
  },

  'of many creations with one value of a unique field in all processes, one succeeds': async (start) => {
    const started = await several(start)
    await started[0]?.storage.migrate({ filterable: FILTERABLE, unique: ['legacyId'] })
    const { values, codes } = await everywhere(started, (storage, i) => {
      const user = userOf(i, { fields: { legacyId: 7 } })
      return storage.createUser(user, keysOf(user), null)
    })
    assert.equal(values.length, 1)
    assert.deepEqual(codes, times(CALLS - 1, 'field_taken'))
    for (const { storage } of started) {
      assert.deepEqual(await storage.listUsers({ ...everyone, fields: { legacyId: 7 } }, firstPage(9)), {
        items: [values[0]?.user], total: 1
      })
    }
  },

  'of many creations with one idempotency key in all processes, one creates': async (start) => {
    const started = await several(start)
    const { values, codes } = await everywhere(started, (storage, i) => {
      const user = userOf(i, { email: 'one@example.org' })
      return storage.createUser(user, keysOf(user), idempotencyOf(1))
    })
    assert.equal(values.filter(({ replayed }) => !replayed).length, 1)
    assert.equal(new Set(values.map(({ user }) => user.id)).size, 1)
    assert.deepEqual(codes.filter((code) => code !== 'idempotency_in_progress'), [])
  },

  'of many updates with one version in all processes, one succeeds; without a guard, none is lost': async (start) => {
    const started = await several(start)
    await play(inTurn(started), createModel(), [['createUser', userOf(1), keysOf(userOf(1)), null]])
    const guarded = await everywhere(started, (storage, i) =>
      storage.updateUser(idOf('usr', 1), rename(`Winner ${i}`), timeOf(50), onlyVersion(1)))
    assert.equal(guarded.values.length, 1)
    assert.deepEqual(guarded.codes, times(CALLS - 1, 'version_mismatch'))
    const free = await everywhere(started, (storage, i) =>
      storage.updateUser(idOf('usr', 1), rename(`Name ${i}`), timeOf(60), anyVersion))
    assert.deepEqual(free.codes, [])
    const versions = free.values.map((value) => value?.user.version ?? 0).sort((a, b) => a - b)
    assert.deepEqual(versions, Array.from({ length: CALLS }, (_, i) => i + 3))
  },

  'of many first keys in all processes, one is created': async (start) => {
    const started = await several(start)
    const { values, codes } = await everywhere(started, (storage, i) =>
      storage.createApiKey(apiKeyOf(i), { onlyFirst: true }))
    assert.deepEqual(codes, [])
    assert.equal(values.filter((isFirst) => isFirst).length, 1)
    for (const { storage } of started) assert.equal((await storage.listApiKeys(firstPage(9))).total, 1)
  },

  'of the keys with a scope that are revoked in all processes, one is kept': async (start) => {
    const started = await several(start)
    const keys = Array.from({ length: CALLS }, (_, i) => apiKeyOf(i, { scopes: ['keys:write'] }))
    for (const key of keys) await started[0]?.storage.createApiKey(key, { onlyFirst: false })
    const { values, codes } = await everywhere(started, (storage, i) =>
      storage.revokeApiKey(idOf('key', i), timeOf(100), { keepOneWith: ['keys:write'] }))
    assert.equal(values.length, CALLS - 1)
    assert.deepEqual(codes, ['last_admin_key'])
  },

  'of the uses of a key that all processes add, none is lost, if the store counts them': async (start) => {
    const started = await several(start)
    await started[0]?.storage.createApiKey(apiKeyOf(1), { onlyFirst: false })
    if (started.some(({ storage }) => storage.keyUses === undefined)) return
    const [key, day] = [idOf('key', 1), '2026-01-31']
    const { codes } = await everywhere(started, async (storage, i) => storage.keyUses?.add([{ key, day, uses: i + 1 }]))
    assert.deepEqual(codes, [])
    for (const { storage } of started) {
      assert.deepEqual(await storage.keyUses?.list(key), [{ day, uses: CALLS * (CALLS + 1) / 2 }])
    }
  },

  'readUsers holds a few of its parts in memory, however many there are': async (start) => {
    const { storage, measureReading } = await start()
    await storage.migrate()
    for (let first = 0; first < READ; first += 100) {
      await Promise.all(Array.from({ length: Math.min(100, READ - first) }, async (_, i) => {
        const user = userOf(first + i, { fields: { text: String(first + i).padEnd(TEXT_BYTES, 'x') } })
        await storage.createUser(user, keysOf(user), null)
      }))
    }
    const { users, bytes } = await measureReading()
    assert.equal(users, READ)
    // One part is a sixth; its rows as the driver gives them are another, and the part after it may be on its way.
    const all = READ * TEXT_BYTES
    assert.ok(bytes < 0.7 * all, `of ${all} bytes of text, ${bytes} bytes were in memory while a part was taken`)
  },

  'a change of a key is told to the other processes, if the store has watchApiKeys': async (start) => {
    const [one, other] = await several(start)
    assert.ok(one !== undefined && other !== undefined)
    if (other.watchApiKeys === null) return
    await one.storage.createApiKey(apiKeyOf(1), { onlyFirst: false })
    const told: number[] = []
    await other.watchApiKeys(() => told.push(performance.now()))
    const deadline = performance.now() + DEADLINE_MS
    // The first call may only say that the store listens from now on.
    for (const change of [
      () => one.storage.revokeApiKey(idOf('key', 1), timeOf(50), { keepOneWith: [] }),
      () => one.storage.createApiKey(apiKeyOf(2), { onlyFirst: false })
    ]) {
      const before = told.length
      await change()
      while (told.length === before) {
        assert.ok(performance.now() < deadline, `the other process was not told within ${DEADLINE_MS} ms`)
        await setTimeout(5)
      }
    }
  }
}
