// What a batch may have, and what its operations need and count for.
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import { ALL_SCOPES, inject, testApp } from '../helpers/app.ts'
import { ann, bob, NOBODY, post, statusesOf } from '../helpers/batches.ts'
import { captureLog } from '../helpers/log.ts'

test('a thousand operations of a MiB are made, and no more', async (t) => {
  const { call } = await testApp(t)
  const create = (_: unknown, i: number) => ({ op: 'create', body: { name: `User ${i}`, email: `u${i}@example.org` } })
  const response = await post(call, { operations: Array.from({ length: 1000 }, create) })
  t.equal(response.statusCode, 200)
  t.equal((await call('GET', '/users?limit=1')).json().meta.total, 1000)
  const more = await post(call, { operations: Array.from({ length: 1001 }, create) })
  t.match([more.statusCode, more.json()], [400, {
    errors: [{ pointer: '/operations', code: 'too_many', detail: 'must have at most 1000 items' }]
  }])
  const large = await post(call, { operations: [{ op: 'create', body: { name: 'x'.repeat(1024 * 1024), email: '' } }] })
  t.match([large.statusCode, large.json()], [413, {
    code: 'body_too_large', detail: 'The request body is larger than 1024 KiB.'
  }])
})

test('a limit that a hook of the host has set is named in bytes', async (t) => {
  const before = (app: FastifyInstance) => { app.addHook('onRoute', (route) => { route.bodyLimit = 10 }) }
  const { call } = await testApp(t, { before })
  const response = await call('POST', '/users', { payload: ann })
  t.match([response.statusCode, response.json()], [413, { detail: 'The request body is larger than 10 bytes.' }])
})

test('a malformed batch is refused as a whole, with every fault', async (t) => {
  const { app, call } = await testApp(t)
  const rows: Array<[unknown, Array<[string, string]>]> = [
    [[], [['', 'type']]],
    [{}, [['/operations', 'required']]],
    [{ operations: [] }, [['/operations', 'too_few']]],
    [{ operations: {}, atomic: 'yes', other: 1 }, [
      ['/atomic', 'type'], ['/operations', 'type'], ['/other', 'unknown']
    ]],
    [{
      operations: [
        { op: 'create', body: ann },
        null, {}, { op: 'upsert', body: {} }, { op: 'create', id: NOBODY, body: ann, ifMatch: '*' }, { op: 'create' },
        { op: 'update', body: {} }, { op: 'update', id: 5 }, { op: 'delete', id: NOBODY, body: {} },
        { op: 'delete', id: NOBODY, ifMatch: 3 }, { op: 'update', id: NOBODY, body: {}, ifMatch: '3' }
      ]
    }, [
      ['/operations/1', 'type'], ['/operations/10/ifMatch', 'format'], ['/operations/2/op', 'required'],
      ['/operations/3/op', 'choice'], ['/operations/4/id', 'unknown'], ['/operations/4/ifMatch', 'unknown'],
      ['/operations/5/body', 'required'], ['/operations/6/id', 'required'], ['/operations/7/body', 'required'],
      ['/operations/7/id', 'type'], ['/operations/8/body', 'unknown'], ['/operations/9/ifMatch', 'format']
    ]]
  ]
  for (const [body, faults] of rows) {
    const response = await post(call, body)
    const { code, errors } = response.json()
    t.strictSame([response.statusCode, code], [400, 'validation_failed'])
    t.strictSame(errors.map((fault: { pointer: string, code: string }) => [fault.pointer, fault.code]).sort(), faults)
  }
  t.match((await call('POST', '/users/batch?atomic=true', {
    headers: { 'content-type': 'application/json' }, payload: '{"operations":[{"op":"create","body":{}}]}'
  })).json(), { errors: [{ parameter: 'atomic', code: 'unknown' }] })
  t.equal((await post(call, { operations: [] }, { 'content-type': 'text/plain' })).statusCode, 415)
  t.equal((await call('GET', '/users/batch')).statusCode, 405)
  t.equal((await app.users.list()).meta.total, 0)
})

test('each operation needs the scope that it would need alone', async (t) => {
  const { app, prefix } = await testApp(t)
  const { id } = await app.users.create(ann)
  const as = async (scopes: typeof ALL_SCOPES, body: unknown) => {
    const { key } = await app.users.apiKeys.create({ name: 'some', scopes })
    return inject(app, 'POST', `${prefix}/users/batch`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, payload: JSON.stringify(body)
    })
  }
  const operations = [{ op: 'create', body: bob }, { op: 'delete', id }, { op: 'update', id, body: { name: 'New' } }]
  const statuses = async (scopes: typeof ALL_SCOPES) => statusesOf(await as(scopes, { operations }))
  t.strictSame(await statuses(['users:read']), Array(3).fill('insufficient_scope'))
  t.strictSame(await statuses(['users:write']), [201, 'insufficient_scope', 200])
  t.strictSame(await statuses(['users:delete']), ['insufficient_scope', 204, 'insufficient_scope'])
  const both = [{ op: 'create', body: ann }, { op: 'delete', id }]
  const atomic = await as(['users:write'], { operations: both, atomic: true })
  t.match([atomic.statusCode, atomic.json()], [403, { code: 'insufficient_scope' }], 'nothing is made')
  t.match(atomic.headers['www-authenticate'], /scope="users:delete"/)
  t.equal((await app.users.list()).meta.total, 1)
  const stranger = await inject(app, 'POST', `${prefix}/users/batch`, { payload: '{' })
  t.equal(stranger.statusCode, 401)
})

test('rate limits and the guard on deletions count each operation', async (t) => {
  const log = captureLog()
  const { app, call } = await testApp(t, {
    server: { logger: { stream: log.stream } },
    limits: {
      requests: { max: 10, window: 60 },
      deletions: { max: 2, window: 3600 }
    }
  })
  const refusals = () => log.entries().filter(({ event }) => event === 'api_key.rate_limited').length
  const make = async (n: number) => (await app.users.create({ name: 'x', email: `${n}@y.de` })).id
  const ids = await Promise.all([1, 2, 3].map(make))
  const deletions = await post(call, { operations: ids.map((id) => ({ op: 'delete', id })) })
  t.equal(deletions.headers['ratelimit'], '"key";r=7;t=60')
  t.strictSame(statusesOf(deletions), [204, 204, 'rate_limited'])
  t.match(deletions.headers['retry-after'], /^\d+$/)
  t.equal(refusals(), 1)
  const both = [{ op: 'create', body: ann }, { op: 'delete', id: ids[2] }]
  const guarded = await post(call, { operations: both, atomic: true })
  t.match([guarded.statusCode, guarded.json()], [429, { code: 'rate_limited' }], 'all of an atomic batch')
  t.equal((await app.users.list()).meta.total, 1)
  t.equal(refusals(), 2)
  const create = (n: number) => ({ op: 'create', body: { name: 'x', email: `${n}@z.de` } })
  const over = await post(call, { operations: [4, 5, 6, 7, 8, 9, 10].map(create) })
  t.strictSame(statusesOf(over), [201, 201, 201, 201, 201, 'rate_limited', 'rate_limited'])
  t.equal(refusals(), 3, 'once for a batch')
  t.equal((await call('GET', '/users')).statusCode, 429)
})

test('with requireIfMatch an operation without ifMatch gets 428, or 404 if the user does not exist', async (t) => {
  const { app, call } = await testApp(t, { requireIfMatch: true })
  const { id } = await app.users.create(ann)
  const operations = [
    { op: 'update', id, body: { name: 'New' } }, { op: 'delete', id }, { op: 'delete', id: NOBODY },
    { op: 'update', id, body: { name: 'New' }, ifMatch: '"1"' }
  ]
  const response = await post(call, { operations })
  t.strictSame(statusesOf(response), ['precondition_required', 'precondition_required', 'user_not_found', 200])
  t.match(response.json().data[0].body, { status: 428, detail: 'This operation needs ifMatch.' })
})

test('an operation has no larger body than a request of its own, and no nesting makes a batch fail', async (t) => {
  const { app, call } = await testApp(t)
  const deep = `${'['.repeat(3900)}1${']'.repeat(3900)}`
  const payload = `{"operations":[{"op":"create","body":{"name":${deep},"email":"deep@example.org"}},` +
    `{"op":"create","body":{"name":"${'x'.repeat(17_000)}","email":"long@example.org"}},` +
    `{"op":"create","body":${JSON.stringify(ann)}}]}`
  const headers = { 'content-type': 'application/json' }
  const response = await call('POST', '/users/batch', { headers, payload })
  t.strictSame(statusesOf(response), ['validation_failed', 'body_too_large', 201])
  const noJson = [{ op: 'create', body: { name: 1n } }, { op: 'create', body: bob }]
  await t.rejects(app.users.batch(Object(noJson), { idempotencyKey: 'k' }), {
    errors: [{ pointer: '/operations', code: 'invalid', detail: 'must be JSON without deep nesting' }]
  })
  t.equal((await app.users.list()).meta.total, 1)
})
