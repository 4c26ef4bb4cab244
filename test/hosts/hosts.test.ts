// The plugin inside somebody else's server: its hooks, its log, what it adds to HTTP, and its paths, where no answer
// leads away from it. Settings and plugins together: combinations.test.ts; tricks with paths:
// test/http/break-in-paths.test.ts.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import { inject } from '../helpers/app.ts'
import { aroundCommit } from '../helpers/around.ts'
import { served } from '../helpers/exchanges.ts'
import { plainHost, SEMICOLONS } from '../helpers/hosts.ts'
import { listen, rawRequest } from '../helpers/raw.ts'
import { http2, TRANSPORTS } from '../helpers/transports.ts'
import { until } from '../helpers/until.ts'

test('an error of the host’s own hook goes to the host’s own handler', async (t) => {
  const app = await plainHost(t, {}, (app) => {
    app.setErrorHandler((error, _request, reply) => reply.code(418).send({ own: String(error) }))
    app.addHook('onRequest', async ({ headers }) => {
      if (headers['x-fail'] !== undefined) throw new Error('the host says no')
    })
    app.addHook('preHandler', async ({ headers }) => {
      if (headers['x-late'] !== undefined) throw new Error('the host says no, late')
    })
  })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  for (const header of ['x-fail', 'x-late']) {
    const headers = { authorization: `Bearer ${key}`, [header]: '1' }
    const response = await inject(app, 'GET', '/v1/users', { headers })
    t.equal(response.statusCode, 418)
    t.match(response.json().own, /the host says no/)
  }
})

test('the log level that Fastify gives a plugin applies to its routes', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(users, { storage: memory(), logLevel: 'silent', logSerializers: { res: () => 'ours' } })
  await inject(app, 'GET', '/v1/users')
  t.notMatch(lines.join(''), 'incoming request')
})

test('a 304 has no Content-Length, to GET and to HEAD', async (t) => {
  const app = await plainHost(t)
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const { id } = await app.users.create({ name: 'A', email: 'a@b.co' })
  const headers = { authorization: `Bearer ${key}`, 'if-none-match': '"1"' }
  for (const method of ['GET', 'HEAD']) {
    const response = await inject(app, method, `/v1/users/${id}`, { headers })
    t.strictSame([response.statusCode, response.headers['content-length'], response.body], [304, undefined, ''])
  }
})

test('over HTTP/2 a request that its client breaks off before the end of its body is not carried out', async (t) => {
  const { app, send, running } = await served(t, http2)
  const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  const requests: Array<[method: string, path: string, body: string]> = [
    ['POST', '/users', '{"name":"Bob","email":"bob@example.org"}'],
    ['PATCH', `/users/${id}`, '{"name":"Bob"}'],
    ['PUT', `/users/${id}`, '{"name":"Bob","email":"bob@example.org"}'],
    ['DELETE', `/users/${id}`, ''],
    ['POST', '/users/batch', JSON.stringify({ operations: [{ op: 'delete', id }] })]
  ]
  for (const [method, path, body] of requests) {
    const sent = send(method, path, { 'content-type': 'application/json' })
    sent.send(body)
    await until('it has come', () => running() === 1)
    sent.cancel()
    await until('the server has noticed', () => running() === 0)
  }
  await app.close()
  t.match((await app.users.list()).data, [{ id, name: 'Ann', email: 'ann@example.org' }])
  t.equal((await app.users.list()).meta.total, 1)
})

test('a request whose client has left gives its place back, in each version of HTTP', async (t) => {
  for (const transport of TRANSPORTS) {
    const storage = memory()
    const asked: Array<() => void> = []
    aroundCommit(storage, 'users', async (call) => {
      await new Promise<void>((resolve) => { asked.push(resolve) })
      return call()
    })
    const { send, running } = await served(t, transport, { storage, limits: { inFlight: 3 } })
    // A write holds its place until its answer has ended; a read of users until the storage has answered.
    const create = (n: number) => {
      const exchange = send('POST', '/users', { 'content-type': 'application/json' })
      exchange.send(JSON.stringify({ name: 'Ann', email: `ann${n}@example.org` }))
      exchange.end()
      return exchange
    }
    const left = [1, 2, 3].map(create)
    await until('all of them wait for the storage', () => asked.length === 3)
    for (const exchange of left) exchange.cancel()
    await until('the server has noticed', () => running() === 0)
    for (const resolve of asked) resolve()
    const later = create(4)
    later.read()
    await until('the storage is asked again, or there is no place', () => asked.length === 4 || later.ending() !== null)
    asked[3]?.()
    await until('it is answered', () => later.ending() !== null)
    t.strictSame([later.status(), later.ending()], [201, 'whole'], transport.name)
  }
})

test('a semicolon begins the query if the host made it a delimiter', async (t) => {
  const app = await plainHost(t, { routerOptions: SEMICOLONS })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const get = (path: string) => inject(app, 'GET', path, { headers: { authorization: `Bearer ${key}` } })
  t.equal((await get('/v1/users;limit=7')).json().meta.limit, 7)
  t.equal((await get('/v1/users;nonsense')).statusCode, 400)
})

test('Location and Link under a prefix with parameters never leave the host', async (t) => {
  const routerOptions = { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, ...SEMICOLONS }
  const app = Fastify({ routerOptions })
  t.teardown(() => app.close())
  await app.register(users, { prefix: '/:tenant', storage: memory() })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const headers = { authorization: `Bearer ${key}` }
  const payload = { name: 'A', email: 'a@b.co' }
  const created = await inject(app, 'POST', '//evil.example//users/', { headers, payload })
  t.match(created.headers.location, /^\/evil\.example\/users\/usr_\w{26}$/)
  const listed = await inject(app, 'GET', '//a/users/;limit=1', { headers })
  const [first, last] = ['first', 'last'].map((rel) => `</a/users?limit=1&page=1>; rel="${rel}"`)
  t.equal(listed.headers.link, `${first}, ${last}`)
  const body = '{"name":"B","email":"b@b.co"}'
  const head = [
    'POST /\\a>x="b/users HTTP/1.1',
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`
  ]
  const raw = await rawRequest(await listen(app), head, body)
  t.match(raw, /^location: \/%5Ca%3Ex=%22b\/users\/usr_\w{26}\r$/m, 'characters that no path may hold are escaped')
})

test('notFoundHandler: false leaves unknown paths to the host', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async (scope) => {
    scope.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: true }))
    await scope.register(users, { prefix: '/', storage: memory(), notFoundHandler: false })
  }, { prefix: '/a' })
  await app.register(async (scope) => {
    scope.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: true }))
  }, { prefix: '/v1' })
  await app.register(users, { storage: memory(), notFoundHandler: false, decoratorName: 'customers' })
  for (const path of ['/a/nothing', '/v1/nothing']) {
    t.strictSame((await inject(app, 'GET', path)).json(), { own: true })
  }
})
