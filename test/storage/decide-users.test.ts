// What a write of a user means, as a table: from the rows that it meets to what it makes of them. No store is needed.
import { test } from 'tap'
import { decideUser, type UserRows } from '../../lib/storage/decide-users.ts'
import type { NewEvent, Row, UserRecord } from '../../lib/storage/storage.ts'
import type { UserWrite } from '../../lib/storage/user-writes.ts'

const at = (n: number): string => `2026-01-31T09:30:00.00${n}Z`
const ID = 'usr_01h455vb4pex5vsknk08000001'
const ANY = { ifVersion: null, unlessVersion: [] }
const NOT_SEVEN = { ifVersion: [7], unlessVersion: [] }
const event = (type: string): NewEvent =>
  ({ id: 'evt_01h455vb4pex5vsknk08000001', type, timestamp: at(5), actor: null, requestId: null })
const user = (more: Partial<UserRecord> = {}): UserRecord => ({
  id: ID,
  name: 'Ann',
  email: 'ann@example.org',
  fields: { plan: 'free' },
  status: 'active',
  statusReason: null,
  version: 3,
  createdAt: at(1),
  updatedAt: at(2),
  ...more
})
const keys = { emailKey: 'ann@example.org', nameKey: 'ann', nameWords: ['ann'], emailWords: [], fieldWords: [] }
const there = (more?: Partial<UserRecord>): Row<'users'> => ({ record: user(more), keys, of: null })
const away = (more?: Partial<UserRecord>): Row<'trash'> =>
  ({ record: { ...user(more), deletedAt: at(3), deletedBy: null }, keys, of: null })
const rows = (live: Row<'users'> | null, gone: Row<'trash'> | null = null): UserRows => ({ user: live, away: gone })

const update = (changes: object, more: object = {}): UserWrite =>
  Object({ type: 'update', id: ID, changes, updatedAt: at(4), guard: ANY, event: event('user.updated'), ...more })
const remove = (more: object = {}): UserWrite =>
  Object({ type: 'delete', id: ID, guard: ANY, event: event('user.deleted'), erase: false, ...more })
const restore = (more: object = {}): UserWrite =>
  Object({ type: 'restore', id: ID, updatedAt: at(4), guard: ANY, event: event('user.restored'), ...more })
const purge = (more: object = {}): UserWrite =>
  Object({ type: 'purge', id: ID, putAwayBefore: null, guard: ANY, event: event('user.purged'), erase: false, ...more })

interface Short { code: string, writes: string[], events: string[], rewrites: number }

/** The writes of a decision in short: the collection, and the versions before and after. */
function shortOf (write: UserWrite, met: UserRows): Short {
  const { outcome, writes, events, rewrites } = decideUser(write, met)
  return {
    code: outcome.code,
    writes: writes.map(({ in: name, put, was }) =>
      `${name} ${was?.record.version ?? '-'} ${put?.record.version ?? '-'}`),
    events: events.map(({ type }) => type),
    rewrites: rewrites.length
  }
}

const refused = (code: string) => ({ code, writes: [], events: [], rewrites: 0 })
const done = (writes: string[], events: string[], rewrites = 0) => ({ code: 'done', writes, events, rewrites })

const create = { type: 'create', user: user({ version: 1 }), keys, event: event('user.created') } as const
const putAway = { deletedAt: at(4), deletedBy: null }

const TABLE: ReadonlyArray<[what: string, write: UserWrite, met: UserRows, made: Short]> = [
  ['a new user', create, rows(null), done(['users - 1'], ['user.created'])],
  ['a change', update({ name: { value: 'Bo', key: 'bo' } }), rows(there()), done(['users 3 4'], ['user.updated'])],
  ['a change to what is stored', update({ name: { value: 'Ann', key: 'x' } }), rows(there()), done([], [])],
  ['fields in another order', update({ fields: { a: 1, b: 2 } }), rows(there({ fields: { b: 2, a: 1 } })),
    done(['users 3 4'], ['user.updated'])],
  ['a status', update({ status: 'suspended' }), rows(there()), done(['users 3 4'], ['user.suspended'])],
  ['a status with a name', update({ status: 'suspended', name: { value: 'Bo', key: 'bo' } }), rows(there()),
    done(['users 3 4'], ['user.updated', 'user.suspended'])],
  ['a change of nobody', update({}), rows(null), refused('not_found')],
  ["a change of another tenant's", update({}, { tenant: 'b' }), rows(there({ tenant: 'a' })), refused('not_found')],
  ['a change of another version', update({}, { guard: NOT_SEVEN }), rows(there()), refused('version_mismatch')],
  ['a change that is refused', update(() => ({ refused: 'no' })), rows(there()), refused('refused')],
  ['a deletion', remove(), rows(there()), done(['users 3 -'], ['user.deleted'])],
  ['a deletion that erases', remove({ erase: true }), rows(there()), done(['users 3 -'], ['user.deleted'], 2)],
  ['a deletion into the trash', remove({ putAway }), rows(there()),
    done(['users 3 -', 'trash - 3'], ['user.deleted'])],
  ['a deletion in place of another one', remove({ putAway }), rows(there(), away({ version: 9 })),
    done(['users 3 -', 'trash 9 3'], ['user.deleted'])],
  ['a deletion of nobody', remove(), rows(null, away()), refused('not_found')],
  ['a deletion of another version', remove({ guard: NOT_SEVEN }), rows(there()), refused('version_mismatch')],
  ['a restoration', restore(), rows(null, away()), done(['trash 3 -', 'users - 4'], ['user.restored'])],
  ['a restoration of nobody', restore(), rows(there()), refused('not_found')],
  ['a restoration where the id was given again', restore(), rows(there(), away()), refused('field_taken')],
  ['a restoration of another version', restore({ guard: NOT_SEVEN }), rows(null, away()), refused('version_mismatch')],
  ["a restoration of another tenant's", restore({ tenant: 'b' }), rows(null, away({ tenant: 'a' })),
    refused('not_found')],
  ['a purge of who is there', purge(), rows(there()), done(['users 3 -'], ['user.deleted', 'user.purged'])],
  ['a purge of who is away', purge(), rows(null, away()), done(['trash 3 -'], ['user.purged'])],
  ['a purge of both', purge({ erase: true }), rows(there(), away()),
    done(['users 3 -', 'trash 3 -'], ['user.deleted', 'user.purged'], 2)],
  ['a purge that leaves the one of another tenant', purge(), rows(there({ tenant: 'a' }), away({ tenant: 'b' })),
    done(['users 3 -'], ['user.deleted', 'user.purged'])],
  ['a purge of what was put away before', purge({ putAwayBefore: at(3) }), rows(there(), away()),
    done(['trash 3 -'], ['user.purged'])],
  ['a purge of what was put away since', purge({ putAwayBefore: at(2) }), rows(null, away()), refused('not_found')],
  ['a purge of nobody', purge(), rows(null), refused('not_found')],
  ['a purge of another version', purge({ guard: NOT_SEVEN }), rows(there()), refused('version_mismatch')],
  ['a write without a log', update({ name: { value: 'Bo', key: 'bo' } }, { event: null }), rows(there()),
    done(['users 3 4'], [])]
]

test('each write has one meaning', async (t) => {
  for (const [what, write, met, made] of TABLE) t.strictSame(shortOf(write, met), made, what)
})

test('a new user with the id of another is a mistake of the program', async (t) => {
  t.throws(() => decideUser(create, rows(there())), { name: 'StorageError', code: 'fault' })
})

test('a change counts the version, and takes updatedAt back never', async (t) => {
  const changes = { email: { value: 'b@example.org', key: 'b@example.org', words: ['b'] } }
  const { writes: [write] } = decideUser(update(changes), rows(there({ updatedAt: at(9) })))
  t.strictSame(write?.put?.record, user({ version: 4, email: 'b@example.org', updatedAt: at(9) }))
  t.strictSame(write?.put?.keys, { ...keys, emailKey: 'b@example.org', emailWords: ['b'] })
  t.strictSame(write?.was, there({ updatedAt: at(9) }), 'the row that it was decided on')
})

test('an erasure takes the values out of the events of the user and of its tenant alone', async (t) => {
  const { rewrites, events: [deleted] } = decideUser(remove({ erase: true }), rows(there({ tenant: 'a' })))
  if (deleted === undefined) throw new Error('no event')
  const [own, byActor] = rewrites
  t.strictSame(own?.of, { subject: ID })
  t.match(own?.make(deleted), { data: { name: null, email: null } })
  const other = { ...deleted, tenant: 'b' }
  t.equal(own?.make(other), other)
  t.strictSame(byActor?.of, { actor: ID })
  const made = { ...deleted, subject: 'usr_01h455vb4pex5vsknk08000002', actor: { type: 'user', id: ID, name: 'Ann' } }
  t.match(byActor?.make(made), { actor: { id: ID, name: null }, data: { name: 'Ann' } })
})
