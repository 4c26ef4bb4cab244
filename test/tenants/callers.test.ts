// Who is bound to a tenant: stored and static keys, and whom the host accepts; what path and query add. A claim or a
// variable that is missing makes nobody the platform's.
import Fastify from 'fastify'
import pino from 'pino'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { rechecks } from '../../lib/http/admission/authentication.ts'
import { CALLER } from '../../lib/http/caller.ts'
import { createSecurityLog } from '../../lib/http/logging/security-log.ts'
import users, { type StaticKey } from '../../lib/index.ts'
import { ALL_SCOPES, inject, testApp, type TestAppOptions } from '../helpers/app.ts'
import { withoutType } from '../helpers/fields.ts'
import { captureLog } from '../helpers/log.ts'
import { until } from '../helpers/until.ts'
import { ACME, ANN, hosted, PLATFORM } from './hosted.ts'

const host = (t: Test, options: TestAppOptions = {}) => hosted(t, {
  eventLog: false,
  apiKeys: { routes: true },
  authenticate: (token) => token === 'none' ? null : { id: 'session', scopes: ALL_SCOPES, tenant: token },
  ...options
})

test('stored and static keys, and whom the host accepts, are bound to their tenants', async (t) => {
  const { app, send } = await host(t)
  const { key } = await app.users.tenant('acme').apiKeys.create({ name: 'stored' })
  for (const [n, token] of [ACME, key, 'acme'].entries()) {
    const email = `${n}@example.org`
    t.match(await send(token, 'POST', '/v1/users', { name: 'x', email }), { status: 201, body: { tenant: 'acme' } })
    t.match(await send(token, 'GET', '/v1/users?tenant=beta'), { status: 403, body: { code: 'tenant_forbidden' } })
  }
  t.match(await send('beta', 'GET', '/v1/users'), { body: { data: [], meta: { total: 0 } } })
  t.match(await send(PLATFORM, 'GET', '/v1/users'), { body: { meta: { total: 3 } } })
  t.match(await send(PLATFORM, 'GET', '/v1/users?tenant=acme'), { body: { meta: { total: 3 } } })
  t.match(await send(PLATFORM, 'GET', '/v1/users?tenant=beta'), { body: { meta: { total: 0 } } })
  t.match(await send(PLATFORM, 'GET', '/v1/users?tenant=A'),
    { status: 400, body: { errors: [{ parameter: 'tenant', code: 'format' }] } })
  t.equal((await send('Not a tenant', 'GET', '/v1/users')).status, 401, 'two words are no token')
})

test('the platform names the tenant of the users that it makes', async (t) => {
  const { send } = await host(t)
  const required = (place: object) => ({ status: 400, body: { errors: [{ ...place, code: 'required' }] } })
  t.match(await send(PLATFORM, 'POST', '/v1/users', ANN), required({ pointer: '/tenant' }))
  t.match(await send(PLATFORM, 'POST', '/v1/users', { ...ANN, tenant: null }), required({ pointer: '/tenant' }))
  const batch = { operations: [{ op: 'create', body: ANN }] }
  t.match(await send(PLATFORM, 'POST', '/v1/users/batch', batch), required({ parameter: 'tenant' }))
  t.match(await send(PLATFORM, 'POST', '/v1/users', { ...ANN, tenant: 'A B' }),
    { status: 400, body: { errors: [{ pointer: '/tenant', code: 'format' }] } })
  const { body: made } = await send(PLATFORM, 'POST', '/v1/users', { ...ANN, tenant: 'acme' })
  t.match(made, { tenant: 'acme' })
  t.match(await send(PLATFORM, 'POST', '/v1/users/batch?tenant=beta', batch),
    { status: 200, body: { data: [{ status: 201, body: { tenant: 'beta' } }] } })
  t.match(await send(PLATFORM, 'POST', '/v1/users?tenant=beta', { ...ANN, tenant: 'acme' }),
    { status: 403, body: { code: 'tenant_forbidden' } })
  // What was read can be sent back.
  const path = `/v1/users/${made.id}`
  const changed = await send(PLATFORM, 'PUT', path, { ...made, name: 'Anne' })
  t.match(changed, { status: 200, body: { name: 'Anne', tenant: 'acme', version: 2 } })
  t.match(await send(PLATFORM, 'PATCH', path, { ...changed.body, name: 'Ann' }), { status: 200 })
  t.match(await send(PLATFORM, 'PATCH', path, { tenant: 'beta', name: 'x' }),
    { status: 400, body: { errors: [{ pointer: '/tenant', code: 'immutable' }] } })
  t.match(await send(PLATFORM, 'PATCH', `${path}?tenant=beta`, { name: 'x' }), { status: 404 })
  t.match(await send(PLATFORM, 'PATCH', `/v1/users/usr_${'0'.repeat(26)}`, { tenant: 'beta' }), { status: 404 })
  t.match(await send(ACME, 'PATCH', path, { tenant: 'beta' }), { status: 403 })
})

test('keys are given within the tenant, and the platform gives any', async (t) => {
  const { app, send } = await host(t)
  const scopes = ['users:read', 'keys:read', 'keys:write']
  t.match(await send(PLATFORM, 'POST', '/v1/api-keys', { name: 'p', scopes }), { status: 201 })
  t.match(await send(PLATFORM, 'POST', '/v1/api-keys', { name: 'a', scopes, tenant: 'acme' }),
    { status: 201, body: { tenant: 'acme' } })
  const { body: made } = await send(ACME, 'POST', '/v1/api-keys', { name: 'b', scopes })
  t.match(made, { tenant: 'acme' })
  t.match(await send(made.key, 'POST', `/v1/api-keys/${made.id}/rotate`, {}), { status: 201, body: { tenant: 'acme' } })
  t.match(await send(made.key, 'GET', '/v1/api-keys'), { body: { meta: { total: 3 } } })
  t.match(await send('beta', 'GET', '/v1/api-keys'), { body: { meta: { total: 0 } } })
  t.equal((await app.users.apiKeys.list()).meta.total, 5, 'with that of the test')
})

test('an import with the id of somebody in another tenant refuses that row alone', async (t) => {
  const { app } = await host(t)
  const { id } = await app.users.tenant('beta').create(ANN)
  const bound = app.users.tenant('acme')
  const rows = [{ ...ANN, id }, { name: 'Bob', email: 'bob@example.org' }]
  const results: unknown[] = []
  await bound.import(rows, { onResult: (result) => { results.push(result) } })
  t.match(results, [
    { line: 1, status: 'refused', problem: { code: 'field_taken', errors: [{ pointer: '/id' }] } },
    { line: 2, status: 'created' }
  ])
  t.strictSame((await bound.list()).data.map((user) => user.name), ['Bob'])
  t.equal((await app.users.tenant('beta').get(id)).name, 'Ann')
})

test('a parameter of the prefix confirms what a key is bound to, and narrows the platform', async (t) => {
  const { send } = await host(t, { prefix: '/:tenant/v1' })
  t.match(await send(ACME, 'POST', '/acme/v1/users', ANN), { status: 201, body: { tenant: 'acme' } })
  for (const path of ['/beta/v1/users', '/A/v1/users']) {
    t.match(await send(ACME, 'GET', path), { status: 404, body: { code: 'not_found' } })
  }
  t.match(await send(PLATFORM, 'GET', '/acme/v1/users'), { body: { meta: { total: 1 } } })
  t.match(await send(PLATFORM, 'POST', '/beta/v1/users', ANN), { status: 201, body: { tenant: 'beta' } })
  t.match(await send(PLATFORM, 'GET', '/beta/v1/users?tenant=acme'), { status: 403 })
})

test('a request that takes long ends when its caller belongs to another tenant', async (t) => {
  let tenant = 'acme'
  const identify = async () => ({
    principal: { type: 'host' as const, id: 'session', name: null, scopes: ['users:read'], tenant },
    record: null,
    expiresAt: null
  })
  const recheck = rechecks(identify, createSecurityLog(pino({ enabled: false })))('users:read')
  const app = Fastify()
  app.get('/', async (request) => {
    request[CALLER] = await identify()
    await recheck(request)
    tenant = 'beta'
    await t.rejects(recheck(request), { code: 'invalid_api_key' })
    return 'ended'
  })
  t.equal((await app.inject({ url: '/', headers: { authorization: 'Bearer token' } })).body, 'ended')
})

test('a mount without the option refuses what is bound to a tenant', async (t) => {
  const storage = memory()
  const { app } = await host(t, { storage })
  const { key } = await app.users.tenant('acme').apiKeys.create({ name: 'stored' })
  const plain = await testApp(t, { storage, authenticate: () => ({ id: 'x', scopes: ['users:read'], tenant: 'acme' }) })
  const send = (token: string) =>
    inject(plain.app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${token}` } })
  t.equal((await send(key)).statusCode, 401)
  t.equal((await send('whoever')).statusCode, 503)
  t.throws(() => plain.app.users.tenant('acme'), { name: 'TypeError', message: /need the option tenants/ })
  await t.rejects(plain.app.users.tenants.list(), { name: 'TypeError' })
  const tenant = { key: ACME, tenant: 'acme' }
  const refused = async (options: object) => Fastify().register(users, withoutType({ storage, ...options }))
  await t.rejects(refused({ apiKeys: { static: [tenant] } }), /names a tenant, which needs the option tenants/)
  await t.rejects(refused({ tenants: true, apiKeys: { static: [{ ...tenant, tenant: 'A' }] } }), /apiKeys\.static/)
})

test('a listener of a tenant hears its events alone', async (t) => {
  const { app } = await testApp(t, { tenants: true })
  const [acme, beta] = [app.users.tenant('acme'), app.users.tenant('beta')]
  const heard: string[] = []
  acme.events.on('user.created', ({ data, tenant }) => { heard.push(`${tenant} ${data.email}`) })
  for (const each of [beta, acme]) await each.create(ANN)
  await acme.import([{ name: 'C', email: 'c@example.org' }])
  await until('the listener was called', () => heard.length >= 2)
  t.strictSame(heard.sort(), ['acme ann@example.org', 'acme c@example.org'])
})

test('an answer of authenticate without a tenant opens nothing, and the log says why', async (t) => {
  const log = captureLog()
  const answers = new Map<string, object>([
    ['absent', {}],
    ['undefined', { tenant: undefined }],
    ['wrong', { tenant: 'No-Tenant' }],
    ['acme', { tenant: 'acme' }],
    ['platform', { tenant: null }]
  ])
  const { app } = await testApp(t, {
    storage: memory(),
    server: { logger: { stream: log.stream } },
    tenants: true,
    authenticate: (token) => ({ id: 'session', scopes: ALL_SCOPES, ...answers.get(token) })
  })
  await app.users.tenant('acme').create(ANN)
  await app.users.tenant('beta').create(ANN)
  const get = async (token: string) => {
    const answer = await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${token}` } })
    return [answer.statusCode, answer.headers['retry-after'], answer.json().code ?? answer.json().meta.total]
  }
  const refused = [503, '5', 'storage_unavailable']
  t.strictSame(await Promise.all([...answers.keys()].map(get)),
    [refused, refused, refused, [200, undefined, 1], [200, undefined, 2]])
  const missing = "has no tenant: it must be the name of a tenant, or null for the platform's callers"
  t.strictSame(log.entries().filter(({ level }) => level === 50).map(({ err }) => Object(err).message),
    [missing, missing, 'has a tenant that is not a valid name']
      .map((problem) => `the result of authenticate ${problem}`))
})

test('refuses to start with a static key that names no tenant, or has a member that is undefined', async (t) => {
  const start = async (key: StaticKey, tenants = true) =>
    testApp(t, { storage: memory(), tenants, apiKeys: { static: [key] } })
  const needed = /apiKeys\.static must name the tenant of each key if tenants is on; tenant: null makes it a key of the/
  await t.rejects(start(ACME), needed)
  await t.rejects(start({ key: ACME }), needed)
  // The variable that the member was read from is not set.
  const unset = JSON.parse('{}').unset
  await t.rejects(start({ key: ACME, tenant: unset }), needed)
  for (const member of ['tenant', 'addresses', 'scopes', 'rateLimit']) {
    await t.rejects(start({ key: ACME, tenant: null, [member]: unset }),
      /apiKeys\.static has a key with a member that is undefined: give it a value, or leave it out/, member)
  }
  await t.rejects(start({ key: ACME, addresses: unset }, false), /a member that is undefined/)
  await start({ key: ACME, tenant: null }, false)
})
