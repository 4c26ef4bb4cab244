import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { EventRecord, RowWrite, Storage } from '../../lib/storage/storage.ts'
import { wholeLog } from './log.ts'
import type { ProcessCases } from './process-cases.ts'
import { add, commit, drop, eventOf, make, move, nextOf, nth, rowIn, withMembers } from './rows.ts'
import { everyone, idOf } from './values.ts'

const CRASHES = 3
const WORKS = 12
const SETTLE_MS = 2000
// Each is larger than the one before, so that some are under way when the first is answered.
const UNITS = 8
const STEP = 5

const first = { order: 'asc', limit: 1000, from: { offset: 0 } } as const
/** Values of users by which they are found after a crash. */
const VALUES: Record<string, ReadonlyArray<string | number | boolean>> = {
  plan: ['plan 0', 'plan 3'], seats: [0, 4], active: [true, false]
}
const FIELDS = ['plan', 'seats', 'active']

/** Checks again for a while: a server may still finish what a process that was killed has sent to it. */
async function soon (check: () => Promise<void>): Promise<void> {
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

/** What a process does before it is killed: units about the nth user and its key, each with an event. */
function workOf (n: number): Array<{ writes: RowWrite[], event: EventRecord }> {
  const [user, kept, key] = [nth.users(n), nth.idempotency(n), nth.apiKeys(2 * n)]
  const moved = { ...nextOf(user), keys: { ...user.keys, emailKey: `moved${n}@x.org` } }
  const successor = withMembers(nth.apiKeys(2 * n + 1), { rotatedFrom: key.record.id })
  return [
    [add('users', user), add('idempotency', kept)],
    [move('users', user, moved)],
    [add('apiKeys', key)],
    [move('apiKeys', key), add('apiKeys', successor)],
    n % 2 === 0 ? [drop('users', moved), add('trash', nth.trash(n))] : [add('marks', nth.marks(n))]
  ].map((writes, i) => ({ writes, event: eventOf(5 * n + i, { subject: user.record.id }) }))
}

/** Checks that the nth work is there as far as it was answered, and that no step of it is half done. */
async function requireWhole (storage: Storage, n: number, answered: number): Promise<void> {
  const { items } = await storage.log.history(idOf('usr', n), { offset: 0, limit: 9 })
  const done = items.length
  const what = `work ${n}, of which ${answered} steps were answered, and ${done} have their events`
  assert.ok(done >= answered, what)
  assert.deepEqual(items.map(({ id }) => id).reverse(), workOf(n).slice(0, done).map(({ event }) => event.id), what)
  // What the last step leaves of each row.
  const expected = new Map<string, number | null>()
  for (const { writes } of workOf(n).slice(0, done)) {
    for (const write of writes) {
      const id = write.put?.record.id ?? write.was?.record.id ?? ''
      expected.set(`${write.in} ${id}`, write.put?.record.version ?? null)
      if (write.in === 'users' && write.put === null) expected.set(`idempotency ${nth.idempotency(n).record.id}`, null)
    }
  }
  for (const { writes } of workOf(n)) {
    for (const write of writes) {
      const id = write.put?.record.id ?? write.was?.record.id ?? ''
      const row = await rowIn(storage, write.in, id)
      assert.equal(row?.record.version ?? null, expected.get(`${write.in} ${id}`) ?? null, `${what}: ${write.in} ${id}`)
    }
  }
  const { total } = await storage.users.list({ ...everyone, emailKey: `moved${n}@x.org` }, first)
  assert.equal(total, done >= 2 && (n % 2 === 1 || done < 5) ? 1 : 0, `${what}: its address`)
}

/** Duties of processes that end without a warning, by name. */
export const crashCases: ProcessCases = {
  'a schema that a crash has left half ready is completed': async (start) => {
    let one = await start()
    await one.storage.open({ migrate: true })
    const users = Array.from({ length: 200 }, (_, n) =>
      withMembers(nth.users(n), { fields: { plan: `plan ${n % 4}`, seats: n % 5, active: n % 2 === 0 } }))
    await make(one.storage, users.map((user) => add('users', user)))
    for (const [i, name] of FIELDS.entries()) {
      const filterable = FIELDS.slice(0, i + 1)
      const cut = one.storage.open({ migrate: true, filterable }).catch(() => {})
      await setTimeout(25 * i)
      await one.kill()
      await cut
      one = await start()
      await one.storage.open({ migrate: true, filterable })
      await one.storage.open({ filterable })
      for (const value of VALUES[name] ?? []) {
        const { total } = await one.storage.users.list({ ...everyone, fields: { [name]: value } }, first)
        assert.equal(total, users.filter(({ record: { fields } }) => fields[name] === value).length, `users by ${name}`)
      }
    }
  },

  'what was answered is there after a crash with its events, and nothing is half done': async (start) => {
    for (let round = 0; round < CRASHES; round++) {
      const { storage, kill } = await start()
      await storage.open({ migrate: true })
      const works = Array.from({ length: WORKS }, (_, i) => ({ n: WORKS * round + i, answered: 0 }))
      let answers = 0
      let killed: Promise<void> | null = null
      // Each after another number of answers, while others are on their way.
      await Promise.all(works.map(async (work) => {
        for (const { writes, event } of workOf(work.n)) {
          const isMade = await commit(storage, writes, [event]).then(({ code }) => code === 'ok', () => false)
          if (!isMade) return
          work.answered++
          if (++answers === 3 + 19 * round) killed = kill()
        }
      }))
      await (killed ?? kill())
      const after = await start()
      await after.storage.open()
      for (const { n, answered } of works) await soon(() => requireWhole(after.storage, n, answered))
      const { items, total } = await after.storage.users.list(everyone, first)
      assert.equal(total, items.length, 'the total after a crash')
      const ids = (await wholeLog(after.storage)).map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length, 'the log has each event once')
      await after.kill()
    }
  },

  'after a crash a unit is whole or not there': async (start) => {
    const { storage, kill } = await start()
    await storage.open({ migrate: true })
    const units = Array.from({ length: UNITS }, (_, unit) =>
      Array.from({ length: STEP * (unit + 1) }, (_row, i) => 100 * unit + i))
    const answered = new Set<number>()
    let killed: Promise<void> | null = null
    await Promise.all(units.map(async (numbers, unit) => {
      const made = commit(storage, numbers.map((n) => add('users', nth.users(n))), [eventOf(unit)])
      if (await made.then(() => true, () => false)) answered.add(unit)
      killed ??= kill()
    }))
    await killed
    assert.ok(answered.size > 0, 'no unit was made')
    const after = await start()
    await after.storage.open()
    await soon(async () => {
      const there = new Set((await after.storage.users.list(everyone, first)).items.map(({ id }) => id))
      for (const [unit, numbers] of units.entries()) {
        const count = numbers.filter((n) => there.has(idOf('usr', n))).length
        if (answered.has(unit)) assert.equal(count, numbers.length, `unit ${unit}, which was answered`)
        assert.ok(count === 0 || count === numbers.length, `unit ${unit} has ${count} of its ${numbers.length} users`)
        assert.equal(await after.storage.log.find(idOf('evt', unit)) !== null, count > 0, `the event of unit ${unit}`)
      }
    })
  }
}
