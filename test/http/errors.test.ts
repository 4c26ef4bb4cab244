// Errors over HTTP: problem details, the formats of the host, and what the log shows of them.
import createError from '@fastify/error'
import { test } from 'tap'
import { UsersError } from '../../lib/core/errors.ts'
import { errorTable } from '../../lib/core/error-table.ts'
import { inject, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'

const CANARY = 'canary-4711@example.org'

test('problem details have the members of RFC 9457, and the id of the request', async (t) => {
  const { call } = await testApp(t, { server: { genReqId: () => 'req-of-the-host' } })
  const response = await call('GET', '/users/x')
  t.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
  t.strictSame(response.json(), {
    type: 'urn:problem:fastify-users:user_not_found',
    title: 'User not found',
    status: 404,
    code: 'user_not_found',
    detail: 'There is no user with this id.',
    requestId: 'req-of-the-host'
  })
})

test('the id of a request is text everywhere, whatever the host makes of it', async (t) => {
  for (const made of [7, 7n]) {
    const { app, call } = await testApp(t, { eventLog: true, server: { genReqId: () => Object(made).valueOf() } })
    const ids: Array<string | null> = []
    app.users.events.on('user.created', ({ requestId }) => { ids.push(requestId) })
    const payload = { name: 'Ann', email: 'ann@example.org' }
    t.equal((await call('POST', '/users', { payload })).statusCode, 201)
    t.equal((await call('GET', '/users/x')).json().requestId, '7')
    t.match((await call('GET', '/events?type=user.created')).json().data, [{ requestId: '7' }])
    t.strictSame(ids, ['7'])
  }
})

test('instanceof knows errors of another copy of the package, and classes that are derived', (t) => {
  class OfAnotherCopy extends createError('FASTIFY_USERS', '%s') {}
  class Mine extends UsersError {}
  class Closer extends Mine {}
  const isOne = (value: unknown) => [UsersError, Mine, Closer].map((type) => value instanceof type)
  t.strictSame(isOne(new UsersError('internal')), [true, false, false])
  t.strictSame(isOne(new OfAnotherCopy('x')), [true, false, false])
  t.strictSame(isOne(new Mine('internal')), [true, true, false])
  t.strictSame(isOne(new Closer('internal')), [true, true, true])
  for (const other of [new Error('x'), { code: 'FASTIFY_USERS' }, null, undefined, 'x']) {
    t.strictSame(isOne(other), [false, false, false])
  }
  t.ok(new UsersError('internal') instanceof Error)
  t.end()
})

test('errorFormat `fastify` passes our errors to the error handler of the host', async (t) => {
  const { call, app } = await testApp(t, { errorFormat: 'fastify' })
  t.strictSame((await call('GET', '/users/x')).json(), {
    statusCode: 404,
    code: 'user_not_found',
    error: 'Not Found',
    message: 'There is no user with this id.'
  })
  t.match(
    (await call('GET', '/nothing')).json(),
    { statusCode: 404, message: 'Route GET:/v1/nothing not found' },
    'unknown paths go to the host too'
  )
  t.equal((await call('PUT', '/users')).headers.allow, 'GET, HEAD, POST', 'headers are kept')
  t.equal((await inject(app, 'GET', '/v1/users')).headers['www-authenticate'], 'Bearer realm="users"')

  const seen: unknown[] = []
  const { call: other } = await testApp(t, {
    errorFormat: 'fastify',
    before: (app) => {
      app.setErrorHandler((error, _request, reply) => {
        seen.push(error)
        return reply.code(400).send({ mine: true })
      })
    }
  })
  const response = await other('POST', '/users', { payload: {} })
  t.strictSame([response.statusCode, response.json()], [400, { mine: true }])
  t.ok(seen[0] instanceof UsersError)
  t.match(seen[0], {
    code: 'validation_failed',
    statusCode: 400,
    errors: [{ pointer: '/name' }, { pointer: '/email' }]
  })
})

test('errorFormat as a function returns the body', async (t) => {
  const { call } = await testApp(t, {
    errorFormat: ({ code, status }, request) => ({ error: code, status, path: request.url })
  })
  const response = await call('GET', '/nothing')
  t.strictSame(
    [response.statusCode, response.headers['content-type'], response.json()],
    [404, 'application/json; charset=utf-8', { error: 'not_found', status: 404, path: '/v1/nothing' }]
  )
})

test('errorFormat that throws or returns no object: answers with problem details, and logs the error', async (t) => {
  for (const errorFormat of [
    () => {
      throw new Error('secret of the host')
    },
    async () => {
      throw new Error('secret of the host')
    },
    () => JSON.parse('null'),
    async () => JSON.parse('5')
  ]) {
    const log = captureLog()
    const { call } = await testApp(t, { errorFormat, server: { logger: { stream: log.stream } } })
    const response = await call('GET', '/nothing')
    t.match(
      [response.statusCode, response.headers['content-type'], response.json().code],
      [404, 'application/problem+json; charset=utf-8', 'not_found']
    )
    t.notMatch(response.body, 'secret')
    t.match(log.text(), 'errorFormat failed')
  }
  const { call } = await testApp(t, { errorFormat: async ({ code }) => ({ later: code }) })
  t.strictSame((await call('GET', '/nothing')).json(), { later: 'not_found' })
})

test('logs requests without their query, whatever serialiser the host has', async (t) => {
  const logged = async (options: Parameters<typeof testApp>[1]) => {
    const log = captureLog()
    const { call } = await testApp(t, {
      ...options,
      server: { logger: Object({ stream: log.stream, ...options?.server }) }
    })
    await call('GET', `/users?email=${CANARY}`)
    await call('GET', '/users')
    return log
  }
  const plain = await logged({})
  t.match(
    plain.entries().filter(({ req }) => req !== undefined),
    [{ req: { method: 'GET', url: '/v1/users', host: 'localhost:80' } }, { req: { url: '/v1/users' } }]
  )
  t.notMatch(plain.text(), CANARY)
  const custom = await logged({
    server: Object({
      serializers: { req: ({ method, id }: { method: string; id: string }) => ({ method, trace: id }) }
    })
  })
  t.match(custom.text(), '"req":{"method":"GET","trace":"req-1"}')
  const ours = await logged({ logSerializers: { req: () => 'ours' } })
  t.match(ours.text(), '"req":"ours"')
})

test('each error is a new object, and the table of errors is frozen', async (t) => {
  t.ok(Object.isFrozen(errorTable))
  const [a, b] = [new UsersError('internal', { cause: new Error('x') }), new UsersError('internal')]
  t.equal(b.cause, undefined)
  t.strictSame(
    Object.keys(a),
    ['code', 'name', 'statusCode', 'message', 'title'],
    'the cause is not enumerable'
  )
})
