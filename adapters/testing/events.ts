import assert from 'node:assert/strict'
import { apiKeyEvent, updateEvents, userEvent } from '../../lib/storage/recorded-events.ts'
import type { NewEvent } from '../../lib/storage/storage.ts'
import type { Cases } from './cases.ts'
import { eventOf, readWholeLog } from './event-values.ts'
import {
  addUsers, anyVersion, apiKeyOf, idempotencyOf, idOf, keysOf, onlyVersion, rename, timeOf, userOf
} from './values.ts'

const created = (n: number, members: Partial<NewEvent> = {}) => eventOf(n, 'user.created', members)
const updated = (n: number) => eventOf(n, 'user.updated')
const deleted = (n: number, erase = false) => ({ ...eventOf(n, 'user.deleted'), erase })

/** Duties of stores with an event log: what writes record. */
export const eventCases: Cases = {
  'eventLog: a creation is recorded as the user is then, and one that is refused or repeated is not': async (
    storage
  ) => {
    const first = userOf(1, { fields: { plan: 'pro', tags: ['a', null], deep: { seats: 3 } } })
    await storage.createUser(first, keysOf(first), null, created(1))
    const other = userOf(2, { email: first.email })
    await assert.rejects(storage.createUser(other, keysOf(other), null, created(2)), { code: 'email_taken' })
    const third = userOf(3)
    await storage.createUser(third, keysOf(third), idempotencyOf(1), created(3, { actor: null, requestId: null }))
    await storage.createUser(userOf(4), keysOf(userOf(4)), idempotencyOf(1), created(4))
    await storage.updateUser(first.id, rename('Later'), timeOf(50), anyVersion)
    await storage.deleteUser(third.id, anyVersion)
    assert.deepEqual(await readWholeLog(storage), [
      userEvent(created(1), first), userEvent(created(3, { actor: null, requestId: null }), third)
    ])
  },

  'eventLog: an update is recorded with what it changed, and one that changes nothing is not': async (storage) => {
    const before = userOf(1, { fields: { plan: 'free', seats: 1 } })
    await storage.createUser(before, keysOf(before), null)
    const changes = { ...rename('New'), fields: { plan: 'pro', seats: 1 } }
    const first = await storage.updateUser(before.id, changes, timeOf(50), anyVersion, updated(1))
    await storage.updateUser(before.id, changes, timeOf(51), anyVersion, updated(2))
    await assert.rejects(
      storage.updateUser(before.id, rename('Guarded'), timeOf(52), onlyVersion(1), updated(3)),
      { code: 'version_mismatch' }
    )
    await storage.updateUser(idOf('usr', 99), rename('Nobody'), timeOf(53), anyVersion, updated(4))
    await addUsers(storage, 2)
    const taken = { email: { value: 'User2@example.org', key: 'user2@example.org' } }
    await assert.rejects(
      storage.updateUser(before.id, taken, timeOf(54), anyVersion, updated(5)), { code: 'email_taken' }
    )
    const address = { ...rename('New'), email: { value: 'New@example.org', key: 'new@example.org' } }
    const second = await storage.updateUser(
      before.id, address, timeOf(0), { ifVersion: [2, 9], unlessVersion: [1] }, updated(6)
    )
    assert.ok(first !== null && second !== null)
    assert.deepEqual(await readWholeLog(storage), [
      ...updateEvents(updated(1), before, first.user), ...updateEvents(updated(6), first.user, second.user)
    ])
  },

  'eventLog: a deletion is recorded with the last state': async (storage) => {
    const [user] = await addUsers(storage, 1)
    assert.ok(user !== undefined)
    await assert.rejects(storage.deleteUser(user.id, onlyVersion(7), deleted(1)), { code: 'version_mismatch' })
    await storage.deleteUser(user.id, anyVersion, deleted(2))
    await storage.deleteUser(user.id, anyVersion, deleted(3))
    const { erase, ...event } = deleted(2)
    assert.deepEqual(await readWholeLog(storage), [userEvent(event, user)])
  },

  'eventLog: changes of API keys are recorded without the digest': async (storage) => {
    const [first, second, successor] = [apiKeyOf(1), apiKeyOf(2), apiKeyOf(3, { rotatedFrom: idOf('key', 1) })]
    const event = (n: number, what: string) => eventOf(n, `api_key.${what}`)
    await storage.createApiKey(first, { onlyFirst: true }, event(1, 'created'))
    await storage.createApiKey(second, { onlyFirst: true }, event(2, 'created'))
    await storage.createApiKey(second, { onlyFirst: false }, event(3, 'created'))
    await assert.rejects(
      storage.createApiKey(apiKeyOf(4, { start: first.start }), { onlyFirst: false }, event(4, 'created')),
      { code: 'fault' }
    )
    await storage.rotateApiKey(first.id, successor, { now: timeOf(10), expiresAt: timeOf(20) }, event(5, 'rotated'))
    await storage.rotateApiKey(
      idOf('key', 99), apiKeyOf(5), { now: timeOf(10), expiresAt: timeOf(20) }, event(6, 'rotated')
    )
    const keepAll = { keepOneWith: successor.scopes }
    const revoked = await storage.revokeApiKey(second.id, timeOf(11), { keepOneWith: [] }, event(7, 'revoked'))
    await storage.revokeApiKey(second.id, timeOf(12), { keepOneWith: [] }, event(8, 'revoked'))
    await assert.rejects(
      storage.revokeApiKey(successor.id, timeOf(30), keepAll, event(9, 'revoked')), { code: 'last_admin_key' }
    )
    assert.ok(revoked !== null)
    assert.deepEqual(await readWholeLog(storage), [
      apiKeyEvent(event(1, 'created'), first),
      apiKeyEvent(event(3, 'created'), second),
      apiKeyEvent(event(5, 'rotated'), successor),
      apiKeyEvent(event(7, 'revoked'), revoked.key)
    ])
  },

  'eventLog: writes without an event record none': async (storage) => {
    await addUsers(storage, 1)
    await storage.updateUser(idOf('usr', 1), rename('New'), timeOf(50), anyVersion, null)
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    await storage.createApiKey(apiKeyOf(1), { onlyFirst: false }, null)
    assert.deepEqual(await readWholeLog(storage), [])
  }
}
