// The route that says what a caller can do.
import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { admin } from '../../lib/admin-plugin.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { ALL_SCOPES, testApp } from '../helpers/app.ts'

test('says what a caller can do: a stored key, a static one, one of the host', async (t) => {
  const staticKey = 's'.repeat(32)
  const { app, call } = await testApp(t, {
    apiKeys: {
      routes: true,
      scopes: { 'orders:read': 'Read orders' },
      static: [{ key: staticKey, name: 'deploy', scopes: ['users:read'] }]
    },
    eventLog: true,
    trash: true,
    requireIfMatch: true,
    pageSize: { default: 10, max: 50 },
    fields: {
      schema: Type.Object({ plan: Type.Optional(Type.String()), seats: Type.Integer() }),
      filterable: ['plan'],
      searchable: ['plan']
    },
    authenticate: (token) => token === 'session' ? { id: 'ada', name: 'Ada', scopes: ['users:read', 'own'] } : null
  })
  await app.register(admin)
  const { body, headers, statusCode } = await call('GET', '/capabilities')
  t.equal(statusCode, 200)
  t.equal(headers['cache-control'], 'no-store')
  const { caller, ...rest } = JSON.parse(body)
  t.match(caller, { type: 'api_key', id: /^key_/, name: 'test', scopes: ALL_SCOPES, expiresAt: /^20/ })
  t.strictSame(rest, {
    offers: { apiKeys: true, events: true, webhooks: false, groups: false, tenants: false, trash: true },
    requireIfMatch: true,
    trashRetention: 30 * 86_400,
    pageSize: { default: 10, max: 50 },
    scopes: { 'orders:read': 'Read orders' },
    fields: { properties: { plan: { type: 'string' }, seats: { type: 'integer' } }, required: ['seats'] },
    filterable: ['plan'],
    searchable: ['plan']
  })
  const callerOf = async (token: string) =>
    (await app.inject({ url: '/v1/capabilities', headers: { authorization: `Bearer ${token}` } })).json().caller
  t.strictSame(await callerOf(staticKey), { type: 'static', id: 'deploy', name: 'deploy', scopes: ['users:read'] })
  t.strictSame(await callerOf('session'), { type: 'host', id: 'ada', name: 'Ada', scopes: ['users:read', 'own'] })
})

test('offers webhooks where there are routes of them, whichever plugin came first', async (t) => {
  for (const isFirst of [true, false]) {
    for (const routes of [true, false]) {
      const { app, call } = await testApp(t, { eventLog: true })
      if (isFirst) await app.register(webhooks, { routes })
      await app.register(admin)
      if (!isFirst) await app.register(webhooks, { routes })
      t.equal((await call('GET', '/capabilities')).json().offers.webhooks, routes)
    }
  }
})

test('names the tenant that the caller is bound to, and says that there are tenants', async (t) => {
  const { app, call } = await testApp(t, { tenants: true })
  await app.register(admin)
  const platform = (await call('GET', '/capabilities')).json()
  t.strictSame([platform.offers.tenants, platform.caller.tenant], [true, undefined])
  const { key } = await app.users.tenant('acme').apiKeys.create({ name: 'acme' })
  const bound = (await call('GET', '/capabilities', { headers: { authorization: `Bearer ${key}` } })).json()
  t.strictSame([bound.offers.tenants, bound.caller.tenant], [true, 'acme'])
})

test('a stranger learns how the page is set up, and no more', async (t) => {
  const { app, call } = await testApp(t)
  await app.register(admin)
  t.equal((await call('GET', '/capabilities?x=1')).statusCode, 400, 'there is nothing to choose')
  const { payload } = await app.inject('/admin/settings.json')
  t.strictSame(Object.keys(JSON.parse(payload)), ['api', 'session', 'title', 'logo', 'language', 'direction', 'texts'])
})
