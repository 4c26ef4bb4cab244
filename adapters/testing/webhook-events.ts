import assert from 'node:assert/strict'
import type { EventRecord } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import type { Cases } from './cases.ts'
import { eventOf, logOf, readWholeLog } from './event-values.ts'
import { concurrently, idOf, keysOf, timeOf, userOf } from './values.ts'
import { addDeliveries, addWebhooks, deliveriesOf, deliveryOf, SUCCEEDED, webhookOf } from './webhook-values.ts'

const FIRST = idOf('whk', 1)

/** The nth event, recorded because an endpoint was disabled. */
function disabledEvent (n: number): EventRecord {
  const { id, url } = webhookOf(1)
  return {
    ...eventOf(n, 'webhook.disabled', { actor: null, requestId: null }),
    subject: id,
    data: { id, url, reason: 'failing', list: [1, null, 'ü'] },
    before: null
  }
}

/** For each number, adds a user and records an event. */
async function addRecorded (storage: KitStorage, ...numbers: number[]): Promise<void> {
  for (const n of numbers) await storage.createUser(userOf(n), keysOf(userOf(n)), null, eventOf(n, 'user.created'))
}

/** Duties of stores with webhooks and an event log. */
export const webhookEventCases: Cases = {
  'webhooks.change: its event is recorded in the same step': async (storage) => {
    const store = await addWebhooks(storage, 1)
    await addRecorded(storage, 5)
    const disabled = webhookOf(1, { enabled: false, disabledReason: 'failing' })
    const change = { webhook: disabled, deliveries: [deliveryOf(1, SUCCEEDED)], event: disabledEvent(3) }
    assert.deepEqual(await store.change(FIRST, null, () => change), disabled)
    assert.deepEqual((await readWholeLog(storage)).slice(1), [disabledEvent(3)])
    await store.change(FIRST, null, () => null)
    await store.change(FIRST, null, (webhook) => ({ webhook }))
    await store.change(idOf('whk', 9), null, () => ({ event: disabledEvent(7) }))
    await store.change(FIRST, idOf('dlv', 9), () => ({ event: disabledEvent(8) }))
    assert.equal((await readWholeLog(storage)).length, 2)
    // A change that only records an event.
    assert.deepEqual(await store.change(FIRST, null, () => ({ event: disabledEvent(1) })), disabled)
    assert.deepEqual((await readWholeLog(storage)).slice(1), [disabledEvent(3), disabledEvent(1)])
    assert.deepEqual(await deliveriesOf(store), [deliveryOf(1, SUCCEEDED)])
  },

  'webhooks.change: of concurrent decisions only those that are made record an event': async (storage) => {
    const store = await addWebhooks(storage, 1)
    await addDeliveries(store, [deliveryOf(1)])
    await concurrently((i) => store.change(FIRST, null, (webhook) => webhook.enabled
      ? { webhook: { ...webhook, enabled: false, disabledReason: 'failing' }, event: disabledEvent(i) }
      : null))
    assert.equal((await store.find(FIRST))?.enabled, false)
    assert.equal((await readWholeLog(storage)).length, 1)
  },

  'webhooks.eventBefore: goes by the order of the log, and from the first id that is not less': async (storage) => {
    const store = await addWebhooks(storage, 1)
    assert.equal(await store.eventBefore(idOf('evt', 5)), null)
    await addRecorded(storage, 3, 5, 8, 1, 9, 7)
    const rows = [[1, null], [3, null], [4, 3], [5, 3], [6, 5], [8, 5], [9, 1], [10, 7]] as const
    for (const [id, expected] of rows) {
      assert.equal(await store.eventBefore(idOf('evt', id)), expected && idOf('evt', expected), `before ${id}`)
    }
    assert.equal(await store.eventBefore(idOf('evt', 9_999_999)), idOf('evt', 7))
    await storage.createUser(userOf(20), keysOf(userOf(20)), null, eventOf(2, 'user.created'))
    assert.equal(await store.eventBefore(idOf('evt', 10)), idOf('evt', 2), 'the newest one')
    // A pruned event is never the event before another one.
    assert.equal(await logOf(storage).prune(timeOf(6), 2), 1)
    assert.equal(await store.eventBefore(idOf('evt', 5)), null)
    assert.equal(await store.eventBefore(idOf('evt', 9)), idOf('evt', 1))
  }
}
