// Contract §15: an Idempotency-Key covers a whole batch.
import { test } from 'tap'
import { testApp } from '../helpers/app.ts'
import { ann, bob, NOBODY, post, statusesOf } from '../helpers/batches.ts'

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
