// app.users: what callers without types may hand to it. That it does what the routes do: test/client/contract.test.ts.
import { test, type Test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { untyped } from '../helpers/untyped.ts'

async function mounted (t: Test) {
  const { app: { users } } = await testApp(t)
  return { users, ann: await users.create({ name: 'Ann', email: 'ann@example.org' }) }
}

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
    errors: [{ parameter: 'ifmatch', code: 'unknown' }, { pointer: '/name', code: 'type' }]
  })
  await t.rejects(users.create({ name: 'B', email: 'b@b.co' }, untyped({ idempotencykey: 'x' })), {
    code: 'validation_failed', errors: [{ parameter: 'idempotencykey', code: 'unknown' }]
  })
  await t.rejects(users.create({ name: 'B', email: 'b@b.co' }, { idempotencyKey: '' }), { code: 'validation_failed' })
  await t.rejects(users.get(untyped(5)), { code: 'user_not_found' })
  t.strictSame(await users.get(ann.id), ann)
  t.equal((await users.update(ann.id, {}, untyped(null))).version, 1, 'null means no options')
  t.equal((await users.iterate(untyped(null)).next()).value?.id, ann.id)
})

test('refuses the queries that HTTP refuses', async (t) => {
  const { users } = await mounted(t)
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
    errors: ['x', 'sort', 'after', 'email', 'q'].map((parameter) => ({ parameter }))
  })
})

test('an iteration may stop anywhere, and has no pages', async (t) => {
  const { users, ann } = await mounted(t)
  const iterator = users.iterate()
  t.equal((await iterator.next()).value?.id, ann.id)
  t.strictSame(await iterator.return(), { done: true, value: undefined })
  await t.rejects(users.iterate(untyped({ page: 2, filter: 'x' })).next(), {
    errors: [{ parameter: 'page', code: 'unknown' }, { parameter: 'filter', code: 'unknown' }]
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
