import assert from 'node:assert/strict'
import type { UserRecord } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { awaitedLater } from './awaited-later.ts'
import type { Cases } from './cases.ts'
import { eventOf, logOf, readEvents, readWholeLog } from './event-values.ts'
import { addUsers, anyVersion, apiKeyOf, CONCURRENT_CALLS, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

const updated = (n: number) => eventOf(n, 'user.updated')
const deleted = (n: number, erase = false) => ({ ...eventOf(n, 'user.deleted'), erase })

/** Adds users with an event each: the nth has the nth. */
async function addRecorded (storage: KitStorage, ...numbers: number[]): Promise<UserRecord[]> {
  const users = numbers.map((n) => userOf(n))
  for (const [i, user] of users.entries()) {
    await storage.createUser(user, keysOf(user), null, eventOf(Number(numbers[i]), 'user.created'))
  }
  return users
}

const idsOf = (events: ReadonlyArray<{ id: string }>): string[] => events.map(({ id }) => id)

/** Duties of stores with an event log: how it is read, erased and pruned. */
export const eventLogCases: Cases = {
  'eventLog.read: pages begin after an event, and say whether more follows': async (storage) => {
    // Ids that are not in the order of the writes.
    const numbers = [5, 3, 8, 1, 9]
    await addRecorded(storage, ...numbers)
    const ids = numbers.map((n) => idOf('evt', n))
    const log = logOf(storage)
    for (const [after, limit, from, more] of [
      [null, 2, 0, true], [ids[1], 2, 2, true], [ids[2], 2, 3, false], [ids[1], 3, 2, false], [ids[4], 2, 5, false]
    ] as const) {
      const page = await log.read({ after: after ?? null, limit, types: null })
      const expected = { ids: ids.slice(from, from + limit), more }
      assert.deepEqual(page && { ids: idsOf(page.events), more: page.more }, expected)
    }
    for (const after of [idOf('evt', 2), `${idOf('evt', 1)}0`, 'x', "' OR 1=1 --", 'evt_\u0000', '%']) {
      assert.equal(await log.read({ after, limit: 2, types: null }), null, after)
    }
  },

  'eventLog.read: a filter finds exactly its types, in the same order': async (storage) => {
    await addRecorded(storage, 1, 2)
    await storage.updateUser(idOf('usr', 2), rename('New'), timeOf(50), anyVersion, updated(3))
    await storage.updateUser(idOf('usr', 1), rename('New'), timeOf(50), anyVersion, updated(4))
    await storage.deleteUser(idOf('usr', 1), anyVersion, deleted(5))
    const cases: Array<[string[], number[]]> = [
      [['user.updated'], [3, 4]], [['user.deleted', 'user.updated'], [3, 4, 5]], [['user'], []], [['user.%'], []],
      [['user.created', 'user.created'], [1, 2]], [['USER.CREATED'], []]
    ]
    for (const [types, expected] of cases) {
      assert.deepEqual(idsOf(await readEvents(storage, { types })), expected.map((n) => idOf('evt', n)), types.join())
    }
    const page = await logOf(storage).read({ after: idOf('evt', 1), limit: 1, types: ['user.updated', 'user.deleted'] })
    assert.deepEqual(page && [idsOf(page.events), page.more], [[idOf('evt', 3)], true])
    const last = await logOf(storage).read({ after: idOf('evt', 4), limit: 1, types: ['user.created'] })
    assert.deepEqual(last, { events: [], more: false, position: idOf('evt', 5) })
  },

  'eventLog.read: whoever reads on gets each event of concurrent writers once, in the order of versions': async (
    storage
  ) => {
    await addUsers(storage, 1, 2, 3)
    const seen: Array<{ id: string, subject: string, version: unknown }> = []
    let isOver = false
    const reading = awaitedLater((async () => {
      let after: string | null = null
      while (true) {
        const isLast = isOver
        const events = await readEvents(storage, { after, limit: 3 })
        for (const { id, subject, data } of events) seen.push({ id, subject, version: data['version'] })
        after = events.at(-1)?.id ?? after
        if (events.length === 0 && isLast) return
        if (events.length === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    })())
    const writes = Array.from({ length: 3 * CONCURRENT_CALLS }, (_, i) =>
      storage.updateUser(idOf('usr', 1 + i % 3), rename(`Name ${i}`), timeOf(50 + i), anyVersion, updated(100 - i)))
    await Promise.all(writes).finally(() => { isOver = true })
    await reading
    for (const n of [1, 2, 3]) {
      const versions = seen.filter(({ subject }) => subject === idOf('usr', n)).map(({ version }) => version)
      assert.deepEqual(versions, Array.from({ length: CONCURRENT_CALLS }, (_, i) => i + 2))
    }
    assert.equal(new Set(seen.map(({ id }) => id)).size, writes.length)
  },

  'eventLog.find: the event as the log has it, as long as it has it': async (storage) => {
    const log = logOf(storage)
    assert.equal(await log.find(idOf('evt', 3)), null)
    await addRecorded(storage, 3, 1, 2)
    await addRecorded(storage, 4)
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false }, eventOf(5, 'api_key.created'))
    const found = async () => Promise.all([3, 1, 2, 4, 5].map((n) => log.find(idOf('evt', n))))
    const before = await found()
    assert.deepEqual(before, await readWholeLog(storage))
    for (const id of ['x', '', '%', 'evt_\u0000', idOf('evt', 9), `${idOf('evt', 1)}0`, idOf('usr', 1)]) {
      assert.equal(await log.find(id), null, id)
    }
    await log.erase(idOf('usr', 1))
    assert.deepEqual(await found(), await readWholeLog(storage))
    assert.equal(await log.prune(timeOf(4), 1), 1)
    const left = (await found()).map((event) => event?.id ?? null)
    assert.deepEqual(left, [null, 1, 2, 4, 5].map((n) => n && idOf('evt', n)))
  },

  'eventLog.history: the events of one user or key, newest first, with their number': async (storage) => {
    await addRecorded(storage, 1, 2)
    for (const n of [9, 4, 6]) {
      await storage.updateUser(idOf('usr', 1), rename(`Name ${n}`), timeOf(50 + n), anyVersion, updated(n))
    }
    await storage.deleteUser(idOf('usr', 1), anyVersion, deleted(3))
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false }, eventOf(20, 'api_key.created'))
    const log = logOf(storage)
    const ids = [3, 6, 4, 9, 1].map((n) => idOf('evt', n))
    for (const [offset, limit] of [[0, 10], [0, 2], [2, 2], [4, 2], [5, 2], [900, 1]] as const) {
      const { items, total } = await log.history(idOf('usr', 1), { offset, limit })
      assert.deepEqual([idsOf(items), total], [ids.slice(offset, offset + limit), 5])
    }
    assert.deepEqual(idsOf((await log.history(idOf('key', 1), { offset: 0, limit: 9 })).items), [idOf('evt', 20)])
    assert.deepEqual(await log.history(idOf('usr', 99), { offset: 0, limit: 9 }), { items: [], total: 0 })
    assert.deepEqual(await log.history('usr_\u0000', { offset: 0, limit: 9 }), { items: [], total: 0 })
  },

  'eventLog.erase: takes every value of one user out of its events, and nothing else': async (storage) => {
    const [, other] = await addRecorded(storage, 1, 2)
    const changes = { ...rename('New'), fields: { plan: 'pro', gone: null } }
    await storage.updateUser(idOf('usr', 1), changes, timeOf(50), anyVersion, updated(3))
    const email = { value: 'New@example.org', key: 'new@example.org' }
    const more = { fields: { plan: 'free', tags: ['secret'] }, email }
    await storage.updateUser(idOf('usr', 1), more, timeOf(51), anyVersion, updated(4))
    await storage.updateUser(idOf('usr', 2), rename('Other'), timeOf(52), anyVersion, updated(5))
    const log = logOf(storage)
    const before = await readWholeLog(storage)
    for (const round of [1, 2]) {
      assert.equal(await log.erase(idOf('usr', 1)), 3, `round ${round}`)
      const after = await readWholeLog(storage)
      assert.deepEqual(after.map(({ data, before, ...rest }) => rest), before.map(({ data, before, ...rest }) => rest))
      assert.deepEqual(after.filter(({ subject }) => subject === other?.id),
        before.filter(({ subject }) => subject === other?.id))
      const mine = after.filter(({ subject }) => subject === idOf('usr', 1))
      const always = {
        id: idOf('usr', 1), name: null, email: null, status: 'active', statusReason: null, createdAt: timeOf(1)
      }
      assert.deepEqual(mine.map(({ data }) => data), [
        { ...always, fields: {}, version: 1, updatedAt: timeOf(1) },
        { ...always, fields: { plan: null, gone: null }, version: 2, updatedAt: timeOf(50) },
        { ...always, fields: { plan: null, tags: null }, version: 3, updatedAt: timeOf(51) }
      ])
      assert.deepEqual(mine.map(({ before }) => before), [
        null,
        { name: null, fields: { plan: null, gone: null } },
        { email: null, fields: { plan: null, gone: null, tags: null } }
      ])
    }
    assert.deepEqual((await log.history(idOf('usr', 1), { offset: 0, limit: 1 })).items[0]?.data['name'], null)
    assert.equal(await log.erase(idOf('usr', 99)), 0)
  },

  'eventLog: a deletion that erases leaves no value of the user, in its own event neither': async (storage) => {
    await addRecorded(storage, 1, 2)
    await storage.updateUser(idOf('usr', 1), rename('New'), timeOf(50), anyVersion, updated(3))
    const last = await storage.deleteUser(idOf('usr', 1), anyVersion, deleted(4, true))
    assert.equal(last?.name, 'New')
    const events = await readWholeLog(storage)
    assert.deepEqual(idsOf(events), [1, 2, 3, 4].map((n) => idOf('evt', n)))
    assert.deepEqual(events.map(({ data: { name, email } }) => [name, email]), [
      [null, null], [userOf(2).name, userOf(2).email], [null, null], [null, null]
    ])
    assert.deepEqual(events[2]?.before, { name: null })
  },

  'eventLog.prune: takes the oldest events that are older than a time, and never the newest': async (storage) => {
    await addRecorded(storage, 1, 2, 3, 4, 6, 5)
    const log = logOf(storage)
    const left = async () => (await readWholeLog(storage)).map(({ id }) => id)
    const ids = [1, 2, 3, 4, 6, 5].map((n) => idOf('evt', n))
    // The event 2 is older too, but not its successor: a reader that has seen it can read on.
    assert.equal(await log.prune(timeOf(3), 100), 1)
    assert.deepEqual(await left(), ids.slice(1))
    assert.equal(await log.read({ after: idOf('evt', 1), limit: 9, types: null }), null)
    assert.deepEqual((await log.history(idOf('usr', 1), { offset: 0, limit: 9 })).total, 0)
    assert.deepEqual(idsOf(await readEvents(storage, { types: ['user.created'], limit: 1 })), [ids[1]])
    assert.equal(await log.prune(timeOf(1), 100), 0)
    assert.equal(await log.prune(timeOf(100), 2), 2)
    assert.deepEqual(await left(), ids.slice(3))
    assert.equal(await log.prune(timeOf(100), 100), 2)
    assert.deepEqual(await left(), [idOf('evt', 5)])
    assert.equal(await log.prune(timeOf(100), 100), 0)
    await addRecorded(storage, 7)
    assert.deepEqual(idsOf(await readEvents(storage, { after: idOf('evt', 5) })), [idOf('evt', 7)])
  },

  'eventLog.prune: with times that are out of order it ends at the first event to keep, and leaves no gap': async (
    storage
  ) => {
    for (const [i, time] of [5, 1, 2, 6, 1, 2, 7].entries()) {
      const user = userOf(i)
      const event = eventOf(i, 'user.created', { timestamp: timeOf(time) })
      await storage.createUser(user, keysOf(user), null, event)
    }
    const steps: Array<[before: number, limit: number, pruned: number]> = [
      [3, 100, 0], [5, 100, 0], [6, 1, 1], [6, 100, 1], [2, 100, 0], [6, 100, 0], [7, 100, 3], [7, 100, 0], [8, 100, 1]
    ]
    let gone = 0
    for (const [before, limit, pruned] of steps) {
      const count = await logOf(storage).prune(timeOf(before), limit)
      gone += pruned
      const left = [0, 1, 2, 3, 4, 5, 6].slice(gone).map((n) => idOf('evt', n))
      assert.deepEqual([count, idsOf(await readWholeLog(storage))], [pruned, left], `before ${before}, limit ${limit}`)
    }
  }
}
