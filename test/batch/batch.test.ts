// Contract §15: a batch answers each operation as if it were alone, or makes all or none; and is made once under an
// Idempotency-Key.
import { setImmediate } from 'node:timers/promises'
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { ann, bob, listed, NOBODY, post, statusesOf } from '../helpers/batches.ts'
import { active } from '../helpers/contract.ts'
import { until } from '../helpers/until.ts'

const CITY = {
  type: 'object',
  properties: {
    plan: { type: 'string', enum: ['free', 'pro'] },
    address: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'string' } } },
    legacyId: { type: 'string' }
  }
} as const
const placeOf = ({ pointer, code }: { pointer: string, code: string }) => `${pointer} ${code}`

test('each operation is answered as it would be alone, in order', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: CITY, unique: ['legacyId'] } })
  const made = await app.users.create({ ...ann, ...Object({ address: { city: 'Ulm', zip: '1' }, legacyId: 'A' }) })
  const changes: string[] = []
  app.users.events.on('user.created', ({ data: { name } }) => { changes.push(`created ${name}`) })
  app.users.events.on('user.updated', ({ data: { name } }) => { changes.push(`updated ${name}`) })
  app.users.events.on('user.deleted', ({ data: { name } }) => { changes.push(`deleted ${name}`) })
  const response = await post(call, {
    operations: [
      { op: 'create', body: { ...bob, legacyId: 'B' } },
      { op: 'create', body: { ...ann, email: 'ANN@example.org' } },
      { op: 'create', body: { name: '', plan: 'gold' } },
      { op: 'update', id: made.id, body: { address: { city: 'Bonn' } }, ifMatch: '"1"' },
      { op: 'update', id: made.id, body: { address: { zip: null }, plan: 'pro' } },
      { op: 'update', id: made.id, body: { plan: 'free' }, ifMatch: '"1", W/"3"' },
      { op: 'update', id: made.id, body: { id: made.id, plan: 'pro' } },
      { op: 'update', id: NOBODY, body: { name: 'X' } },
      { op: 'update', id: 'x', body: { name: 'X' } },
      { op: 'update', id: made.id, body: { name: null } },
      { op: 'update', id: made.id, body: { legacyId: 'B' } },
      { op: 'delete', id: made.id, ifMatch: '"2"' },
      { op: 'delete', id: made.id, ifMatch: '*' },
      { op: 'delete', id: made.id },
      { op: 'create', body: { ...ann, email: 'ANN@example.org', legacyId: 'A' } }
    ]
  })
  t.equal(response.statusCode, 200, response.body)
  t.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  const { data } = response.json()
  t.strictSame(data.map(({ status, etag, body }: { status: number, etag?: string, body?: { code?: string } }) =>
    [status, etag ?? body?.code ?? body]), [
    [201, '"1"'], [409, 'email_taken'], [400, 'validation_failed'], [200, '"2"'], [200, '"3"'],
    [412, 'precondition_failed'], [200, '"3"'], [404, 'user_not_found'], [404, 'user_not_found'],
    [400, 'validation_failed'], [409, 'field_taken'], [412, 'precondition_failed'], [204, null],
    [404, 'user_not_found'], [201, '"1"']
  ])
  const { createdAt, updatedAt, id } = data[0].body
  t.strictSame(data[0].body, { id, ...bob, legacyId: 'B', ...active, version: 1, createdAt, updatedAt })
  t.strictSame(data[1], {
    status: 409,
    body: {
      type: 'urn:problem:fastify-users:email_taken',
      title: 'E-mail address already in use',
      status: 409,
      code: 'email_taken',
      detail: 'Another user has this e-mail address.',
      errors: [{ pointer: '/email', code: 'taken', detail: 'must be unique' }]
    }
  })
  t.strictSame(data[2].body.errors.map(placeOf).sort(), ['/email required', '/name too_short', '/plan choice'])
  t.strictSame(data[4].body.address, { city: 'Bonn' }, 'a merge patch of what the operation before has left')
  t.match(data[10].body.errors, [{ pointer: '/legacyId', code: 'taken' }])
  t.strictSame(await listed(call), ['Bob bob@example.org', 'Ann ANN@example.org'])
  await until('the events', () => changes.length === 5)
  t.strictSame(changes, ['created Bob', 'updated Ann', 'updated Ann', 'deleted Ann', 'created Ann'])
})

test('an atomic batch is made whole or not at all', async (t) => {
  const { app, call } = await testApp(t, { fields: { schema: CITY }, eventLog: true })
  const { id } = await app.users.create(ann)
  // Its event comes on a later turn.
  await setImmediate()
  let changes = 0
  for (const type of ['user.created', 'user.updated', 'user.deleted'] as const) {
    app.users.events.on(type, () => { changes++ })
  }
  const first = [{ op: 'create', body: bob }, { op: 'update', id, body: { name: 'Changed', plan: 'pro' } }]
  const ends: Array<[object, string[]]> = [
    [{ op: 'create', body: bob }, ['/operations/2 email_taken', '/operations/2/body/email taken']],
    [{ op: 'create', body: { name: 'x' } }, [
      '/operations/2 validation_failed', '/operations/2/body/email required'
    ]],
    [{ op: 'update', id: NOBODY, body: {} }, ['/operations/2 user_not_found']],
    [{ op: 'delete', id: 'x' }, ['/operations/2 user_not_found']],
    [{ op: 'delete', id, ifMatch: '"1"' }, ['/operations/2 precondition_failed']],
    [{ op: 'update', id, body: { address: { city: 'x'.repeat(16_350) } } }, [
      '/operations/2 validation_failed', '/operations/2/body too_large'
    ]]
  ]
  for (const [end, errors] of ends) {
    const response = await post(call, { operations: [...first, end, { op: 'delete', id }], atomic: true })
    const { code, errors: given, ...others } = response.json()
    t.strictSame([response.statusCode, code], [409, 'batch_failed'], response.body)
    t.strictSame(given.map(placeOf).slice(0, 2), errors)
    t.match(others, { title: 'Batch failed', detail: /none was applied/ })
    t.strictSame(await listed(call), ['Ann ann@example.org'])
  }
  t.equal(changes, 0)
  const { data } = (await call('GET', '/events?type=user.*')).json()
  t.strictSame(data.map(({ type }: { type: string }) => type), ['user.created'])
  const noChange = { op: 'update', id, body: {} }
  const made = await post(call, { operations: [...first, noChange], atomic: true })
  t.strictSame([made.statusCode, await listed(call)], [200, ['Changed ann@example.org', 'Bob bob@example.org']])
  await until('the events', () => changes === 2)
  const after = (await call('GET', '/events?type=user.*')).json().data
  t.strictSame(after.map(({ type }: { type: string }) => type), ['user.created', 'user.created', 'user.updated'])
})

test('an Idempotency-Key covers the whole batch', async (t) => {
  const { app, call } = await testApp(t, { idempotencyTtl: 60 })
  const { id } = await app.users.create(ann)
  const body = {
    operations: [
      { op: 'create', body: bob }, { op: 'update', id, body: { name: 'Changed' } },
      { op: 'create', body: { name: 5 } }, { op: 'create', body: bob },
      { op: 'create', body: { ...bob, email: 'third@example.org' } }
    ]
  }
  const key = { 'idempotency-key': 'k-1' }
  const first = await post(call, body, key)
  t.strictSame(statusesOf(first), [201, 200, 'validation_failed', 'email_taken', 201])
  t.equal(first.headers['idempotency-replayed'], undefined)
  await app.users.update(id, { name: 'Later' })
  const again = await post(call, { atomic: false, ...body }, key)
  t.strictSame([again.statusCode, again.headers['idempotency-replayed']], [200, 'true'])
  t.strictSame(again.json(), first.json(), 'the first answer, as the users were then')
  const [, , , , third] = first.json().data
  await app.users.delete(third.body.id)
  const without = first.json().data.map((each: object) => each)
  without[4] = { status: 201, body: null }
  t.strictSame((await post(call, body, key)).json().data, without, 'values of a user that is deleted are gone')
  const other = await post(call, { operations: body.operations.slice(1) }, key)
  t.match([other.statusCode, other.json()], [422, { code: 'idempotency_key_reused' }])
  const single = await call('POST', '/users', {
    headers: { ...key, 'content-type': 'application/json' }, payload: JSON.stringify({ name: 'X', email: 'x@y.de' })
  })
  t.match([single.statusCode, single.json()], [422, { code: 'idempotency_key_reused' }])
  const second = { 'idempotency-key': 'k-2' }
  const undone = await post(call, { operations: [{ op: 'delete', id: NOBODY }], atomic: true }, second)
  t.equal(undone.statusCode, 409)
  const kept = await post(call, { operations: [{ op: 'delete', id }], atomic: true }, second)
  t.match([kept.statusCode, kept.json()], [200, { data: [{ status: 204, body: null }] }], 'only 2xx is kept')
  const others = await app.users.batch([{ op: 'delete', id: NOBODY }], { idempotencyKey: 'k-1' })
  t.match(others, { replayed: false, data: [{ status: 404 }] }, 'callers do not share keys')
})

test('a batch of which nothing reaches the storage keeps no key', async (t) => {
  const { app, call } = await testApp(t)
  const key = { 'idempotency-key': 'k' }
  const wrong = await post(call, { operations: [{ op: 'create', body: {} }] }, key)
  t.strictSame(statusesOf(wrong), ['validation_failed'])
  t.strictSame(statusesOf(await post(call, { operations: [{ op: 'create', body: ann }] }, key)), [201])
  t.equal((await app.users.batch([{ op: 'create', body: bob }], Object({ given: null }).given)).data.length, 1)
})
