// app.users.guard() and app.users.for(): the keys of a mount open routes of the host's own.
import { once } from 'node:events'
import { request as send } from 'node:http'
import type { Socket } from 'node:net'
import websocket from '@fastify/websocket'
import Fastify, { type FastifyInstance, type FastifyRequest, type InjectOptions } from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import fastifyUsers, { type UsersError } from '../../lib/index.ts'
import { type Given, host, own, STATIC } from './guarded.ts'

test('a guarded route knows who was let in', async (t) => {
  const { ask, keyOf } = await host(t)
  const { id, key } = await keyOf('orders:read')
  const { statusCode, headers, body } = await ask('/orders', key)
  t.equal(statusCode, 200)
  t.strictSame(JSON.parse(body), {
    caller: { id, name: 'shop', scopes: ['orders:read'], tenant: null, type: 'api_key' }
  })
  t.notHas(headers, { 'cache-control': String }, 'answers of the host stay as they are')
})

const told = ({ statusCode, headers, body }: Awaited<ReturnType<FastifyInstance['inject']>>) => ({
  statusCode,
  challenge: headers['www-authenticate'],
  type: headers['content-type'],
  cache: headers['cache-control'],
  body: body.replace(/"requestId":"[^"]*"/, '')
})

test('who is not let in gets the answers of our own routes, on every method', async (t) => {
  const { app, users, ask, keyOf } = await host(t, { authenticate: async () => null })
  const valid = await keyOf('orders:read')
  const revoked = await keyOf('orders:read', 'users:read')
  await users.apiKeys.revoke(revoked.id)
  const wrong: Array<[string, InjectOptions]> = [
    ['no header', {}],
    ['an unknown key', { headers: { authorization: `Bearer ${STATIC}` } }],
    ['a revoked key', { headers: { authorization: `Bearer ${revoked.key}` } }],
    ['a key in the query', { query: { access_token: valid.key } }]
  ]
  for (const [name, options] of wrong) {
    const [theirs, ours] = [
      await app.inject({ url: '/orders', ...options }), await app.inject({ url: '/v1/users', ...options })
    ]
    t.strictSame(told(theirs), told(ours), name)
    t.equal(theirs.statusCode, 401, name)
  }
  const head = await ask('/orders', undefined, { method: 'HEAD' })
  t.strictSame([head.statusCode, head.body], [401, ''])
  const { statusCode } = await ask('/orders', undefined, {
    method: 'POST', payload: '{', headers: { 'content-type': 'application/json' }
  })
  t.equal(statusCode, 401, 'a stranger’s body is not read')
})

test('a key needs every scope that is named, and the challenge names them', async (t) => {
  const { ask, keyOf } = await host(t)
  const asked = { method: 'POST', payload: {} } as const
  const answer = await ask('/orders', (await keyOf('orders:read', 'users:write')).key, asked)
  t.strictSame([answer.statusCode, answer.headers['www-authenticate']],
    [403, 'Bearer realm="users", error="insufficient_scope", scope="orders:read orders:write"'])
  t.equal((await ask('/orders', (await keyOf('orders:read', 'orders:write')).key, asked)).statusCode, 200)
})

test('errors have the format of the mount', async (t) => {
  const formats: Array<[Given, string]> = [
    [{ errorFormat: ({ code, status }) => ({ wrong: code, status }) }, '{"wrong":"unauthorized","status":401}'],
    [
      {
        errorFormat: 'fastify',
        before: (app) => app.setErrorHandler((error: UsersError, _request, reply) =>
          reply.code(error.statusCode).send({ mine: error.code }))
      },
      '{"mine":"unauthorized"}'
    ]
  ]
  for (const [given, expected] of formats) {
    const { ask } = await host(t, given)
    const { statusCode, headers, body } = await ask('/orders')
    t.strictSame([statusCode, headers['www-authenticate'], body], [401, 'Bearer realm="users"', expected])
  }
})

test('limits count guarded routes and those of the mount together', async (t) => {
  const { ask, keyOf } = await host(t, {
    limits: { requests: { max: 3, window: 60 }, failures: { max: 2, window: 60 } }
  })
  const { key } = await keyOf('orders:read', 'users:read')
  const urls = ['/orders', '/v1/users', '/orders', '/orders']
  const answers = []
  for (const url of urls) answers.push(await ask(url, key))
  t.strictSame(answers.map(({ statusCode }) => statusCode), [200, 200, 200, 429])
  t.strictSame(answers.map(({ headers }) => String(headers['ratelimit']).split(';')[1]), ['r=2', 'r=1', 'r=0', 'r=0'])
  t.match(answers.at(-1)?.headers, { 'retry-after': /^\d+$/ })
  for (const url of ['/orders', '/v1/users', '/orders']) answers.push(await ask(url, 'wrong'))
  t.strictSame(answers.slice(4).map(({ statusCode }) => statusCode), [401, 401, 429])
})

test('a request that passes several guards is checked, limited and counted once', async (t) => {
  const { app, users, ask, keyOf } = await host(t, {
    limits: { requests: { max: 10, window: 60 }, deletions: { max: 1, window: 60 } },
    before: (app) => app.register(async (scope) => { scope.get('/open', async () => 'open') })
  })
  await app.register(async (scope) => {
    scope.addHook('onRequest', users.guard())
    scope.get('/inner', { onRequest: users.guard(own('orders:read')) }, async ({ caller }) => caller?.name)
    scope.delete('/people/:id', { onRequest: users.guard('users:delete') }, async () => 'gone')
  })
  const { id, key } = await keyOf('orders:read', 'users:delete')
  const { headers, body } = await ask('/inner', key)
  t.strictSame([body, String(headers['ratelimit']).split(';')[1]], ['shop', 'r=9'])
  t.strictSame((await users.apiKeys.uses(id)).data.map(({ uses }) => uses), [1])
  const deletions = []
  for (let i = 0; i < 2; i++) deletions.push((await ask('/people/1', key, { method: 'DELETE' })).statusCode)
  t.strictSame(deletions, [200, 429], 'deletions are limited behind an outer guard too')
  t.equal((await ask('/open')).body, 'open')
})

test('addresses of keys, static keys and tokens of the host count on guarded routes', async (t) => {
  const { users, ask } = await host(t, {
    apiKeys: { static: [{ key: STATIC, name: 'cron', scopes: [own('orders:read')] }] },
    authenticate: async (token) => token === 'session' ? { id: 'u1', name: 'Ada', scopes: ['orders:read', 'x'] } : null
  })
  const bound = await users.apiKeys.create({ name: 'far', scopes: [own('orders:read')], addresses: ['203.0.113.0/24'] })
  t.equal((await ask('/orders', bound.key)).statusCode, 401)
  t.equal((await ask('/orders', bound.key, { remoteAddress: '203.0.113.9' })).statusCode, 200)
  t.strictSame(JSON.parse((await ask('/orders', STATIC)).body).caller,
    { id: 'cron', name: 'cron', scopes: ['orders:read'], tenant: null, type: 'static' })
  t.strictSame(JSON.parse((await ask('/orders', 'session')).body).caller,
    { id: 'u1', name: 'Ada', scopes: ['orders:read'], tenant: null, type: 'host' })
})

test('another tenant’s path is not found, and app.users.for() is bound to the tenant of a request', async (t) => {
  const { app, users, ask } = await host(t, { tenants: true })
  const names = (request: FastifyRequest) => users.for(request).list()
  app.get('/companies/:tenant/orders', { onRequest: users.guard(own('orders:read')) }, async (request) =>
    ({ tenant: request.caller?.tenant, total: (await names(request)).meta.total }))
  app.get('/mine', { onRequest: users.guard(own('orders:read')) }, async (request) => (await names(request)).meta)
  app.get('/verified/:tenant', async (request) => await users.apiKeys.verify(request))
  for (const tenant of ['acme', 'globex']) {
    for (const n of [1, 2]) await users.tenant(tenant).create({ name: 'A', email: `a${n}@${tenant}.example` })
  }
  const acme = await users.tenant('acme').apiKeys.create({ name: 'a', scopes: [own('orders:read')] })
  const platform = await users.apiKeys.create({ name: 'p', scopes: [own('orders:read')] })
  const seen = async (url: string, key: string) => {
    const { statusCode, body } = await ask(url, key)
    return [statusCode, statusCode === 200 ? JSON.parse(body) : JSON.parse(body).code]
  }
  t.strictSame(await seen('/companies/acme/orders', acme.key), [200, { tenant: 'acme', total: 2 }])
  t.strictSame(await seen('/companies/globex/orders', acme.key), [404, 'not_found'])
  t.strictSame(await seen('/companies/globex/orders', platform.key), [200, { tenant: null, total: 2 }])
  for (const name of ['Acme', '-acme', 'acme%20', '__proto__', '%00', '', 'a'.repeat(65)]) {
    t.strictSame(await seen(`/companies/${name}/orders`, platform.key), [404, 'not_found'],
      `${name} is no tenant, and bounds nothing`)
  }
  const asked = { url: '/verified/Acme', headers: { authorization: `Bearer ${platform.key}` } }
  t.match((await app.inject(asked)).json(), { code: 'not_found' })
  t.match(await seen('/mine', acme.key), [200, { total: 2 }])
  t.match(await seen('/mine', platform.key), [200, { total: 4 }])
  await t.rejects(users.tenant('globex').apiKeys.verify(acme.key), { code: 'invalid_api_key' })
  t.match(await users.tenant('acme').apiKeys.verify(acme.key), { tenant: 'acme' })
})

test('app.users.for() names the caller and the request in the history', async (t) => {
  const { app, users, ask, keyOf } = await host(t)
  app.post('/people', { onRequest: users.guard('users:write') }, async (request) =>
    await users.for(request).create({ name: 'Ann', email: 'ann@example.org' }))
  app.get('/open', async (request) => users.for(request))
  const { id, key } = await keyOf('users:write')
  const created = await ask('/people', key, { method: 'POST', payload: {} })
  const { data } = await users.events.ofUser(JSON.parse(created.body).id)
  t.match(data, [{ actor: { type: 'api_key', id, name: 'shop' }, requestId: /^req-/ }])
  const refused = await ask('/open', key)
  t.match(JSON.parse(refused.body), {
    message: /no route, guard or verification of this mount has admitted this request/
  })
})

test('each mount lets in its own callers', async (t) => {
  const { app, users, ask, keyOf } = await host(t)
  await app.register(fastifyUsers, { storage: memory(), prefix: '/v2', decoratorName: 'others', callerName: 'other' })
  const others: typeof users = Reflect.get(app, 'others')
  app.get('/theirs', { onRequest: others.guard('users:read') }, async (request) => ({
    caller: request.caller, other: Reflect.get(request, 'other').name, isOurs: !!others.for(request)
  }))
  app.get('/mixed', { onRequest: others.guard('users:read') }, async (request) => users.for(request))
  const { key } = await keyOf('users:read')
  t.equal((await ask('/theirs', key)).statusCode, 401)
  const theirs = await others.apiKeys.create({ name: 'theirs', scopes: ['users:read'] })
  t.strictSame(JSON.parse((await ask('/theirs', theirs.key)).body), { caller: null, other: 'theirs', isOurs: true })
  t.equal((await ask('/mixed', theirs.key)).statusCode, 500, 'a caller of one mount is nobody in another')
})

test('the member of requests has a name that the host can choose, and is there for guards alone', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorateRequest('caller', null)
  await app.register(fastifyUsers, { storage: memory() })
  t.throws(() => app.users.guard(), { message: /request\.caller already exists: set another name .* callerName/ })
  t.throws(() => Reflect.apply(app.users.guard, null, [{ raw: {} }, {}, () => {}]), {
    name: 'TypeError', message: "fastify-users: guard() takes names of scopes: write app.users.guard('orders:read')"
  })
  const { app: free } = await host(t)
  t.equal(free.hasRequestDecorator('caller'), true)
  const bare = Fastify()
  t.teardown(() => bare.close())
  await bare.register(fastifyUsers, { storage: memory() })
  t.equal(bare.hasRequestDecorator('caller'), false)
})

test('a WebSocket is opened with a key alone', async (t) => {
  const { app, users, keyOf } = await host(t, { before: async (app) => { await app.register(websocket) } })
  await app.register(async (scope) => {
    scope.get('/live', { websocket: true, onRequest: users.guard(own('orders:read')) }, (socket, request) => {
      socket.send(`hello ${request.caller?.name ?? ''}`)
    })
  })
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/live`
  const handshake = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ=='
  }
  const { key } = await keyOf('orders:read')
  const opening = send(url, { headers: { ...handshake, authorization: `Bearer ${key}` } }).end()
  const [, socket, first]: [unknown, Socket, Buffer] = Object(await once(opening, 'upgrade'))
  t.teardown(() => socket.destroy())
  // The frame of a text: its kind, its length, and the text.
  const frame = first.length > 0 ? first : (await once(socket, 'data'))[0]
  t.strictSame([frame[0], String(frame.subarray(2))], [0x81, 'hello shop'])
  const [refused] = await once(send(url, { headers: handshake }).end(), 'response')
  t.equal(refused.statusCode, 401)
  refused.destroy()
})
