// Histories that can have happened, and others that can't.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLinearizable } from './linearizable.mjs'

const at = (sent, ended, operation) => ({ sent, ended, ...operation })
const created = (id, email) => ({ kind: 'create', id, email, name: 'a', status: 201, answer: {} })
const refused = (email) => ({ kind: 'create', email, name: 'a', status: 409, answer: {} })
const read = (id, version, name = 'a', email = 'x') =>
  ({ kind: 'get', id, status: 200, answer: { version, name, email } })
const missing = (kind, id) => ({ kind, id, status: 404, answer: {} })
const changed = (id, version, changes, ifMatch) =>
  ({ kind: 'patch', id, ...changes, ifMatch, status: 200, answer: { version } })
const failed = (id, status, changes, ifMatch) => ({ kind: 'patch', id, ...changes, ifMatch, status, answer: {} })
const deleted = (id) => ({ kind: 'delete', id, status: 204, answer: {} })

const POSSIBLE = {
  'one after the other': [
    at(0, 1, created('1', 'x')), at(2, 3, read('1', 1)), at(4, 5, changed('1', 2, { name: 'b' }, 1)),
    at(6, 7, failed('1', 412, { name: 'c' }, 1)), at(8, 9, read('1', 2, 'b')), at(10, 11, deleted('1')),
    at(12, 13, missing('get', '1')), at(14, 15, missing('patch', '1')), at(16, 17, missing('delete', '1'))
  ],
  'two concurrent creations, of which one gets the address': [at(0, 10, created('1', 'x')), at(0, 10, refused('x'))],
  'the refusal is answered first': [at(0, 10, created('1', 'x')), at(1, 2, refused('x'))],
  'a read beside a change sees either': [
    at(0, 1, created('1', 'x')), at(2, 10, changed('1', 2, { name: 'b' })), at(3, 4, read('1', 2, 'b')),
    at(5, 6, read('1', 2, 'b'))
  ],
  'the address is free after a deletion beside': [
    at(0, 1, created('1', 'x')), at(2, 10, deleted('1')), at(3, 4, created('2', 'x'))
  ],
  'the address moves': [
    at(0, 1, created('1', 'x')), at(2, 3, changed('1', 2, { email: 'y' })), at(4, 5, created('2', 'x')),
    at(6, 7, failed('1', 409, { email: 'x' })), at(8, 9, { kind: 'find', email: 'y', found: '1', status: 200 })
  ],
  'a change that changes nothing': [at(0, 1, created('1', 'x')), at(2, 3, changed('1', 1, { name: 'a' }, 1))],
  'nobody has an address': [at(0, 1, { kind: 'find', email: 'x', found: undefined, status: 200 })]
}

const IMPOSSIBLE = {
  'one address twice': [at(0, 10, created('1', 'x')), at(0, 10, created('2', 'x'))],
  'a refusal without a holder': [at(0, 1, refused('x')), at(2, 3, created('1', 'x'))],
  'a stale read': [at(0, 1, created('1', 'x')), at(2, 3, changed('1', 2, { name: 'b' })), at(4, 5, read('1', 1))],
  'a read that goes back': [
    at(0, 1, created('1', 'x')), at(2, 10, changed('1', 2, { name: 'b' })), at(3, 4, read('1', 2, 'b')),
    at(5, 6, read('1', 1))
  ],
  'two changes from one version': [
    at(0, 1, created('1', 'x')), at(2, 10, changed('1', 2, { name: 'b' }, 1)),
    at(2, 10, changed('1', 2, { name: 'c' }, 1))
  ],
  'a lost change': [
    at(0, 1, created('1', 'x')), at(2, 10, changed('1', 2, { name: 'b' })), at(2, 10, changed('1', 3, { email: 'y' })),
    at(11, 12, read('1', 3, 'a', 'y'))
  ],
  'a read after a deletion': [at(0, 1, created('1', 'x')), at(2, 3, deleted('1')), at(4, 5, read('1', 1))],
  'two deletions': [at(0, 1, created('1', 'x')), at(2, 10, deleted('1')), at(2, 10, deleted('1'))],
  'a 404 before any deletion': [at(0, 1, created('1', 'x')), at(2, 3, missing('get', '1')), at(4, 5, deleted('1'))],
  'a 412 for the right version': [at(0, 1, created('1', 'x')), at(2, 3, failed('1', 412, { name: 'b' }, 1))],
  'a change past its condition': [at(0, 1, created('1', 'x')), at(2, 3, changed('1', 2, { name: 'b' }, 7))],
  'an address that is taken while it is free': [
    at(0, 1, created('1', 'x')), at(2, 3, failed('1', 409, { email: 'y' }))
  ],
  'a list without a user that is there': [
    at(0, 1, created('1', 'x')), at(2, 3, { kind: 'find', email: 'x', found: undefined, status: 200 })
  ]
}

for (const [name, history] of Object.entries(POSSIBLE)) {
  test(`possible: ${name}`, () => assert.equal(isLinearizable(history), true))
}
for (const [name, history] of Object.entries(IMPOSSIBLE)) {
  test(`impossible: ${name}`, () => assert.equal(isLinearizable(history), false))
}
