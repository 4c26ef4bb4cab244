import assert from 'node:assert/strict'
import type { DeliveryRecord } from '../../lib/storage/storage.ts'
import type { Cases } from './cases.ts'
import { MOMENTS } from './hostile-values.ts'
import { upTo } from './list-values.ts'
import { CONCURRENT_CALLS, idOf, timeOf } from './values.ts'
import {
  addDeliveries, addWebhooks, deliveriesOf, deliveryOf, sortedIds, SUCCEEDED, webhookOf
} from './webhook-values.ts'

const FIRST = idOf('whk', 1)
const LAST_TIME = '9999-12-31T23:59:59.999Z'

const claimedUntil = (delivery: DeliveryRecord, dueAt: string): DeliveryRecord =>
  ({ ...delivery, dueAt, claims: delivery.claims + 1 })

const byId = (a: DeliveryRecord, b: DeliveryRecord): number => a.id < b.id ? -1 : 1

/** Duties of stores with webhooks: which deliveries are due, and who gets them. */
export const deliveryClaimCases: Cases = {
  'webhooks.due: the endpoints with a delivery that is due, each once': async (storage) => {
    const store = await addWebhooks(storage, 1, 2, 3, 4)
    await addDeliveries(store, [
      deliveryOf(1, { dueAt: timeOf(20) }), deliveryOf(2, { dueAt: timeOf(10) }), deliveryOf(3, { dueAt: timeOf(30) })
    ])
    await addDeliveries(store, [deliveryOf(4, { webhook: idOf('whk', 2), dueAt: timeOf(11) })], 2)
    await addDeliveries(store, [deliveryOf(5, { webhook: idOf('whk', 3), ...SUCCEEDED })], 3)
    const dueAt = async (n: number) => (await store.due(timeOf(n))).toSorted()
    assert.deepEqual(await dueAt(9), [])
    assert.deepEqual(await dueAt(10), [FIRST])
    assert.deepEqual(await dueAt(11), [FIRST, idOf('whk', 2)])
    assert.deepEqual(await dueAt(99), [FIRST, idOf('whk', 2)])
    // A claim and an outcome make it not due.
    await store.claim(FIRST, { now: timeOf(30), until: timeOf(50), limit: 9 })
    assert.deepEqual(await dueAt(49), [idOf('whk', 2)])
    await addDeliveries(store, [deliveryOf(4, { webhook: idOf('whk', 2), ...SUCCEEDED })], 2)
    assert.deepEqual([await dueAt(49), await dueAt(50)], [[], [FIRST]])
  },

  'webhooks.claim: takes what is due of the endpoint, the longest due first, and at most as many as asked': async (
    storage
  ) => {
    const store = await addWebhooks(storage, 1, 2)
    const times = [30, 10, 20, 50, 40]
    await addDeliveries(store, [
      ...times.map((ms, i) => deliveryOf(i + 1, { dueAt: timeOf(ms), createdAt: timeOf(i) })),
      deliveryOf(6, SUCCEEDED), deliveryOf(7, { status: 'failed', dueAt: null })
    ])
    await addDeliveries(store, [deliveryOf(8, { webhook: idOf('whk', 2), dueAt: timeOf(0) })], 2)
    const claim = async (now: number, limit: number) =>
      sortedIds(await store.claim(FIRST, { now: timeOf(now), until: timeOf(900), limit }))
    assert.deepEqual(await claim(9, 9), [])
    assert.deepEqual(await claim(40, 2), [idOf('dlv', 2), idOf('dlv', 3)])
    assert.deepEqual(await claim(40, 1), [idOf('dlv', 1)])
    assert.deepEqual(await claim(40, 9), [idOf('dlv', 5)])
    assert.deepEqual(await claim(40, 9), [])
    assert.deepEqual(await claim(50, 9), [idOf('dlv', 4)])
    assert.deepEqual(await store.claim(idOf('whk', 9), { now: timeOf(99), until: timeOf(100), limit: 9 }), [])
    assert.deepEqual((await deliveriesOf(store, 2)).map(({ claims }) => claims), [0])
  },

  'webhooks.claim: adds 1 to the claims, is kept, and leaves all else as it is': async (storage) => {
    const store = await addWebhooks(storage, 1)
    const attempts = [{ at: timeOf(1), status: null, milliseconds: 3, error: 'timeout' }]
    const given = [
      deliveryOf(1, { claims: 7, failures: 2, attempts, testEvent: { id: 'x', list: [1, null] } }), deliveryOf(2),
      deliveryOf(3, { dueAt: timeOf(80) })
    ]
    await addDeliveries(store, given)
    const claimed = await store.claim(FIRST, { now: timeOf(50), until: timeOf(60), limit: 9 })
    const after = given.slice(0, 2).map((delivery) => claimedUntil(delivery, timeOf(60)))
    assert.deepEqual(claimed.toSorted(byId), after)
    assert.deepEqual(await deliveriesOf(store), [...after, given[2]])
    assert.deepEqual(await store.findDelivery(idOf('dlv', 1)), after[0])
    assert.deepEqual(await store.find(FIRST), webhookOf(1))
    // The decision about the outcome sees the claim.
    const seen: unknown[] = []
    await store.change(FIRST, idOf('dlv', 1), (_webhook, delivery) => {
      seen.push(delivery)
      return null
    })
    assert.deepEqual(seen[0], after[0])
  },

  'webhooks.claim: what was not finished is given again when the claim ends, and not before': async (storage) => {
    const store = await addWebhooks(storage, 1)
    await addDeliveries(store, [1, 2, 3].map((n) => deliveryOf(n)))
    const claim = async (now: number) =>
      (await store.claim(FIRST, { now: timeOf(now), until: timeOf(now + 20), limit: 9 })).toSorted(byId)
    const first = await claim(10)
    assert.deepEqual(first.map(({ claims }) => claims), [1, 1, 1])
    assert.deepEqual(await claim(29), [])
    // One has succeeded, and another is tried later.
    const done = deliveryOf(1, { ...SUCCEEDED, claims: 1 })
    const later = deliveryOf(2, { claims: 1, failures: 1, dueAt: timeOf(40) })
    await addDeliveries(store, [done, later])
    const third = deliveryOf(3, { claims: 2, dueAt: timeOf(50) })
    assert.deepEqual(await claim(30), [third])
    assert.deepEqual(await claim(49), [{ ...later, claims: 2, dueAt: timeOf(69) }])
    assert.deepEqual(await claim(50), [{ ...third, claims: 3, dueAt: timeOf(70) }])
    assert.deepEqual(await store.findDelivery(done.id), done)
  },

  'webhooks.claim: of many concurrent claims each delivery has one': async (storage) => {
    const store = await addWebhooks(storage, 1)
    const given = upTo(30).map((n) => deliveryOf(n))
    await addDeliveries(store, given)
    const request = { now: timeOf(50), until: timeOf(60), limit: 4 }
    const claims = await Promise.all(upTo(CONCURRENT_CALLS).map(() => store.claim(FIRST, request)))
    const claimed = claims.flat()
    assert.ok(claims.every(({ length }) => length <= request.limit), 'a claim has at most `limit` deliveries')
    // One that another claim was taking may be left out: whoever asks again gets it.
    for (let more = claimed.slice(0, 1); more.length > 0;) claimed.push(...(more = await store.claim(FIRST, request)))
    assert.deepEqual(claimed.toSorted(byId), given.map((delivery) => claimedUntil(delivery, timeOf(60))))
    assert.deepEqual(await deliveriesOf(store), claimed.toSorted(byId))
  },

  'webhooks.claim, webhooks.change: a claim and an outcome that race are serialised': async (storage) => {
    const store = await addWebhooks(storage, 1)
    const numbers = upTo(CONCURRENT_CALLS)
    await addDeliveries(store, numbers.map((n) => deliveryOf(n)))
    const finish = (n: number) => store.change(FIRST, idOf('dlv', n), (_webhook, delivery) =>
      delivery === null ? null : { deliveries: [{ ...delivery, ...SUCCEEDED }] })
    const request = { now: timeOf(50), until: timeOf(60), limit: 1 }
    const claims = numbers.map((n) => [finish(n), store.claim(FIRST, request)] as const)
    const claimed = (await Promise.all(claims.map(([, claim]) => claim))).flat().map(({ id }) => id)
    await Promise.all(claims.map(([finished]) => finished))
    const expected = numbers.map((n) =>
      deliveryOf(n, { ...SUCCEEDED, claims: claimed.includes(idOf('dlv', n)) ? 1 : 0 }))
    assert.deepEqual(await deliveriesOf(store), expected)
  },

  'webhooks.claim, webhooks.due, webhooks.prune: times are compared as times': async (storage) => {
    const store = await addWebhooks(storage, 1, 2)
    const moments = MOMENTS.filter((moment) => moment < LAST_TIME).toSorted()
    await addDeliveries(store, MOMENTS.map((dueAt, i) => deliveryOf(i, { dueAt })))
    const finished = (createdAt: string, i: number) =>
      deliveryOf(50 + i, { ...SUCCEEDED, webhook: idOf('whk', 2), createdAt })
    await addDeliveries(store, moments.map(finished), 2)
    for (const moment of moments) {
      assert.deepEqual(await store.due(moment), [FIRST], moment)
      assert.equal(await store.prune(moment, 9), moment === moments[0] ? 0 : 1, moment)
      const claimed = await store.claim(FIRST, { now: moment, until: LAST_TIME, limit: 9 })
      assert.deepEqual(claimed.map(({ id }) => id), [idOf('dlv', MOMENTS.indexOf(moment))], moment)
      assert.deepEqual(await store.due(moment), [], moment)
    }
    assert.deepEqual(await store.due(LAST_TIME), [FIRST])
  }
}
