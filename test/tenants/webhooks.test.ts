// Webhooks of tenants: who makes, sees and gets what, and what is left when a tenant is removed.
import Fastify from 'fastify'
import { test, type Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { idAt, newId } from '../../lib/core/ids.ts'
import type { Storage } from '../../lib/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { createDeliver } from '../../lib/webhooks/deliver.ts'
import { createFanOut } from '../../lib/webhooks/fan-out.ts'
import { webhooks, type WebhooksOptions } from '../../lib/webhooks.ts'
import { testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { deliveryOf, eventOf, userOf, webhookOf } from '../helpers/records.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'
import { addUser } from '../helpers/writes.ts'
import { ACME, hosted, PLATFORM } from './hosted.ts'

const LOOPBACK = { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] }
const user = (n: number) => ({ name: `User ${n}`, email: `user${n}@example.org` })

async function host (t: Test, storage: Storage = memory(), options: WebhooksOptions = {}) {
  const { app, send } = await hosted(t, { storage, server: { genReqId: () => 'fixed' } })
  await app.register(webhooks, { ...LOOPBACK, ...options })
  await app.ready()
  return {
    app,
    send: (key: string, method: string, path: string, payload?: object) => send(key, method, `/v1${path}`, payload)
  }
}

test('an endpoint of a tenant gets its events, and one of none those of all', async (t) => {
  const { app, send } = await host(t)
  const [all, own, other] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)]
  const types = ['user.*']
  const platform = (await send(PLATFORM, 'POST', '/webhooks', { url: all.url, types })).body
  t.notOk('tenant' in platform)
  const { body: acme } = await send(ACME, 'POST', '/webhooks', { url: own.url, types })
  t.match(acme, { tenant: 'acme' })
  const beta = await send(PLATFORM, 'POST', '/webhooks', { url: other.url, types, tenant: 'beta' })
  t.match(beta, { status: 201, body: { tenant: 'beta' } })
  const totals = async (key: string, query = '') => (await send(key, 'GET', `/webhooks${query}`)).body.meta.total
  t.strictSame([await totals(PLATFORM), await totals(PLATFORM, '?tenant=beta'), await totals(ACME)], [3, 1, 1])

  for (let n = 0; n < 4; n++) await app.users.tenant(n % 2 === 0 ? 'acme' : 'beta').create(user(n))
  await app.users.tenant('gamma').create(user(9))
  await until('every receiver has its events', () =>
    all.received.length === 5 && own.received.length === 2 && other.received.length === 2)
  const { data: feed } = await app.users.tenant('acme').events.list({ type: 'user.*' })
  const sent = own.received.map(({ event }) => event).toSorted((a, b) => a.id < b.id ? -1 : 1)
  t.strictSame(sent, JSON.parse(JSON.stringify(feed)), 'as in the feed, with the tenant')
  t.strictSame(sent.map((event) => Object(event).tenant), ['acme', 'acme'])
  const tenants = all.received.map(({ event }) => Object(event).tenant)
  t.strictSame(tenants.toSorted(), ['acme', 'acme', 'beta', 'beta', 'gamma'])

  // What else sends: a replay and a retry of what was its own, and a test.
  const path = `/webhooks/${acme.id}`
  t.equal((await send(ACME, 'POST', `${path}/replay`, { since: '2026-01-31T09:30:00Z' })).status, 202)
  await until('its events came again', () => own.received.length === 4)
  const { data: [delivery] } = (await send(ACME, 'GET', `${path}/deliveries`)).body
  t.equal((await send(ACME, 'POST', `${path}/deliveries/${delivery.id}/retry`)).status, 202)
  await until('one came once more', () => own.received.length === 5)
  t.match(await send(ACME, 'POST', `${path}/test`), { status: 200, body: { status: 'succeeded' } })
  const { tenant, ...data } = (await send(ACME, 'GET', path)).body
  t.match(own.received.at(-1)?.event, { type: 'webhook.test', tenant, data })
  t.notOk('tenant' in Object(own.received.at(-1)?.event.data))
  t.strictSame([all.received.length, other.received.length], [5, 2])

  // Also for the platform, an endpoint of a tenant knows no event of another.
  const [foreign] = (await app.users.tenant('beta').events.list()).data
  const replay = (after: unknown) => send(PLATFORM, 'POST', `${path}/replay`, { after })
  t.match(await replay(foreign?.id), { status: 400, body: { errors: [{ pointer: '/after', code: 'unknown' }] } })
  t.match(await replay(newId('evt')), { status: 400, body: { errors: [{ pointer: '/after', code: 'unknown' }] } })
  t.match(await replay(idAt('evt', 0, 0)), { status: 410 })
  t.match(await send(PLATFORM, 'PATCH', path, { tenant: 'beta' }),
    { status: 400, body: { errors: [{ pointer: '/tenant', code: 'immutable' }] } })
  t.match(await send(PLATFORM, 'PATCH', path, { tenant: 'acme', description: 'x' }), { body: { description: 'x' } })
})

test('nothing is left of the webhooks of a removed tenant, and nothing is sent to them', async (t) => {
  const storage = memory()
  const { app } = await host(t, storage)
  const [gone, kept] = [await startReceiver(t), await startReceiver(t)]
  gone.answer = (response) => { response.writeHead(503).end() }
  const acme = app.webhooks.tenant('acme')
  const { id } = await acme.create({ url: gone.url })
  await app.webhooks.create({ url: kept.url })
  for (let n = 0; n < 3; n++) await app.users.tenant('acme').create(user(n))
  const wasTried = ({ attempts }: { attempts: unknown[] }): boolean => attempts.length > 0
  await until('one was tried', async () => (await acme.deliveries(id)).data.some(wasTried))
  await app.users.tenants.remove('acme')
  await t.rejects(app.webhooks.get(id), { code: 'webhook_not_found' })
  t.equal((await repositoryOf(storage).webhooks.listDeliveries(id, { offset: 0, limit: 9 }))?.total, 0)
  gone.answer = (response) => { response.writeHead(204).end() }
  // The same name again is another tenant.
  await app.users.tenant('acme').create(user(7))
  await until('the other endpoint has it', () => kept.received.some(({ body }) => body.includes('user7@')))
  const bodies = gone.received.map(({ body }) => body)
  t.strictSame(bodies.filter((body) => body.includes('null,"email"') || body.includes('user7@')), [])
})

test('an event that lost its tenant is not sent to an endpoint of a tenant', async (t) => {
  const storage = memory()
  const { events: log, tenants } = repositoryOf(storage)
  await addUser(storage, userOf(1, { tenant: 'acme' }), { event: eventOf(1, 'user.created') })
  const sent: string[] = []
  const deliver = createDeliver(log, async ({ body }) => {
    sent.push(body)
    return { status: 204, error: null, milliseconds: 0, retryAfter: null }
  }, (record) => Object(record))
  const attempt = () => deliver(webhookOf(1, { tenant: 'acme' }), deliveryOf(1))
  t.match(await attempt(), { status: 204 })
  while (await tenants.remove('acme', 9) > 0);
  t.match(await attempt(), { status: null, error: 'event_expired' })
  t.equal(sent.length, 1)
})

test('a tenant without news is not read again, however many tenants have webhooks', async (t) => {
  const storage = memory()
  const { webhooks: hooks, events: log } = repositoryOf(storage)
  const add = (n: number, tenant: string) =>
    addUser(storage, userOf(n, { tenant }), { event: eventOf(n, 'user.created') })
  const reads: string[] = []
  const watched: typeof log = {
    ...log,
    read (request) {
      reads.push(request.tenant ?? 'all')
      return log.read(request)
    }
  }
  const lines = captureLog()
  const fanOut = createFanOut(hooks, watched, Fastify({ logger: { stream: lines.stream } }).log)
  const round = async () => {
    reads.length = 0
    const { items } = await hooks.list({ order: 'asc', limit: 9, from: { offset: 0 } })
    await fanOut(items)
    return reads.toSorted()
  }
  for (const [n, tenant] of [[1, 'acme'], [2, 'beta'], [3, 'acme']] as const) {
    await hooks.insert(webhookOf(n, { tenant, types: [] }))
    await add(n, tenant)
  }
  t.strictSame(await round(), ['acme', 'all', 'beta'], 'the first time each is read once')
  t.strictSame(await round(), ['all'])
  await add(4, 'beta')
  t.strictSame(await round(), ['all', 'beta'])
  t.strictSame(await round(), ['all'])
  const totals = await Promise.all([1, 2, 3].map(async (n) =>
    (await hooks.listDeliveries(webhookOf(n).id, { offset: 0, limit: 9 })).total))
  t.strictSame(totals, [2, 2, 2])
  // One that begins anew is read again, and so is every one after a gap in the log.
  await hooks.change(webhookOf(1).id, null, (webhook) => ({ webhook: { ...webhook, after: null } }))
  t.strictSame(await round(), ['acme', 'all'])
  await add(5, 'acme')
  await log.prune('2100-01-01T00:00:00.000Z', 9)
  t.strictSame(await round(), ['acme', 'all', 'all', 'beta'], 'after a gap')
  t.strictSame(await round(), ['acme', 'all', 'beta'], 'from the beginning')
  t.strictSame(await round(), ['all'])
  t.equal((await hooks.listDeliveries(webhookOf(1).id, { offset: 0, limit: 9 })).total, 3)
})

test('webhooks of a deleted tenant are not said to have missed pruned events', async (t) => {
  const storage = memory()
  const { events: log, webhooks: hooks, tenants } = repositoryOf(storage)
  await hooks.insert(webhookOf(1, { tenant: 'acme', types: [] }))
  await addUser(storage, userOf(1, { tenant: 'acme' }), { event: eventOf(1, 'user.created') })
  const lines = captureLog()
  const server = Fastify({ logger: { stream: lines.stream } })
  const listed = async () => (await hooks.list({ order: 'asc', limit: 9, from: { offset: 0 } })).items
  // Each round as of a process that has just begun.
  const round = async () => createFanOut(hooks, log, server.log)(await listed())
  await round()
  t.strictSame((await listed()).map(({ after }) => typeof after), ['string'])
  // The user, then the event; the webhook is what is left.
  for (let n = 0; n < 2; n++) t.equal(await tenants.remove('acme', 1), 1)
  await round()
  t.strictSame((await listed()).map(({ after }) => after), [null])
  t.equal(lines.text(), '')
})

test('a tenant has as many webhooks as there may be, whatever others have', async (t) => {
  const { app } = await host(t, memory(), { maxWebhooks: 2, deliver: false })
  const [acme, beta] = [app.webhooks.tenant('acme'), app.webhooks.tenant('beta')]
  const input = { url: 'http://127.0.0.1:9/' }
  for (const each of [acme, beta, app.webhooks]) {
    await each.create(input)
    await each.create(input)
    await t.rejects(each.create(input), { code: 'too_many_webhooks' })
  }
  t.strictSame([(await acme.list()).meta.total, (await app.webhooks.list()).meta.total], [2, 6])
  t.throws(() => app.webhooks.tenant('No'), { code: 'validation_failed' })
  const plain = await testApp(t, { eventLog: true })
  await plain.app.register(webhooks, LOOPBACK)
  t.throws(() => plain.app.webhooks.tenant('acme'), { name: 'TypeError', message: /need the option tenants/ })
})

test('the event of a tenant’s webhook that is disabled is of that tenant', async (t) => {
  const { app } = await host(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => { response.writeHead(410).end() }
  const heard: unknown[] = []
  app.users.tenant('acme').events.on('webhook.disabled', (event) => { heard.push(event.tenant, event.data.tenant) })
  const { id } = await app.webhooks.tenant('acme').create({ url: receiver.url })
  await app.users.tenant('acme').create(user(1))
  await until('it is disabled', async () => !(await app.webhooks.get(id)).enabled)
  const { data } = await app.users.tenant('acme').events.list({ type: 'webhook.disabled' })
  t.match(data, [{ tenant: 'acme', data: { id, disabledReason: 'gone' } }])
  t.notOk('tenant' in Object(data[0]?.data))
  t.strictSame((await app.users.tenant('beta').events.list()).data, [])
  await until('the listener was called', () => heard.length === 2)
  t.strictSame(heard, ['acme', 'acme'])
})

test('a reader whose tenant has no event left gets events_expired', async (t) => {
  const storage = memory()
  const { app, send } = await host(t, storage, { deliver: false })
  await app.users.tenant('acme').create(user(1))
  const [own] = (await app.users.tenant('acme').events.list()).data
  await app.users.tenant('beta').create(user(2))
  const [other] = (await app.users.tenant('beta').events.list()).data
  await storage.log.prune(new Date(Date.now() + 1000).toISOString(), 9)
  const ask = (after: unknown) => send(ACME, 'GET', `/events?after=${after}`)
  const expired = await ask(own?.id)
  t.match(expired, { status: 410, body: { code: 'events_expired' } })
  t.strictSame(await ask(other?.id), await ask(newId('evt')), 'the event of another tenant, which is there')
  t.match(await ask(idAt('evt', Date.now() + 60_000, 0)), { status: 400, body: { errors: [{ code: 'unknown' }] } })
  t.match(await send(ACME, 'GET', '/events'), { status: 200, body: { data: [] } })
  t.match(await send(PLATFORM, 'GET', `/events?after=${other?.id}`), { status: 200 })
})
