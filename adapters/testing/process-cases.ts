import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { Storage } from '../../lib/core/storage.ts'
import { FILTERABLE, play } from './everywhere.ts'
import { firstPage } from './list-values.ts'
import { createModel } from './model.ts'
import { playKeyChanges, playUserChanges } from './seen-everywhere.ts'
import type { StorageProcess } from './storage-process.ts'
import { anyVersion, apiKeyOf, everyone, idOf, keysOf, onlyVersion, rename, timeOf, userOf } from './values.ts'

type Start = () => Promise<StorageProcess>

const PROCESSES = 3
const CALLS = 24
const DEADLINE_MS = 15_000
const CRASHES = 3

/** Starts processes on one place, whose schema is ready. */
async function several (start: Start): Promise<StorageProcess[]> {
  const started = await Promise.all(Array.from({ length: PROCESSES }, start))
  await started[0]?.storage.migrate({ filterable: FILTERABLE })
  return started
}

/** A store whose calls go to the processes in turn. */
function inTurn (processes: readonly StorageProcess[]): Storage {
  let calls = 0
  return new Proxy(Object(processes[0]?.storage), {
    get: (_target, name) => {
      const storage: object = processes[calls++ % processes.length]?.storage ?? {}
      return Reflect.get(storage, name)
    }
  })
}

/** The outcomes of concurrent calls in every process: values, and codes of errors. */
async function everywhere<Value> (
  processes: readonly StorageProcess[],
  call: (storage: Storage, i: number) => Promise<Value>
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

const idempotencyOf = (n: number) =>
  ({ key: `k${n}`.padEnd(43, '_'), fingerprint: 'f'.repeat(43), now: timeOf(0), expiresAt: timeOf(100_000) })

const times = <Item>(n: number, item: Item): Item[] => Array.from({ length: n }, () => item)

/** What a process does before it is killed: the nth user and key, in steps. */
function work (storage: Storage, n: number) {
  const user = userOf(n)
  const [key, next] = [apiKeyOf(2 * n), apiKeyOf(2 * n + 1)]
  const moved = `moved${n}@example.org`
  const move = { ...rename('Moved'), email: { value: moved, key: moved } }
  return [
    ['created', async () => storage.createUser(user, keysOf(user), idempotencyOf(n))],
    ['moved', async () => storage.updateUser(user.id, move, timeOf(1), anyVersion)],
    ['key', async () => storage.createApiKey(key, { onlyFirst: false })],
    ['rotated', async () => storage.rotateApiKey(key.id, next, { now: timeOf(1), expiresAt: timeOf(9) })],
    ['deleted', async () => (n % 2 === 0 ? storage.deleteUser(user.id, anyVersion) : null)]
  ] as const
}

type Step = ReturnType<typeof work>[number][0]

/** Checks that the nth work is there as far as it was answered, and that no step of it is half done. */
async function requireWhole (storage: Storage, n: number, answered: ReadonlySet<Step>): Promise<void> {
  const [original, moved] = [keysOf(userOf(n)).emailKey, `moved${n}@example.org`]
  const user = await storage.findUser(idOf('usr', n))
  const byAddress = async (emailKey: string) => storage.listUsers({ ...everyone, emailKey }, firstPage(5))
  const what = `user ${n} after ${[...answered].join(', ') || 'nothing'}`
  if (answered.has('created') && n % 2 === 1) assert.ok(user, what)
  if (answered.has('deleted') && n % 2 === 0) assert.equal(user, null, what)
  if (answered.has('moved') && user !== null) assert.equal(user.version, 2, what)
  const expected = user === null ? [] : [user]
  const isMoved = user?.version === 2
  assert.equal(user?.email ?? moved, isMoved || user === null ? moved : userOf(n).email, what)
  const one = { items: expected, total: expected.length }
  const none = { items: [], total: 0 }
  assert.deepEqual(await byAddress(original), isMoved ? none : one, `${what}: the first address`)
  assert.deepEqual(await byAddress(moved), isMoved ? one : none, `${what}: the second address`)
  const [old, next] = [await storage.findApiKey(idOf('key', 2 * n)), await storage.findApiKey(idOf('key', 2 * n + 1))]
  if (answered.has('key')) assert.ok(old, `${what}: its key`)
  if (answered.has('rotated')) assert.ok(next, `${what}: the successor of its key`)
  assert.equal(old?.expiresAt ?? null, next === null ? null : timeOf(9), `${what}: a rotation is whole`)
  assert.deepEqual(await storage.findApiKeyByStart(apiKeyOf(2 * n).start), old, `${what}: its key by start`)
  // The idempotency key is there with its user, and without the user it is free.
  const again = userOf(1000 + n)
  const { replayed } = await storage.createUser(again, keysOf(again), idempotencyOf(n))
  assert.equal(replayed, user !== null, `${what}: its idempotency key`)
  if (!replayed) await storage.deleteUser(again.id, anyVersion)
}

/** Duties that take several processes, by name. */
export const processCases: Record<string, (start: Start) => Promise<void>> = {
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
      storage.revokeApiKey(idOf('key', i), timeOf(100), { keepOneWith: 'keys:write' }))
    assert.equal(values.length, CALLS - 1)
    assert.deepEqual(codes, ['last_admin_key'])
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
      () => one.storage.revokeApiKey(idOf('key', 1), timeOf(50), { keepOneWith: null }),
      () => one.storage.createApiKey(apiKeyOf(2), { onlyFirst: false })
    ]) {
      const before = told.length
      await change()
      while (told.length === before) {
        assert.ok(performance.now() < deadline, `the other process was not told within ${DEADLINE_MS} ms`)
        await setTimeout(5)
      }
    }
  },

  'what was answered is there after a crash, and nothing is half done': async (start) => {
    for (let round = 0; round < CRASHES; round++) {
      const { storage, kill } = await start()
      await storage.migrate()
      const works = Array.from({ length: 12 }, (_, i) => ({ n: 12 * round + i, answered: new Set<Step>() }))
      let answers = 0
      let killed: Promise<void> | null = null
      // Each after another number of answers, while others are on their way.
      await Promise.all(works.map(async ({ n, answered }) => {
        for (const [step, run] of work(storage, n)) {
          const isAnswered = await run().then(() => true, () => false)
          if (!isAnswered) return
          answered.add(step)
          if (++answers === 3 + 19 * round) killed = kill()
        }
      }))
      await (killed ?? kill())
      const after = await start()
      await after.storage.check()
      const { items, total } = await after.storage.listUsers(everyone, firstPage(1000))
      assert.equal(total, items.length, 'the total after a crash')
      for (const { n, answered } of works) await requireWhole(after.storage, n, answered)
      await after.kill()
    }
  }
}
