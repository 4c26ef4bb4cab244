// Contract §9: who is let in, what the others are told, and that nothing of a request is read before.
import { once } from 'node:events'
import { connect } from 'node:net'
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { generateKey } from '../lib/api-keys/key-text.ts'
import type { Scope, Storage } from '../lib/index.ts'
import { ALL_SCOPES, inject, testApp } from './helpers/app.ts'
import { captureLog } from './helpers/log.ts'
import { listen, rawRequest } from './helpers/raw.ts'
import { stores } from './helpers/stores.ts'

const UNAUTHORIZED = 'Bearer realm="users"'
const INVALID = 'Bearer realm="users", error="invalid_token"'
const STATIC = 'a-static-key-of-more-than-32-characters!'
const UNKNOWN_USER = 'usr_01h455vb4pex5vsknk084sn02q'

for (const store of stores) {
  test(`keys stored on ${store.name}`, async (t) => {
    const storage = await store.create(t)
    const { app, key } = await testApp(t, { storage, server: { genReqId: () => 'fixed' } })
    const get = (authorization: string) => inject(app, 'GET', '/v1/users', { headers: { authorization } })

    t.equal((await get(`Bearer ${key}`)).statusCode, 200)
    t.equal((await get(`bEARER   ${key}`)).statusCode, 200, 'the scheme in any case, then spaces')

    const revoked = await app.users.apiKeys.create({ name: 'revoked' })
    t.equal((await get(`Bearer ${revoked.key}`)).statusCode, 200)
    await app.users.apiKeys.revoke(revoked.id)
    const soon = await app.users.apiKeys.create({ name: 'soon', expiresIn: 60 })
    t.equal((await get(`Bearer ${soon.key}`)).statusCode, 200)
    mock.timers.enable({ apis: ['Date'], now: Date.parse(soon.expiresAt ?? '') - 1 })
    t.equal((await get(`Bearer ${soon.key}`)).statusCode, 200, 'good to the last millisecond')
    mock.timers.setTime(Date.parse(soon.expiresAt ?? ''))

    const wrong = {
      revoked: revoked.key,
      expired: soon.key,
      unknown: generateKey('uk').text,
      'with another secret': `${key.slice(0, 16)}${generateKey('uk').text.slice(16)}`,
      malformed: `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
      'of another shape': 'nonsense',
      'of two tokens': `${key} ${key}`
    }
    const answers = new Set<string>()
    for (const [name, token] of Object.entries(wrong)) {
      const response = await get(`Bearer ${token}`)
      t.equal(response.statusCode, 401, name)
      t.equal(response.headers['www-authenticate'], INVALID, name)
      answers.add(response.body)
    }
    mock.timers.reset()
    t.strictSame([...answers], [JSON.stringify({
      type: 'urn:problem:fastify-users:invalid_api_key',
      title: 'Invalid API key',
      status: 401,
      code: 'invalid_api_key',
      detail: 'The API key is malformed, unknown, expired or revoked.',
      requestId: 'fixed'
    })], 'all classes are answered with the same bytes')

    for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic dTpw', `Token ${key}`, key, `Bearer\t${key}`, `"Bearer" ${key}`]) {
      const response = await get(authorization)
      t.strictSame([response.statusCode, response.json().code, response.headers['www-authenticate']], [401, 'unauthorized', UNAUTHORIZED], `'${authorization.slice(0, 10)}'`)
    }
    t.equal((await inject(app, 'GET', `/v1/users?access_token=${key}`, { cookies: { access_token: key } })).statusCode, 401, 'never from the query or a cookie')
    t.equal((await inject(app, 'GET', `/v1/users?access_token=${key}`, { headers: { authorization: `Bearer ${key}` } })).statusCode, 400)
  })

  test(`a secret under a pepper on ${store.name}`, async (t) => {
    const storage = await store.create(t)
    const { app, key } = await testApp(t, { storage, pepper: 'p'.repeat(32) })
    t.equal((await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })).statusCode, 200)
    const { app: other } = await testApp(t, { storage: { ...storage, close: async () => {} }, pepper: 'q'.repeat(32) })
    t.equal((await inject(other, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })).statusCode, 401, 'another pepper is another key')
    const { app: next, key: young } = await testApp(t, { storage: { ...storage, close: async () => {} }, pepper: ['n'.repeat(32), 'p'.repeat(32)] })
    for (const each of [key, young]) t.equal((await inject(next, 'GET', '/v1/users', { headers: { authorization: `Bearer ${each}` } })).statusCode, 200, 'a former pepper still counts')
    t.equal((await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${young}` } })).statusCode, 401, 'new keys are made under the current one')
  })

  test(`the use of a key is noted at most once a minute on ${store.name}`, async (t) => {
    const { app, key } = await testApp(t, { storage: await store.create(t) })
    const used = async () => (await app.users.apiKeys.list()).data[0]?.lastUsedAt
    const get = async () => {
      await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })
      // The note is written after the answer.
      while (await used() === undefined) await new Promise((resolve) => setImmediate(resolve))
    }
    t.equal(await used(), undefined)
    await get()
    const first = await used()
    mock.timers.enable({ apis: ['Date'], now: Date.parse(first ?? '') + 59_999 })
    await get()
    t.equal(await used(), first)
    mock.timers.setTime(Date.parse(first ?? '') + 60_000)
    await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })
    while (await used() === first) await new Promise((resolve) => setImmediate(resolve))
    t.equal(await used(), new Date(Date.parse(first ?? '') + 60_000).toISOString())
    mock.timers.reset()
  })
}

test('each operation needs its scope', async (t) => {
  const { app } = await testApp(t)
  const needed: Array<[method: string, path: string, scope: Scope]> = [
    ['GET', '/users', 'users:read'], ['HEAD', '/users', 'users:read'], ['GET', `/users/${UNKNOWN_USER}`, 'users:read'], ['HEAD', `/users/${UNKNOWN_USER}`, 'users:read'],
    ['POST', '/users', 'users:write'], ['PATCH', `/users/${UNKNOWN_USER}`, 'users:write'], ['PUT', `/users/${UNKNOWN_USER}`, 'users:write'],
    ['DELETE', `/users/${UNKNOWN_USER}`, 'users:delete']
  ]
  for (const scope of ALL_SCOPES) {
    const { key } = await app.users.apiKeys.create({ name: scope, scopes: [scope] })
    for (const [method, path, need] of needed) {
      const response = await inject(app, method, `/v1${path}`, { headers: { authorization: `Bearer ${key}`, 'content-type': 'text/plain' }, payload: 'x' })
      t.equal(response.statusCode === 403, need !== scope, `${scope} for ${method} ${path}`)
      if (need !== scope) {
        t.equal(response.headers['www-authenticate'], `Bearer realm="users", error="insufficient_scope", scope="${need}"`)
        t.equal(method === 'HEAD' || response.json().code === 'insufficient_scope', true)
      }
    }
    t.equal((await inject(app, 'POST', `/v1/users/${UNKNOWN_USER}`, { headers: { authorization: `Bearer ${key}` } })).statusCode, 405, 'the method is judged before the scope')
  }
})

test('a stranger learns nothing, on any route and with any method', async (t) => {
  let touched = 0
  const storage: Storage = new Proxy(memory(), {
    get: (target, name, receiver) => {
      if (/User/.test(String(name))) touched++
      return Reflect.get(target, name, receiver)
    }
  })
  const routes: Array<{ method: string, url: string }> = []
  const { app } = await testApp(t, {
    storage,
    before: (app) => { app.addHook('onRoute', ({ method, url }) => { for (const each of [method].flat()) routes.push({ method: each, url }) }) }
  })
  touched = 0
  t.ok(routes.length >= 18)
  for (const { method, url } of routes) {
    const response = await inject(app, method, url.replace(':id', UNKNOWN_USER), { headers: { 'content-type': 'text/html' }, payload: 'x' })
    t.strictSame([response.statusCode, response.headers['www-authenticate'], response.headers['cache-control']], [401, UNAUTHORIZED, 'no-store'], `${method} ${url}`)
  }
  t.equal(touched, 0, 'the storage of users was not asked')
})

test('a refusal does not wait for the body', async (t) => {
  const { app, key } = await testApp(t)
  const port = await listen(app)
  for (const [authorization, type, status] of [['', 'application/json', '401'], [`Authorization: Bearer ${key}\r\n`, 'text/plain', '415'], [`Authorization: Bearer ${key}\r\n`, 'application/json', '413']]) {
    const socket = connect(port, '127.0.0.1')
    socket.write(`POST /v1/users HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: ${type}\r\nContent-Length: 10000000\r\n\r\n{`)
    const [answer] = await once(socket, 'data')
    t.match(String(answer), new RegExp(`^HTTP/1.1 ${status} `), 'answered after one byte of ten million')
    socket.destroy()
  }
})

test('doubled and malformed headers on the wire', async (t) => {
  const { app, key } = await testApp(t)
  const port = await listen(app)
  const send = (...lines: string[]) => rawRequest(port, ['GET /v1/users HTTP/1.1', 'Host: x', 'Connection: close', ...lines])
  t.match(await send(`Authorization: Bearer ${key}`), /^HTTP\/1.1 200 /)
  t.match(await send(`AUTHORIZATION:\t Bearer ${key}  `), /^HTTP\/1.1 200 /, 'white space around the field is no part of it')
  t.match(await send(`Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`), /^HTTP\/1.1 401 .*invalid_api_key/s)
  t.match(await send(`Authorization: Bearer ${key}`, 'Authorization: Basic x'), /^HTTP\/1.1 401 .*invalid_api_key/s)
  t.match(await send('Authorization: Basic x', `Authorization: Bearer ${key}`), /^HTTP\/1.1 401 .*invalid_api_key/s)
  t.match(await send(`Authorization: Bearer ${key}\xe9`), /^HTTP\/1.1 401 .*invalid_api_key/s)
  t.match(await send(`Proxy-Authorization: Bearer ${key}`), /^HTTP\/1.1 401 .*"unauthorized"/s)
  const post = ['POST /v1/users HTTP/1.1', 'Host: x', 'Connection: close', `Authorization: Bearer ${key}`, 'Content-Length: 2']
  t.match(await rawRequest(port, [...post, 'Content-Type: application/json', 'Content-Type: application/json'], '{}'), /^HTTP\/1.1 415 /, 'two media types are none')
})

test('static keys and the host\'s own check', async (t) => {
  const asked: string[] = []
  const log = captureLog()
  const { app, key } = await testApp(t, {
    server: { logger: { stream: log.stream } },
    staticKeys: [STATIC, { key: 'k'.repeat(32), name: 'reader', scopes: ['users:read'] }],
    authenticate: async (token, request) => {
      asked.push(`${request.method} ${token}`)
      if (token === 'boom') throw new Error('the directory is down')
      // What a careless callback can do.
      if (token === 'bang') return Promise.reject(JSON.parse('null'))
      if (token === 'odd') return JSON.parse('{"id":"x","scopes":"users:read"}')
      return token === 'alice' ? { id: 'alice', scopes: ['users:read'] } : null
    }
  })
  const call = (method: string, token: string) => inject(app, method, '/v1/users', { headers: { authorization: `Bearer ${token}` } })
  t.equal((await call('GET', STATIC)).statusCode, 200)
  t.equal((await call('POST', STATIC)).statusCode, 400, 'a plain static key has the scopes of users')
  t.equal((await call('GET', 'k'.repeat(32))).statusCode, 200)
  t.equal((await call('POST', 'k'.repeat(32))).statusCode, 403)
  t.equal((await call('GET', 'k'.repeat(33))).statusCode, 401)
  t.equal((await call('GET', key)).statusCode, 200)
  t.equal((await call('GET', generateKey('uk').text)).statusCode, 401)
  t.strictSame(asked, [`GET ${'k'.repeat(33)}`], 'neither static nor stored keys are handed on')

  t.equal((await call('GET', 'alice')).statusCode, 200)
  t.equal((await call('DELETE', 'alice')).statusCode, 405)
  t.equal((await call('POST', 'alice')).statusCode, 403)
  t.match(await call('GET', 'bob'), { statusCode: 401, headers: { 'www-authenticate': INVALID } })
  const down = await call('GET', 'boom')
  t.match(down, { statusCode: 503, headers: { 'retry-after': '5' } })
  t.equal((await call('GET', 'bang')).statusCode, 503)
  t.match(down.json(), { code: 'storage_unavailable', detail: 'The API key cannot be checked at the moment. Try again later.' })
  t.equal((await call('GET', 'odd')).statusCode, 500, 'an answer that is no principal lets nobody in')
  t.match(log.text(), 'the directory is down')
})

test('without any key every request is refused, and the log says how to make one', async (t) => {
  const log = captureLog()
  const { app } = await testApp(t, { server: { logger: { stream: log.stream } }, storage: { ...memory(), createApiKey: async () => true }, decoratorName: 'users' })
  t.equal((await inject(app, 'GET', '/v1/users')).statusCode, 401)
  t.match(log.entries().filter(({ level }) => level === 40), [{ msg: 'there is no API key yet, so every request is refused: create one with app.users.apiKeys.createFirst({ name }), or set the option staticKeys' }])
})

test('where it can not be told whether there is a key, the host starts all the same', async (t) => {
  const storage = memory()
  storage.listApiKeys = async () => { throw new Error('down') }
  const { app } = await testApp(t, { storage })
  await app.ready()
  t.equal((await inject(app, 'GET', '/v1/users')).statusCode, 401)
})

test('a stored digest of another form proves nothing', async (t) => {
  const storage = memory()
  const { start, secret, text } = generateKey('uk')
  t.ok(secret)
  await storage.createApiKey({ id: 'key_01h455vb4pex5vsknk084sn02q', name: 'x', scopes: ['users:read'], start, digest: 'short', createdAt: new Date().toISOString(), expiresAt: null, revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null }, { onlyFirst: false })
  const { app } = await testApp(t, { storage })
  t.equal((await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${text}` } })).statusCode, 401)
})

test('a route that lost its rules is closed', async (t) => {
  const { call } = await testApp(t, { before: (app) => { app.addHook('onRoute', (route) => { route.config = {} }) } })
  t.match(await call('GET', '/users'), { statusCode: 500 })
})

test('a storage that fails while a key is checked is 503 or 500, never 401', async (t) => {
  const storage = memory()
  const { call } = await testApp(t, { storage, keyCache: 0 })
  storage.findApiKeyByStart = async () => { throw new Error('select * from secrets') }
  const response = await call('GET', '/users')
  t.equal(response.statusCode, 500)
  t.notMatch(response.body, 'secrets')
})
