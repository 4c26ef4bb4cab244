// Errors over HTTP: problem details, the formats of the host, and what the log shows of them.
import createError from '@fastify/error'
import { test } from 'tap'
import { UsersError } from '../../lib/core/errors.ts'
import { inject, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'

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
  const isOne = (value: unknown) => [UsersError, Mine].map((type) => value instanceof type)
  t.strictSame(isOne(new UsersError('internal')), [true, false])
  t.strictSame(isOne(new OfAnotherCopy('x')), [true, false])
  t.strictSame(isOne(new Mine('internal')), [true, true])
  for (const other of [new Error('x'), { code: 'FASTIFY_USERS' }, null, undefined, 'x']) {
    t.strictSame(isOne(other), [false, false])
  }
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
  const errors = [{ pointer: '/name' }, { pointer: '/email' }]
  t.match(seen[0], { code: 'validation_failed', statusCode: 400, errors })
})

test('errorFormat as a function makes the body, or else it is problem details, and the error is logged', async (t) => {
  const fail = () => { throw new Error('secret of the host') }
  for (const errorFormat of [async () => fail(), () => JSON.parse('null'), async () => JSON.parse('5')]) {
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
  const { call } = await testApp(t, {
    errorFormat: async ({ code, status }, request) => ({ error: code, status, path: request.url })
  })
  const { statusCode, headers, json } = await call('GET', '/nothing')
  t.strictSame([statusCode, headers['content-type'], json()],
    [404, 'application/json; charset=utf-8', { error: 'not_found', status: 404, path: '/v1/nothing' }])
})
