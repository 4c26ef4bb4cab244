// The checker sees what it is there for: a healthy record has no finding, and each mistake in it has the right one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check } from './check.mjs'

/** A healthy record: creations, changes, deletions, a race, an answer that was lost, a fault from 500 to 600. */
function healthy () {
  let time = 0
  const at = () => {
    time += 15
    return { sent: time - 5, ended: time }
  }
  const operations = []
  const add = (operation) => {
    const all = { client: 0, ...at(), ...operation }
    operations.push(all)
    return all
  }
  const create = (n, more = {}) => add({
    kind: 'create',
    email: `u${n}@example.org`,
    key: `k${n}`,
    name: 'Before',
    id: `id${n}`,
    status: 201,
    answer: {},
    ...more
  })
  const patch = (n, ifMatch) => add({
    kind: 'patch', id: `id${n}`, name: `v${ifMatch + 1}`, ifMatch, status: 200, answer: { version: ifMatch + 1 }
  })
  for (const n of [1, 2, 3, 4]) create(n)
  patch(1, 1)
  patch(1, 2)
  patch(2, 1)
  add({ kind: 'patch', id: 'id2', name: 'late', ifMatch: 1, status: 412, answer: {} })
  add({ kind: 'delete', id: 'id3', status: 204, answer: null })
  add({ kind: 'get', id: 'id3', status: 404, answer: {} })
  add({ kind: 'get', id: 'id1', status: 200, answer: { version: 3 } })
  create('race', { client: 1, key: undefined, race: true })
  create('race', { client: 1, key: undefined, race: true, status: 409, id: undefined })
  time = 500
  // Its first attempt was carried out, and had no answer.
  create(5, { status: null, id: undefined, error: 'ECONNRESET' })
  create(5)
  add({ kind: 'patch', id: 'id4', name: 'unknown', ifMatch: 1, status: 503, retryAfter: true, answer: {} })
  time = 700
  add({ kind: 'list', status: 200, answer: {} })
  create(6)
  return {
    operations,
    final: [
      { id: 'id1', email: 'u1@example.org', name: 'v3', version: 3 },
      { id: 'id2', email: 'U2@example.org', name: 'v2', version: 2 },
      { id: 'id4', email: 'u4@example.org', name: 'unknown', version: 2 },
      { id: 'idrace', email: 'urace@example.org', name: 'Before', version: 1 },
      { id: 'id5', email: 'u5@example.org', name: 'Before', version: 1 },
      { id: 'id6', email: 'u6@example.org', name: 'Before', version: 1 }
    ],
    totals: [6, 6, 6],
    windows: [{ from: 500, to: 600 }],
    grace: 20
  }
}

const KINDS = ['lost', 'twice', 'phantom', 'versions', 'counts', 'answers']
const found = (run) => {
  const figures = check(run)
  return KINDS.filter((kind) => figures[kind] > 0)
}
const user = ({ final }, id) => final.find((each) => each.id === id)
const without = (list, test) => list.splice(0, list.length, ...list.filter((each) => !test(each)))
const of = ({ operations }, kind, id) => operations.find((each) => each.kind === kind && each.id === id)

test('a healthy record has no finding', () => {
  const figures = check(healthy())
  assert.deepEqual(figures.reasons, [])
  assert.deepEqual(found(healthy()), [])
  assert.equal(figures.acknowledged, 11)
  assert.equal(figures.unknown, 2)
  assert.equal(figures.recovery.length, 1)
})

/** What is changed in the healthy record, and what must be found then. */
const MISTAKES = {
  'an acknowledged user is gone': ['lost', (run) => without(run.final, ({ id }) => id === 'id6')],
  'a user whose creation had no first answer is gone': ['lost', (run) => without(run.final, ({ id }) => id === 'id5')],
  'a deleted user is there again': ['lost', (run) =>
    run.final.push({ id: 'id3', email: 'u3@example.org', name: 'Before', version: 1 })],
  'an acknowledged change is gone': ['lost', (run) => { user(run, 'id1').version = 2 }],
  'the version is there, and the name is not': ['lost', (run) => { user(run, 'id1').name = 'v2' }],
  'an address is there twice': ['twice', (run) =>
    run.final.push({ id: 'idx', email: 'U1@EXAMPLE.org', name: 'Before', version: 1 })],
  'one key made two users': ['twice', (run) =>
    run.operations.push({ ...of(run, 'create', 'id6'), id: 'id7', sent: 900, ended: 901 })],
  'both of a race got the address': ['twice', (run) => {
    const second = run.operations.find(({ kind, status }) => kind === 'create' && status === 409)
    Object.assign(second, { status: 201, id: 'idrace2' })
  }],
  'a repeated creation is refused because of itself': ['twice', (run) =>
    Object.assign(of(run, 'create', 'id5'), { status: 409, id: undefined })],
  'a user that nobody has made': ['phantom', (run) =>
    run.final.push({ id: 'idz', email: 'z@example.org', name: 'Z', version: 1 })],
  'a user whose creation was refused': ['phantom', (run) => Object.assign(of(run, 'create', 'id6'), { status: 400 })],
  'a record of a creation was taken away': ['phantom', (run) =>
    without(run.operations, ({ kind, id }) => kind === 'create' && id === 'id6')],
  'a record of a change was taken away': ['versions', (run) =>
    without(run.operations, ({ kind, name }) => kind === 'patch' && name === 'v2')],
  'a record of a deletion was taken away': ['lost', (run) => without(run.operations, ({ kind }) => kind === 'delete')],
  'a change that nobody has made': ['versions', (run) => { user(run, 'id6').version = 2 }],
  'two changes from one version': ['versions', (run) =>
    Object.assign(run.operations.find(({ name }) => name === 'late'), { status: 200, answer: { version: 2 } })],
  'a change skips a version': ['versions', (run) => {
    Object.assign(run.operations.find(({ name }) => name === 'v3'), { answer: { version: 4 } })
    Object.assign(user(run, 'id1'), { version: 4 })
  }],
  'a total is wrong': ['counts', (run) => { run.totals[1] = 7 }],
  'a 500': ['answers', (run) => Object.assign(of(run, 'get', 'id1'), { status: 500 })],
  'a 500 within the fault': ['answers', (run) =>
    Object.assign(run.operations.find(({ status }) => status === 503), { status: 500 })],
  'a 503 outside of the fault': ['answers', (run) =>
    Object.assign(of(run, 'get', 'id1'), { status: 503, retryAfter: true })],
  'a 503 without Retry-After': ['answers', (run) => {
    delete run.operations.find(({ status }) => status === 503).retryAfter
  }],
  'no answer outside of the fault': ['answers', (run) => Object.assign(of(run, 'get', 'id1'), { status: null })],
  'an operation that never ended': ['answers', (run) => Object.assign(of(run, 'get', 'id1'), { ended: null })],
  'a 404 for a user that is there': ['answers', (run) => Object.assign(of(run, 'get', 'id1'), { status: 404 })],
  'an answer for a user that was deleted': ['answers', (run) =>
    Object.assign(of(run, 'get', 'id3'), { status: 200, answer: { version: 1 } })],
  'an answer that is older than what was acknowledged': ['answers', (run) => {
    of(run, 'get', 'id1').answer.version = 2
  }]
}

for (const [mistake, [kind, make]] of Object.entries(MISTAKES)) {
  test(`${mistake}: ${kind}`, () => {
    const run = healthy()
    make(run)
    assert.ok(found(run).includes(kind), `found: ${found(run)}`)
  })
}

test('without a success after the fault there is no recovery', () => {
  const run = healthy()
  without(run.operations, ({ sent }) => sent >= 600)
  without(run.final, ({ id }) => id === 'id6')
  run.totals = [5]
  assert.deepEqual(check(run).recovery, [null])
})
