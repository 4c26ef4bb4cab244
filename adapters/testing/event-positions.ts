import assert from 'node:assert/strict'
import type { EventsRequest, NewEvent } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import type { Cases } from './cases.ts'
import { eventOf, logOf, readWholeLog } from './event-values.ts'
import { anyVersion, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

const create = (storage: KitStorage, n: number, event: NewEvent) =>
  storage.createUser(userOf(n), keysOf(userOf(n)), null, event)

const change = (storage: KitStorage, n: number, event: NewEvent) =>
  storage.updateUser(idOf('usr', n), rename(event.id), timeOf(50), anyVersion, event)

/** Duties of stores with an event log: how far a reader is, and what is left of pruned events. */
export const eventPositionCases: Cases = {
  'eventLog.read: the position is the last event that was passed, of whatever type': async (storage) => {
    const log = logOf(storage)
    const read = async (request: Partial<EventsRequest>) => {
      const page = await log.read({ after: null, limit: 2, types: null, ...request })
      return page && [page.events.map(({ id }) => id), page.more, page.position]
    }
    assert.deepEqual(await read({}), [[], false, null])
    for (const n of [4, 9, 2]) await create(storage, n, eventOf(n, 'user.created'))
    for (const [user, event] of [[4, 7], [9, 3]] as const) await change(storage, user, eventOf(event, 'user.updated'))
    const id = (n: number): string => idOf('evt', n)
    const created = ['user.created']
    const cases: Array<[request: Partial<EventsRequest>, ids: number[], more: boolean, position: number]> = [
      [{}, [4, 9], true, 9],
      [{ after: id(2) }, [7, 3], false, 3],
      [{ after: id(3) }, [], false, 3],
      [{ types: created }, [4, 9], true, 9],
      [{ types: created, limit: 3 }, [4, 9, 2], false, 3],
      [{ types: created, after: id(2) }, [], false, 3],
      [{ types: [] }, [], false, 3],
      [{ types: [], after: id(4), limit: 9 }, [], false, 3]
    ]
    for (const [request, ids, more, position] of cases) {
      assert.deepEqual(await read(request), [ids.map(id), more, id(position)], JSON.stringify(request))
    }
  },

  'eventLog.pruned: each type with its last event, in the order of the log, and the greatest id up to it': async (
    storage
  ) => {
    const log = logOf(storage)
    assert.deepEqual(await log.pruned(), [])
    const at = (n: number, time: number, what: string) => eventOf(n, `user.${what}`, { timestamp: timeOf(time) })
    await create(storage, 5, at(5, 0, 'created'))
    await create(storage, 3, at(3, 1, 'created'))
    await change(storage, 5, at(9, 2, 'updated'))
    await change(storage, 5, at(4, 3, 'updated'))
    await storage.deleteUser(idOf('usr', 3), anyVersion, { ...at(7, 4, 'deleted'), erase: false })
    await create(storage, 8, at(6, 5, 'created'))
    await change(storage, 5, at(1, 6, 'updated'))
    const entry = (type: string, n: number, greatest: number) =>
      ({ type: `user.${type}`, id: idOf('evt', n), greatestId: idOf('evt', greatest) })
    const steps = [
      [1, [entry('created', 5, 5)]],
      [1, [entry('created', 3, 5)]],
      [0, [entry('created', 3, 5)]],
      [2, [entry('created', 3, 5), entry('updated', 4, 9)]],
      [1, [entry('created', 3, 5), entry('updated', 4, 9), entry('deleted', 7, 9)]],
      [9, [entry('updated', 4, 9), entry('deleted', 7, 9), entry('created', 6, 9)]],
      [9, [entry('updated', 4, 9), entry('deleted', 7, 9), entry('created', 6, 9)]]
    ] as const
    for (const [limit, expected] of steps) {
      await log.prune(timeOf(limit === 0 ? 0 : 900), Math.max(limit, 1))
      assert.deepEqual(await log.pruned(), expected)
    }
    assert.deepEqual((await readWholeLog(storage)).map(({ id }) => id), [idOf('evt', 1)])
  }
}
