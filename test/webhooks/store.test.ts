// What every store of webhooks must do, above all when many ask at the same time.
import { test, type Test } from 'tap'
import { greatestId, newId } from '../../lib/core/ids.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import type { DeliveryRecord, Storage, WebhookRecord } from '../../lib/storage/storage.ts'
import type { WebhookStore } from '../../lib/storage/webhook-loop.ts'
import { apiKeyOf, eventOf } from '../helpers/records.ts'
import { stores } from '../helpers/stores.ts'
import { addKey } from '../helpers/writes.ts'

const iso = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()
const NOW = iso(0)

const webhookOf = (values: Partial<WebhookRecord> = {}): WebhookRecord => ({
  id: newId('whk'),
  url: 'https://example.org/ü',
  types: ['user.*'],
  description: '“quoted” \\ and 😀',
  enabled: true,
  disabledReason: null,
  secrets: [{ text: 'whsec_x', expiresAt: null }],
  after: null,
  failingSince: null,
  pausedUntil: null,
  createdAt: NOW,
  updatedAt: NOW,
  ...values
})

const deliveryOf = (webhook: string, values: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  id: newId('dlv'),
  webhook,
  event: newId('evt'),
  type: 'user.created',
  status: 'pending',
  dueAt: NOW,
  claims: 0,
  failures: 0,
  attempts: [{ at: NOW, status: null, milliseconds: 3, error: 'timeout' }],
  testEvent: { id: 'x', list: [1, null, 'ü'] },
  createdAt: NOW,
  ...values
})

async function opened (
  t: Test,
  create: (t: Test) => Promise<Storage>
): Promise<{ storage: Storage, store: WebhookStore }> {
  const storage = await create(t)
  t.teardown(() => storage.close())
  await storage.open({ migrate: true })
  return { storage, store: repositoryOf(storage).webhooks }
}

const add = (store: WebhookStore, id: string, deliveries: DeliveryRecord[]) =>
  store.change(id, null, () => ({ deliveries }))

for (const { name, create } of stores) {
  test(`endpoints are kept as they were given, on ${name}`, async (t) => {
    const { store } = await opened(t, create)
    const disabled: Partial<WebhookRecord> = { description: null, types: [], enabled: false, disabledReason: 'gone' }
    const all = [webhookOf(), webhookOf(disabled), webhookOf()]
    for (const each of all) await store.insert(each)
    t.strictSame(await store.find(String(all[1]?.id)), all[1])
    const first = await store.list({ order: 'asc', limit: 2, from: { offset: 0 } })
    t.strictSame(first, { items: all.slice(0, 2), total: 3 })
    const [last] = (await store.list({ order: 'desc', limit: 1, from: { offset: 0 } })).items
    t.strictSame(last, all[2])
    for (const id of [newId('whk'), 'x', '', '\u0000', "' OR 1=1 --"]) {
      t.equal(await store.find(id), null)
      t.equal(await store.change(id, null, () => { throw new Error('it was asked') }), null)
      t.equal(await store.remove(id), false)
    }
  })

  test(`of many changes at the same time none is lost, on ${name}`, async (t) => {
    const { store } = await opened(t, create)
    const { id } = webhookOf()
    await store.insert(webhookOf({ id, description: '0' }))
    await Promise.all(Array.from({ length: 40 }, () => store.change(id, null, (webhook) =>
      ({ webhook: { ...webhook, description: String(Number(webhook.description) + 1) } }))))
    t.equal((await store.find(id))?.description, '40')
  })

  test(`a change is made wholly or not at all, with its event, on ${name}`, async (t) => {
    const { storage, store } = await opened(t, create)
    const webhook = webhookOf()
    await store.insert(webhook)
    const event = {
      id: newId('evt'),
      type: 'webhook.disabled',
      timestamp: NOW,
      actor: null,
      requestId: null,
      subject: webhook.id,
      data: { id: webhook.id, url: webhook.url },
      before: null
    }
    const deliveries = [deliveryOf(webhook.id), deliveryOf(webhook.id)]
    const changed = await store.change(webhook.id, null, (before) =>
      ({ webhook: { ...before, enabled: false }, deliveries, event }))
    t.strictSame(changed, { ...webhook, enabled: false })
    t.strictSame((await storage.log.read({ after: null, limit: 9, types: null }))?.events, [event])
    t.strictSame(await storage.log.find(event.id), event)
    t.equal((await store.listDeliveries(webhook.id, { offset: 0, limit: 9 })).total, 2)

    await t.rejects(store.change(webhook.id, null, () => { throw new Error('no') }))
    t.strictSame(await store.change(webhook.id, null, () => null), changed)
    t.equal(await store.change(webhook.id, newId('dlv'), () => { throw new Error('it was asked') }), null)
    const other = webhookOf()
    await store.insert(other)
    t.equal(await store.change(other.id, String(deliveries[0]?.id), () => null), null, 'a delivery of another one')
  })

  test(`of many claims at the same time each delivery has one, on ${name}`, async (t) => {
    const { store } = await opened(t, create)
    const { id } = webhookOf()
    await store.insert(webhookOf({ id }))
    const due = Array.from({ length: 30 }, (_, n) => deliveryOf(id, { dueAt: iso(-n) }))
    await add(store, id, [...due, deliveryOf(id, { dueAt: iso(1) }), deliveryOf(id, { dueAt: null, status: 'failed' })])
    const request = { now: NOW, until: iso(30_000), limit: 5 }
    const claims = await Promise.all(Array.from({ length: 10 }, () => store.claim(id, request)))
    const claimed = claims.flat()
    t.equal(new Set(claimed.map((each) => each.id)).size, claimed.length, 'none twice')
    // A claim may leave out a delivery that another claim has locked. The next claim gets it.
    for (let more = [claimed[0]]; more.length > 0;) claimed.push(...(more = await store.claim(id, request)))
    t.strictSame(claimed.map((each) => each.id).toSorted(), due.map((each) => each.id).toSorted())
    const [one] = claimed
    const whole = due.find((each) => each.id === one?.id)
    t.strictSame(one, { ...whole, dueAt: iso(30_000), claims: 1 })
    t.strictSame(await store.due(NOW), [])
    t.strictSame(await store.due(iso(30_000)), [id])
    const again = await store.claim(id, { now: iso(30_000), until: iso(60_000), limit: 1 })
    t.strictSame(again.map(({ claims: count }) => count), [1], 'the one that was never claimed is due the longest')
    t.strictSame(await store.claim(newId('whk'), request), [])
  })

  test(`the longest due are claimed first, and a delivery is written over, on ${name}`, async (t) => {
    const { store } = await opened(t, create)
    const { id } = webhookOf()
    await store.insert(webhookOf({ id }))
    const [late, later, latest] = [-10, -20, -30].map((ms) => deliveryOf(id, { dueAt: iso(ms) }))
    await add(store, id, [late, later, latest].filter((each) => each !== undefined))
    const [first] = await store.claim(id, { now: NOW, until: iso(1000), limit: 1 })
    t.equal(first?.id, latest?.id)
    const done = await store.change(id, String(first?.id), (_webhook, delivery) => delivery === null
      ? null
      : { deliveries: [{ ...delivery, status: 'succeeded', dueAt: null, attempts: [], testEvent: null }] })
    t.equal(done?.id, id)
    t.strictSame(await store.findDelivery(String(first?.id)), {
      ...latest, status: 'succeeded', dueAt: null, claims: 1, attempts: [], testEvent: null
    })
    const list = await store.listDeliveries(id, { offset: 1, limit: 1 })
    t.strictSame([list.items.map((each) => each.id), list.total], [[later?.id], 3], 'newest first')
    t.equal(await store.findDelivery('x'), null)
  })

  test(`what has ended is pruned, what is pending stays, and all goes with the endpoint, on ${name}`, async (t) => {
    const { store } = await opened(t, create)
    const [one, other] = [webhookOf(), webhookOf()]
    for (const each of [one, other]) await store.insert(each)
    const old = { createdAt: iso(-1000), dueAt: null, status: 'succeeded' } as const
    await add(store, one.id, [
      deliveryOf(one.id, old), deliveryOf(one.id, old), deliveryOf(one.id, old),
      deliveryOf(one.id, { ...old, createdAt: NOW }), deliveryOf(one.id, { createdAt: iso(-1000) })
    ])
    await add(store, other.id, [deliveryOf(other.id)])
    t.equal(await store.prune(NOW, 2), 2)
    t.equal(await store.prune(NOW, 2), 1)
    t.equal(await store.prune(NOW, 2), 0)
    t.equal((await store.listDeliveries(one.id, { offset: 0, limit: 9 })).total, 2)
    t.equal(await store.remove(one.id), true)
    t.equal(await store.remove(one.id), false)
    t.equal((await store.listDeliveries(one.id, { offset: 0, limit: 9 })).total, 0)
    t.strictSame(await store.due(NOW), [other.id])
  })

  test(`the event before an id, on ${name}`, async (t) => {
    const { storage } = await opened(t, create)
    const { log } = storage
    t.equal(await log.before(greatestId('evt')), null)
    const ids = [0, 1, 2, 3].map(() => newId('evt'))
    for (const [n, id] of ids.entries()) await addKey(storage, apiKeyOf(n), eventOf(n, 'api_key.created', { id }))
    t.equal(await log.before(greatestId('evt')), ids[3])
    t.equal(await log.before(String(ids[2])), ids[1])
    t.equal(await log.before(String(ids[0])), null)
  })
}
