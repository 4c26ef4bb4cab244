// Contract §9: which keys are accepted, how the others are refused, and which scope each operation requires.
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { generateKey } from '../../lib/api-keys/key-text.ts'
import type { Scope, Storage } from '../../lib/index.ts'
import { ALL_SCOPES, inject, mistyped, testApp } from '../helpers/app.ts'
import { stores } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

const UNAUTHORIZED = 'Bearer realm="users"'
const INVALID = 'Bearer realm="users", error="invalid_token"'
const UNKNOWN_USER = 'usr_01h455vb4pex5vsknk084sn02q'

for (const store of stores) {
  test(`accepts stored keys, and refuses all others with the same bytes, on ${store.name}`, async (t) => {
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
    t.equal((await get(`Bearer ${soon.key}`)).statusCode, 200, 'valid to its last millisecond')
    mock.timers.setTime(Date.parse(soon.expiresAt ?? ''))

    const wrong = {
      revoked: revoked.key,
      expired: soon.key,
      unknown: generateKey('uk').text,
      'with another secret': `${key.slice(0, 16)}${generateKey('uk').text.slice(16)}`,
      malformed: mistyped(key),
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
    t.strictSame(
      [...answers],
      [
        JSON.stringify({
          type: 'urn:problem:fastify-users:invalid_api_key',
          title: 'Invalid API key',
          status: 401,
          code: 'invalid_api_key',
          detail: 'The API key is malformed, unknown, expired or revoked.',
          requestId: 'fixed'
        })
      ],
      'every refusal has the same bytes'
    )

    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      'Basic dTpw',
      `Token ${key}`,
      key,
      `Bearer\t${key}`,
      `"Bearer" ${key}`
    ]) {
      const response = await get(authorization)
      t.strictSame(
        [response.statusCode, response.json().code, response.headers['www-authenticate']],
        [401, 'unauthorized', UNAUTHORIZED],
        `'${authorization.slice(0, 10)}'`
      )
    }
    t.equal(
      (await inject(app, 'GET', `/v1/users?access_token=${key}`, { cookies: { access_token: key } })).statusCode,
      401,
      'never from the query or a cookie'
    )
    t.equal(
      (await inject(app, 'GET', `/v1/users?access_token=${key}`, { headers: { authorization: `Bearer ${key}` } }))
        .statusCode,
      400
    )
  })

  test(`accepts only keys made under a current or former pepper on ${store.name}`, async (t) => {
    const storage = await store.create(t)
    const { app, key } = await testApp(t, { storage, apiKeys: { pepper: 'p'.repeat(32) } })
    t.equal(
      (await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })).statusCode,
      200
    )
    const { app: other } = await testApp(t, {
      storage: { ...storage, close: async () => {} },
      apiKeys: { pepper: 'q'.repeat(32) }
    })
    t.equal(
      (await inject(other, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })).statusCode,
      401,
      'refuses a key that was made under another pepper'
    )
    const { app: next, key: young } = await testApp(t, {
      storage: { ...storage, close: async () => {} },
      apiKeys: { pepper: ['n'.repeat(32), 'p'.repeat(32)] }
    })
    for (const each of [key, young]) {
      t.equal(
        (await inject(next, 'GET', '/v1/users', { headers: { authorization: `Bearer ${each}` } })).statusCode,
        200,
        'accepts keys of the current and of the former pepper'
      )
    }
    t.equal(
      (await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${young}` } })).statusCode,
      401,
      'new keys are made under the current pepper'
    )
  })

  test(`records the use of a key at most once a minute on ${store.name}`, async (t) => {
    const { app, key } = await testApp(t, { storage: await store.create(t) })
    const used = async () => (await app.users.apiKeys.list()).data[0]?.lastUsedAt
    const get = async () => {
      await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })
      // The use is recorded after the answer.
      await until('recording the first use', async () => (await used()) !== undefined)
    }
    t.equal(await used(), undefined)
    await get()
    const first = await used()
    mock.timers.enable({ apis: ['Date'], now: Date.parse(first ?? '') + 59_999 })
    await get()
    t.equal(await used(), first)
    mock.timers.setTime(Date.parse(first ?? '') + 60_000)
    await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${key}` } })
    await until('recording the second use', async () => (await used()) !== first)
    t.equal(await used(), new Date(Date.parse(first ?? '') + 60_000).toISOString())
    mock.timers.reset()
  })
}

test('requires the scope of each operation', async (t) => {
  const { app } = await testApp(t)
  const requirements: Array<[method: string, path: string, scope: Scope]> = [
    ['GET', '/users', 'users:read'],
    ['HEAD', '/users', 'users:read'],
    ['GET', `/users/${UNKNOWN_USER}`, 'users:read'],
    ['HEAD', `/users/${UNKNOWN_USER}`, 'users:read'],
    ['POST', '/users', 'users:write'],
    ['PATCH', `/users/${UNKNOWN_USER}`, 'users:write'],
    ['PUT', `/users/${UNKNOWN_USER}`, 'users:write'],
    ['DELETE', `/users/${UNKNOWN_USER}`, 'users:delete']
  ]
  for (const scope of ALL_SCOPES) {
    const { key } = await app.users.apiKeys.create({ name: scope, scopes: [scope] })
    for (const [method, path, required] of requirements) {
      const response = await inject(app, method, `/v1${path}`, {
        headers: { authorization: `Bearer ${key}`, 'content-type': 'text/plain' },
        payload: 'x'
      })
      t.equal(response.statusCode === 403, required !== scope, `${scope} for ${method} ${path}`)
      if (required !== scope) {
        t.equal(
          response.headers['www-authenticate'],
          `Bearer realm="users", error="insufficient_scope", scope="${required}"`
        )
        t.equal(method === 'HEAD' || response.json().code === 'insufficient_scope', true)
      }
    }
    t.equal(
      (await inject(app, 'POST', `/v1/users/${UNKNOWN_USER}`, { headers: { authorization: `Bearer ${key}` } }))
        .statusCode,
      405,
      'the method is checked before the scope'
    )
  }
})

test('refuses requests without a key on every route and method, without a query for users', async (t) => {
  let touched = 0
  const storage: Storage = new Proxy(memory(), {
    get: (target, name, receiver) => {
      if (/User/.test(String(name))) touched++
      return Reflect.get(target, name, receiver)
    }
  })
  const routes: Array<{ method: string; url: string }> = []
  const { app } = await testApp(t, {
    storage,
    before: (app) => {
      app.addHook('onRoute', ({ method, url }) => {
        for (const each of [method].flat()) routes.push({ method: each, url })
      })
    }
  })
  touched = 0
  t.ok(routes.length >= 18)
  for (const { method, url } of routes) {
    const response = await inject(app, method, url.replace(':id', UNKNOWN_USER), {
      headers: { 'content-type': 'text/html' },
      payload: 'x'
    })
    t.strictSame(
      [response.statusCode, response.headers['www-authenticate'], response.headers['cache-control']],
      [401, UNAUTHORIZED, 'no-store'],
      `${method} ${url}`
    )
  }
  t.equal(touched, 0, 'no user was looked up')
})
