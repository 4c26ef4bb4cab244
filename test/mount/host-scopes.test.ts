// Scopes of the host's own: who gives them, what they open, and apiKeys.verify().
import cors from '@fastify/cors'
import swagger from '@fastify/swagger'
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import fastifyUsers from '../../lib/index.ts'
import { host, own, STATIC } from './guarded.ts'

test('verify() takes a text or a request, and refuses as a guard does', async (t) => {
  const { app, users, ask, keyOf } = await host(t, {
    limits: { requests: { max: 4, window: 60 }, failures: { max: 1, window: 60 } },
    authenticate: async () => ({ id: 'somebody', scopes: [] })
  })
  app.get('/late', async (request) => await users.apiKeys.verify(request, { scopes: [own('orders:read')] }))
  const { id, key } = await keyOf('orders:read')
  const bound = await users.apiKeys.create({ name: 'far', addresses: ['203.0.113.0/24'] })
  t.strictSame(await users.apiKeys.verify(key, { scopes: [own('orders:read')] }),
    { id, name: 'shop', scopes: ['orders:read'], tenant: null, type: 'api_key' })
  t.equal((await ask('/late', key)).statusCode, 200)
  t.type(users.as(await users.apiKeys.verify(bound.key, { address: '203.0.113.4' })).create, 'function')
  t.strictSame((await users.apiKeys.uses(id)).data.map(({ uses }) => uses), [2])
  await t.rejects(users.apiKeys.verify(key, { scopes: ['users:read'] }), { code: 'insufficient_scope' })
  for (const none of ['', undefined, null, 5]) {
    await t.rejects(Reflect.apply(users.apiKeys.verify, null, [none]), { code: 'unauthorized' }, String(none))
  }
  await t.rejects(users.apiKeys.verify('a token of the host'), { code: 'invalid_api_key' })
  await t.rejects(users.apiKeys.verify(bound.key), { code: 'invalid_api_key' })
  t.match(await users.apiKeys.verify(bound.key, { address: '203.0.113.4' }), { name: 'far' })
  await t.rejects(users.apiKeys.verify('guess', { address: '192.0.2.1' }), { code: 'invalid_api_key' })
  await t.rejects(users.apiKeys.verify('guess', { address: '192.0.2.1' }), { code: 'rate_limited' })
  t.match(await users.apiKeys.verify(key, { address: '192.0.2.2' }), { id })
  await t.rejects(users.apiKeys.verify(key), { code: 'rate_limited' })
  await t.rejects(users.apiKeys.verify(key, { scopes: [own('nobody:knows')] }), TypeError)
  for (const scopes of [undefined, null, 'orders:read', [undefined]]) {
    await t.rejects(Reflect.apply(users.apiKeys.verify, null, [key, { scopes }]), {
      name: 'TypeError', message: /verify\(\) takes names of scopes: write \{ scopes: \['orders:read'\] \}$/
    }, String(scopes))
  }
})

test('verify() of a request that was let in sees that its key was revoked meanwhile', async (t) => {
  const { app, users, ask, keyOf } = await host(t)
  const { id, key } = await keyOf('orders:read')
  app.get('/slow', { onRequest: users.guard(own('orders:read')) }, async (request) => {
    const before = await users.apiKeys.verify(request)
    await users.apiKeys.revoke(id)
    const after = await users.apiKeys.verify(request).then(() => 'works', ({ code }: { code: string }) => code)
    return { before: before.id, after }
  })
  t.strictSame(JSON.parse((await ask('/slow', key)).body), { before: id, after: 'invalid_api_key' })
})

test('a key gives only scopes of the host that it has, and keeps one that the host took out', async (t) => {
  const storage = memory()
  const { app, ask, keyOf } = await host(t, { storage })
  const { id, key } = await keyOf('orders:read', 'keys:read', 'keys:write')
  const give = (...of: string[]) =>
    ask('/v1/api-keys', key, { method: 'POST', payload: { name: 'more', scopes: of } })
  t.equal((await give('orders:read')).statusCode, 201)
  t.match(JSON.parse((await give('orders:write')).body), { code: 'insufficient_scope' })
  t.match(JSON.parse((await give('orders:delete')).body),
    { code: 'validation_failed', errors: [{ pointer: '/scopes/0' }] })
  await app.close()
  const gone = Fastify()
  t.teardown(() => gone.close())
  await gone.register(fastifyUsers, { storage, apiKeys: { routes: true } })
  t.throws(() => gone.users.guard(own('orders:read')), {
    message: /"orders:read" is not a scope that keys of this mount can have/
  })
  const headers = { authorization: `Bearer ${key}` }
  // In process: a watched answer may have only the scopes that the mount describes.
  t.strictSame((await gone.users.apiKeys.get(id)).scopes, ['orders:read', 'keys:read', 'keys:write'])
  const payload = { name: 'x', scopes: ['orders:read'] }
  const refused = await gone.inject({ method: 'POST', url: '/v1/api-keys', headers, payload })
  t.equal(refused.statusCode, 400)
})

test('names of scopes are checked when the plugin is registered', async (t) => {
  const wrong = [
    'users:export', 'keys:x', 'groups:read', 'scim:users', 'Orders:read', 'orders', 'orders:', ':read', 'a b:c', 'a"b:c'
  ]
  for (const name of wrong) {
    const app = Fastify()
    const given = { storage: memory(), apiKeys: { scopes: { [name]: 'x' } } }
    const error = await app.register(fastifyUsers, given).then(() => null, (thrown: Error) => thrown)
    t.ok(error?.message.includes(`apiKeys.scopes has the name ${JSON.stringify(name)}: a name must look like`), name)
    await app.close()
  }
  const app = Fastify()
  t.teardown(() => app.close())
  await t.rejects(async () => await app.register(fastifyUsers, {
    storage: memory(), apiKeys: { static: [{ key: STATIC, scopes: [own('orders:read')] }] }
  }), { message: /apiKeys\.static has the scope "orders:read", which is none of/ })
})

test('a preflight of @fastify/cors needs no key, and @fastify/swagger says what a route needs', async (t) => {
  const { app, users } = await host(t, {
    before: async (app) => {
      await app.register(cors, { origin: 'https://shop.example' })
      await app.register(swagger, { openapi: { openapi: '3.1.0' } })
    }
  })
  const read = users.guard(own('orders:read'))
  app.get('/described', { onRequest: read, schema: { ...read.schema, summary: 'Orders' } }, async () => [])
  await app.ready()
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/orders',
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' }
  })
  t.equal(preflight.statusCode, 204)
  const described = JSON.parse(JSON.stringify(app.swagger()))
  t.strictSame(described.paths['/described'].get.security, [{ usersApiKey: ['orders:read'] }])
  t.match(described.components.securitySchemes.usersApiKey, { type: 'http', scheme: 'bearer' })
  t.ok(described.components.schemas['users.ApiKeyInput'].properties.scopes.items.enum.includes('orders:write'))
})
