// Writes of users between whose reading and writing another process has written.
import type { Repository } from '../../../lib/storage/repository.ts'
import { calls, makes, testAmid } from './between.ts'
import {
  after, ATOMIC, awayIn, create, done, eventOf, eventsIn, idOf, keyed, onlyVersion,
  purge, putAway, remove, rename, restore, SINGLE, timeOf, update, userOf, usersIn
} from './values.ts'

const NOT_FOUND = { code: 'not_found' }
const dated = (at: number) => ({ updatedAt: timeOf(at) })
const event = eventOf(1, 'user.updated')
const addUser = makes(create(userOf(1)))
const addAway = makes(create(userOf(1)), putAway(1))
const eventsOf = async (repository: Repository) =>
  (await eventsIn(repository)).map(({ type, data: { name } }) => [type, name])

testAmid({
  'an update keeps what another has changed': {
    before: addUser,
    does: makes(update(1, { fields: { a: 1 } })),
    amid: [makes(update(1, rename('Other'))), makes(update(1, { status: 'suspended' }))],
    comes: done(after(1, { name: 'Other', status: 'suspended', fields: { a: 1 }, version: 4 }))
  },
  'a guard is judged again': {
    before: addUser,
    does: makes(update(1, rename('X'), { guard: onlyVersion(1), event })),
    amid: [makes(update(1, rename('Other')))],
    comes: { code: 'version_mismatch' },
    then: eventsOf,
    leaves: []
  },
  'what another has made so already is not written': {
    before: addUser,
    does: makes(update(1, rename('X'), { event })),
    amid: [makes(update(1, rename('X')))],
    comes: done(after(1, { name: 'X' }), false),
    then: eventsOf,
    leaves: []
  },
  'an update finds nobody whom another has deleted': {
    before: addUser, does: makes(update(1, rename('X'), { event })), amid: [makes(remove(1))], comes: NOT_FOUND
  },
  'an erasing deletion has the last state, and erases it too': {
    before: addUser,
    does: makes(remove(1, { event: eventOf(2, 'user.deleted'), erase: true })),
    amid: [makes(update(1, rename('X'), { event }))],
    comes: done(after(1, { name: 'X' })),
    then: eventsOf,
    leaves: [['user.updated', null], ['user.deleted', null]]
  },
  'who is put away by two is so once': {
    before: addUser,
    does: makes(putAway(1)),
    amid: [makes(putAway(1, 500))],
    comes: NOT_FOUND,
    then: async ({ trash }) => (await trash.find(idOf('usr', 1)))?.deletedAt,
    leaves: timeOf(500)
  },
  'who is put away takes the place of another in the trash': {
    before: addUser,
    does: makes(putAway(1, 700)),
    amid: [makes(putAway(1, 500), create(userOf(1, { name: 'Again' })))],
    comes: done(userOf(1, { name: 'Again' })),
    then: awayIn,
    leaves: [userOf(1, { name: 'Again' })]
  },
  'who is restored by two is so once': {
    before: addAway,
    does: makes(restore(1)),
    amid: [makes(restore(1, dated(910)))],
    comes: NOT_FOUND,
    then: usersIn,
    leaves: [after(1, dated(910))]
  },
  'who is purged is not restored': {
    before: addAway, does: makes(restore(1)), amid: [makes(purge(1))], comes: NOT_FOUND
  },
  'an address is taken before a restoration': {
    before: addAway,
    does: makes(restore(1)),
    amid: [makes(create(userOf(2, { email: userOf(1).email })))],
    comes: { code: 'email_taken' },
    then: awayIn,
    leaves: [userOf(1)]
  },
  'an id is given again before a restoration': {
    before: addAway,
    does: makes(restore(1)),
    amid: [makes(create(userOf(1, { email: 'x@example.org' })))],
    comes: { code: 'field_taken', field: 'id' }
  },
  'who is put away before a purge is purged from there': {
    before: addUser, does: makes(purge(1)), amid: [makes(putAway(1))], comes: done(userOf(1)), then: awayIn, leaves: []
  },
  'who is restored before a purge of what is old stays': {
    before: addAway,
    does: makes(purge(1, { putAwayBefore: timeOf(900) })),
    amid: [makes(restore(1))],
    comes: NOT_FOUND,
    then: usersIn,
    leaves: [after(1)]
  },
  'an id of another tenant is taken': {
    does: makes(create(userOf(1, { tenant: 'acme' }))),
    amid: [makes(create(userOf(1, { tenant: 'beta' })))],
    comes: { code: 'field_taken', field: 'id' }
  },
  'a call is decided again': {
    before: makes(create(userOf(1)), create(userOf(2))),
    does: calls([update(1, { fields: { a: 1 } }), remove(2), create(userOf(3, { email: userOf(2).email }))], ATOMIC),
    amid: [makes(update(1, rename('Other'))), makes(update(2, rename('Other')))],
    comes: [done(after(1, { name: 'Other', fields: { a: 1 }, version: 3 })), done(after(2, { name: 'Other' })),
      done(userOf(3, { email: userOf(2).email }))]
  },
  'what was taken may be free when a call is decided again': {
    before: addUser,
    does: calls([create(userOf(3)), update(1, { fields: { a: 1 } })], SINGLE),
    amid: [makes(create(userOf(4, { email: userOf(3).email }))), makes(remove(4), update(1, rename('Other')))],
    comes: [done(userOf(3)), done(after(1, { name: 'Other', fields: { a: 1 }, version: 3 }))]
  },
  'a repetition that was faster answers a creation': {
    does: ({ users }) => users.write([create(userOf(1))], keyed(1)),
    amid: [({ users }) => users.write([create(userOf(2, { email: userOf(1).email }))], keyed(1))],
    comes: { outcomes: [done(userOf(2, { email: userOf(1).email }))], note: null, replayed: true }
  },
  'a repetition that was faster answers a call': {
    does: ({ users }) => users.write([create(userOf(1)), remove(9)], keyed(1)),
    amid: [({ users }) => users.write([create(userOf(2)), remove(9)], keyed(1, { note: 7 }))],
    comes: { outcomes: [done(userOf(2)), NOT_FOUND], note: 7, replayed: true },
    then: usersIn,
    leaves: [userOf(2)]
  }
})
