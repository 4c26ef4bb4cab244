import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { READ_PART_MAX } from '../../lib/core/limits.ts'
import type { Outcome, Storage } from '../../lib/storage/storage.ts'
import { wholeLog } from './log.ts'
import { markMoved, untilMade } from './attempts.ts'
import { awaitedLater, codesOf } from './concurrency.ts'
import {
  add, addNth, CHANGES, COLLECTIONS, commit, drop, eventOf, make, move, nextOf, nth, rowIn, unitOf, withMembers
} from './rows.ts'
import type { StorageProcess } from './storage-process.ts'
import { everyone, idOf } from './values.ts'

export type Start = () => Promise<StorageProcess>
/** Duties by name. */
export type ProcessCases = Record<string, (start: Start) => Promise<void>>

const PROCESSES = 3
const CALLS = 24
const DEADLINE_MS = 15_000
/** Six full parts of a walk and one more user, each with a text of its own. */
const READ = 6 * READ_PART_MAX + 1
const TEXT_BYTES = 2048
const NEEDS = { filterable: ['plan'], unique: ['memberNo'] }

const first = { order: 'asc', limit: 10, from: { offset: 0 } } as const

/** Starts processes on one place, whose schema is ready. */
export async function several (start: Start): Promise<[Storage, ...Storage[]]> {
  const started = await Promise.all(Array.from({ length: PROCESSES }, start))
  const [one, ...others] = started.map(({ storage }) => storage)
  assert.ok(one !== undefined)
  await one.open({ migrate: true, ...NEEDS })
  for (const storage of others) await storage.open(NEEDS)
  return [one, ...others]
}

/** The results of concurrent calls in every process. */
export async function everywhere<Value> (
  all: readonly [Storage, ...Storage[]], call: (storage: Storage, i: number) => Promise<Value>
): Promise<Value[]> {
  return Promise.all(Array.from({ length: CALLS }, (_, i) => call(all[i % all.length] ?? all[0], i)))
}

function winnerOf (outcomes: readonly Outcome[], lost: string): number {
  assert.deepEqual(codesOf(outcomes), { ok: 1, [lost]: CALLS - 1 })
  return outcomes.findIndex(({ code }) => code === 'ok')
}

/** Duties that take several processes, by name. */
export const processCases: ProcessCases = {
  'several make the schema ready at the same time': async (start) => {
    const started = await Promise.all(Array.from({ length: PROCESSES }, start))
    await Promise.all(started.map(({ storage }) => storage.open({ migrate: true, ...NEEDS })))
    for (const { storage } of started) await storage.open(NEEDS)
    const [one] = started
    assert.ok(one !== undefined)
    await addNth(one.storage, 'users', 1)
    for (const { storage } of started) assert.deepEqual(await rowIn(storage, 'users', idOf('usr', 1)), nth.users(1))
  },

  'a change of a row of any collection is seen in every process': async (start) => {
    const all = await several(start)
    for (const [i, name] of COLLECTIONS.entries()) {
      await addNth(all[0], name, 1)
      const row = nth[name](1)
      // Each knows the row before it is changed elsewhere.
      for (const storage of all) assert.deepEqual(await rowIn(storage, name, row.record.id), row, name)
      const writer = all[i % all.length] ?? all[0]
      const next = nextOf(row, CHANGES[name])
      await make(writer, [move(name, row, next)], [eventOf(i)])
      for (const storage of all) {
        assert.deepEqual(await rowIn(storage, name, row.record.id), next, name)
        if (name !== 'users') assert.deepEqual((await storage.list(name, { page: first })).items, [next], name)
        assert.deepEqual((await wholeLog(storage)).length, i + 1, `the log after a change of ${name}`)
      }
    }
    const { start: text } = nth.apiKeys(1).record
    for (const storage of all) assert.equal((await storage.find('apiKeys', [{ start: text }]))[0]?.record.version, 2)
    await make(all[1] ?? all[0], [drop('apiKeys', nextOf(nth.apiKeys(1), CHANGES.apiKeys))])
    for (const storage of all) assert.deepEqual(await storage.find('apiKeys', [{ start: text }]), [null])
  },

  'a change of a user is seen in every list': async (start) => {
    const all = await several(start)
    await addNth(all[0], 'users', 1, 2)
    for (const [i, storage] of all.entries()) {
      const was = await rowIn(storage, 'users', idOf('usr', 1)) ?? nth.users(1)
      const address = `moved${i}@x.org`
      const moved = { ...nextOf(was), keys: { ...was.keys, emailKey: address } }
      await make(storage, [move('users', was, moved), add('users', nth.users(10 + i))])
      for (const other of all) {
        const found = await other.users.list({ ...everyone, emailKey: address }, first)
        assert.deepEqual(found, { items: [moved.record], total: 1 })
        const before = was.keys.emailKey ?? ''
        assert.equal((await other.users.list({ ...everyone, emailKey: before }, first)).total, 0)
        assert.equal((await other.users.list(everyone, first)).total, 3 + i)
      }
    }
  },

  'of many units on one version in all processes, one is made': async (start) => {
    const all = await several(start)
    for (const name of ['users', 'apiKeys', 'marks'] as const) {
      await addNth(all[0], name, 1)
      const row = nth[name](1)
      const outcomes = await everywhere(all, (storage, i) =>
        commit(storage, [move(name, row, nextOf(row, name === 'users' ? { name: `Name ${i}` } : {}))]))
      const winner = winnerOf(outcomes, 'changed')
      for (const storage of all) {
        const there = await rowIn(storage, name, row.record.id)
        assert.equal(there?.record.version, 2)
        if (name === 'users') assert.equal(Object(there?.record).name, `Name ${winner}`)
      }
    }
  },

  'of many users with one address in all processes, one is added': async (start) => {
    const all = await several(start)
    const keys = { ...nth.users(1).keys, emailKey: 'one@x.org' }
    const outcomes = await everywhere(all, (storage, i) => commit(storage, [add('users', { ...nth.users(i), keys })]))
    const { record } = nth.users(winnerOf(outcomes, 'taken'))
    for (const storage of all) {
      assert.deepEqual(await storage.users.list(everyone, first), { items: [record], total: 1 })
    }
  },

  'of many users with one value of a unique field in all processes, one is added': async (start) => {
    const all = await several(start)
    const fields = { memberNo: 7 }
    const outcomes = await everywhere(all, (storage, i) =>
      commit(storage, [add('users', withMembers(nth.users(i), { fields }))]))
    const { record } = withMembers(nth.users(winnerOf(outcomes, 'taken')), { fields })
    for (const storage of all) {
      assert.deepEqual(await storage.users.list({ ...everyone, fields }, first), { items: [record], total: 1 })
    }
  },

  'of many rows with one id or one start in all processes, one is added': async (start) => {
    const all = await several(start)
    const kept = { ...nth.idempotency(1), of: null }
    const ofId = await everywhere(all, (storage, i) =>
      commit(storage, [add('users', nth.users(i)), add('idempotency', withMembers(kept, { kept: i }))]))
    const winner = winnerOf(ofId, 'changed')
    const { start: text } = nth.apiKeys(1).record
    winnerOf(await everywhere(all, (storage, i) =>
      commit(storage, [add('apiKeys', withMembers(nth.apiKeys(i), { start: text }))])), 'taken')
    for (const storage of all) {
      assert.deepEqual((await storage.users.list(everyone, first)).items, [nth.users(winner).record])
      assert.equal((await rowIn(storage, 'idempotency', kept.record.id))?.record.kept, winner)
      assert.equal((await storage.list('apiKeys', { page: first })).total, 1)
    }
  },

  'a mark that writers of all processes move lets them see each other': async (start) => {
    const all = await several(start)
    await addNth(all[0], 'apiKeys', ...Array.from({ length: CALLS }, (_, i) => i))
    const gone = await everywhere(all, (storage, i) => untilMade(storage, async () => {
      const moved = await markMoved(storage)
      const { total } = await storage.list('apiKeys', { page: first })
      return total < 2 ? null : unitOf([drop('apiKeys', nth.apiKeys(i)), moved])
    }))
    assert.equal(gone.filter((isGone) => isGone).length, CALLS - 1)
    for (const storage of all) assert.equal((await storage.list('apiKeys', { page: first })).total, 1)
  },

  'whoever reads on gets each event of writers in all processes once, in the order of versions': async (start) => {
    const all = await several(start)
    await addNth(all[0], 'keyUses', 1)
    let isOver = false
    const seen: Array<{ id: string, version: unknown }> = []
    const reading = awaitedLater((async () => {
      let after: string | null = null
      for (let turn = 0; ; turn++) {
        const isLast = isOver
        // A reader may go on in another process.
        const storage: Storage = all[turn % all.length] ?? all[0]
        const page = await storage.log.read({ after, limit: 3, types: null })
        assert.ok(page !== null, 'log.read: the event to go on behind is there')
        seen.push(...page.events.map(({ id, data }) => ({ id, version: data['version'] })))
        after = page.events.at(-1)?.id ?? after
        if (page.events.length === 0 && isLast) return
      }
    })())
    await everywhere(all, (storage, i) => untilMade(storage, async () => {
      const was = await rowIn(storage, 'keyUses', nth.keyUses(1).record.id) ?? nth.keyUses(1)
      const version = was.record.version + 1
      return unitOf([move('keyUses', was)], [eventOf(100 - i, { data: { version } })])
    })).finally(() => { isOver = true })
    await reading
    assert.deepEqual(seen.map(({ version }) => version), Array.from({ length: CALLS }, (_, i) => i + 2))
    for (const storage of all) {
      assert.deepEqual((await wholeLog(storage)).map(({ id }) => id), seen.map(({ id }) => id))
    }
  },

  'users.walk holds a few of its parts in memory, however many there are': async (start) => {
    const { storage, measureWalk } = await start()
    await storage.open({ migrate: true })
    for (let at = 0; at < READ; at += 500) {
      await make(storage, Array.from({ length: Math.min(500, READ - at) }, (_, i) =>
        add('users', withMembers(nth.users(at + i), { fields: { text: String(at + i).padEnd(TEXT_BYTES, 'x') } }))))
    }
    const { users, bytes } = await measureWalk()
    assert.equal(users, READ)
    // One part is a sixth; its rows as the driver gives them are another, and the part after it may be on its way.
    const all = READ * TEXT_BYTES
    assert.ok(bytes < 0.7 * all, `of ${all} bytes of text, ${bytes} bytes were in memory while a part was taken`)
  },

  'a change of a key is told to the other processes, if the store has watch': async (start) => {
    const [one, other] = await Promise.all([start(), start()])
    await one.storage.open({ migrate: true })
    if (other.watch === null) return
    await other.storage.open()
    await addNth(one.storage, 'apiKeys', 1)
    const told: number[] = []
    await other.watch(() => told.push(performance.now()))
    const deadline = performance.now() + DEADLINE_MS
    // The first call may only say that the store listens from now on.
    for (const change of [
      () => make(one.storage, [move('apiKeys', nth.apiKeys(1), nextOf(nth.apiKeys(1), CHANGES.apiKeys))]),
      () => addNth(one.storage, 'apiKeys', 2)
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
