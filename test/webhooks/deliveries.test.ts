// Contract §14: events reach receivers.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import type { LoggedEvent } from '../../lib/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import type { Delivery } from '../../lib/webhooks.ts'
import { createFanOut } from '../../lib/webhooks/fan-out.ts'
import { eventOf, userOf, webhookOf } from '../helpers/records.ts'
import { until } from '../helpers/until.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'
import { addUser } from '../helpers/writes.ts'
import { hooked, user } from './hooked.ts'

test('each event is delivered, signed and the same as in the log', async (t) => {
  const { app } = await hooked(t)
  await app.users.create(user(0))
  const receiver = await startReceiver(t)
  const { secret, ...webhook } = await app.webhooks.create({ url: receiver.url })
  const { id } = await app.users.create(user(1))
  await app.users.update(id, { name: 'Other' })
  await app.users.apiKeys.create({ name: 'key' })
  await app.users.delete(id)
  await until('everything was delivered', () => receiver.received.length >= 4)
  const { data } = await app.users.events.list()
  const events = data.slice(-4)
  t.strictSame(receiver.ids().toSorted(), events.map((each) => each.id), 'nothing from before it was created')
  const bodies = receiver.received.map(({ event }) => event).sort((a, b) => a.id < b.id ? -1 : 1)
  t.strictSame(bodies, events)
  for (const each of receiver.received) {
    t.ok(receiver.isSigned(each, secret), 'standardwebhooks accepts it')
    t.equal(each.headers['webhook-id'], each.event.id)
    t.equal(each.headers['content-type'], 'application/json')
  }
  await until('all are kept as delivered', async () => {
    const { data: deliveries } = await app.webhooks.deliveries(webhook.id)
    return deliveries.length === 4 && deliveries.every(({ status }) => status === 'succeeded')
  })
  const [last] = (await app.webhooks.deliveries(webhook.id, { limit: 1 })).data
  t.match(last, { status: 'succeeded', type: 'user.deleted', attempts: [{ status: 204, at: /Z$/ }] })
  t.strictSame(await app.webhooks.get(webhook.id), webhook)
})

test('a delivery that fails is attempted again, with the same id', async (t) => {
  const { app } = await hooked(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => {
    response.writeHead(receiver.received.length === 1 ? 500 : 200).end('no\u202e disk\n\u0000left')
  }
  const { id, secret } = await app.webhooks.create({ url: receiver.url, types: ['user.*'] })
  await app.users.create(user(1))
  await app.users.apiKeys.create({ name: 'not wanted' })
  await until('the first attempt is kept', async () => {
    return (await app.webhooks.deliveries(id)).data[0]?.attempts.length === 1
  })
  const [failed] = (await app.webhooks.deliveries(id)).data
  t.match(failed, { status: 'pending', attempts: [{ status: 500, response: 'no disk left' }], nextAttemptAt: /Z$/ })
  const wait = Date.parse(String(failed?.nextAttemptAt)) - Date.parse(String(failed?.attempts[0]?.at))
  t.ok(wait >= 5000 && wait < 6500, `${wait} ms`)
  t.match(await app.webhooks.get(id), { failingSince: /Z$/ })
  t.match(await app.webhooks.retry(id, String(failed?.id)), { status: 'pending' })
  await until('it was delivered', async () => (await app.webhooks.deliveries(id)).data[0]?.status === 'succeeded')
  const [first, second] = receiver.received
  t.strictSame([first?.headers['webhook-id'], first?.body], [second?.headers['webhook-id'], second?.body])
  t.ok(receiver.received.every((each) => receiver.isSigned(each, secret)))
  t.notOk('failingSince' in await app.webhooks.get(id))
  t.equal((await app.webhooks.deliveries(id)).meta.total, 1)
  const [done] = (await app.webhooks.deliveries(id)).data
  t.strictSame(done?.attempts.map(({ response }) => response), ['no disk left', undefined],
    'of a success nothing is kept')
  const totalOf = async (status: Delivery['status']) => (await app.webhooks.deliveries(id, { status })).meta.total
  t.strictSame([await totalOf('succeeded'), await totalOf('pending'), await totalOf('failed')], [1, 0, 0])
})

test('410 disables, with an event that other webhooks get', async (t) => {
  const { app } = await hooked(t)
  const [gone, other] = [await startReceiver(t), await startReceiver(t)]
  gone.answer = (response) => { response.writeHead(410).end() }
  const { id } = await app.webhooks.create({ url: gone.url })
  await app.webhooks.create({ url: other.url, types: ['webhook.*'] })
  const inProcess: string[] = []
  app.users.events.on('webhook.disabled', (event) => { inProcess.push(event.id) })
  await app.users.create(user(1))
  await until('the other one was told', () => other.received.length === 1)
  t.match(await app.webhooks.get(id), { enabled: false, disabledReason: 'gone' })
  const [event] = other.received.map((each) => each.event)
  t.match(event, { type: 'webhook.disabled', data: { id, enabled: false, disabledReason: 'gone' } })
  t.notMatch(JSON.stringify(event), 'whsec_')
  const logged: LoggedEvent[] = (await app.users.events.list({ type: 'webhook.disabled' })).data
  t.strictSame(logged, [event])
  t.strictSame(inProcess, [event?.id])

  // What happens meanwhile is delivered when it is enabled again.
  await app.users.create(user(2))
  gone.answer = (response) => { response.writeHead(200).end() }
  const enabled = await app.webhooks.update(id, { enabled: true })
  t.notOk('disabledReason' in enabled)
  await until('the rest came', () => gone.received.filter(({ event }) => event.type === 'user.created').length === 2)
})

test('events are delivered again since an event, and since a time', async (t) => {
  const { app } = await hooked(t)
  const receiver = await startReceiver(t)
  for (const n of [1, 2, 3]) await app.users.create(user(n))
  const { id } = await app.webhooks.create({ url: receiver.url, types: ['user.created'] })
  const events = (await app.users.events.list({ type: 'user.created' })).data
  await app.webhooks.replay(id, { after: String(events[0]?.id) })
  await until('two came', () => receiver.received.length === 2)
  t.strictSame(receiver.ids().toSorted(), events.slice(1).map((each) => each.id))
  await until('none is pending', async () =>
    (await app.webhooks.deliveries(id)).data.every(({ status }) => status === 'succeeded'))
  await app.webhooks.replay(id, { since: String(events[0]?.timestamp) })
  await until('all came', () => receiver.received.length === 5)
  t.strictSame(receiver.ids().slice(2).toSorted(), events.map((each) => each.id))
  await app.users.create(user(4))
  await until('the next came', () => receiver.received.length === 6)
})

test('of two processes that have read the same place in the log, one makes the deliveries', async (t) => {
  const storage = memory()
  const { webhooks: store, events: log } = repositoryOf(storage)
  const { id } = webhookOf(1)
  await store.insert(webhookOf(1))
  const { items: read } = await store.list({ order: 'asc', limit: 9, from: { offset: 0 } })
  await addUser(storage, userOf(1), { event: eventOf(1, 'user.created') })
  const { log: logger } = Fastify()
  await createFanOut(store, log, logger)(read)
  const { items: [made] } = await store.listDeliveries(id, { offset: 0, limit: 9 })
  if (made === undefined) throw new Error('there is no delivery')
  await store.change(id, made.id, () => ({ deliveries: [{ ...made, status: 'succeeded', dueAt: null }] }))
  await createFanOut(store, log, logger)(read)
  t.equal((await store.listDeliveries(id, { offset: 0, limit: 9 })).total, 1)
})
