// Contract §9 over HTTP: the life of a key by the routes that the host turns on, and what no caller can give or end.
import { mock } from 'node:test'
import { test, type Test } from 'tap'
import { type HostPrincipal, isApiKey } from '../lib/index.ts'
import { ALL_SCOPES, type Call, inject, testApp, type TestAppOptions } from './helpers/app.ts'
import { stores } from './helpers/stores.ts'

const UNKNOWN = 'key_01h455vb4pex5vsknk084sn02q'
const JSON_BODY = { 'content-type': 'application/json' }
const DAY_MS = 24 * 3600 * 1000

interface KeyApp {
  app: Awaited<ReturnType<typeof testApp>>['app']
  /** With the key of all scopes. */
  call: Call
  /** With the key of this text. */
  as: (key: string) => Call
  post: (path: string, body: object, key?: string) => ReturnType<Call>
}

async function keyApp (t: Test, options: TestAppOptions = {}): Promise<KeyApp> {
  const { app, call, key: own } = await testApp(t, { apiKeyRoutes: true, ...options })
  const as = (key: string): Call => (method, path, options = {}) => call(method, path, { ...options, headers: { ...options.headers, authorization: `Bearer ${key}` } })
  return { app, call, as, post: (path, body, key = own) => as(key)('POST', path, { headers: JSON_BODY, payload: JSON.stringify(body) }) }
}

test('the routes are there only where the host turns them on', async (t) => {
  const { call } = await testApp(t)
  for (const [method, path] of [['GET', '/api-keys'], ['POST', '/api-keys'], ['GET', `/api-keys/${UNKNOWN}`], ['DELETE', '/api-keys/current'], ['POST', `/api-keys/${UNKNOWN}/rotate`]] as const) {
    t.equal((await call(method, path)).statusCode, 404, `${method} ${path}`)
  }
})

for (const store of stores) {
  test(`the life of a key over HTTP on ${store.name}`, async (t) => {
    const { app, call, as, post } = await keyApp(t, { storage: await store.create(t) })
    const [admin] = (await app.users.apiKeys.list()).data
    const events: unknown[] = []
    for (const type of ['api_key.created', 'api_key.rotated', 'api_key.revoked'] as const) app.users.events.on(type, ({ data, actor }) => { events.push([type, data.id, actor]) })

    const made = await post('/api-keys', { name: ' Deploy ', scopes: ['users:read'], expiresIn: 3600 })
    t.equal(made.statusCode, 201)
    const { key, ...record } = made.json()
    t.ok(isApiKey(key))
    t.strictSame(Object.keys(record), ['id', 'name', 'scopes', 'start', 'createdAt', 'expiresAt'])
    t.match(record, { name: 'Deploy', scopes: ['users:read'], start: key.slice(0, 15) })
    t.equal(Date.parse(record.expiresAt) - Date.parse(record.createdAt), 3_600_000)
    t.equal(made.headers.location, `/v1/api-keys/${record.id}`)
    t.equal(made.headers['cache-control'], 'no-store')
    t.equal(made.headers['content-type'], 'application/json; charset=utf-8')
    t.equal((await as(key)('GET', '/users')).statusCode, 200)
    t.equal((await as(key)('POST', '/users')).statusCode, 403)

    const got = await call('GET', String(made.headers.location).slice(3))
    t.equal(got.statusCode, 200)
    t.match(got.json(), record)
    t.notMatch(got.body, key.slice(16), 'the text is shown once')
    const head = await call('HEAD', `/api-keys/${record.id}`)
    t.strictSame([head.statusCode, head.body], [200, ''])

    const turned = await post(`/api-keys/${record.id}/rotate`, { overlap: 60 })
    t.equal(turned.statusCode, 201)
    const { key: nextKey, ...next } = turned.json()
    t.match(next, { name: 'Deploy', scopes: ['users:read'], rotatedFrom: record.id })
    t.equal(turned.headers.location, `/v1/api-keys/${next.id}`)
    t.equal((await as(key)('GET', '/users')).statusCode, 200, 'both work while they overlap')
    t.equal((await as(nextKey)('GET', '/users')).statusCode, 200)
    const old = (await call('GET', `/api-keys/${record.id}`)).json()
    t.ok(Date.parse(old.expiresAt) - Date.parse(next.createdAt) <= 60_000)

    const ended = await call('DELETE', `/api-keys/${next.id}`)
    t.strictSame([ended.statusCode, ended.body], [204, ''])
    t.equal((await as(nextKey)('GET', '/users')).statusCode, 401, 'at once')
    t.equal((await call('DELETE', `/api-keys/${next.id}`)).statusCode, 204, 'again: nothing changes')
    const inactive = await post(`/api-keys/${next.id}/rotate`, {})
    t.strictSame([inactive.statusCode, inactive.json().code], [409, 'api_key_inactive'])

    const list = (await call('GET', '/api-keys?limit=2'))
    t.strictSame(list.json().meta, { page: 1, limit: 2, total: 3 })
    t.strictSame(list.json().data.map(({ id }: { id: string }) => id), [admin?.id, record.id])
    t.equal(list.headers.link, '</v1/api-keys?limit=2&page=1>; rel="first", </v1/api-keys?limit=2&page=2>; rel="next", </v1/api-keys?limit=2&page=2>; rel="last"')
    const back = await call('GET', `/api-keys?sort=-createdAt&limit=1&after=${next.id}`)
    t.strictSame([back.json().data.map(({ id }: { id: string }) => id), back.json().meta], [[record.id], { limit: 1, total: 3 }])
    t.equal(back.headers.link, `</v1/api-keys?sort=-createdAt&limit=1&after=${record.id}>; rel="next"`)
    t.ok((await call('GET', `/api-keys/${next.id}`)).json().revokedAt, 'the record stays')
    t.notMatch(list.body + back.body, /digest|lifetime/)

    await new Promise((resolve) => setImmediate(resolve))
    const actor = { type: 'api_key', id: admin?.id }
    t.strictSame(events, [['api_key.created', record.id, actor], ['api_key.rotated', next.id, actor], ['api_key.revoked', next.id, actor]])
  })
}

test('a key can give only scopes that it has: every caller that may, every wish', async (t) => {
  const { app, post } = await keyApp(t)
  const subsets = Array.from({ length: 32 }, (_, bits) => ALL_SCOPES.filter((_, i) => (bits >> i) & 1))
  const wrong: string[] = []
  for (const own of subsets.filter((scopes) => scopes.includes('keys:write'))) {
    const { key } = await app.users.apiKeys.create({ name: 'caller', scopes: own })
    for (const scopes of subsets.filter(({ length }) => length > 0)) {
      const response = await post('/api-keys', { name: 'x', scopes }, key)
      const beyond = scopes.flatMap((scope, i) => own.includes(scope) ? [] : [`/scopes/${i}`])
      const right = beyond.length === 0
        ? response.statusCode === 201 && JSON.stringify(response.json().scopes) === JSON.stringify(scopes)
        : response.statusCode === 403 && response.json().code === 'insufficient_scope' && JSON.stringify(response.json().errors.map(({ pointer }: { pointer: string }) => pointer)) === JSON.stringify(beyond) &&
          response.headers['www-authenticate'] === `Bearer realm="users", error="insufficient_scope", scope="${scopes.join(' ')}"`
      if (!right) wrong.push(`${own} asks for ${scopes}: ${response.statusCode} ${response.body}`)
    }
    const none = await post('/api-keys', { name: 'x' }, key)
    const users = own.filter((scope) => scope.startsWith('users:'))
    if (users.length === 0 ? none.statusCode !== 400 : JSON.stringify(none.json().scopes) !== JSON.stringify(users)) wrong.push(`${own} asks for none: ${none.body}`)
  }
  t.strictSame(wrong, [])
})

test('a key can make none that outlives it', async (t) => {
  const { app, post, as } = await keyApp(t)
  const { key, expiresAt = '', id } = await app.users.apiKeys.create({ name: 'caller', scopes: ALL_SCOPES, expiresIn: 3600 })
  t.equal((await post('/api-keys', { name: 'x' }, key)).json().expiresAt, expiresAt, 'a year by default, but not here')
  t.equal((await post('/api-keys', { name: 'x', expiresAt }, key)).json().expiresAt, expiresAt)
  t.equal((await post('/api-keys', { name: 'x', expiresIn: 60 }, key)).statusCode, 201)
  for (const [member, value] of [['expiresAt', new Date(Date.parse(expiresAt) + 1).toISOString()], ['expiresAt', null], ['expiresIn', 7200]] as const) {
    const response = await post('/api-keys', { name: 'x', [member]: value }, key)
    t.equal(response.statusCode, 403, String(value))
    t.equal(response.headers['www-authenticate'], 'Bearer realm="users", error="insufficient_scope"')
    t.strictSame(response.json().errors, [{ pointer: `/${member}`, code: 'beyond_caller', detail: 'must not be later than the expiry of the API key that asks' }])
  }
  const long = await app.users.apiKeys.create({ name: 'long', scopes: ['users:read'] })
  t.equal((await post(`/api-keys/${long.id}/rotate`, {}, key)).json().expiresAt, expiresAt, 'nor a successor')
  const admin = await app.users.apiKeys.create({ name: 'admin', scopes: ['keys:write'], expiresAt: null })
  const refused = await post(`/api-keys/${admin.id}/rotate`, { overlap: 0 }, key)
  t.strictSame([refused.statusCode, refused.json().errors[0].code], [403, 'beyond_caller'], 'one that manages keys is not replaced by one that ends sooner')
  t.strictSame(await app.users.apiKeys.get(admin.id), (({ key: text, ...record }) => record)(admin), 'and goes on as it was')
  t.equal((await post(`/api-keys/${id}/rotate`, {}, key)).json().expiresAt, expiresAt, 'nor its own')
  const year = (await post(`/api-keys/${(await app.users.apiKeys.create({ name: 'year' })).id}/rotate`, {})).json()
  t.ok(Math.abs(Date.parse(year.expiresAt) - Date.parse(year.createdAt) - 365 * DAY_MS) < 60_000, 'a caller for longer gives the whole life')
  mock.timers.enable({ apis: ['Date'], now: Date.parse(expiresAt) })
  t.equal((await as(key)('GET', '/api-keys')).statusCode, 401)
  mock.timers.reset()
})

test('a key cannot be rotated by one that lacks its scopes', async (t) => {
  const { app, post } = await keyApp(t)
  const { key } = await app.users.apiKeys.create({ name: 'caller', scopes: ['users:read', 'keys:write'] })
  const greater = await app.users.apiKeys.create({ name: 'greater', scopes: ['users:read', 'users:delete'] })
  const refused = await post(`/api-keys/${greater.id}/rotate`, {}, key)
  t.equal(refused.statusCode, 403, 'its successor’s text would be the caller’s')
  t.equal('revokedAt' in await app.users.apiKeys.get(greater.id), false)
  t.equal((await app.users.apiKeys.get(greater.id)).expiresAt, greater.expiresAt, 'and it goes on as it was')
  const own = await app.users.apiKeys.create({ name: 'own', scopes: ['users:read'] })
  t.equal((await post(`/api-keys/${own.id}/rotate`, {}, key)).statusCode, 201)
})

test('the last key that can manage keys does not go by accident', async (t) => {
  const { app, call, as } = await keyApp(t)
  const [admin] = (await app.users.apiKeys.list()).data
  for (const path of [`/api-keys/${admin?.id}`, '/api-keys/current', `/api-keys/${admin?.id}?force=false`]) {
    const response = await call('DELETE', path)
    t.strictSame([response.statusCode, response.json().code], [409, 'last_admin_key'], path)
  }
  const other = await app.users.apiKeys.create({ name: 'other', scopes: ['keys:write'] })
  t.equal((await as(other.key)('DELETE', '/api-keys/current')).statusCode, 204, 'there is another')
  t.equal((await call('DELETE', '/api-keys/current?force=true')).statusCode, 204)
  t.equal((await call('GET', '/api-keys')).statusCode, 401)

  const fixed = await keyApp(t, { staticKeys: [{ key: 's'.repeat(32), scopes: ['keys:write'] }] })
  t.equal((await fixed.call('DELETE', '/api-keys/current')).statusCode, 204, 'a static key can manage keys too')
  const lesser = await keyApp(t, { staticKeys: ['s'.repeat(32)] })
  t.equal((await lesser.call('DELETE', '/api-keys/current')).statusCode, 409, 'but not one with other scopes')
})

for (const store of stores) {
  test(`of keys that end each other at once on ${store.name} one stays`, async (t) => {
    const { app, as, call } = await keyApp(t, { storage: await store.create(t), keyCache: 60 })
    const keys = await Promise.all(Array.from({ length: 12 }, () => app.users.apiKeys.create({ name: 'admin', scopes: ['keys:write'] })))
    await call('DELETE', '/api-keys/current')
    const answers = await Promise.all(keys.map(({ key }) => as(key)('DELETE', '/api-keys/current')))
    t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [...Array.from({ length: 11 }, () => 204), 409])
    t.equal((await app.users.apiKeys.list()).data.filter(({ revokedAt }) => revokedAt === undefined).length, 1)
  })
}

const guests = new Map<string, HostPrincipal>([
  ['guest', { id: 'guest', scopes: ['keys:write'] }],
  ['guest-for-a-day', { id: 'guest', scopes: ['keys:write'], expiresAt: new Date(Date.now() + DAY_MS).toISOString() }],
  ['guest-of-a-wrong-day', { id: 'guest', scopes: ['keys:write'], expiresAt: 'tomorrow' }]
])

test('whoever holds a key can end it', async (t) => {
  const { app, as } = await keyApp(t, { staticKeys: ['s'.repeat(32)], authenticate: (token) => guests.get(token) ?? null })
  for (const scopes of ALL_SCOPES) {
    const { key } = await app.users.apiKeys.create({ name: 'leaked', scopes: [scopes] })
    t.equal((await as(key)('DELETE', '/api-keys/current')).statusCode, 204, scopes)
    t.equal((await as(key)('DELETE', '/api-keys/current')).statusCode, 401)
  }
  for (const token of ['s'.repeat(32), 'guest']) {
    const response = await as(token)('DELETE', '/api-keys/current')
    t.strictSame([response.statusCode, response.json().code, response.json().detail], [404, 'api_key_not_found', 'The key of this request is not kept here.'])
  }
  t.equal((await as('guest')('GET', '/api-keys')).statusCode, 403)
  const make = (token: string) => inject(app, 'POST', '/v1/api-keys', { headers: { authorization: `Bearer ${token}`, ...JSON_BODY }, payload: JSON.stringify({ name: 'x', scopes: ['keys:write'], expiresAt: null }) })
  t.equal((await make('guest')).statusCode, 201, 'a caller of the host’s has no end that it doesn’t say')
  t.equal((await make('guest-for-a-day')).statusCode, 403, 'one that says it can’t give more')
  t.equal((await make('guest-of-a-wrong-day')).statusCode, 500)
})

test('what is wrong is told, and nothing happens', async (t) => {
  const { app, call, as, post } = await keyApp(t)
  const faults = async (answer: ReturnType<Call>): Promise<string[]> => {
    const response = await answer
    t.equal(response.statusCode, 400)
    return response.json().errors.map(({ pointer, parameter, code }: Record<string, string>) => `${pointer ?? parameter} ${code}`)
  }
  t.strictSame(await faults(post('/api-keys?x=1', {})), ['x unknown', '/name required'])
  t.strictSame(await faults(post('/api-keys', { name: '', scopes: ['all'], expiresAt: null, expiresIn: 5 })), ['/name too_short', '/scopes/0 choice', '/expiresIn exclusive'])
  t.strictSame(await faults(post('/api-keys', { name: 'x', id: UNKNOWN, lifetime: 1 })), ['/id unknown', '/lifetime unknown'])
  t.strictSame(await faults(post('/api-keys', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' })), ['/expiresAt past'])
  t.strictSame(await faults(call('POST', '/api-keys')), [' type'])
  t.strictSame(await faults(post(`/api-keys/${UNKNOWN}/rotate?y`, { overlap: 604_801 })), ['y unknown', '/overlap range'])
  t.strictSame(await faults(call('DELETE', `/api-keys/${UNKNOWN}?force=yes&z=1`)), ['z unknown', 'force choice'])
  t.strictSame(await faults(call('DELETE', '/api-keys/current', { headers: JSON_BODY, payload: '{"a":1}' })), ['/a unknown'])
  t.strictSame(await faults(call('GET', `/api-keys/${UNKNOWN}?force=true`)), ['force unknown'])
  t.strictSame(await faults(call('GET', '/api-keys?page=0&limit=x&sort=name&after=usr_1&email=a@b.co')), ['email unknown', 'page range', 'limit range', 'sort choice', 'after format', 'after exclusive'])
  for (const [method, path] of [['GET', `/api-keys/${UNKNOWN}`], ['GET', '/api-keys/x'], ['DELETE', `/api-keys/${UNKNOWN}`], ['POST', `/api-keys/${UNKNOWN}/rotate`]] as const) {
    const response = await call(method, path)
    t.strictSame([response.statusCode, response.json().code], [404, 'api_key_not_found'], `${method} ${path}`)
  }
  for (const [path, allow] of [['/api-keys', 'GET, HEAD, POST'], ['/api-keys/current', 'DELETE'], [`/api-keys/${UNKNOWN}`, 'GET, HEAD, DELETE'], [`/api-keys/${UNKNOWN}/rotate`, 'POST']] as const) {
    const response = await call('PUT', path)
    t.strictSame([response.statusCode, response.headers.allow], [405, allow], path)
  }
  t.equal((await call('POST', '/api-keys', { headers: { 'content-type': 'text/plain' }, payload: 'x' })).statusCode, 415)
  const { key } = await app.users.apiKeys.create({ name: 'users alone' })
  for (const [method, path, scope] of [['GET', '/api-keys', 'keys:read'], ['POST', '/api-keys', 'keys:write'], ['GET', `/api-keys/${UNKNOWN}`, 'keys:read'], ['DELETE', `/api-keys/${UNKNOWN}`, 'keys:write'], ['POST', `/api-keys/${UNKNOWN}/rotate`, 'keys:write']] as const) {
    const response = await as(key)(method, path)
    t.strictSame([response.statusCode, response.headers['www-authenticate']], [403, `Bearer realm="users", error="insufficient_scope", scope="${scope}"`], `${method} ${path}`)
    t.equal((await inject(app, method, `/v1${path}`)).statusCode, 401, `${method} ${path} by a stranger`)
  }
  t.equal((await app.users.apiKeys.list()).meta.total, 2, 'nothing was made')
})

test('under a prefix with parameters the links and places are those of the request', async (t) => {
  const { call } = await testApp(t, { apiKeyRoutes: true, prefix: '/t/:tenant' })
  const made = await call('POST', '/api-keys', { headers: JSON_BODY, payload: '{"name":"x"}' })
  t.equal(made.headers.location, `/t/tenant/api-keys/${made.json().id}`)
  const turned = await call('POST', `/api-keys/${made.json().id}/rotate/?`)
  t.equal(turned.statusCode, 404, 'the path is exact')
  const next = await call('POST', `/api-keys/${made.json().id}/rotate`)
  t.equal(next.headers.location, `/t/tenant/api-keys/${next.json().id}`)
  t.match((await call('GET', '/api-keys')).headers.link, /^<\/t\/tenant\/api-keys\?page=1>; rel="first"/)
})
