// Contract §14: webhooks over HTTP.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { idAt, newId } from '../../lib/core/ids.ts'
import users from '../../lib/index.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { testApp } from '../helpers/app.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'
import { hooked, LOOPBACK } from './hooked.ts'

test('a webhook is created, read, listed, changed and deleted', async (t) => {
  const { call } = await hooked(t)
  const { url } = await startReceiver(t)
  const made = await call('POST', '/webhooks', { payload: { url, types: ['user.*', 'user.*'], description: ' CRM ' } })
  t.equal(made.statusCode, 201)
  const { secret, ...webhook } = made.json()
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(made.headers['location'], `/v1/webhooks/${webhook.id}`)
  t.strictSame(Object.keys(webhook), ['id', 'url', 'types', 'description', 'enabled', 'createdAt', 'updatedAt'])
  t.match(webhook, { id: /^whk_\w{26}$/, url, types: ['user.*'], description: 'CRM', enabled: true })

  const path = `/webhooks/${webhook.id}`
  const read = await call('GET', path)
  t.strictSame([read.statusCode, read.json()], [200, webhook], 'without the secret')
  const head = await call('HEAD', path)
  t.strictSame([head.statusCode, head.body], [200, ''])
  await call('POST', '/webhooks', { payload: { url } })
  const list = await call('GET', '/webhooks?limit=1')
  t.strictSame(list.json(), { data: [webhook], meta: { page: 1, limit: 1, total: 2 } })
  t.match(list.headers['link'], '</v1/webhooks?limit=1&page=2>; rel="next"')

  const changed = await call('PATCH', path, { payload: { enabled: false, description: null, types: [] } })
  t.equal(changed.statusCode, 200)
  t.match(changed.json(), { id: webhook.id, url, enabled: false, types: [] })
  t.notOk('description' in changed.json())
  t.equal((await call('DELETE', path)).statusCode, 204)
})

test('what a webhook cannot be made of', async (t) => {
  const { call } = await hooked(t)
  const faultsOf = async (payload: object, path = '/webhooks', method = 'POST') => {
    const response = await call(method, path, { payload, headers: { 'content-type': 'application/json' } })
    const { code, errors = [] } = response.json()
    return [response.statusCode, code, ...errors.map((each: { pointer?: string, parameter?: string, code: string }) =>
      `${each.pointer ?? each.parameter} ${each.code}`)]
  }
  t.strictSame(await faultsOf({}), [400, 'validation_failed', '/url required'])
  t.strictSame(await faultsOf({ url: 1, types: 'x', enabled: 'yes', secret: 'x' }), [
    400, 'validation_failed', '/secret unknown', '/url type', '/types type', '/enabled type'
  ])
  const url = 'http://127.0.0.1:1/'
  t.strictSame(await faultsOf({ url: `${url}${'x'.repeat(2048)}`, types: ['user.*', 'x'], description: ' ' }), [
    400, 'validation_failed', '/url too_long', '/types/1 choice', '/description too_short'
  ])
  t.strictSame(await faultsOf({ url, types: Array(21).fill('user.*') }), [400, 'validation_failed', '/types too_many'])
  t.strictSame(await faultsOf({ url: 'http://10.0.0.1/' }), [400, 'url_not_allowed', '/url not_allowed'])

  const { id } = (await call('POST', '/webhooks', { payload: { url } })).json()
  t.strictSame(await faultsOf({ url: 'http://10.0.0.1/' }, `/webhooks/${id}`, 'PATCH'), [
    400, 'url_not_allowed', '/url not_allowed'
  ])
  t.strictSame(await faultsOf({ url: null }, `/webhooks/${id}`, 'PATCH'), [400, 'validation_failed', '/url type'])
  t.strictSame(await faultsOf({ overlap: 604_801 }, `/webhooks/${id}/rotate-secret`), [
    400, 'validation_failed', '/overlap range'
  ])
  const replay = `/webhooks/${id}/replay`
  t.strictSame(await faultsOf({}, replay), [400, 'validation_failed', ' choice'])
  t.strictSame(await faultsOf({ after: 'x', since: 'x' }, replay), [
    400, 'validation_failed', ' choice', '/after format', '/since format'
  ])
  for (const since of ['2026-02-30T00:00:00Z', '2026-02-28T24:00:00Z']) {
    t.strictSame(await faultsOf({ since }, replay), [400, 'validation_failed', '/since format'])
  }
  const missing = await call('POST', `/webhooks/${id}/deliveries/${newId('dlv')}/retry`)
  t.match([missing.statusCode, missing.json().code], [404, 'delivery_not_found'])
})

test('replays that the log can’t give', async (t) => {
  const storage = memory()
  const { app, call } = await hooked(t, {}, { storage })
  const { id } = (await call('POST', '/webhooks', { payload: { url: 'http://127.0.0.1:1/', enabled: false } })).json()
  const first = idAt('evt', Date.now() - 1, 0)
  await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  const replay = async (after: string) => {
    const response = await call('POST', `/webhooks/${id}/replay`, { payload: { after } })
    return [response.statusCode, response.json().code]
  }
  t.strictSame(await replay(newId('evt')), [400, 'position_unknown'], 'an event that is not there')
  await app.users.create({ name: 'Bob', email: 'bob@example.org' })
  await storage.log.prune(new Date(Date.now() + 1000).toISOString(), 100)
  t.strictSame(await replay(first), [410, 'events_expired'])
})

test('a new secret signs together with the old one, for the overlap', async (t) => {
  const { app, call } = await hooked(t)
  const receiver = await startReceiver(t)
  const { id, secret: old } = (await call('POST', '/webhooks', { payload: { url: receiver.url } })).json()
  const rotated = await call('POST', `/webhooks/${id}/rotate-secret`)
  t.equal(rotated.statusCode, 200)
  const { secret } = rotated.json()
  t.not(secret, old)
  await app.users.create({ name: 'Ann', email: 'ann@example.org' })
  await until('it came', () => receiver.received.length === 1)
  const [first] = receiver.received
  if (first === undefined) throw new Error('nothing came')
  t.ok(receiver.isSigned(first, secret) && receiver.isSigned(first, old))
  t.equal(String(first.headers['webhook-signature']).split(' ').length, 2)

  const { secret: last } = (await call('POST', `/webhooks/${id}/rotate-secret`, { payload: { overlap: 0 } })).json()
  await app.users.create({ name: 'Bob', email: 'bob@example.org' })
  await until('it came', () => receiver.received.length === 2)
  const second = receiver.received[1] ?? first
  t.ok(receiver.isSigned(second, last))
  t.notOk(receiver.isSigned(second, secret), 'its overlap was none')
  t.notOk(receiver.isSigned(second, old), 'nor has an older one more')
})

test('a test event is sent once, also to a webhook that is disabled', async (t) => {
  const { app, call } = await hooked(t)
  const receiver = await startReceiver(t)
  const payload = { url: receiver.url, enabled: false, types: ['user.created'] }
  const { id, secret } = (await call('POST', '/webhooks', { payload })).json()
  const response = await call('POST', `/webhooks/${id}/test`)
  t.equal(response.statusCode, 200)
  t.match(response.json(), { type: 'webhook.test', status: 'succeeded', attempts: [{ status: 204 }] })
  const [sent] = receiver.received
  if (sent === undefined) throw new Error('nothing came')
  t.ok(receiver.isSigned(sent, secret))
  t.match(sent.event, { id: response.json().event, type: 'webhook.test', data: { id } })
  t.strictSame((await app.users.events.list({ type: 'webhook.*' })).data, [])

  receiver.answer = (reply) => { reply.writeHead(500).end('out of order') }
  const failed = (await call('POST', `/webhooks/${id}/test`)).json()
  t.match(failed, { status: 'failed', attempts: [{ status: 500, response: 'out of order' }] })
  const list = await call('GET', `/webhooks/${id}/deliveries?limit=1`)
  t.strictSame(list.json(), { data: [failed], meta: { page: 1, limit: 1, total: 2 } })
  t.match(list.headers['link'], `</v1/webhooks/${id}/deliveries?limit=1&page=2>; rel="next"`)
  t.equal(receiver.received.length, 2)
})

test('what it needs', async (t) => {
  const alone = Fastify()
  t.teardown(() => alone.close())
  await t.rejects(async () => alone.register(webhooks), /register fastify-users first: there is no app\.users/)
  const unlogged = await testApp(t)
  await t.rejects(async () => unlogged.app.register(webhooks), /fastify-users needs the option eventLog/)
  const twice = await testApp(t, { eventLog: true })
  await twice.app.register(webhooks)
  await t.rejects(async () => twice.app.register(webhooks), /app\.webhooks already exists/)
  const wrong = await testApp(t, { eventLog: true })
  const options: object = { allowedNetworks: ['10.0.0.1'], x: 1, retention: 5 }
  await t.rejects(async () => wrong.app.register(webhooks, options), /3 wrong options/)
  await t.rejects(async () => wrong.app.register(webhooks, { allowedNetworks: ['10.0.0.0/64'] }), /such as 10\.1\.0\.0/)
})

test('without routes it works in process alone; two mounts have webhooks of their own', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const receiver = await startReceiver(t)
  for (const name of ['staff', 'guests']) {
    await app.register(users, { prefix: `/${name}`, decoratorName: name, storage: memory(), eventLog: true })
  }
  await app.register(webhooks, { ...LOOPBACK, users: 'staff', routes: false })
  await app.register(webhooks, { ...LOOPBACK, users: 'guests', decoratorName: 'guestHooks' })
  await app.ready()
  t.notOk(app.hasRoute({ method: 'POST', url: '/staff/webhooks' }))
  t.ok(app.hasRoute({ method: 'POST', url: '/guests/webhooks' }))
  await app.webhooks.create({ url: receiver.url, types: ['user.*'] })
  await Object(app).guests.create({ name: 'Guest', email: 'guest@example.org' })
  await Object(app).staff.create({ name: 'Ann', email: 'ann@example.org' })
  await until('it came', () => receiver.received.length === 1)
  t.match(receiver.received[0]?.event, { data: { name: 'Ann' } })
})
