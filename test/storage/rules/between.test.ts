// What comes of a write between whose reading and writing another process has written: orders.test.ts has pairs of
// writes of one user or key, these are about more.
import { test, type Test } from 'tap'
import { type Repository, repositoryOf } from '../../../lib/storage/repository.ts'
import type { Storage } from '../../../lib/storage/storage.ts'
import { inMemory, interrupted, processes } from './on-stores.ts'
import {
  addKey, after, ATOMIC, awayIn, create, done, idOf, keyed, keysIn, putAway, remove, rename, revoke, rotate, SINGLE,
  timeOf, update, userOf, usersIn, makes, writesKeys
} from './values.ts'
import { addWebhooks, deliver, deliveriesIn, deliveryOf, SUCCEEDED, webhookOf } from './webhook-values.ts'

/** What one process does, what another has done between its reading and its writing, and what comes of it. */
interface Amid {
  before?: (repository: Repository) => Promise<unknown>
  does: (repository: Repository) => Promise<unknown>
  amid: Array<(repository: Repository) => Promise<unknown>>
  comes: unknown
  /** What is there afterwards. */
  then?: (repository: Repository) => Promise<unknown>
  leaves?: unknown
  /** After a read something else comes of it. */
  onlyAtCommit?: true
}

const ADMIN = { scopes: ['keys:write'] }
const KEEP = { keepOneWith: ['keys:write'] }
const FIRST = idOf('whk', 1)
const addUser = makes(create(userOf(1)))
const calls = (...given: Parameters<Repository['users']['write']>) => async ({ users }: Repository) =>
  (await users.write(...given)).outcomes

/** Tests each of them with two processes, before the commit and after each read. */
function testAmid (all: Record<string, Amid>): void {
  for (const [name, { before, does, amid, comes, then, leaves, onlyAtCommit = false }] of Object.entries(all)) {
    /** `afterRead`: when the first of them happens. Returns how often was read before the commit. */
    async function run (t: Test, [first, second]: [Storage, Storage], afterRead?: number): Promise<number> {
      const other = repositoryOf(second)
      await before?.(other)
      const { storage, reads } = interrupted(first, amid.map((happens) => () => happens(other)), afterRead)
      const value = await does(repositoryOf(storage))
      if (typeof comes === 'function') t.ok(comes(value), `after read ${afterRead}`)
      else t.strictSame(value, comes, `after read ${afterRead}`)
      if (then !== undefined) t.strictSame(await then(other), leaves)
      return reads()
    }
    // Databases compare rows as memory does, which the kit tests: orders.test.ts has pairs of writes on them.
    processes(`between reading and writing: ${name}`, async (t, stores) => { await run(t, stores) }, 'nightly')
    if (onlyAtCommit) continue
    test(`after each read: ${name}`, async (t) => {
      for (let n = 1, reads = 1; n <= reads; n++) reads = await run(t, await inMemory(), n)
    })
  }
}

testAmid({
  'an update keeps what another has changed': {
    before: addUser,
    does: makes(update(1, { fields: { a: 1 } })),
    amid: [makes(update(1, rename('Other'))), makes(update(1, { status: 'suspended' }))],
    comes: done(after(1, { name: 'Other', status: 'suspended', fields: { a: 1 }, version: 4 }))
  },
  'who is put away takes the place of another in the trash': {
    before: addUser,
    does: makes(putAway(1, 700)),
    amid: [makes(putAway(1, 500), create(userOf(1, { name: 'Again' })))],
    comes: done(userOf(1, { name: 'Again' })),
    then: awayIn,
    leaves: [userOf(1, { name: 'Again' })]
  },
  'an id of another tenant is taken': {
    does: makes(create(userOf(1, { tenant: 'acme' }))),
    amid: [makes(create(userOf(1, { tenant: 'beta' })))],
    comes: { code: 'field_taken', field: 'id' }
  },
  'a call is decided again': {
    before: makes(create(userOf(1)), create(userOf(2))),
    does: calls([update(1, { fields: { a: 1 } }), remove(2), create(userOf(3, { email: userOf(2).email }))], ATOMIC),
    amid: [makes(update(1, rename('Other'))), makes(update(2, rename('Other')))],
    comes: [done(after(1, { name: 'Other', fields: { a: 1 }, version: 3 })), done(after(2, { name: 'Other' })),
      done(userOf(3, { email: userOf(2).email }))]
  },
  'what was taken may be free when a call is decided again': {
    before: addUser,
    does: calls([create(userOf(3)), update(1, { fields: { a: 1 } })], SINGLE),
    amid: [makes(create(userOf(4, { email: userOf(3).email }))), makes(remove(4), update(1, rename('Other')))],
    comes: [done(userOf(3)), done(after(1, { name: 'Other', fields: { a: 1 }, version: 3 }))]
  },
  'a repetition that was faster answers a call': {
    does: ({ users }) => users.write([create(userOf(1)), remove(9)], keyed(1)),
    amid: [({ users }) => users.write([create(userOf(2)), remove(9)], keyed(1, { note: 7 }))],
    comes: { outcomes: [done(userOf(2)), { code: 'not_found' }], note: 7, replayed: true },
    then: usersIn,
    leaves: [userOf(2)]
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
  'nothing is added to an endpoint that was removed, nor is it back': {
    before: (repository) => addWebhooks(repository, 1).then(() => deliver(repository, [deliveryOf(1)])),
    does: ({ webhooks }) => webhooks.change(FIRST, null, (webhook) => ({ webhook, deliveries: [deliveryOf(2)] })),
    amid: [({ webhooks }) => webhooks.remove(FIRST)],
    comes: null,
    then: async ({ storage, webhooks }) => [
      await webhooks.find(FIRST), await storage.find('deliveries', [1, 2].map((n) => ({ id: idOf('dlv', n) })))
    ],
    leaves: [null, [null, null]]
  },
  'what is removed with an endpoint is not claimed': {
    before: (repository) => addWebhooks(repository, 1).then(() => deliver(repository, [deliveryOf(1)])),
    does: ({ webhooks }) => webhooks.claim(FIRST, { now: timeOf(9), until: timeOf(30), limit: 1 }),
    amid: [({ webhooks }) => webhooks.remove(FIRST)],
    comes: [],
    then: ({ storage }) => storage.find('deliveries', [{ id: idOf('dlv', 1) }]),
    leaves: [null]
  },
  'a removal takes what is added meanwhile': {
    before: (repository) => addWebhooks(repository, 1),
    does: ({ webhooks }) => webhooks.remove(FIRST),
    amid: [(repository) => deliver(repository, [deliveryOf(1)])],
    comes: true,
    then: ({ storage }) => storage.find('deliveries', [{ id: idOf('dlv', 1) }]),
    leaves: [null]
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
