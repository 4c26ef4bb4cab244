// Writes of keys, webhooks and tenants between whose reading and writing another process has written.
import { makes, testAmid, writesKeys } from './between.ts'
import {
  addKey, after, create, idOf, keysIn, remove, rename, revoke, rotate, timeOf, touch, update, userOf, usersIn
} from './values.ts'
import { addWebhooks, deliver, deliveriesIn, deliveryOf, SUCCEEDED, webhookOf } from './webhook-values.ts'

const ADMIN = { scopes: ['keys:write'] }
const KEEP = { keepOneWith: ['keys:write'] }
const FIRST = idOf('whk', 1)

testAmid({
  'a key that is revoked gets no successor': {
    before: writesKeys(addKey(1)),
    does: writesKeys(rotate(1, 2)),
    amid: [writesKeys(revoke(1, 40))],
    comes: { code: 'api_key_inactive' },
    then: async (repository) => (await keysIn(repository)).length,
    leaves: 1
  },
  'the last key stays': {
    before: writesKeys(addKey(1, ADMIN), addKey(2, ADMIN)),
    does: writesKeys(revoke(1, 70, KEEP)),
    amid: [writesKeys(revoke(2, 70, KEEP))],
    comes: { code: 'last_admin_key' }
  },
  'the last key of a tenant stays': {
    before: writesKeys(addKey(1, { ...ADMIN, tenant: 'acme' }), addKey(2, { ...ADMIN, tenant: 'acme' })),
    does: writesKeys(revoke(1, 70, KEEP)),
    amid: [writesKeys(revoke(2, 70, KEEP))],
    comes: { code: 'last_admin_key' }
  },
  'a first key is one': {
    does: writesKeys(addKey(1, {}, { onlyFirst: true })),
    amid: [writesKeys(addKey(2, {}, { onlyFirst: true }))],
    comes: { code: 'done', changed: false, key: null }
  },
  'a successor of a successor goes too': {
    before: writesKeys(addKey(1), rotate(1, 2)),
    does: writesKeys(revoke(1, 70, { successors: true })),
    amid: [writesKeys(rotate(2, 3))],
    comes: ({ successors }: { successors: unknown[] }) => successors.length === 2,
    then: async (repository) => (await keysIn(repository)).map(({ revokedAt }) => revokedAt),
    leaves: Array(3).fill(timeOf(70))
  },
  'a later use is kept': {
    before: writesKeys(addKey(1)),
    does: writesKeys(touch(1, 50, 40)),
    amid: [writesKeys(touch(1, 60, 40))],
    comes: { code: 'done', changed: false, key: null }
  },
  'uses add up': {
    before: writesKeys(addKey(1)),
    does: ({ keyUses }) => keyUses.add([{ key: idOf('key', 1), day: '2026-01-01', uses: 2 }]),
    amid: [({ keyUses }) => keyUses.add([{ key: idOf('key', 1), day: '2026-01-01', uses: 3 }])],
    comes: undefined,
    then: ({ keyUses }) => keyUses.list(idOf('key', 1)),
    leaves: [{ day: '2026-01-01', uses: 5 }]
  },
  'a change of an endpoint is decided again': {
    before: (repository) => addWebhooks(repository, 1),
    does: ({ webhooks }) => webhooks.change(FIRST, null, (webhook) => ({ webhook: { ...webhook, enabled: false } })),
    amid: [({ webhooks }) => webhooks.change(FIRST, null, (webhook) => ({ webhook: { ...webhook, types: [] } }))],
    comes: webhookOf(1, { enabled: false, types: [] })
  },
  'an event that another has added is not added': {
    before: (repository) => addWebhooks(repository, 1),
    does: (repository) => deliver(repository, [deliveryOf(1)]),
    amid: [(repository) => deliver(repository, [deliveryOf(2, { event: idOf('evt', 1) })])],
    comes: undefined,
    then: deliveriesIn,
    leaves: [deliveryOf(2, { event: idOf('evt', 1) })]
  },
  'an endpoint is removed by one': {
    before: (repository) => addWebhooks(repository, 1),
    does: ({ webhooks }) => webhooks.remove(FIRST),
    amid: [({ webhooks }) => webhooks.remove(FIRST)],
    comes: false
  },
  'what is decided on a delivery is decided again when it is claimed': {
    before: (repository) => addWebhooks(repository, 1).then(() => deliver(repository, [deliveryOf(1)])),
    does: ({ webhooks }) => webhooks.change(FIRST, idOf('dlv', 1), (_webhook, delivery) =>
      delivery === null ? null : { deliveries: [{ ...delivery, ...SUCCEEDED }] }),
    amid: [({ webhooks }) => webhooks.claim(FIRST, { now: timeOf(9), until: timeOf(30), limit: 1 })],
    comes: webhookOf(1),
    then: deliveriesIn,
    leaves: [deliveryOf(1, { ...SUCCEEDED, claims: 1 })]
  },
  'a delivery has one claim': {
    before: (repository) => addWebhooks(repository, 1).then(() => deliver(repository, [deliveryOf(1), deliveryOf(2)])),
    does: ({ webhooks }) => webhooks.claim(FIRST, { now: timeOf(9), until: timeOf(20), limit: 9 }),
    amid: [({ webhooks }) => webhooks.claim(FIRST, { now: timeOf(9), until: timeOf(30), limit: 1 })],
    comes: [deliveryOf(2, { claims: 1, dueAt: timeOf(20) })]
  },
  'what is claimed again is not pruned': {
    before: async (repository) => {
      await addWebhooks(repository, 1)
      await deliver(repository, [deliveryOf(1, { status: 'failed', dueAt: null })])
    },
    does: ({ webhooks }) => webhooks.prune(timeOf(99), 9),
    amid: [(repository) => deliver(repository, [deliveryOf(1)])],
    comes: 0,
    then: deliveriesIn,
    leaves: [deliveryOf(1)]
  },
  'who is changed is given to a tenant as it is then': {
    before: makes(create(userOf(1)), create(userOf(2))),
    does: ({ tenants }) => tenants.assign('acme', { after: null, limit: 9 }),
    amid: [makes(update(1, rename('Other')), remove(2))],
    comes: { assigned: 1, refused: [], next: null },
    then: usersIn,
    leaves: [after(1, { name: 'Other', tenant: 'acme' })]
  },
  'who is changed is removed by the next step': {
    before: makes(create(userOf(1, { tenant: 'acme' })), create(userOf(2, { tenant: 'acme' }))),
    does: ({ tenants }) => tenants.remove('acme', 9),
    amid: [makes(update(1, rename('Other')))],
    comes: 1,
    then: async (repository) => [await repository.tenants.remove('acme', 9), await usersIn(repository)],
    leaves: [1, []],
    onlyAtCommit: true
  }
})
