// Contract §2: bodies without content, and without a content coding.
import { test } from 'tap'
import { webhooks } from '../../lib/webhooks.ts'
import { testApp } from '../helpers/app.ts'
import { jsonHeaders } from '../helpers/contract.ts'

test('a request without content may name any media type', async (t) => {
  const { app, call } = await testApp(t, { apiKeys: { routes: true }, eventLog: true })
  await app.register(webhooks, { deliver: false, allowHttp: true, allowedNetworks: ['127.0.0.0/8'] })
  const webhook = await app.webhooks.create({ url: 'http://127.0.0.1:9/' })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'json', '']) {
    const user = await app.users.create({ name: 'Ann', email: 'ann@example.org' })
    const { id } = await app.users.apiKeys.create({ name: 'old', scopes: ['users:read'] })
    for (const [method, path, status] of [
      ['DELETE', `/users/${user.id}`, 204],
      ['POST', `/api-keys/${id}/rotate`, 201],
      ['POST', `/webhooks/${webhook.id}/rotate-secret`, 200],
      ['POST', `/webhooks/${webhook.id}/test`, 200],
      ['POST', '/users', 400],
      ['POST', '/users/import', 200]
    ] as const) {
      const headers = { 'content-type': type, 'content-length': '0', 'content-encoding': 'gzip' }
      t.equal((await call(method, path, { headers })).statusCode, status, `${method} ${path} with "${type}"`)
    }
  }
})

test('a body may say that it has no content coding', async (t) => {
  const { call } = await testApp(t)
  for (const [n, coding] of ['identity', 'Identity', 'identity, identity', ''].entries()) {
    const headers = { ...jsonHeaders, 'content-encoding': coding }
    const payload = JSON.stringify({ name: 'Ann', email: `ann${n}@example.org` })
    t.equal((await call('POST', '/users', { headers, payload })).statusCode, 201, coding)
  }
  const headers = { ...jsonHeaders, 'content-encoding': 'identity, gzip' }
  t.equal((await call('POST', '/users', { headers, payload: '{}' })).statusCode, 415)
})
