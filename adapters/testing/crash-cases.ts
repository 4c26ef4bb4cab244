import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { KitStorage } from './kit-storage.ts'
import { FILTERABLE } from './everywhere.ts'
import { firstPage } from './list-values.ts'
import type { ProcessCases } from './process-cases.ts'
import { anyVersion, apiKeyOf, everyone, idempotencyOf, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

const CRASHES = 3
const SETTLE_MS = 2000

/** Values of users by which they are found after a crash. */
const VALUES = { plan: ['plan 0', 'plan 3'], seats: [0, 4], active: [true, false] }

/** What a process does before it is killed: the nth user and key, in steps. */
function work (storage: KitStorage, n: number) {
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

/** Checks again for a while: a server may still finish what a process that was killed has sent to it. */
export async function soon (check: () => Promise<void>): Promise<void> {
  const until = performance.now() + SETTLE_MS
  while (true) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > until) throw error
      await setTimeout(20)
    }
  }
}

type Step = ReturnType<typeof work>[number][0]

/** Checks that the nth work is there as far as it was answered, and that no step of it is half done. */
async function requireWhole (storage: KitStorage, n: number, answered: ReadonlySet<Step>): Promise<void> {
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
  const find = (m: number) => storage.findApiKey({ id: idOf('key', m) })
  const [old, next] = [await find(2 * n), await find(2 * n + 1)]
  if (answered.has('key')) assert.ok(old, `${what}: its key`)
  if (answered.has('rotated')) assert.ok(next, `${what}: the successor of its key`)
  assert.equal(old?.expiresAt ?? null, next === null ? null : timeOf(9), `${what}: a rotation is whole`)
  assert.deepEqual(await storage.findApiKey({ start: apiKeyOf(2 * n).start }), old, `${what}: its key by start`)
  // The idempotency key is there with its user, and without the user it is free.
  const again = userOf(1000 + n)
  const { replayed } = await storage.createUser(again, keysOf(again), idempotencyOf(n))
  assert.equal(replayed, user !== null, `${what}: its idempotency key`)
  if (!replayed) await storage.deleteUser(again.id, anyVersion)
}

/** Duties of processes that end without a warning, by name. */
export const crashCases: ProcessCases = {
  'a schema that a crash has left half ready is completed': async (start) => {
    let one = await start()
    await one.storage.migrate()
    const users = Array.from({ length: 200 }, (_, n) =>
      userOf(n, { fields: { plan: `plan ${n % 4}`, seats: n % 5, active: n % 2 === 0 } }))
    for (const user of users) await one.storage.createUser(user, keysOf(user), null)
    for (const [i, name] of FILTERABLE.entries()) {
      const filterable = FILTERABLE.slice(0, i + 1)
      const cut = one.storage.migrate({ filterable }).catch(() => {})
      await setTimeout(8 * i)
      await one.kill()
      await cut
      one = await start()
      await one.storage.migrate({ filterable })
      await one.storage.check({ filterable })
      for (const value of VALUES[name]) {
        const { total } = await one.storage.listUsers({ ...everyone, fields: { [name]: value } }, firstPage(1))
        assert.equal(total, users.filter(({ fields }) => fields[name] === value).length, `users by ${name}`)
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
      for (const { n, answered } of works) await soon(() => requireWhole(after.storage, n, answered))
      await after.kill()
    }
  }
}
