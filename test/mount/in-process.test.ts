// app.users: in process what the routes do over HTTP, with the same rules, errors and order of checks.
import { test, type Test } from 'tap'
import type { UserInput, UserPatch } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { untyped } from '../helpers/untyped.ts'

const UNKNOWN = 'usr_01h455vb4pex5vsknk084sn02q'

async function mounted (t: Test) {
  const { app: { users }, call } = await testApp(t, { pageSize: { default: 2, max: 3 } })
  const ann = await users.create({ name: ' Ann ', email: 'Ann@example.org' })
  const withOthers = async () => {
    const others = []
    for (const n of [1, 2, 3, 4, 5, 6]) {
      others.push(await users.create({ name: `User ${n}`, email: `${n}@example.org` }))
    }
    return others
  }
  return { users, call, ann, withOthers }
}

test('creates the user that HTTP shows, finds it, and deletes it once', async (t) => {
  const { users, call, ann } = await mounted(t)
  t.match(ann, { id: /^usr_/, name: 'Ann', email: 'Ann@example.org', version: 1, createdAt: ann.updatedAt })
  t.strictSame(await users.get(ann.id), ann)
  t.strictSame((await call('GET', `/users/${ann.id}`)).json(), ann)
  await t.rejects(users.delete(ann.id, { ifMatch: 9 }), { code: 'precondition_failed' })
  t.equal(await users.delete(ann.id, { ifMatch: 1 }), undefined)
  for (const id of [ann.id, UNKNOWN, 'x', untyped(5)]) {
    await t.rejects(users.get(id), { code: 'user_not_found', statusCode: 404 })
    await t.rejects(users.delete(id), { code: 'user_not_found' })
  }
})

test('refuses to create what HTTP refuses', async (t) => {
  const { users } = await mounted(t)
  const wrong: UserInput = untyped({ name: 5, x: 1 })
  await t.rejects(users.create(wrong), {
    name: 'UsersError',
    code: 'validation_failed',
    statusCode: 400,
    errors: [
      { pointer: '/email', code: 'required' },
      { pointer: '/x', code: 'unknown' },
      { pointer: '/name', code: 'type' }
    ]
  })
  await t.rejects(users.create({ name: 'B', email: 'ANN@example.org' }), {
    code: 'email_taken',
    statusCode: 409,
    errors: [{ pointer: '/email', code: 'taken' }]
  })
  await t.rejects(users.create({ name: 'B', email: 'b@b.co' }, untyped({ idempotencykey: 'x' })), {
    code: 'validation_failed',
    errors: [{ parameter: 'idempotencykey', code: 'unknown' }]
  })
  t.equal((await users.list()).meta.total, 1)
})

test('updates under a condition, and validates before it looks for the user', async (t) => {
  const { users, ann } = await mounted(t)
  const failed = { code: 'precondition_failed', statusCode: 412 }
  t.match(await users.update(ann.id, { name: 'Anna' }, { ifMatch: 1 }), { name: 'Anna', version: 2 })
  const same = await users.update(ann.id, { name: 'Anna' }, { ifMatch: [1, 2], ifNoneMatch: 7 })
  t.equal(same.version, 2, 'no change, no new version')
  await t.rejects(users.update(ann.id, { name: 'X' }, { ifMatch: 1 }), failed)
  await t.rejects(users.update(ann.id, { name: 'X' }, { ifNoneMatch: '*' }), failed)
  await t.rejects(users.update(ann.id, { name: 'X' }, { ifNoneMatch: [2, 3] }), failed)
  await t.rejects(users.update(UNKNOWN, { name: 'X' }, { ifMatch: '*' }), { code: 'user_not_found' })
  const invalid: UserPatch = untyped({ name: null })
  await t.rejects(users.update(UNKNOWN, invalid), { code: 'validation_failed' })
  t.strictSame(await users.get(ann.id), same)
})

test('refuses options of a wrong type or name', async (t) => {
  const { users, ann } = await mounted(t)
  await t.rejects(users.update(ann.id, { name: 'X' }, untyped('"2"')), { code: 'validation_failed' })
  const conditions = [
    { ifMatch: '"2"' }, { ifMatch: 1.5 }, { ifMatch: null }, { ifMatch: [0] }, { ifMatch: ['2'] },
    { ifMatch: NaN }, { ifNoneMatch: {} }
  ]
  for (const options of conditions) {
    const error = { code: 'validation_failed', errors: [{ parameter: Object.keys(options)[0], code: 'type' }] }
    const written = JSON.stringify(options)
    await t.rejects(users.update(ann.id, { name: 'X' }, untyped(options)), error, written)
    await t.rejects(users.delete(ann.id, untyped(options)), error, written)
  }
  await t.rejects(users.update(ann.id, { name: 5, ...untyped({}) }, untyped({ ifmatch: 7 })), {
    errors: [
      { parameter: 'ifmatch', code: 'unknown' },
      { pointer: '/name', code: 'type' }
    ]
  })
  t.strictSame(await users.get(ann.id), ann)
  t.equal((await users.update(ann.id, {}, untyped(null))).version, 1, 'null means no options')
  t.equal((await users.iterate(untyped(null)).next()).value?.id, ann.id)
})

test('lists pages, and refuses the queries that HTTP refuses', async (t) => {
  const { users, ann, withOthers } = await mounted(t)
  await withOthers()
  t.match(await users.list(), { data: [{ id: ann.id }, {}], meta: { page: 1, limit: 2, total: 7 } })
  t.strictSame((await users.list({ after: ann.id, limit: 1 })).meta, { limit: 1, total: 7 })
  const outOfRange = { code: 'validation_failed', errors: [{ parameter: 'limit', code: 'range' }] }
  await t.rejects(users.list({ limit: 4 }), outOfRange)
  const text = users.list(untyped({ page: '1' }))
  const detail = /^must be a whole number from 1 to /
  await t.rejects(text, { errors: [{ parameter: 'page', code: 'type', detail }] }, 'text is not a number')
  for (const none of ['ann', ['ann'], 5]) {
    const noObject = (parameter: string) =>
      ({ code: 'validation_failed', errors: [{ parameter, code: 'type', detail: 'must be an object' }] })
    await t.rejects(users.list(untyped(none)), noObject('query'))
    await t.rejects(users.apiKeys.list(untyped(none)), noObject('query'))
    await t.rejects(users.iterate(untyped(none)).next(), noObject('query'))
    t.throws(() => users.as(untyped(none)), noObject('actor'))
  }
  await t.rejects(users.list(untyped({ email: 5, q: 5, sort: 1, after: 1, x: 1 })), {
    errors: [
      { parameter: 'x' },
      { parameter: 'sort' },
      { parameter: 'after' },
      { parameter: 'email', code: 'type' },
      { parameter: 'q' }
    ]
  })
})

test('iterates over every user, in either order, and may stop anywhere', async (t) => {
  const { users, ann, withOthers } = await mounted(t)
  const everyone = [ann, ...await withOthers()].map(({ id }) => id)
  const seen = []
  for await (const { id } of users.iterate()) seen.push(id)
  t.strictSame(seen, everyone)
  const back = []
  for await (const { id } of users.iterate({ sort: '-createdAt', q: 'user' })) back.push(id)
  t.strictSame(back, everyone.slice(1).reverse())
  const iterator = users.iterate()
  t.equal((await iterator.next()).value?.id, ann.id)
  t.strictSame(await iterator.return(), { done: true, value: undefined })
  await t.rejects(users.iterate({ q: 'x' }).next(), { code: 'validation_failed' })
  await t.rejects(users.iterate(untyped({ page: 2, filter: 'x' })).next(), {
    code: 'validation_failed',
    errors: [
      { parameter: 'page', code: 'unknown' },
      { parameter: 'filter', code: 'unknown' }
    ]
  })
})

test('requireIfMatch refuses changes without ifMatch, and names the header over HTTP', async (t) => {
  const { app: { users }, call } = await testApp(t, { requireIfMatch: true })
  const { id } = await users.create({ name: 'A', email: 'a@b.co' })
  for (const headers of [{}, { 'if-none-match': '"7"' }]) {
    t.match((await call('PATCH', `/users/${id}`, { payload: {}, headers })).json(),
      { status: 428, code: 'precondition_required', errors: [{ header: 'if-match', code: 'required' }] })
  }
  t.equal((await call('PATCH', `/users/${id}`, { payload: { x: 1 } })).statusCode, 400, 'validation comes before')
  await t.rejects(users.update(id, { name: 'B' }), { code: 'precondition_required', statusCode: 428 })
  await t.rejects(users.delete(id), { code: 'precondition_required' })
  t.equal((await users.update(id, { name: 'B' }, { ifMatch: '*' })).version, 2)
})
