// A key can only send a webhook events that it may read itself.
import type { LookupFunction } from 'node:net'
import { test, type Test } from 'tap'
import type { Scope } from '../../lib/api-keys/scopes.ts'
import type { WebhooksOptions } from '../../lib/webhooks.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'
import { hooked } from './hooked.ts'

const url = 'http://127.0.0.1:1/'
const READS: Scope[] = ['users:read', 'keys:read', 'groups:read', 'webhooks:read']

async function keyed (t: Test, options: WebhooksOptions = {}) {
  const host = await hooked(t, options)
  /** Calls with a key that may write webhooks, and has these scopes. */
  const withScopes = async (...scopes: Scope[]) => {
    const { key } = await host.app.users.apiKeys.create({ name: 'key', scopes: ['webhooks:write', ...scopes] })
    const headers = { authorization: `Bearer ${key}` }
    return async (method: string, path: string, payload?: object) => {
      const response = await host.call(method, path, { headers, ...(payload !== undefined && { payload }) })
      const body = response.body === '' ? {} : response.json()
      const challenge = / scope="(.*)"/.exec(String(response.headers['www-authenticate']))?.[1]
      return { status: response.statusCode, body, challenge }
    }
  }
  return { ...host, withScopes }
}

test('a key is refused events that it may not read, and gets its own if it asks for none', async (t) => {
  const { app, withScopes } = await keyed(t)
  const call = await withScopes('users:read')
  const refused = await call('POST', '/webhooks', { url, types: ['user.*', 'api_key.*', 'webhook.disabled'] })
  t.equal(refused.challenge, 'webhooks:write users:read keys:read webhooks:read')
  t.match(refused, {
    status: 403,
    body: {
      code: 'insufficient_scope',
      errors: [
        { pointer: '/types/1', code: 'beyond_caller', detail: 'needs the scope keys:read' },
        { pointer: '/types/2', code: 'beyond_caller', detail: 'needs the scope webhooks:read' }
      ]
    }
  })
  t.equal((await app.webhooks.list()).meta.total, 0)
  t.match(await call('POST', '/webhooks', { url, types: ['user.created'] }), { body: { types: ['user.created'] } })
  for (const [scopes, types] of [
    [['users:read'], ['user.*']], [['users:read', 'webhooks:read'], ['user.*', 'webhook.*']], [READS, []]
  ] as const) {
    const own = await withScopes(...scopes)
    for (const payload of [{ url }, { url, types: [] }]) {
      const { status, body } = await own('POST', '/webhooks', payload)
      t.strictSame([status, body.types], [201, types])
    }
  }
  const nothing = await (await withScopes())('POST', '/webhooks', { url })
  t.match(nothing, { status: 403, body: { errors: Array(3).fill({ pointer: '/types' }) } })
  t.strictSame((await app.webhooks.create({ url })).types, [], 'the host itself may read everything')
})

test('a key of few scopes can make no webhook of others send elsewhere, more, or again', async (t) => {
  const { app, withScopes } = await keyed(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => { response.writeHead(500).end() }
  const { id } = await app.webhooks.create({ url: receiver.url, types: ['user.created', 'api_key.revoked'] })
  const all = await app.webhooks.create({ url, enabled: false })
  await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await until('it failed', async () => (await app.webhooks.deliveries(id)).data[0]?.attempts.length === 1)
  const [delivery] = (await app.webhooks.deliveries(id)).data
  const before = await app.webhooks.get(id)
  const call = await withScopes('keys:read')
  const path = `/webhooks/${id}`
  const since = '2026-01-01T00:00:00Z'
  const refusals: Array<[string, string, object?]> = [
    ['PATCH', path, { url }], ['PATCH', path, { types: ['user.*'] }], ['PATCH', path, { enabled: true }],
    ['PATCH', `/webhooks/${all.id}`, { enabled: true }], ['POST', `${path}/rotate-secret`],
    ['POST', `${path}/replay`, { since }], ['POST', `${path}/deliveries/${delivery?.id}/retry`],
    ['POST', `${path}/test`]
  ]
  for (const [method, target, payload] of refusals) {
    const { status, body } = await call(method, target, payload)
    t.strictSame([status, body.code], [403, 'insufficient_scope'], `${method} ${target} ${JSON.stringify(payload)}`)
  }
  t.strictSame(await app.webhooks.get(id), before)
  t.equal(receiver.received.length, 1)

  // What sends nothing, or less, is allowed, and so is what is narrowed to its own.
  t.match(await call('PATCH', path, { description: 'CRM', enabled: false }), { status: 200 })
  t.match(await call('PATCH', path, { url, types: [] }), { status: 200 })
  t.match(await app.webhooks.get(id), { url, types: ['api_key.*'] })
  t.match(await call('POST', `${path}/replay`, { since }), { status: 202 })
  t.match(await call('POST', `${path}/rotate-secret`), { status: 200 })
  t.match(await call('DELETE', `/webhooks/${all.id}`), { status: 204 })
  const reader = await withScopes(...READS)
  t.match(await reader('POST', `${path}/deliveries/${delivery?.id}/retry`), { status: 202 })
  t.match(await reader('POST', `${path}/test`), { status: 200 })
})

test('a webhook that gets other events while a key changes it is judged as it is then', async (t) => {
  const held: Array<() => void> = []
  const lookup: LookupFunction = (_name, _options, callback) => held.push(() => callback(null, '127.0.0.1', 4))
  const { app, withScopes } = await keyed(t, { lookup })
  const { id } = await app.webhooks.create({ url, types: ['api_key.*'] })
  const call = await withScopes('keys:read')
  const changing = call('PATCH', `/webhooks/${id}`, { url: 'http://other.test/' })
  await until('its name is resolved', () => held.length === 1)
  await app.webhooks.update(id, { types: ['user.*'] })
  held[0]?.()
  t.match(await changing, { status: 403, body: { code: 'insufficient_scope' } })
  t.match(await app.webhooks.get(id), { url, types: ['user.*'] })
})

test('a write without webhooks:read shows of a webhook and of a delivery their ids and times', async (t) => {
  const { app, withScopes } = await keyed(t)
  const receiver = await startReceiver(t)
  const { id } = await app.webhooks.create({ url: receiver.url, types: ['user.*'], description: 'CRM' })
  await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await until('it was delivered', async () => (await app.webhooks.deliveries(id)).data[0]?.status === 'succeeded')
  const delivery = (await app.webhooks.deliveries(id)).data[0]?.id
  const path = `/webhooks/${id}`
  const writes: Array<[string, string, object | undefined, string[]]> = [
    ['PATCH', path, {}, ['id', 'createdAt', 'updatedAt']],
    ['POST', `${path}/rotate-secret`, undefined, ['id', 'createdAt', 'updatedAt', 'secret']],
    ['POST', `${path}/replay`, { since: '2026-01-01T00:00:00Z' }, ['id', 'createdAt', 'updatedAt']],
    ['POST', `${path}/deliveries/${delivery}/retry`, undefined, ['id', 'status', 'createdAt']]
  ]
  const [blind, reader] = [await withScopes('users:read'), await withScopes('users:read', 'webhooks:read')]
  for (const [method, target, payload, shown] of writes) {
    t.strictSame(Object.keys((await blind(method, target, payload)).body), shown, `${method} ${target}`)
    const { body } = await reader(method, target, payload)
    t.ok(['url', 'event'].some((member) => member in body), `${method} ${target} with webhooks:read`)
  }
})
