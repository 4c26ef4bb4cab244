// A claim or a variable that is missing makes nobody the platform's.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { StaticKey } from '../../lib/index.ts'
import { ALL_SCOPES, inject, testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'

const KEY = 'a-static-key-of-at-least-32-characters'
const ANN = { name: 'Ann', email: 'ann@example.org' }

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
  await t.rejects(start(KEY), needed)
  await t.rejects(start({ key: KEY }), needed)
  // The variable that the member was read from is not set.
  const unset = JSON.parse('{}').unset
  await t.rejects(start({ key: KEY, tenant: unset }), needed)
  for (const member of ['tenant', 'addresses', 'scopes', 'rateLimit']) {
    await t.rejects(start({ key: KEY, tenant: null, [member]: unset }),
      /apiKeys\.static has a key with a member that is undefined: give it a value, or leave it out/, member)
  }
  await t.rejects(start({ key: KEY, addresses: unset }, false), /a member that is undefined/)
  await start({ key: KEY, tenant: null }, false)
})
