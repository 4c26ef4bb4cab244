import assert from 'node:assert/strict'
import type { Cases } from './cases.ts'
import { FIELDS, LOOKALIKES, MOMENTS, NUMBERS } from './hostile-values.ts'
import { upTo } from './list-values.ts'
import { idOf, timeOf } from './values.ts'
import { addDeliveries, addWebhooks, deliveriesOf, deliveryOf, SUCCEEDED, webhookOf } from './webhook-values.ts'

const FIRST = idOf('whk', 1)

const FAILED = {
  status: 'failed',
  dueAt: null,
  failures: 8,
  attempts: [
    { at: timeOf(60), status: 503, milliseconds: 12, error: null },
    { at: timeOf(40), status: null, milliseconds: 10_000, error: 'timeout' },
    { at: timeOf(50), status: 410, milliseconds: 0, error: null }
  ]
} as const

const failed = (n: number) => deliveryOf(n, { ...FAILED, attempts: [...FAILED.attempts] })

/** Duties of stores with webhooks: deliveries, but for how they are claimed. */
export const deliveryCases: Cases = {
  'webhooks.change, webhooks.findDelivery: a delivery is kept as it was given': async (storage) => {
    const store = await addWebhooks(storage, 1)
    const given = [
      deliveryOf(1),
      failed(2),
      deliveryOf(3, { ...SUCCEEDED, claims: 3, type: 'api_key.rotated' }),
      deliveryOf(4, { claims: 2_147_483_647, failures: 7, dueAt: timeOf(90) }),
      deliveryOf(5, { type: 'webhook.test', testEvent: { id: 'x', list: [1, null, { deep: [] }] } })
    ]
    await addDeliveries(store, given)
    for (const delivery of given) assert.deepEqual(await store.findDelivery(delivery.id), delivery)
    assert.deepEqual(await deliveriesOf(store), given)
    for (const id of ['x', '', '%', 'dlv_\u0000', "' OR 1=1 --", idOf('dlv', 9), `${idOf('dlv', 1)}0`, FIRST]) {
      assert.equal(await store.findDelivery(id), null, id)
    }
  },

  'webhooks.change, webhooks.findDelivery: values of any kind are stored unchanged': async (storage) => {
    const store = await addWebhooks(storage, 1)
    const ofTests = FIELDS.map((testEvent, i) => deliveryOf(i, { testEvent }))
    const ofAttempts = deliveryOf(50, {
      type: LOOKALIKES.join(' '),
      attempts: LOOKALIKES.map((error, i) => ({
        at: String(MOMENTS[i % MOMENTS.length]),
        status: i % 2 === 0 ? null : 100 + i,
        milliseconds: Math.abs(NUMBERS[i % NUMBERS.length] ?? 0),
        error
      }))
    })
    const ofTimes = MOMENTS.map((moment, i) => deliveryOf(60 + i, { dueAt: moment, createdAt: moment }))
    const given = [...ofTests, ofAttempts, ...ofTimes]
    await addDeliveries(store, given)
    assert.deepEqual(await deliveriesOf(store), given)
    for (const delivery of given) assert.deepEqual(await store.findDelivery(delivery.id), delivery)
  },

  'webhooks.deliveriesOf: gives the deliveries of some events to every endpoint, in the order of ids': async (
    storage
  ) => {
    const store = await addWebhooks(storage, 1, 2)
    const [replay, other] = [
      deliveryOf(7, { event: idOf('evt', 2) }), deliveryOf(5, { webhook: idOf('whk', 2), event: idOf('evt', 2) })
    ]
    await addDeliveries(store, [replay, deliveryOf(3, SUCCEEDED), failed(2), deliveryOf(1)])
    await addDeliveries(store, [other, deliveryOf(6, { webhook: idOf('whk', 2), event: idOf('evt', 4) })], 2)
    const events = (...numbers: number[]) => numbers.map((n) => idOf('evt', n))
    assert.deepEqual(await store.deliveriesOf(events(3, 2)), [failed(2), deliveryOf(3, SUCCEEDED), other, replay])
    assert.deepEqual(await store.deliveriesOf(events(1, 9, 1)), [deliveryOf(1)])
    assert.equal((await store.deliveriesOf(events(...upTo(100)))).length, 6)
    for (const none of [[], ['x', '%', '\u0000', FIRST, idOf('dlv', 1)]]) {
      assert.deepEqual(await store.deliveriesOf(none), [])
    }
  },

  'webhooks.change: a delivery that is known is written over, and another one of its event is another': async (
    storage
  ) => {
    const store = await addWebhooks(storage, 1, 2)
    const replay = deliveryOf(4, { event: idOf('evt', 1) })
    await addDeliveries(store, [failed(1), deliveryOf(2), deliveryOf(3)])
    await addDeliveries(store, [replay])
    await addDeliveries(store, [deliveryOf(5, { webhook: idOf('whk', 2), event: idOf('evt', 1) })], 2)
    const again = deliveryOf(3, { claims: 4, failures: 0, dueAt: timeOf(70) })
    await addDeliveries(store, [deliveryOf(1, { claims: 1 }), again])
    await addDeliveries(store, [failed(1)])
    assert.deepEqual(await deliveriesOf(store), [failed(1), deliveryOf(2), again, replay])
    assert.deepEqual(await store.findDelivery(idOf('dlv', 1)), failed(1))
    // What had failed is tried again, in one change with a new one.
    await addDeliveries(store, [deliveryOf(1, { claims: 1 }), deliveryOf(6)])
    const now = [deliveryOf(1, { claims: 1 }), deliveryOf(2), again, replay, deliveryOf(6)]
    assert.deepEqual(await deliveriesOf(store), now)
    assert.equal((await deliveriesOf(store, 2)).length, 1)
  },

  'webhooks.change: an event that has a pending delivery to the endpoint gets no other one': async (storage) => {
    const store = await addWebhooks(storage, 1, 2)
    const [first, second] = [idOf('evt', 1), idOf('evt', 2)]
    await addDeliveries(store, [deliveryOf(1, { dueAt: timeOf(90) }), deliveryOf(2)])
    await store.claim(FIRST, { now: timeOf(50), until: timeOf(80), limit: 9 })
    await addDeliveries(store, [3, 4, 5].map((n) => deliveryOf(n, { event: n === 5 ? idOf('evt', 5) : first })))
    const change = { webhook: webhookOf(1, { after: second }), deliveries: [deliveryOf(6, { event: second })] }
    assert.deepEqual(await store.change(FIRST, null, () => change), change.webhook, 'the rest of a change is written')
    assert.deepEqual((await deliveriesOf(store)).map(({ id }) => id), [1, 2, 5].map((n) => idOf('dlv', n)))
    await addDeliveries(store, [deliveryOf(7, { webhook: idOf('whk', 2), event: first })], 2)
    assert.equal((await deliveriesOf(store, 2)).length, 1, 'another endpoint has deliveries of its own')
  },

  'webhooks.change: a delivery that a decision depends on is given with it, and must be of the endpoint': async (
    storage
  ) => {
    const store = await addWebhooks(storage, 1, 2)
    await addDeliveries(store, [deliveryOf(1), failed(2)])
    const asked: unknown[] = []
    for (const id of [idOf('dlv', 2), null, idOf('dlv', 1)]) {
      await store.change(FIRST, id, (webhook, delivery) => {
        asked.push([webhook.id, delivery])
        return null
      })
    }
    // A store may ask more than once, such as after a conflict.
    const once = [...new Set(asked.map((each) => JSON.stringify(each)))].map((text) => JSON.parse(text))
    assert.deepEqual(once, [[FIRST, failed(2)], [FIRST, null], [FIRST, deliveryOf(1)]])
    const ask = () => ({ deliveries: [failed(1)] })
    for (const id of [idOf('dlv', 9), 'x', '', '%', 'dlv_\u0000', FIRST]) {
      assert.equal(await store.change(FIRST, id, ask), null, `there is no delivery ${id}`)
    }
    assert.equal(await store.change(idOf('whk', 2), idOf('dlv', 1), ask), null, 'a delivery of another endpoint')
    assert.deepEqual(await deliveriesOf(store), [deliveryOf(1), failed(2)])
  },

  'webhooks.listDeliveries: newest first, those of the endpoint, with their exact number': async (storage) => {
    const store = await addWebhooks(storage, 1, 2, 3)
    // Ids, times of creation, times when they are due and the order of the writes are four different orders.
    for (const [i, n] of [4, 1, 5, 3, 2].entries()) {
      const isDone = n === 3 ? SUCCEEDED : { dueAt: timeOf(50 - i) }
      await addDeliveries(store, [deliveryOf(n, { createdAt: timeOf(i), ...isDone })])
      await addDeliveries(store, [deliveryOf(n + 10, { webhook: idOf('whk', 2) })], 2)
    }
    await addDeliveries(store, [deliveryOf(1, { claims: 1 })])
    const pages = [
      [0, 9, [5, 4, 3, 2, 1]], [0, 2, [5, 4]], [1, 3, [4, 3, 2]], [4, 2, [1]], [5, 2, []], [99, 1, []]
    ] as const
    for (const [offset, limit, expected] of pages) {
      const { items, total } = await store.listDeliveries(FIRST, { offset, limit })
      assert.deepEqual([items.map(({ id }) => id), total], [expected.map((n) => idOf('dlv', n)), 5])
    }
    for (const id of [idOf('whk', 3), idOf('whk', 9), 'x', '%']) {
      assert.deepEqual(await store.listDeliveries(id, { offset: 0, limit: 9 }), { items: [], total: 0 }, id)
    }
  },

  'webhooks.prune: deletes what was made before and is not pending, at most as many as asked': async (storage) => {
    const store = await addWebhooks(storage, 1, 2)
    await addDeliveries(store, [
      ...[1, 2, 3].map((n) => deliveryOf(n, SUCCEEDED)), failed(4), failed(5), deliveryOf(6, SUCCEEDED),
      deliveryOf(7, { createdAt: timeOf(0), dueAt: timeOf(2) }),
      deliveryOf(8, { createdAt: timeOf(0), dueAt: timeOf(90) }),
      // Made long ago with a great id, and just now with a small one: the time decides.
      deliveryOf(9, { ...SUCCEEDED, createdAt: timeOf(0) }), deliveryOf(0, { ...SUCCEEDED, createdAt: timeOf(50) })
    ])
    await addDeliveries(store, [deliveryOf(20, { ...SUCCEEDED, webhook: idOf('whk', 2), createdAt: timeOf(1) })], 2)
    assert.equal(await store.prune(timeOf(0), 9), 0)
    assert.equal(await store.prune(timeOf(5), 2), 2)
    assert.equal((await deliveriesOf(store)).length + (await deliveriesOf(store, 2)).length, 9)
    assert.equal(await store.prune(timeOf(5), 3), 3)
    assert.equal(await store.prune(timeOf(5), 3), 1)
    assert.equal(await store.prune(timeOf(5), 3), 0)
    const left = (await deliveriesOf(store)).map(({ id }) => id)
    assert.deepEqual(left, [0, 5, 6, 7, 8].map((n) => idOf('dlv', n)))
    assert.deepEqual(await deliveriesOf(store, 2), [])
    // One that was claimed is pending.
    assert.equal((await store.claim(FIRST, { now: timeOf(50), until: timeOf(60), limit: 9 })).length, 1)
    assert.equal(await store.prune(timeOf(1), 9), 0)
  },

  'webhooks.prune: of many concurrent calls each delivery is counted by one': async (storage) => {
    const store = await addWebhooks(storage, 1)
    await addDeliveries(store, upTo(30).map((n) => deliveryOf(n, SUCCEEDED)))
    const counts = await Promise.all(upTo(20).map(() => store.prune(timeOf(99), 30)))
    assert.equal(counts.reduce((sum, count) => sum + count, 0), 30)
    assert.deepEqual(await deliveriesOf(store), [])
  }
}
