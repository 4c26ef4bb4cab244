import assert from 'node:assert/strict'
import type { EventsRequest } from '../../lib/storage/storage.ts'
import { ANY_KEY } from './api-key-values.ts'
import type { Cases } from './cases.ts'
import { eventOf, logOf, readEvents } from './event-values.ts'
import { firstPage } from './list-values.ts'
import { addTo } from './tenant-values.ts'
import { anyVersion, apiKeyOf, idOf, keysOf, rename, timeOf, userOf } from './values.ts'
import { addDeliveries, deliveriesOf, deliveryOf, webhookOf, webhooksOf } from './webhook-values.ts'

/** The duties of a store with tenants about its events. */
export const tenantEventCases: Cases = {
  'eventLog, tenants: the feed of a tenant has its own events, and goes on behind one of them': async (storage) => {
    await addTo(storage, 'acme', 1, 3)
    await addTo(storage, 'beta', 2)
    await addTo(storage, undefined, 4)
    await addTo(storage, 'acme', 5)
    await addTo(storage, 'beta', 6)
    const log = logOf(storage)
    const read = async (request: Partial<EventsRequest>) => {
      const page = await log.read({ after: null, limit: 9, types: null, tenant: 'acme', ...request })
      return page && { ids: page.events.map(({ id }) => id), more: page.more, position: page.position }
    }
    const ids = (...numbers: number[]) => numbers.map((n) => idOf('evt', n))
    assert.deepEqual(await read({}), { ids: ids(1, 3, 5), more: false, position: idOf('evt', 5) })
    assert.deepEqual(await read({ limit: 2 }), { ids: ids(1, 3), more: true, position: idOf('evt', 3) })
    assert.deepEqual(await read({ after: idOf('evt', 3) }), { ids: ids(5), more: false, position: idOf('evt', 5) })
    assert.deepEqual(await read({ types: ['user.created'], after: idOf('evt', 1) }),
      { ids: ids(3, 5), more: false, position: idOf('evt', 5) })
    assert.deepEqual(await read({ types: ['user.deleted'] }), { ids: [], more: false, position: idOf('evt', 5) })
    assert.equal(await read({ after: idOf('evt', 2) }), null, 'the event of another tenant is not known')
    assert.equal(await read({ after: idOf('evt', 4) }), null, 'an event of none is not known')
    assert.deepEqual(await read({ tenant: 'none' }), { ids: [], more: false, position: null })
    const all = (await readEvents(storage)).map(({ id, tenant }) => [id, tenant])
    const tenants = ['acme', 'acme', 'beta', undefined, 'acme', 'beta']
    assert.deepEqual(all, ids(1, 3, 2, 4, 5, 6).map((id, i) => [id, tenants[i]]))
  },

  'eventLog, tenants: every kind of change is recorded for its tenant': async (storage) => {
    await addTo(storage, 'acme', 1, 2)
    await storage.updateUser(idOf('usr', 1), rename('X'), timeOf(9), anyVersion, eventOf(11, 'user.updated'))
    await storage.deleteUser(idOf('usr', 2), anyVersion, { ...eventOf(12, 'user.deleted'), erase: false })
    await storage.createApiKey(apiKeyOf(1, { tenant: 'acme' }), { onlyFirst: false }, eventOf(13, 'api_key.created'))
    const successor = apiKeyOf(2, { tenant: 'acme', rotatedFrom: idOf('key', 1) })
    const times = { now: timeOf(10), expiresAt: timeOf(20) }
    await storage.rotateApiKey(idOf('key', 1), successor, times, eventOf(14, 'api_key.rotated'))
    await storage.revokeApiKey(idOf('key', 2), timeOf(30), ANY_KEY, eventOf(15, 'api_key.revoked'))
    const recorded = await readEvents(storage, { tenant: 'acme' })
    assert.deepEqual(recorded.map(({ id }) => id), [1, 2, 11, 12, 13, 14, 15].map((n) => idOf('evt', n)))
    for (const { id, tenant, data, before } of recorded) {
      assert.equal(tenant, 'acme', `the event ${id} belongs to the tenant`)
      assert.ok(!('tenant' in data) && !('tenant' in (before ?? {})), `the data of ${id} do not have it again`)
    }
  },

  'eventLog, tenants: the history of a user, and its erasure, are for its tenant': async (storage) => {
    await addTo(storage, 'acme', 1)
    const log = logOf(storage)
    const total = async (tenant?: string) => {
      const page = { offset: 0, limit: 9, ...(tenant !== undefined && { tenant }) }
      return (await log.history(idOf('usr', 1), page)).total
    }
    assert.deepEqual([await total(), await total('acme'), await total('beta')], [1, 1, 0])
    assert.equal(await log.erase(idOf('usr', 1), 'beta'), 0)
    assert.equal((await readEvents(storage))[0]?.data['name'], 'User 1', 'another tenant erases nothing')
    assert.equal(await log.erase(idOf('usr', 1), 'acme'), 1)
    assert.equal((await readEvents(storage))[0]?.data['name'], null)
  },

  'eventLog, tenants: an id that users of two tenants have had has a history in each of them': async (storage) => {
    await addTo(storage, 'acme', 1)
    await storage.deleteUser(idOf('usr', 1), anyVersion, { ...eventOf(2, 'user.deleted'), erase: false })
    const again = userOf(1, { tenant: 'beta', name: 'Again' })
    await storage.createUser(again, keysOf(again), null, eventOf(3, 'user.created'))
    const log = logOf(storage)
    const seen = async (tenant: string) => (await log.history(again.id, { offset: 0, limit: 9, tenant })).items
      .map(({ id, data }) => [id, data['name']])
    const first = [[idOf('evt', 2), 'User 1'], [idOf('evt', 1), 'User 1']]
    assert.deepEqual([await seen('acme'), await seen('beta')], [first, [[idOf('evt', 3), 'Again']]])
    await storage.deleteUser(again.id, anyVersion, { ...eventOf(4, 'user.deleted'), erase: true })
    assert.deepEqual([await seen('acme'), await seen('beta')],
      [first, [[idOf('evt', 4), null], [idOf('evt', 3), null]]], 'a deletion erases what is of its own tenant')
    assert.equal(await log.erase(again.id, 'acme'), 2)
    assert.deepEqual((await seen('acme')).map(([, name]) => name), [null, null])
  }
}

/** The duties of a store with tenants about its webhooks. */
export const tenantWebhookCases: Cases = {
  'webhooks.list, tenants: the endpoints of a tenant are listed': async (storage) => {
    const webhooks = webhooksOf(storage)
    for (const [n, tenant] of [[1, 'acme'], [2, 'beta'], [3, 'acme']] as const) {
      await webhooks.insert(webhookOf(n, { tenant }))
    }
    await webhooks.insert(webhookOf(4))
    const page = await webhooks.list({ ...firstPage(1), tenant: 'acme' })
    assert.deepEqual(page, { items: [webhookOf(1, { tenant: 'acme' })], total: 2 })
    assert.equal((await webhooks.list(firstPage(9))).total, 4)
    assert.deepEqual(await webhooks.find(idOf('whk', 2)), webhookOf(2, { tenant: 'beta' }))
    // A change keeps the tenant.
    await webhooks.change(idOf('whk', 3), null, (webhook) => ({ webhook: { ...webhook, enabled: false } }))
    assert.equal((await webhooks.list({ ...firstPage(9), tenant: 'acme' })).total, 2)
  },

  'webhooks.eventBefore, tenants: looks at the events of a tenant alone': async (storage) => {
    const webhooks = webhooksOf(storage)
    const before = (n: number, tenant?: string) => webhooks.eventBefore(idOf('evt', n), tenant)
    await addTo(storage, 'beta', 1)
    assert.equal(await before(9, 'acme'), null, 'a tenant without events')
    await addTo(storage, 'acme', 2)
    await addTo(storage, 'beta', 3)
    await addTo(storage, 'acme', 5)
    await addTo(storage, undefined, 4, 6)
    const rows = [[2, null], [3, 2], [4, 2], [5, 2], [6, 5], [9, 5]] as const
    for (const [n, expected] of rows) {
      assert.equal(await before(n, 'acme'), expected && idOf('evt', expected), `before ${n}`)
    }
    assert.deepEqual([await before(1, 'beta'), await before(3, 'beta')], [null, idOf('evt', 1)])
    assert.deepEqual([await before(4), await before(9)], [idOf('evt', 3), idOf('evt', 6)], 'of all')
    const found = await Promise.all([2, 3, 4].map((n) => logOf(storage).find(idOf('evt', n))))
    assert.deepEqual(found.map((event) => event?.tenant), ['acme', 'beta', undefined], 'eventLog.find')
  },

  'webhooks.find, webhooks.due, tenants: a tenant that is removed leaves no endpoint and no delivery': async (
    storage
  ) => {
    const webhooks = webhooksOf(storage)
    const { tenants } = storage
    assert.ok(tenants !== undefined)
    for (const [n, tenant] of [[1, 'acme'], [2, 'beta'], [3, 'acme']] as const) {
      await webhooks.insert(webhookOf(n, { tenant }))
      await addDeliveries(webhooks, [deliveryOf(n, { webhook: idOf('whk', n) })], n)
    }
    while (await tenants.remove('acme', 1) > 0);
    assert.deepEqual((await webhooks.list(firstPage(9))).items, [webhookOf(2, { tenant: 'beta' })])
    assert.equal(await webhooks.findDelivery(idOf('dlv', 1)), null)
    assert.equal(await webhooks.findDelivery(idOf('dlv', 3)), null)
    assert.deepEqual(await webhooks.due(timeOf(50)), [idOf('whk', 2)])
    assert.deepEqual(await deliveriesOf(webhooks, 2), [deliveryOf(2, { webhook: idOf('whk', 2) })])
  }
}
