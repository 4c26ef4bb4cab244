// Contract §8: a repeated creation creates one user, over HTTP and in process, on every storage.
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import { aroundCommit } from '../helpers/around.ts'
import { ALL_SCOPES, inject, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { listen, rawRequest } from '../helpers/raw.ts'
import { stores } from '../helpers/stores.ts'

const ann = { name: 'Ann', email: 'ann@example.org' }

for (const store of stores) {
  test(`repeated creations under one Idempotency-Key create one user on ${store.name}`, async (t) => {
    const { app, call, key } = await testApp(t, { storage: await store.create(t), idempotencyTtl: 60 })
    const post = (idempotencyKey: string, payload: unknown, token = key) =>
      inject(app, 'POST', '/v1/users', {
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey
        },
        payload: JSON.stringify(payload)
      })

    const first = await post('k-1', ann)
    t.equal(first.statusCode, 201)
    t.equal(first.headers['idempotency-replayed'], undefined)
    await app.users.update(first.json().id, { name: 'Later' })
    for (const body of [ann, { email: ann.email, name: ann.name }]) {
      const again = await post('k-1', body)
      const { date: _a, ...headers } = first.headers
      const { date: _b, ...replayed } = again.headers
      t.strictSame(
        [again.statusCode, again.body, replayed],
        [201, first.body, { ...headers, 'idempotency-replayed': 'true' }],
        'the first answer is replayed'
      )
    }
    const other = await post('k-1', { ...ann, name: 'Bob' })
    t.match([other.statusCode, other.json()], [422, { code: 'idempotency_key_reused' }])
    t.equal((await post('k-1', { name: 5 })).statusCode, 400, 'validation precedes the replay')
    t.equal((await post('k-2', ann)).statusCode, 409, 'another idempotency key is another creation')
    t.equal(
      (await post('k-2', { ...ann, email: 'second@example.org' })).statusCode,
      201,
      'a failed creation stores no idempotency key'
    )
    const { key: stranger } = await app.users.apiKeys.create({ name: 'other', scopes: ALL_SCOPES })
    t.equal(
      (await post('k-1', { ...ann, email: 'third@example.org' }, stranger)).statusCode,
      201,
      'callers do not share idempotency keys'
    )
    for (const wrong of ['', 'a b', 'é', 'x'.repeat(256), 'a, b']) {
      const response = await post(wrong, ann)
      t.match(
        [response.statusCode, response.json()],
        [400, { errors: [{ header: 'idempotency-key', code: 'format' }] }],
        JSON.stringify(wrong)
      )
    }
    t.equal((await post('x'.repeat(255), { ...ann, email: 'long@example.org' })).statusCode, 201)

    const twenty = await Promise.all(
      Array.from({ length: 20 }, () => post('concurrent', { name: 'Once', email: 'once@example.org' }))
    )
    t.equal(
      twenty.filter(
        ({ statusCode, headers }) => statusCode === 201 && headers['idempotency-replayed'] === undefined
      ).length,
      1
    )
    t.ok(
      twenty.every(
        ({ statusCode, headers }) => statusCode === 201 || (statusCode === 409 && headers['retry-after'] === '1')
      )
    )
    t.equal(new Set(twenty.filter(({ statusCode }) => statusCode === 201).map(({ body }) => body)).size, 1)

    await call('DELETE', `/users/${first.json().id}`)
    t.not((await post('k-1', ann)).json().id, first.json().id, 'idempotency keys are deleted with their user')

    const inProcess = await app.users.create({ name: 'P', email: 'p@example.org' }, { idempotencyKey: 'k-1' })
    t.strictSame(
      await app.users.create({ name: 'P', email: 'p@example.org' }, { idempotencyKey: 'k-1' }),
      inProcess
    )
    await t.rejects(app.users.create({ name: 'Q', email: 'p@example.org' }, { idempotencyKey: 'k-1' }), {
      code: 'idempotency_key_reused',
      statusCode: 422
    })
    await t.rejects(app.users.create({ name: 'Q', email: 'q@example.org' }, { idempotencyKey: '' }), {
      code: 'validation_failed'
    })
    // In the past, since the ids of a process that was in the future stay there, which other tests would meet.
    mock.timers.enable({ apis: ['Date'], now: Date.now() - 60_001 })
    const past = await app.users.create({ name: 'P', email: 'p2@example.org' }, { idempotencyKey: 'k-2' })
    mock.timers.reset()
    t.not(
      (await app.users.create({ name: 'P', email: 'p3@example.org' }, { idempotencyKey: 'k-2' })).id,
      past.id,
      'an expired idempotency key can be used again'
    )
  })
}

test('refuses a request with two Idempotency-Key headers', async (t) => {
  const { app, key } = await testApp(t)
  const port = await listen(app)
  const head = [
    'POST /v1/users HTTP/1.1',
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Content-Length: 40'
  ]
  t.match(
    await rawRequest(port, [...head, 'Idempotency-Key: a', 'Idempotency-Key: a'], JSON.stringify(ann)),
    /^HTTP\/1.1 400 .*idempotency-key/s
  )
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
  t.equal(
    log.entries().filter(({ msg }) => String(msg).startsWith('could not prune expired idempotency keys')).length,
    1
  )
})

test('answers 409 with Retry-After while the first creation is still running', async (t) => {
  const { call } = await testApp(t, {
    storage: aroundCommit(memory(), 'idempotency', async () => {
      throw new StorageError('idempotency_in_progress', 'still running')
    })
  })
  const response = await call('POST', '/users', { payload: ann, headers: { 'idempotency-key': 'k' } })
  t.match(
    [response.statusCode, response.headers['retry-after'], response.json().code],
    [409, '1', 'idempotency_in_progress']
  )
})
