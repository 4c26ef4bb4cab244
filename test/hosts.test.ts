// The plugin inside somebody else's server: nothing of the host's reaches our routes, nothing of ours reaches the host's.
import { once } from 'node:events'
import { connect, type OutgoingHttpHeaders } from 'node:http2'
import { text } from 'node:stream/consumers'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { test, type Test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import users, { type Users } from '../lib/index.ts'
import { ALL_SCOPES, inject } from './helpers/app.ts'
import { listen, rawRequest } from './helpers/raw.ts'
import { stores } from './helpers/stores.ts'
import './helpers/watch-all.ts'

declare module 'fastify' {
  interface FastifyInstance { customers: Users }
}

// Fastify takes this router option; its types have it at the top level alone.
const SEMICOLONS: object = { useSemicolonDelimiter: true }
const JSON_HEADERS = { 'content-type': 'application/json' }
const requests: Array<[method: string, path: string, payload?: unknown, headers?: Record<string, string>]> = [
  ['GET', '/users'], ['HEAD', '/users'], ['GET', '/users?page=1e0'], ['GET', '/users?limit=5&x[y]=1'], ['GET', '/users?limit=1&limit=2'], ['GET', '/users?page=2&limit=1'],
  ['POST', '/users', { name: 5, email: ['a@b.co'] }], ['POST', '/users', { name: 'B', email: 'b@c.de', role: 'admin' }], ['POST', '/users', { name: 'B', email: 'B@c.de' }],
  ['POST', '/users', '{"name":"C","email":"c@c.de","__proto__":{}}', JSON_HEADERS], ['POST', '/users', '{', JSON_HEADERS], ['POST', '/users', ' '.repeat(17_000), JSON_HEADERS],
  ['POST', '/users', '<x/>', { 'content-type': 'application/xml' }], ['POST', '/users'], ['PUT', '/users', {}], ['OPTIONS', '/users'], ['QUERY', '/users', {}],
  ['GET', '/users/ID'], ['HEAD', '/users/ID'], ['GET', '/users/ID', undefined, { 'if-none-match': '"1"' }], ['GET', '/users/nope'], ['GET', '/nothing'], ['GET', '/users', undefined, { authorization: 'Bearer x' }],
  ['PATCH', '/users/ID', { name: true }], ['PATCH', '/users/ID', {}], ['PATCH', '/users/ID', { name: 'X' }, { 'if-match': '"9"' }], ['DELETE', '/users/ID', '', JSON_HEADERS], ['DELETE', '/users/ID']
]

/** Every answer of a host, with what differs by itself (ids and times) made equal. */
async function answers (app: FastifyInstance): Promise<string[]> {
  const { key } = await app.users.apiKeys.create({ name: 'host', scopes: ALL_SCOPES })
  const headers = { authorization: `Bearer ${key}` }
  const { id } = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await app.users.create({ name: 'Bea', email: 'b@c.de' })
  const seen: string[] = []
  for (const [method, path, payload, more] of requests) {
    const response = await inject(app, method, `/v1${path.replace('ID', id)}`, { headers: { ...headers, ...more }, ...(payload !== undefined && { payload: Object(payload) instanceof String ? String(payload) : Object(payload) }) })
    const { date, ...rest } = response.headers
    const text = JSON.stringify([method, path, response.statusCode, rest, response.body])
    seen.push(text.replaceAll(/usr_\w{26}/g, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'))
  }
  return seen
}

async function plainHost (t: Test, options: FastifyServerOptions = {}, prepare: (app: FastifyInstance) => void = () => {}): Promise<FastifyInstance> {
  const app = Fastify({ genReqId: () => 'r', ...options })
  t.teardown(() => app.close())
  prepare(app)
  await app.register(users, { prefix: '/v1', storage: memory() })
  return app
}

function turnAgainstUs (app: FastifyInstance): void {
  // As fastify-type-provider-zod does: a schema that is no Zod schema is an error at boot.
  app.setValidatorCompiler(() => { throw new Error('not a Zod schema') })
  app.setSerializerCompiler(() => { throw new Error('not a Zod schema') })
  app.setReplySerializer(() => 'the host serialises')
  app.setSchemaErrorFormatter(() => new Error('the host formats'))
  app.setErrorHandler((_error, _request, reply) => reply.code(418).send('the host handles'))
  app.setNotFoundHandler((_request, reply) => reply.code(418).send('the host finds nothing'))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, _body, done) => done(null, { parsed: 'by the host' }))
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, { parsed: 'by the host' }))
  app.addHook('preSerialization', async () => ({ wrapped: 'by the host' }))
  app.addSchema({ $id: 'User', type: 'string' })
}

const hostile: Array<[name: string, options: FastifyServerOptions, prepare?: (app: FastifyInstance) => void]> = [
  ['Ajv that coerces, removes and defaults', { ajv: { customOptions: { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true, allErrors: true } } }],
  ['compilers, serialisers, parsers and handlers of its own', {}, turnAgainstUs],
  ['a tiny body limit', { bodyLimit: 10 }],
  ['a huge body limit', { bodyLimit: 2 ** 30 }],
  ['no HEAD routes', { exposeHeadRoutes: false }],
  ['poisoning let through', { onProtoPoisoning: 'ignore', onConstructorPoisoning: 'ignore' }],
  ['a schema controller', { schemaController: { compilersFactory: { buildValidator: () => () => { throw new Error('no validator') }, buildSerializer: () => () => { throw new Error('no serializer') } } } }],
  ['routes without case', { routerOptions: { caseSensitive: false } }],
  ['trailing slashes ignored', { routerOptions: { ignoreTrailingSlash: true } }],
  ['duplicate slashes ignored', { routerOptions: { ignoreDuplicateSlashes: true } }],
  ['semicolons in the query', { routerOptions: SEMICOLONS }],
  ['a query parser that nests', { routerOptions: { querystringParser: () => ({ page: { $gt: 0 }, admin: true }) } }],
  ['short parameters', { routerOptions: { maxParamLength: 30 } }],
  ['unsafe regular expressions', { routerOptions: { allowUnsafeRegex: true } }],
  ['its own bad-URL handler', { routerOptions: { onBadUrl: (_path, _request, response) => response.end('bad') } }],
  ['its own handler of long parameters', { routerOptions: Object({ onMaxParamLength: (_path: string, _request: unknown, response: { end: (text: string) => void }) => response.end('long'), maxParamLength: 40 }) }],
  ['routes compiled', { routerOptions: Object({ compile: true }) }],
  ['a constraint of its own', {
    routerOptions: Object({
      constraints: {
        tenant: { name: 'tenant', storage: () => { const map = new Map(); return { get: (key: unknown) => map.get(key) ?? null, set: (key: unknown, value: unknown) => map.set(key, value) } }, deriveConstraint: () => 'x', validate () {}, mustMatchWhenDerived: false }
      }
    })
  }],
  ['old names of router options', { maxParamLength: 50, caseSensitive: false, ignoreTrailingSlash: true }],
  ['a rewritten URL', { rewriteUrl: ({ url = '' }) => url }],
  ['no 503 while closing', { return503OnClosing: false }]
]

test('hosts of every kind get the same answers, byte for byte', async (t) => {
  const expected = await answers(await plainHost(t))
  t.equal(new Set(expected).size, requests.length)
  for (const [name, options, prepare] of hostile) {
    t.strictSame(await answers(await plainHost(t, options, prepare)), expected, name)
  }
})

test('the host stays as it was', async (t) => {
  const answersOf = async (withUs: boolean) => {
    const app = Fastify({ genReqId: () => 'r' })
    t.teardown(() => app.close())
    app.setErrorHandler((error, _request, reply) => reply.code(418).send({ own: String(error) }))
    if (withUs) await app.register(users, { prefix: '/v1', storage: memory() })
    app.post('/own', { schema: { body: { type: 'object', properties: { n: { type: 'number' } } } } }, async ({ body }) => body)
    app.get('/own/:id', async ({ params, query }) => ({ params, query }))
    app.get('/boom', async () => { throw new Error('boom') })
    const seen = []
    for (const [method, url, payload, headers] of [
      ['POST', '/own', { n: '5', extra: 1 }], ['POST', '/own', { n: 'x' }], ['POST', '/own', '{', JSON_HEADERS], ['POST', '/own', 'x', { 'content-type': 'text/plain' }],
      ['GET', '/own/1?a=1&a=2'], ['PUT', '/own'], ['GET', '/boom'], ['GET', '/nothing'], ['HEAD', '/own/1'], ['OPTIONS', '/own'], ['GET', '/v2/users']
    ] as const) {
      const response = await inject(app, method, url, { ...(payload !== undefined && { payload }), ...(headers !== undefined && { headers }) })
      const { date, ...rest } = response.headers
      seen.push([method, url, response.statusCode, rest, response.body])
    }
    return seen
  }
  t.strictSame(await answersOf(true), await answersOf(false))
})

test('an error of the host\'s own hook goes to its own handler', async (t) => {
  const app = await plainHost(t, {}, (app) => {
    app.setErrorHandler((error, _request, reply) => reply.code(418).send({ own: String(error) }))
    app.addHook('onRequest', async (request) => { if (request.headers['x-fail'] !== undefined) throw new Error('the host says no') })
    app.addHook('preHandler', async (request) => { if (request.headers['x-late'] !== undefined) throw new Error('the host says no, late') })
  })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  for (const header of ['x-fail', 'x-late']) {
    const response = await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}`, [header]: '1' } })
    t.equal(response.statusCode, 418)
    t.match(response.json().own, /the host says no/)
  }
})

test('path tricks under every router option: 401 or 404, and never an answer for a stranger', async (t) => {
  const paths = ['//v1/users', '/v1//users', '/v1/users/', '/V1/Users', '/v1/users;x', '/v1/users;x=1?y', '/v1/%75sers', '/v1/users%2F', '/v1/./users', '/v1/x/../users', '/v1/users#x', '/v1/users%00', '/v1\\users']
  for (const routerOptions of [{}, { ignoreDuplicateSlashes: true }, { ignoreTrailingSlash: true }, { caseSensitive: false }, SEMICOLONS]) {
    const app = await plainHost(t, { routerOptions })
    for (const path of paths) {
      const { statusCode } = await inject(app, 'GET', path)
      t.ok([400, 401, 404].includes(statusCode), `${path} ${statusCode}`)
    }
  }
})

test('a semicolon that the host made a delimiter begins our query too', async (t) => {
  const app = await plainHost(t, { routerOptions: SEMICOLONS })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const get = (path: string) => inject(app, 'GET', path, { headers: { authorization: `Bearer ${key}` } })
  t.equal((await get('/v1/users;limit=7')).json().meta.limit, 7)
  t.equal((await get('/v1/users;nonsense')).statusCode, 400)
})

test('Location under a prefix with parameters never leaves the host', async (t) => {
  const app = Fastify({ routerOptions: { ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, ...SEMICOLONS } })
  t.teardown(() => app.close())
  await app.register(users, { prefix: '/:tenant', storage: memory() })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const headers = { authorization: `Bearer ${key}` }
  const created = await inject(app, 'POST', '//evil.example//users/', { headers, payload: { name: 'A', email: 'a@b.co' } })
  t.match(created.headers.location, /^\/evil\.example\/users\/usr_\w{26}$/)
  t.equal((await inject(app, 'GET', '//a/users/;limit=1', { headers })).headers.link, '</a/users?limit=1&page=1>; rel="first", </a/users?limit=1&page=1>; rel="last"')
  const body = '{"name":"B","email":"b@b.co"}'
  const raw = await rawRequest(await listen(app), ['POST /\\a>x="b/users HTTP/1.1', 'Host: x', 'Connection: close', `Authorization: Bearer ${key}`, 'Content-Type: application/json', `Content-Length: ${body.length}`], body)
  t.match(raw, /^location: \/%5Ca%3Ex=%22b\/users\/usr_\w{26}\r$/m, 'what no path may hold is escaped')
})

test('CORS of the host answers its preflights, and everything else is 405', async (t) => {
  const app = await plainHost(t, {}, (app) => { app.register(cors, { origin: 'https://app.example' }) })
  const preflight = await inject(app, 'OPTIONS', '/v1/users', { headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' } })
  t.equal(preflight.statusCode, 204)
  t.equal(preflight.headers['access-control-allow-origin'], 'https://app.example')
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const actual = await inject(app, 'GET', '/v1/users', { headers: { origin: 'https://app.example', authorization: `Bearer ${key}` } })
  t.equal(actual.headers['access-control-allow-origin'], 'https://app.example', 'the host\'s headers are on our answers')
})

for (const store of stores) {
  test(`two mounts and nested prefixes in one host on ${store.name}`, async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(users, { prefix: '/v1', storage: await store.create(t), migrate: true })
    await app.register(async (child) => {
      await child.register(users, { prefix: '/customers/v1/', storage: await store.create(t), migrate: true, decoratorName: 'customers', keyPrefix: 'cu' })
      const made = await child.customers.apiKeys.create({ name: 'customers' })
      t.match(made.key, /^cu_/)
      child.get('/key', async () => made.key)
    }, { prefix: '/api' })
    const { key } = await app.users.apiKeys.create({ name: 'users' })
    const customerKey = (await app.inject('/api/key')).body
    const post = (url: string, token: string) => inject(app, 'POST', url, { headers: { authorization: `Bearer ${token}` }, payload: { name: 'Ann', email: 'ann@example.org' } })
    t.match((await post('/v1/users', key)).headers.location, /^\/v1\/users\/usr_/)
    t.match((await post('/api/customers/v1/users', customerKey)).headers.location, /^\/api\/customers\/v1\/users\/usr_/)
    t.equal((await post('/v1/users', customerKey)).statusCode, 401, 'a key of one mount is nothing to the other')
    t.equal((await post('/api/customers/v1/users', key)).statusCode, 401)
    t.equal((await app.users.list()).meta.total, 1)
  })
}

test('a key revoked through one mount is revoked at once in every mount on its storage', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const storage = memory()
  await app.register(users, { prefix: '/v1', storage })
  await app.register(users, { prefix: '/v2', storage, decoratorName: 'customers' })
  const { id, key } = await app.users.apiKeys.create({ name: 'x' })
  const statuses = () => Promise.all(['/v1/users', '/v2/users'].map(async (url) => (await inject(app, 'GET', url, { headers: { authorization: `Bearer ${key}` } })).statusCode))
  t.strictSame(await statuses(), [200, 200])
  await app.customers.apiKeys.revoke(id)
  t.strictSame(await statuses(), [401, 401])
})

test('unknown paths are left to the host where it says so', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async (scope) => {
    scope.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: true }))
    await scope.register(users, { prefix: '/', storage: memory(), notFoundHandler: false })
  }, { prefix: '/a' })
  await app.register(async (scope) => { scope.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: true })) }, { prefix: '/v1' })
  await app.register(users, { storage: memory(), notFoundHandler: false, decoratorName: 'customers' })
  for (const path of ['/a/nothing', '/v1/nothing']) t.strictSame((await inject(app, 'GET', path)).json(), { own: true })
})

test('HEAD of a 304 claims no length', async (t) => {
  const app = await plainHost(t)
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  const { id } = await app.users.create({ name: 'A', email: 'a@b.co' })
  for (const method of ['GET', 'HEAD']) {
    const response = await inject(app, method, `/v1/users/${id}`, { headers: { authorization: `Bearer ${key}`, 'if-none-match': '"1"' } })
    t.strictSame([response.statusCode, response.headers['content-length'], response.body], [304, undefined, ''])
  }
})

test('a name that is taken, a prefix that is taken, a router that cuts ids', async (t) => {
  const attempt = async (prepare: (app: FastifyInstance) => Promise<unknown>, options: FastifyServerOptions = {}) => {
    const app = Fastify(options)
    t.teardown(() => app.close())
    await prepare(app)
  }
  await t.rejects(attempt(async (app) => {
    app.decorate('users', JSON.parse('{}'))
    await app.register(users, { storage: memory() })
  }), { message: 'fastify-users: app.users exists already: choose another name with the option decoratorName' })
  await t.rejects(attempt(async (app) => {
    await app.register(users, { storage: memory() })
    await app.register(users, { storage: memory(), decoratorName: 'customers' })
  }), { code: 'FST_ERR_DUPLICATED_ROUTE' })
  await t.rejects(attempt((app) => Promise.resolve(app.register(users, { storage: memory() })), { routerOptions: { maxParamLength: 29 } }),
    { message: "fastify-users: the router's maxParamLength is 29, but ids have 30 characters" })
})

test('a host that speaks HTTP/2', async (t) => {
  const app = Fastify({ http2: true })
  t.teardown(() => app.close())
  await app.register(users, { storage: memory() })
  const { key } = await app.users.apiKeys.create({ name: 'x' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const client = connect(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`)
  t.teardown(() => client.close())
  const send = async (headers: OutgoingHttpHeaders, body = '') => {
    const stream = client.request({ authorization: `Bearer ${key}`, ...headers })
    if (body !== '') stream.end(body)
    const [answer] = await once(stream, 'response')
    return { status: answer[':status'], location: answer['location'], body: await text(stream) }
  }
  const payload = '{"name":"A","email":"a@b.co"}'
  t.equal((await send({ ':path': '/v1/users', authorization: 'Bearer x' })).status, 401)
  t.match(await send({ ':method': 'POST', ':path': '/v1/users', 'content-type': 'application/json' }, payload), { status: 201, location: /^\/v1\/users\/usr_/ })
  t.equal((await send({ ':method': 'POST', ':path': '/v1/users', 'content-type': 'text/plain' }, payload)).status, 415)
  const { data: [user] } = JSON.parse((await send({ ':path': '/v1/users' })).body)
  t.equal((await send({ ':method': 'POST', ':path': '/v1/users' }, payload)).status, 415, 'a body without a media type, which needs no length here')
  t.equal((await send({ ':method': 'DELETE', ':path': `/v1/users/${user.id}`, 'content-type': 'text/plain' })).status, 415)
  t.equal((await send({ ':method': 'DELETE', ':path': `/v1/users/${user.id}` })).status, 204)
})

test('options that Fastify itself gives a plugin', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: { stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(() => app.close())
  await app.register(users, { storage: memory(), logLevel: 'silent', logSerializers: { res: () => 'ours' } })
  await inject(app, 'GET', '/v1/users')
  t.notMatch(lines.join(''), 'incoming request')
})
