// Contract §2: request bodies that cannot be read.
import { test } from 'tap'
import { webhooks } from '../../lib/webhooks.ts'
import { testApp } from '../helpers/app.ts'
import { jsonHeaders, list, testCases } from '../helpers/contract.ts'

testCases('refuses unreadable bodies', [
  {
    name: 'malformed JSON',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '{"name":',
    status: 400,
    code: 'malformed_json'
  },
  {
    name: 'bytes that are not UTF-8',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: Buffer.from('{"name":"\xff","email":"b@c.de"}', 'latin1'),
    status: 400,
    code: 'malformed_json'
  },
  {
    name: 'a poisoned prototype',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '{"name":"B","email":"b@c.de","__proto__":{"x":1}}',
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '', code: 'forbidden', detail: 'must not have members named __proto__ or constructor.prototype' }
    ]
  },
  {
    name: 'a poisoned constructor',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '{"name":"B","email":"b@c.de","constructor":{"prototype":{}}}',
    status: 400,
    code: 'validation_failed',
    errors: [
      { pointer: '', code: 'forbidden', detail: 'must not have members named __proto__ or constructor.prototype' }
    ]
  },
  {
    name: 'a member twice',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: '{"name":"Ann","email":"b@c.de","name":"Bob"}',
    status: 400,
    code: 'validation_failed',
    errors: [{ pointer: '', code: 'duplicate', detail: 'must not have a member twice' }]
  },
  {
    name: 'a body of 16 KiB and a byte',
    method: 'POST',
    path: list,
    headers: jsonHeaders,
    body: ' '.repeat(16 * 1024 + 1),
    status: 413,
    code: 'body_too_large'
  },
  {
    name: 'another media type',
    method: 'POST',
    path: list,
    headers: { 'content-type': 'text/plain' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
    has: { accept: 'application/json' }
  },
  {
    name: 'a merge patch as a creation',
    method: 'POST',
    path: list,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'no media type',
    method: 'POST',
    path: list,
    body: Buffer.from('{}'),
    headers: {},
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'a malformed media type',
    method: 'POST',
    path: list,
    headers: { 'content-type': 'json' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'another charset',
    method: 'POST',
    path: list,
    headers: { 'content-type': 'application/json; charset=utf-16' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type'
  },
  {
    name: 'a content coding',
    method: 'POST',
    path: list,
    headers: { ...jsonHeaders, 'content-encoding': 'gzip' },
    body: '{}',
    status: 415,
    code: 'unsupported_media_type',
    has: { 'accept-encoding': 'identity' }
  }
])

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
