// The checker of events is shown logs with one thing wrong in each: what it does not find, it can't find in a fault.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkEvents } from './check-events.mjs'

const event = (id, type, user, version, name = `Name ${version}`) =>
  ({ id, type: `user.${type}`, data: { id: user, version, name } })
const log = [
  event('e1', 'created', 'a', 1), event('e2', 'created', 'b', 1), event('e3', 'updated', 'a', 2),
  event('e4', 'updated', 'a', 3), event('e5', 'deleted', 'b', 1)
]
const right = { log, final: [{ id: 'a', version: 3, name: 'Name 3' }], read: log.map(({ id }) => id) }
const without = (list, index) => list.toSpliced(index, 1)
const swapped = (list, i) => list.with(i, list[i + 1]).with(i + 1, list[i])

test('a log that is right has nothing wrong', () => {
  assert.deepEqual(checkEvents(right), [])
})

for (const [what, wrong] of Object.entries({
  'a creation without its event': { log: without(log, 0), read: without(right.read, 0) },
  'an update without its event': { log: without(log, 3), read: without(right.read, 3) },
  'an update in between without its event': { log: without(log, 2), read: without(right.read, 2) },
  'a deletion without its event': { log: without(log, 4), read: without(right.read, 4) },
  'an event without its change': { log: [...log, event('e6', 'updated', 'a', 4)], read: [...right.read, 'e6'] },
  'an event of a user that nobody made': { log: [...log, event('e6', 'created', 'c', 1)], read: [...right.read, 'e6'] },
  'an event after the deletion': { log: [...log, event('e6', 'updated', 'b', 2)], read: [...right.read, 'e6'] },
  'an event twice': { log: [...log, log[4]], read: [...right.read, 'e5'] },
  'versions out of order': { log: swapped(log, 2), read: swapped(right.read, 2) },
  'an update before the creation': { log: [log[2], log[0], log[1], log[3], log[4]] },
  'another name': { final: [{ id: 'a', version: 3, name: 'Other' }] },
  'a user without events': { final: [...right.final, { id: 'c', version: 1, name: 'Name 1' }] },
  'a reader that missed an event': { read: without(right.read, 1) },
  'a reader that missed the last event': { read: without(right.read, 4) },
  'a reader that got an event twice': { read: [...right.read.slice(0, 2), 'e2', ...right.read.slice(2)] },
  'a reader that got the last event twice': { read: [...right.read, 'e5'] },
  'a reader that got events in another order': { read: swapped(right.read, 1) }
})) {
  test(`finds ${what}`, () => assert.notDeepEqual(checkEvents({ ...right, ...wrong }), []))
}
