import assert from 'node:assert/strict'
import type { Page, WebhookRecord, WebhookStore } from '../../lib/storage/storage.ts'
import type { Cases } from './cases.ts'
import { LOOKALIKES, MOMENTS } from './hostile-values.ts'
import { unlessUnavailable } from './lifecycle.ts'
import { firstPage, upTo } from './list-values.ts'
import { concurrently, CONCURRENT_CALLS, idOf, timeOf, UNKNOWN_IDS } from './values.ts'
import {
  addDeliveries, addWebhooks, deliveriesOf, deliveryOf, SUCCEEDED, webhookOf, webhooksOf
} from './webhook-values.ts'

const FIRST = idOf('whk', 1)
const WEBHOOK_IDS = [
  ...UNKNOWN_IDS, '', 'whk_%', 'whk_\u0000', idOf('whk', 99), `${FIRST}0`, FIRST.slice(0, -1), FIRST.toUpperCase()
]

const notAsked = (): never => { throw new Error('webhooks.change asked for a decision without what it depends on') }

const describe = (description: string) => (webhook: WebhookRecord) => ({ webhook: { ...webhook, description } })

async function all (store: WebhookStore): Promise<WebhookRecord[]> {
  return (await store.list(firstPage(1000))).items
}

/** A call of every method of the webhooks of a store. */
function callsOf (store: WebhookStore): Array<() => Promise<unknown>> {
  return [
    () => store.insert(webhookOf(3)),
    () => store.find(FIRST),
    () => store.list(firstPage(10)),
    () => store.change(FIRST, null, describe('After close')),
    () => store.due(timeOf(50)),
    () => store.claim(FIRST, { now: timeOf(50), until: timeOf(60), limit: 1 }),
    () => store.findDelivery(idOf('dlv', 1)),
    () => store.listDeliveries(FIRST, { offset: 0, limit: 10 }),
    () => store.deliveriesOf([idOf('evt', 1)]),
    () => store.eventBefore(idOf('evt', 1)),
    () => store.prune(timeOf(0), 1),
    () => store.remove(idOf('whk', 2))
  ]
}

/** Duties of stores with webhooks: endpoints. */
export const webhookCases: Cases = {
  'webhooks.insert, webhooks.find: an endpoint is kept as it was given': async (storage) => {
    const store = webhooksOf(storage)
    const given = [
      webhookOf(1),
      webhookOf(2, { types: [], description: null, secrets: [] }),
      webhookOf(3, {
        enabled: false,
        disabledReason: 'failing',
        // In the order as given: the current one first, though it is neither the least nor the last to end.
        secrets: [
          { text: 'whsec_b', expiresAt: null }, { text: 'whsec_c', expiresAt: timeOf(70) },
          { text: 'whsec_a', expiresAt: timeOf(60) }
        ],
        types: ['user.deleted', 'api_key.*', 'user.created', 'user.deleted'],
        after: idOf('evt', 5),
        failingSince: timeOf(40),
        pausedUntil: timeOf(50),
        updatedAt: timeOf(90)
      }),
      webhookOf(4, { enabled: false, disabledReason: 'gone', description: '' }),
      webhookOf(5, { enabled: false, url: webhookOf(1).url })
    ]
    for (const webhook of given) await store.insert(webhook)
    for (const webhook of given) assert.deepEqual(await store.find(webhook.id), webhook)
    assert.deepEqual(await all(store), given)
  },

  'webhooks.insert, webhooks.change: texts and times of any kind are stored unchanged': async (storage) => {
    const store = await addWebhooks(storage, 1, 2)
    const hostile = webhookOf(2, {
      url: `https://example.org/${LOOKALIKES.join('/')}`,
      types: LOOKALIKES,
      description: LOOKALIKES.join(' '),
      secrets: MOMENTS.map((expiresAt, i) => ({ text: String(LOOKALIKES[i]), expiresAt }))
    })
    await store.insert({ ...hostile, id: idOf('whk', 3) })
    assert.deepEqual(await store.find(idOf('whk', 3)), { ...hostile, id: idOf('whk', 3) })
    assert.deepEqual(await store.change(hostile.id, null, () => ({ webhook: hostile })), hostile)
    assert.deepEqual(await store.find(hostile.id), hostile)
    for (const moment of MOMENTS) {
      const times = { failingSince: moment, pausedUntil: moment, createdAt: moment, updatedAt: moment }
      const changed = { ...webhookOf(1), ...times }
      assert.deepEqual(await store.change(FIRST, null, (webhook) => ({ webhook: { ...webhook, ...times } })), changed)
      assert.deepEqual(await store.find(FIRST), changed)
    }
  },

  'webhooks.find, webhooks.change, webhooks.remove: an unknown id is none, whatever its text': async (storage) => {
    const store = await addWebhooks(storage, 1, 2)
    await addDeliveries(store, [deliveryOf(1)])
    for (const id of WEBHOOK_IDS) {
      assert.equal(await store.find(id), null, id)
      assert.equal(await store.change(id, null, notAsked), null, id)
      assert.equal(await store.change(id, idOf('dlv', 1), notAsked), null, id)
      assert.equal(await store.remove(id), false, id)
    }
    assert.deepEqual(await all(store), [webhookOf(1), webhookOf(2)])
    assert.deepEqual(await deliveriesOf(store), [deliveryOf(1)])
  },

  'webhooks.list: pages in both orders of ids, with the exact number': async (storage) => {
    const numbers = [3, 1, 5, 2, 4]
    const store = await addWebhooks(storage, ...numbers)
    // Nothing is ordered by what was changed last.
    await store.change(idOf('whk', 2), null, describe('A'))
    const lists: Array<[Parameters<WebhookStore['list']>[0], number[]]> = [
      [{ order: 'asc', limit: 2, from: { offset: 0 } }, [1, 2]],
      [{ order: 'asc', limit: 9, from: { offset: 3 } }, [4, 5]],
      [{ order: 'desc', limit: 2, from: { offset: 1 } }, [4, 3]],
      [{ order: 'asc', limit: 2, from: { after: idOf('whk', 2) } }, [3, 4]],
      [{ order: 'desc', limit: 9, from: { after: idOf('whk', 3) } }, [2, 1]],
      [{ order: 'asc', limit: 2, from: { after: idOf('whk', 5) } }, []],
      [{ order: 'desc', limit: 2, from: { offset: 5 } }, []]
    ]
    for (const [page, expected] of lists) {
      const { items, total } = await store.list(page)
      assert.deepEqual([items.map(({ id }) => id), total], [expected.map((n) => idOf('whk', n)), 5])
    }
    await store.remove(idOf('whk', 3))
    await store.remove(idOf('whk', 3))
    assert.equal((await store.list(firstPage(1))).total, 4)
  },

  'webhooks.list, webhooks.listDeliveries: a page and its total are of one moment': async (storage) => {
    const store = await addWebhooks(storage, 1)
    const numbers = upTo(CONCURRENT_CALLS)
    const write = async () => {
      for (const n of numbers) {
        await store.insert(webhookOf(n + 1))
        await addDeliveries(store, [deliveryOf(n)])
      }
    }
    const read = async (list: () => Promise<Page<unknown>>) => {
      for (let reads = 0; reads < CONCURRENT_CALLS; reads++) {
        const { items, total } = await list()
        assert.equal(items.length, total)
      }
    }
    await Promise.all([
      write(), read(() => store.list(firstPage(1000))),
      read(() => store.listDeliveries(FIRST, { offset: 0, limit: 1000 }))
    ])
  },

  'webhooks.change: writes what was decided, and what it leaves out stays': async (storage) => {
    const store = await addWebhooks(storage, 1, 2)
    const changed = { ...webhookOf(1), enabled: false, disabledReason: 'gone', types: [], secrets: [] } as const
    const asked: unknown[] = []
    const both = await store.change(FIRST, null, (...given) => {
      asked.push(given)
      return { webhook: { ...changed, types: [], secrets: [] }, deliveries: [deliveryOf(1), deliveryOf(2)] }
    })
    assert.deepEqual([both, asked[0]], [changed, [webhookOf(1), null]])
    assert.deepEqual(await store.change(FIRST, null, () => ({ deliveries: [deliveryOf(3)] })), changed)
    assert.deepEqual(await store.change(FIRST, null, () => ({ deliveries: [] })), changed)
    assert.deepEqual(await store.change(FIRST, null, () => ({})), changed)
    assert.deepEqual(await all(store), [changed, webhookOf(2)])
    const back = await store.change(FIRST, null, () => ({ webhook: webhookOf(1) }))
    assert.deepEqual([back, await store.find(FIRST)], [webhookOf(1), webhookOf(1)])
    assert.deepEqual(await deliveriesOf(store), [1, 2, 3].map((n) => deliveryOf(n)))
  },

  'webhooks.change: a decision for nothing changes nothing': async (storage) => {
    const store = await addWebhooks(storage, 1)
    await addDeliveries(store, [deliveryOf(1)])
    assert.deepEqual(await store.change(FIRST, null, () => null), webhookOf(1))
    assert.deepEqual(await store.change(FIRST, idOf('dlv', 1), () => null), webhookOf(1))
    assert.deepEqual(await all(store), [webhookOf(1)])
    assert.deepEqual(await deliveriesOf(store), [deliveryOf(1)])
  },

  'webhooks.change: of many concurrent changes none is lost': async (storage) => {
    const store = webhooksOf(storage)
    await store.insert(webhookOf(1, { description: '0' }))
    const { values } = await concurrently((i) => store.change(FIRST, null, ({ description, ...webhook }) => ({
      webhook: { ...webhook, description: String(Number(description) + 1) }, deliveries: [deliveryOf(i)]
    })))
    const counts = values.map((webhook) => Number(webhook?.description)).sort((a, b) => a - b)
    assert.deepEqual(counts, upTo(CONCURRENT_CALLS))
    assert.equal((await store.find(FIRST))?.description, String(CONCURRENT_CALLS))
    assert.equal((await deliveriesOf(store)).length, CONCURRENT_CALLS)
  },

  'webhooks.remove: an endpoint goes with its deliveries, and no other does': async (storage) => {
    const store = await addWebhooks(storage, 1, 2)
    await addDeliveries(store, [deliveryOf(1), deliveryOf(2, SUCCEEDED), deliveryOf(3, { dueAt: timeOf(90) })])
    const kept = deliveryOf(4, { webhook: idOf('whk', 2) })
    await addDeliveries(store, [kept], 2)
    const { values } = await concurrently(() => store.remove(FIRST))
    assert.deepEqual(values.filter((isRemoved) => isRemoved), [true], 'one of many concurrent calls removes it')
    assert.deepEqual([await store.find(FIRST), await deliveriesOf(store)], [null, []])
    assert.deepEqual(await store.list(firstPage(9)), { items: [webhookOf(2)], total: 1 })
    for (const n of [1, 2, 3]) assert.equal(await store.findDelivery(idOf('dlv', n)), null)
    assert.deepEqual(await store.due(timeOf(99)), [idOf('whk', 2)])
    assert.deepEqual(await store.claim(FIRST, { now: timeOf(99), until: timeOf(100), limit: 9 }), [])
    assert.deepEqual(await deliveriesOf(store, 2), [kept])
    // Its id may come again, and nothing of it is left.
    await store.insert(webhookOf(1))
    assert.deepEqual(await store.listDeliveries(FIRST, { offset: 0, limit: 9 }), { items: [], total: 0 })
  },

  'webhooks.remove, webhooks.change: concurrent changes bring nothing of a removed endpoint back': async (storage) => {
    const store = await addWebhooks(storage, 1)
    await Promise.all(upTo(CONCURRENT_CALLS).map(async (n) => n === CONCURRENT_CALLS / 2
      ? store.remove(FIRST)
      : store.change(FIRST, null, (webhook) => ({ webhook, deliveries: [deliveryOf(n)] }))))
    assert.deepEqual([await all(store), await deliveriesOf(store), await store.due(timeOf(99))], [[], [], []])
    for (const n of upTo(CONCURRENT_CALLS)) assert.equal(await store.findDelivery(idOf('dlv', n)), null)
  },

  'webhooks.insert, webhooks.find, close: after close a call works or throws unavailable': async (storage) => {
    const store = await addWebhooks(storage, 1, 2)
    await addDeliveries(store, [deliveryOf(1)])
    await storage.close()
    // What a closed store answers is true.
    await unlessUnavailable(store.find(FIRST).then((found) => assert.deepEqual(found, webhookOf(1))))
    for (const call of callsOf(store)) await unlessUnavailable(call())
  }
}
