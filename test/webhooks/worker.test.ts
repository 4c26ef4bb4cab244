// The work of one process: slow receivers, erasure, its end.
import Fastify from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { StorageError } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/index.ts'
import { sharesOf } from '../../lib/webhooks/bounds.ts'
import { createWebhooksService } from '../../lib/webhooks/service.ts'
import { createTargets } from '../../lib/webhooks/targets.ts'
import { createWorker } from '../../lib/webhooks/worker.ts'
import { aroundCommit } from '../helpers/around.ts'
import { captureLog } from '../helpers/log.ts'
import { deliveryOf, eventOf, timeOf, userOf, webhookOf } from '../helpers/records.ts'
import { until } from '../helpers/until.ts'
import { addUser } from '../helpers/writes.ts'
import { startReceiver } from '../helpers/webhook-receiver.ts'
import { hooked, user } from './hooked.ts'

test('a receiver that asks to wait gets nothing until then', async (t) => {
  const { app } = await hooked(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => { response.writeHead(429, { 'retry-after': '3600' }).end() }
  const { id } = await app.webhooks.create({ url: receiver.url })
  const other = await startReceiver(t)
  await app.webhooks.create({ url: other.url })
  await app.users.create(user(1))
  await until('it was asked', async () => (await app.webhooks.deliveries(id)).data[0]?.attempts.length === 1)
  for (let n = 2; n < 10; n++) await app.users.create(user(n))
  await until('the other one has all', () => other.received.length === 9)
  await until('deliveries are there', async () => (await app.webhooks.deliveries(id)).meta.total === 9)
  t.equal(receiver.received.length, 1)
  // Enabled anew, it starts with a clean sheet.
  receiver.answer = (response) => { response.writeHead(200).end() }
  await app.webhooks.update(id, { enabled: false })
  await app.webhooks.update(id, { enabled: true })
  await until('the rest came', () => new Set(receiver.ids()).size === 9)
})

test('what was erased meanwhile is not sent', async (t) => {
  const { app } = await hooked(t)
  const receiver = await startReceiver(t)
  receiver.answer = (response) => { response.writeHead(503).end() }
  const { id } = await app.webhooks.create({ url: receiver.url, types: ['user.created'] })
  const { id: userId } = await app.users.create(user(1))
  await until('it failed', async () => (await app.webhooks.deliveries(id)).data[0]?.attempts.length === 1)
  await app.users.delete(userId, { erase: true })
  receiver.answer = (response) => { response.writeHead(200).end() }
  await app.webhooks.update(id, { enabled: false })
  await app.webhooks.update(id, { enabled: true })
  const [delivery] = (await app.webhooks.deliveries(id)).data
  await app.webhooks.retry(id, String(delivery?.id))
  await until('it came again', () => receiver.received.length === 2)
  const [before, after] = receiver.received
  t.equal(before?.event.data['name'], 'User 1')
  t.match(after?.event, { id: before?.event.id, data: { id: userId, name: null, email: null } })
})

test('a webhook whose events were pruned goes on with the oldest ones', async (t) => {
  const storage = memory()
  const { app } = await hooked(t, {}, { storage })
  const receiver = await startReceiver(t)
  const { id } = await app.webhooks.create({ url: receiver.url, enabled: false })
  for (let n = 0; n < 5; n++) await app.users.create(user(n))
  await storage.log.prune(new Date(Date.now() + 1000).toISOString(), 100)
  const { data: [newest] } = await app.users.events.list()
  await app.webhooks.update(id, { enabled: true })
  await until('the newest came', () => receiver.received.length === 1)
  t.strictSame(receiver.ids(), [newest?.id])
})

test('an event that is no longer kept can’t be delivered', async (t) => {
  const storage = memory()
  const { app } = await hooked(t, {}, { storage })
  const receiver = await startReceiver(t)
  receiver.answer = (response) => { response.writeHead(500).end() }
  const { id } = await app.webhooks.create({ url: receiver.url })
  await app.users.create(user(1))
  await until('it failed', async () => (await app.webhooks.deliveries(id)).data[0]?.attempts.length === 1)
  await app.webhooks.update(id, { types: ['api_key.created'] })
  await app.users.create(user(2))
  await storage.log.prune(new Date(Date.now() + 1000).toISOString(), 100)
  const [first] = (await app.webhooks.deliveries(id)).data
  await app.webhooks.retry(id, String(first?.id))
  await until('it was judged', async () => (await app.webhooks.deliveries(id)).data[0]?.attempts.length === 2)
  t.match((await app.webhooks.deliveries(id)).data[0]?.attempts[1], { error: 'event_expired' })
  t.equal(receiver.received.length, 1)
})

test('an attempt that others kept from beginning counts for nothing, and is made again', async (t) => {
  const { webhooks: store, events: log } = repositoryOf(memory())
  const { id } = webhookOf(1)
  const { id: delivery } = deliveryOf(1)
  await store.insert(webhookOf(1, { url: 'no URL' }))
  await store.change(id, null, () => ({ deliveries: [deliveryOf(1)] }))
  const answers = [{ status: null, error: 'busy' }, { status: 204, error: null }]
  const deliver = async () => ({ status: 204, error: null, ...answers.shift(), milliseconds: 1, retryAfter: null })
  const worker = createWorker({ store, log, logger: Fastify().log, deliver, shares: sharesOf(2), publish: () => {} })
  worker.start()
  await until('it was delivered', async () => (await store.findDelivery(delivery))?.status === 'succeeded')
  await worker.close()
  t.match(await store.findDelivery(delivery), { claims: 2, failures: 0, attempts: [{ status: 204 }] })
  t.equal((await store.findDelivery(delivery))?.attempts.length, 1)
  t.equal((await store.find(id))?.failingSince, null)

  const targets = createTargets({ allowHttp: false, allowedNetworks: [] })
  const busy = async () => ({ status: null, error: 'busy', milliseconds: 1, retryAfter: null })
  const service = createWebhooksService({
    store,
    log,
    targets,
    pageSize: { default: 1, max: 1 },
    deliver: busy,
    gate: (_caller, work) => work(),
    maxWebhooks: 1,
    wake: () => {}
  })
  await t.rejects(service.test(id), { code: 'storage_unavailable' }, 'a test says so')
})

test('an outage of the storage is logged once, and its end', async (t) => {
  const storage = memory()
  const { stream, entries } = captureLog()
  const { app } = await hooked(t, {}, { storage, server: { logger: { level: 'info', stream } } })
  const receiver = await startReceiver(t)
  await app.webhooks.create({ url: receiver.url })
  const { list } = storage
  let failures = 0
  storage.list = async () => {
    failures++
    throw new StorageError('unavailable', 'away')
  }
  await until('it was asked three times', () => failures === 3)
  storage.list = list
  await app.users.create(user(1))
  await until('the event came', () => receiver.received.length === 1)
  const told = entries().map(({ level, msg }) => [level, msg]).filter(([, msg]) => String(msg).includes('webhooks'))
  t.strictSame(told, [[40, 'could not deliver webhooks; trying again'], [30, 'webhooks are delivered again']])
})

test('an endpoint whose row is locked holds up no other', async (t) => {
  const storage = memory()
  const { stream, entries } = captureLog()
  const { app } = await hooked(t, {}, { storage, server: { logger: { level: 'info', stream } } })
  const receivers = await Promise.all(Array.from({ length: 3 }, () => startReceiver(t)))
  const ids: string[] = []
  for (const { url } of receivers) ids.push((await app.webhooks.create({ url })).id)
  const [, locked = ''] = ids
  aroundCommit(storage, 'webhooks', async (call, units) => {
    if (JSON.stringify(units).includes(locked)) throw new StorageError('unavailable', 'locked')
    return call()
  })
  for (let n = 0; n < 5; n++) await app.users.create(user(n))
  await until('the others have all', () => [0, 2].every((n) => receivers[n]?.received.length === 5))
  t.equal(receivers[1]?.received.length, 0)
  const told = entries().filter(({ level }) => level === 40).map(({ msg, webhook }) => [msg, webhook])
  t.strictSame(told, [['could not deliver this webhook; trying again', locked]])
})

test('deliveries that were made just now are not looked for behind the backlog of others', async (t) => {
  const storage = memory()
  const { webhooks: store, events: log } = repositoryOf(storage)
  const idAt = (n: number) => `whk_${String(n).padStart(26, '0')}`
  const delivery = (n: number, webhook: string, more = {}) => deliveryOf(n, { webhook, dueAt: timeOf(0), ...more })
  await store.insert(webhookOf(1, { id: idAt(0), enabled: false }))
  const backlog = Array.from({ length: 120 }, (_, n) => delivery(n, idAt(0)))
  await store.change(idAt(0), null, () => ({ deliveries: backlog }))
  for (let n = 1; n < 130; n++) await store.insert(webhookOf(n, { id: idAt(n), types: ['group.created'] }))
  const asked: string[] = []
  const found: string[] = []
  const watched: typeof store = {
    ...store,
    hasDue: (id, now) => { asked.push(id); return store.hasDue(id, now) },
    find: (id) => { found.push(id); return store.find(id) }
  }
  const answered: string[] = []
  const askedBefore: number[] = []
  const deliver = async ({ id }: { id: string }) => {
    answered.push(id)
    askedBefore.push(asked.length)
    return { status: 204, error: null, milliseconds: 1, retryAfter: null }
  }
  const { log: logger } = Fastify()
  const worker = createWorker({ store: watched, log, logger, deliver, shares: sharesOf(40), publish: () => {} })
  t.teardown(() => worker.close())
  // By the event log, for the last of them; and a retry of another, which only its row tells of.
  await store.change(idAt(129), null, (webhook) => ({ webhook: { ...webhook, types: ['user.created'] } }))
  await addUser(storage, userOf(1), { event: eventOf(1, 'user.created') })
  await store.change(idAt(110), null, () => ({ deliveries: [delivery(500, idAt(110))] }))
  worker.start()
  await until('both came', () => answered.length === 2)
  t.strictSame(answered, [idAt(129), idAt(110)])
  t.equal(askedBefore[0], 0)
  t.strictSame(found, [idAt(129), idAt(110)], 'those without deliveries are not read one by one')
})

test('close() ends what is under way, and leaves the rest', async (t) => {
  const storage = memory()
  const receiver = await startReceiver(t)
  const waiting: Array<() => void> = []
  receiver.answer = (response) => waiting.push(() => { response.writeHead(204).end() })
  const { app } = await hooked(t, {}, { storage })
  const { id } = await app.webhooks.create({ url: receiver.url })
  for (let n = 0; n < 8; n++) await app.users.create(user(n))
  await until('five are under way', () => waiting.length === 5)
  const kept = new Map<string, string>()
  storeEnds(storage, kept)
  const closed = app.close()
  for (const end of waiting) end()
  await closed
  t.equal(receiver.received.length, 5, 'nothing new was begun')
  t.strictSame([...kept.values()], Array(5).fill('succeeded'), `of ${id}`)
})

/** Notes with which status deliveries are kept. */
function storeEnds (storage: Storage, kept: Map<string, string>): void {
  aroundCommit(storage, 'deliveries', (call, units) => {
    for (const write of units.flatMap(({ writes }) => writes)) {
      if (write.in !== 'deliveries' || write.put === null) continue
      const { id, status, claims } = write.put.record
      // A claim ends nothing.
      if (claims === write.was?.record.claims) kept.set(id, status)
    }
    return call()
  })
}
