import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { eventOf, logOf, readWholeLog } from './event-values.ts'
import { DESK, putAwayAt } from './trash-values.ts'
import { addUsers, anyVersion, idOf, keysOf, onlyVersion, timeOf, userOf } from './values.ts'

const erasing = (n: number, type: string, erase = false) => ({ ...eventOf(n, type), erase })

/** Duties of stores with an event log. */
export const trashEventCases: Cases = {
  'eventLog: a user that is put away, restored and purged has an event of each': async (storage) => {
    const user = userOf(1)
    await storage.createUser(user, keysOf(user), null, eventOf(1, 'user.created'))
    const id = idOf('usr', 1)
    await assert.rejects(storage.putAwayUser(id, onlyVersion(9), putAwayAt(100), eventOf(2, 'user.deleted')))
    await storage.putAwayUser(id, anyVersion, putAwayAt(100, DESK), eventOf(3, 'user.deleted'))
    await assert.rejects(storage.restoreUser(id, timeOf(900), onlyVersion(9), eventOf(4, 'user.restored')))
    await storage.restoreUser(id, timeOf(900), anyVersion, eventOf(5, 'user.restored'))
    await storage.restoreUser(id, timeOf(901), anyVersion, eventOf(6, 'user.restored'))
    await storage.purgeUser(id, anyVersion, timeOf(900), erasing(7, 'user.purged'))
    await storage.putAwayUser(id, anyVersion, putAwayAt(200), eventOf(8, 'user.deleted'))
    await storage.purgeUser(id, anyVersion, timeOf(200), erasing(9, 'user.purged'))
    const events = await readWholeLog(storage)
    assert.deepEqual(events.map(({ id, type, data: { name, version }, before }) => [id, type, version, name, before]), [
      [idOf('evt', 1), 'user.created', 1, 'User 1', null],
      [idOf('evt', 3), 'user.deleted', 1, 'User 1', null],
      [idOf('evt', 5), 'user.restored', 2, 'User 1', null],
      [idOf('evt', 8), 'user.deleted', 2, 'User 1', null],
      [idOf('evt', 9), 'user.purged', 2, null, null]
    ])
    assert.deepEqual(events[4]?.data, {
      id,
      name: null,
      email: null,
      status: 'active',
      statusReason: null,
      fields: {},
      version: 2,
      createdAt: timeOf(1),
      updatedAt: timeOf(900)
    }, 'the event of a purge has no values')
    assert.equal((await logOf(storage).history(id, { offset: 0, limit: 9 })).total, 5, 'the history stays one')
  },

  'eventLog: the purge of a user that is not put away is a deletion and a purge': async (storage) => {
    await addUsers(storage, 1)
    await storage.purgeUser(idOf('usr', 1), anyVersion, null, erasing(1, 'user.purged'))
    const events = await readWholeLog(storage)
    assert.deepEqual(events.map(({ type, data: { name } }) => [type, name]),
      [['user.deleted', 'User 1'], ['user.purged', null]])
    assert.equal(events[1]?.id, idOf('evt', 1))
    assert.notEqual(events[0]?.id, idOf('evt', 1), 'the deletion has an id of its own')
    const members = events.map(({ timestamp, actor, requestId }) => ({ timestamp, actor, requestId }))
    assert.deepEqual(members[0], members[1], 'it is the same change')
  },

  'eventLog: a purge that erases leaves no value in the history': async (storage) => {
    for (const n of [1, 2, 3]) {
      const user = userOf(n, { fields: { plan: 'pro' } })
      await storage.createUser(user, keysOf(user), null, eventOf(n, 'user.created'))
    }
    await storage.putAwayUser(idOf('usr', 1), anyVersion, putAwayAt(100), eventOf(4, 'user.deleted'))
    await storage.purgeUser(idOf('usr', 1), anyVersion, null, erasing(5, 'user.purged', true))
    await storage.purgeUser(idOf('usr', 2), anyVersion, null, erasing(6, 'user.purged', true))
    const left = (await readWholeLog(storage)).map(({ subject, type, data: { name, fields } }) =>
      [subject, type, name, Object(fields).plan])
    assert.deepEqual(left, [
      [idOf('usr', 1), 'user.created', null, null], [idOf('usr', 2), 'user.created', null, null],
      [idOf('usr', 3), 'user.created', 'User 3', 'pro'], [idOf('usr', 1), 'user.deleted', null, null],
      [idOf('usr', 1), 'user.purged', null, null], [idOf('usr', 2), 'user.deleted', null, null],
      [idOf('usr', 2), 'user.purged', null, null]
    ])
  }
}
