// Contract §8: a repeated creation creates one user, over HTTP and in process.
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { aroundCommit } from '../helpers/around.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { listen, rawRequest } from '../helpers/raw.ts'

const ann = { name: 'Ann', email: 'ann@example.org' }

test('repeated creations under one Idempotency-Key create one user', async (t) => {
  const { app, call } = await testApp(t, { idempotencyTtl: 60 })
  const post = (key: string, payload: object, headers: object = {}) =>
    call('POST', '/users', { headers: { 'idempotency-key': key, ...headers }, payload })
  const first = await post('k-1', ann)
  t.strictSame([first.statusCode, first.headers['idempotency-replayed']], [201, undefined])
  await app.users.update(first.json().id, { name: 'Later' })
  const { date: _a, ...headers } = first.headers
  for (const body of [ann, { email: ann.email, name: ann.name }]) {
    const again = await post('k-1', body)
    const { date: _b, ...replayed } = again.headers
    t.strictSame([again.statusCode, again.body, replayed],
      [201, first.body, { ...headers, 'idempotency-replayed': 'true' }], 'the first answer is replayed')
  }
  const other = await post('k-1', { ...ann, name: 'Bob' })
  t.match([other.statusCode, other.json()], [422, { code: 'idempotency_key_reused' }])
  const { key } = await app.users.apiKeys.create({ name: 'other', scopes: ALL_SCOPES })
  const stranger = { authorization: `Bearer ${key}` }
  for (const [what, status, answer] of [
    ['validation precedes the replay', 400, await post('k-1', { name: 5 })],
    ['another idempotency key is another creation', 409, await post('k-2', ann)],
    ['a failed creation stores no idempotency key', 201, await post('k-2', { ...ann, email: 'second@example.org' })],
    ['callers do not share them', 201, await post('k-1', { ...ann, email: 'third@example.org' }, stranger)],
    ['it may be long', 201, await post('x'.repeat(255), { ...ann, email: 'long@example.org' })]
  ] as const) t.equal(answer.statusCode, status, what)
  for (const wrong of ['', 'a b', 'é', 'x'.repeat(256), 'a, b']) {
    const response = await post(wrong, ann)
    t.match([response.statusCode, response.json()],
      [400, { errors: [{ header: 'idempotency-key', code: 'format' }] }], JSON.stringify(wrong))
  }
  await call('DELETE', `/users/${first.json().id}`)
  t.not((await post('k-1', ann)).json().id, first.json().id, 'idempotency keys are deleted with their user')
})

test('an expired idempotency key can be used again', async (t) => {
  const { app: { users } } = await testApp(t, { idempotencyTtl: 60 })
  const create = (email: string) =>
    users.create({ name: 'P', email: `${email}@example.org` }, { idempotencyKey: 'k' })
  // In the past, since
  mock.timers.enable({ apis: ['Date'], now: Date.now() - 60_001 })
  const past = await create('p2')
  mock.timers.reset()
  t.not((await create('p3')).id, past.id)
})

test('refuses a request with two Idempotency-Key headers', async (t) => {
  const { app, key } = await testApp(t)
  const port = await listen(app)
  const head = [
    'POST /v1/users HTTP/1.1', 'Host: x', 'Connection: close', `Authorization: Bearer ${key}`,
    'Content-Type: application/json', 'Content-Length: 40', 'Idempotency-Key: a', 'Idempotency-Key: a'
  ]
  t.match(await rawRequest(port, head, JSON.stringify(ann)), /^HTTP\/1.1 400 .*idempotency-key/s)
})

test('prunes expired idempotency keys on a timer, and only logs a failure', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  const log = captureLog()
  const storage = memory()
  const pruned: string[] = []
  let fails = false
  const { list } = storage
  storage.list = async (name, query) => {
    if (name !== 'idempotency') return list(name, query)
    if (fails) throw new StorageError('unavailable', 'busy')
    pruned.push(String(query.upTo?.value))
    return list(name, query)
  }
  const { app } = await testApp(t, { storage, server: { logger: { stream: log.stream } } })
  mock.timers.tick(600_000)
  fails = true
  mock.timers.tick(600_000)
  await new Promise((resolve) => setImmediate(resolve))
  await app.close()
  mock.timers.tick(600_000)
  mock.timers.reset()
  t.equal(pruned.length, 1)
  const isFailure = ({ msg }: { msg?: unknown }) => String(msg).startsWith('could not prune expired idempotency keys')
  t.equal(log.entries().filter(isFailure).length, 1)
})

test('answers 409 with Retry-After while the first creation is still running', async (t) => {
  const { call } = await testApp(t, {
    storage: aroundCommit(memory(), 'idempotency', async () => {
      throw new StorageError('idempotency_in_progress', 'still running')
    })
  })
  const response = await call('POST', '/users', { payload: ann, headers: { 'idempotency-key': 'k' } })
  const { statusCode, headers } = response
  t.strictSame([statusCode, headers['retry-after'], response.json().code], [409, '1', 'idempotency_in_progress'])
})
