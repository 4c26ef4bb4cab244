import assert from 'node:assert/strict'
import type { NewEvent } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import { SINGLE, update, writeBatch, type BatchWrite } from './batch-values.ts'
import type { Cases } from './cases.ts'
import { eventOf, logOf, readEvents, readWholeLog } from './event-values.ts'
import { addUsers, anyVersion, CONCURRENT_CALLS, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

const LIMIT_MAX = 10_000
const updated = (n: number): NewEvent => eventOf(n, 'user.updated')

/** Makes updates with an event each: in batches where the store has them, else some at a time. */
async function updateMany (
  storage: KitStorage, updates: ReadonlyArray<{ user: number, event: number }>
): Promise<void> {
  const together = storage.supports.batches ? 500 : CONCURRENT_CALLS
  for (let start = 0; start < updates.length; start += together) {
    const part = updates.slice(start, start + together)
    if (storage.supports.batches) {
      const writes: BatchWrite[] = part.map(({ user, event }) =>
        update(user, rename(`Name ${event}`), { event: updated(event) }))
      await writeBatch(storage, writes, SINGLE)
    } else {
      await Promise.all(part.map(({ user, event }) =>
        storage.updateUser(idOf('usr', user), rename(`Name ${event}`), timeOf(900), anyVersion, updated(event))))
    }
  }
}

/** Adds the users 1 and 2, and in turn updates of them: so many events. */
async function addLong (storage: KitStorage, records: number): Promise<void> {
  await addUsers(storage, 1, 2)
  await updateMany(storage, Array.from({ length: records }, (_, i) => ({ user: 1 + i % 2, event: i })))
}

const nameOf = ({ data }: { data: Record<string, unknown> }): unknown => data['name']

/** Duties of event logs about long lists and large records. */
export const longLogCases: Cases = {
  'eventLog.read, eventLog.history, eventLog.prune: long lists are complete': async (storage, { records }) => {
    await addLong(storage, records)
    const log = logOf(storage)
    const all = await readWholeLog(storage)
    assert.equal(all.length, records)
    assert.equal(new Set(all.map(({ id }) => id)).size, records)
    const limit = Math.min(LIMIT_MAX, records - 1)
    const page = await log.read({ after: null, limit, types: null })
    assert.deepEqual(page, { events: all.slice(0, limit), more: true, position: all[limit - 1]?.id })
    const ofOne = all.filter(({ subject }) => subject === idOf('usr', 1)).toReversed()
    const history = await log.history(idOf('usr', 1), { offset: 0, limit: LIMIT_MAX })
    assert.deepEqual(history, { items: ofOne.slice(0, LIMIT_MAX), total: ofOne.length })
    const end = await log.history(idOf('usr', 1), { offset: ofOne.length - 3, limit: 9 })
    assert.deepEqual(end, { items: ofOne.slice(-3), total: ofOne.length })
    assert.equal(await log.prune(timeOf(LIMIT_MAX * 10), limit), limit)
    assert.deepEqual(await readWholeLog(storage), all.slice(limit))
  },

  'eventLog.erase: takes a user out of all of its events, however many, and so does a deletion': async (
    storage,
    { records }
  ) => {
    await addLong(storage, records)
    const all = await readWholeLog(storage)
    const [ofOne, ofTwo] = [1, 2].map((n) => all.filter(({ subject }) => subject === idOf('usr', n)))
    assert.equal(await logOf(storage).erase(idOf('usr', 1)), ofOne?.length)
    const after = await readWholeLog(storage)
    assert.deepEqual(after.filter(({ subject }) => subject === idOf('usr', 2)), ofTwo)
    assert.deepEqual(after.filter((event) => event.subject === idOf('usr', 1) && nameOf(event) !== null), [])
    await storage.deleteUser(idOf('usr', 2), anyVersion, { ...eventOf(records, 'user.deleted'), erase: true })
    const last = await readWholeLog(storage)
    assert.equal(last.length, records + 1)
    assert.deepEqual(last.filter((event) => nameOf(event) !== null), [])
  },

  'eventLog.erase: takes out every one of many own fields': async (storage) => {
    const names = Array.from({ length: 60 }, (_, i) => `f${i}`)
    const fieldsOf = (what: string) => Object.fromEntries(names.map((name) => [name, `${what} ${name}`]))
    const none = Object.fromEntries(names.map((name) => [name, null]))
    const user = userOf(1, { fields: fieldsOf('old') })
    await storage.createUser(user, keysOf(user), null, eventOf(1, 'user.created'))
    await storage.updateUser(user.id, { fields: fieldsOf('new') }, timeOf(50), anyVersion, updated(2))
    assert.equal(await logOf(storage).erase(user.id), 2)
    const left = (await readEvents(storage)).map(({ data, before }) => [data['fields'], before])
    assert.deepEqual(left, [[none, null], [none, { fields: none }]])
  }
}
