// No answer tells a key of one tenant what another tenant has. Every operation is tried with what belongs to the other,
// and gives the same bytes as for what does not exist; and nothing of the other's life changes what the key sees.
import { test, type Test } from 'tap'
import { newId } from '../../lib/core/ids.ts'
import type { Storage } from '../../lib/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { inject } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { deliveryOf, timeOf } from '../helpers/records.ts'
import { stores } from '../helpers/stores.ts'
import { ANN, asText, type Ids, PLATFORM, twoTenants, unknownIds, URL } from '../helpers/two-tenants.ts'

/** A request of an operation that names a record by its id. */
const BY_ID: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
  ['GET', '/users/{user}'], ['HEAD', '/users/{user}'], ['PATCH', '/users/{user}', { name: 'X' }],
  ['PATCH', '/users/{user}', {}], ['PUT', '/users/{user}', ANN], ['DELETE', '/users/{user}'],
  ['DELETE', '/users/{user}?erase=true'], ['GET', '/users/{user}/events'],
  ['POST', '/users/batch', { operations: [{ op: 'update', id: '{user}', body: { name: 'X' } }] }],
  ['POST', '/users/batch', { operations: [{ op: 'delete', id: '{user}' }], atomic: true }],
  ['DELETE', '/users/{user}?purge=true'], ['POST', '/users/{user}/restore'], ['GET', '/users/{user}/subject'],
  ['POST', '/users/{user}/revert', { event: '{event}' }], ['POST', '/users/{ownUser}/revert', { event: '{event}' }],
  ['GET', '/users/{deleted}'], ['DELETE', '/users/{deleted}'], ['POST', '/users/{deleted}/restore'],
  ['DELETE', '/users/{deleted}?purge=true'], ['DELETE', '/users/{deleted}?erase=true'],
  ['GET', '/users/{deleted}/events'], ['GET', '/users/{deleted}/subject'], ['HEAD', '/users/{deleted}/subject'],
  ['POST', '/users/batch', { operations: [{ op: 'restore', id: '{deleted}' }, { op: 'purge', id: '{deleted}' }] }],
  ['POST', '/users/batch', { operations: [{ op: 'purge', id: '{user}' }], atomic: true }],
  ['GET', '/tenants/{tenant}'], ['HEAD', '/tenants/{tenant}'], ['DELETE', '/tenants/{tenant}'],
  ['GET', '/api-keys/{key}'], ['GET', '/api-keys/{key}/uses'], ['DELETE', '/api-keys/{key}'],
  ['DELETE', '/api-keys/{key}?successors=true'],
  ['POST', '/api-keys/{key}/rotate', {}], ['GET', '/events?after={event}'], ['GET', '/events?after={event}&limit=1'],
  ['GET', '/events?order=desc&before={event}'], ['GET', '/events?subject={user}'], ['GET', '/events?actor={key}'],
  ['GET', '/webhooks/{webhook}'], ['HEAD', '/webhooks/{webhook}'], ['PATCH', '/webhooks/{webhook}', {}],
  ['PATCH', '/webhooks/{webhook}', { enabled: false }], ['PATCH', '/webhooks/{webhook}', { url: URL }],
  ['PATCH', '/webhooks/{webhook}', { types: ['user.*'], description: 'X' }], ['DELETE', '/webhooks/{webhook}'],
  ['POST', '/webhooks/{webhook}/rotate-secret'], ['POST', '/webhooks/{webhook}/rotate-secret', { overlap: 1 }],
  ['POST', '/webhooks/{webhook}/test'], ['POST', '/webhooks/{webhook}/replay', { since: '2026-01-31T09:30:00Z' }],
  ['POST', '/webhooks/{webhook}/replay', { after: '{event}' }],
  ['POST', '/webhooks/{ownWebhook}/replay', { after: '{event}' }],
  ['GET', '/webhooks/{webhook}/deliveries'], ['GET', '/webhooks/{webhook}/deliveries?limit=1&page=2'],
  ['POST', '/webhooks/{webhook}/deliveries/{delivery}/retry'],
  ['POST', '/webhooks/{ownWebhook}/deliveries/{delivery}/retry'],
  ['POST', '/webhooks/{webhook}/deliveries/{ownDelivery}/retry'],
  ['GET', '/groups/{group}'], ['PATCH', '/groups/{group}', { name: 'X' }], ['DELETE', '/groups/{group}'],
  ['GET', '/groups/{group}/members'], ['PUT', '/groups/{group}/members/{user}'],
  ['PUT', '/groups/{group}/members/{ownUser}'], ['PUT', '/groups/{ownGroup}/members/{user}'],
  ['DELETE', '/groups/{group}/members/{user}'], ['DELETE', '/groups/{ownGroup}/members/{user}'],
  ['POST', '/groups/{group}/members/batch', { add: ['{ownUser}'] }],
  ['POST', '/groups/{ownGroup}/members/batch', { add: ['{user}'], remove: ['{user}'] }],
  ['POST', '/groups/{ownGroup}/members/batch', { add: ['{user}'] }],
  ['GET', '/users/{user}/groups'], ['GET', '/users?group={group}'], ['GET', '/users/export?group={group}'],
  ['GET', '/events?subject={group}']
]

/** What a key reads of all, in every way that a query can ask for it. */
const LISTS = [
  '/users', '/users?sort=-createdAt', '/users?limit=1&page=2', '/users?q=ann', '/users?email=ann@example.org',
  '/users?after={user}', '/users?after={user}&sort=-createdAt', '/users/export', '/users/export?format=csv',
  '/users?status=active', '/users?status=suspended', '/users/export?status=active',
  '/users/deleted', '/users/deleted?limit=1&page=2', '/users/{user}/subject', '/users/{deleted}/subject',
  '/api-keys', '/api-keys?after={key}', '/events', '/events?type=user.*', '/events?limit=1', '/events?after=now',
  '/events?order=desc', '/events?actor=platform', '/events?since=2026-01-01T00:00:00Z', '/users?tenant=acme',
  '/webhooks', '/webhooks?limit=1&page=2', '/webhooks?after={webhook}', '/webhooks?tenant=acme',
  '/webhooks/{webhook}', '/webhooks/{webhook}/deliveries', '/webhooks/{webhook}/deliveries?limit=1&page=2',
  '/tenants', '/tenants/acme', '/tenants?tenant=acme', '/groups', '/groups?sort=-name', '/groups?name=staff',
  '/groups/{group}/members', '/users?group={group}', '/users/{user}/groups', '/users/export?group={group}'
]

/** What is wrong with the isolation on a store: sentences, of which there must be none. */
async function faultsOf (t: Test, storage: Storage): Promise<string[]> {
  const { app, keyOf, idsOf, send, fill } = await twoTenants(t, storage)
  const faults: string[] = []
  const note = (isWrong: boolean, what: string) => { if (isWrong) faults.push(what) }
  // An id of before all that the tenant has, and after an event of the platform's.
  const early = newId('evt')
  const acme = await keyOf('acme')
  const own = await idsOf('acme')
  const lists = async () => {
    const answers = []
    for (const path of LISTS) answers.push(await send(acme, 'GET', fill(path, own)))
    return answers
  }
  const before = await lists()

  // The other tenant begins to live: none of it can be seen.
  const other = await idsOf('beta')
  const { id: another } = await app.users.tenant('beta').create({ name: 'Anna', email: 'anna@example.org' })
  await app.users.tenant('beta').update(another, { name: 'Anne' })
  await app.users.tenant('beta').delete(another)
  await send(PLATFORM, 'POST', '/users', { name: 'By', email: 'by@example.org', tenant: 'beta' })
  // What an endpoint of the platform gets of the tenant is the platform's too.
  const { id: endpoint } = await app.webhooks.create({ url: URL })
  const [recorded] = (await app.users.tenant('acme').events.ofUser(own.user)).data
  await repositoryOf(storage).webhooks.change(endpoint, null, () =>
    ({ deliveries: [deliveryOf(2, { id: newId('dlv'), webhook: endpoint, event: String(recorded?.id) })] }))
  const after = await lists()
  for (const [i, path] of LISTS.entries()) {
    note(JSON.stringify(after[i]) !== JSON.stringify(before[i]), `${path} shows what another tenant does`)
  }

  // What belongs to the other is as if it were not there.
  const unknown = unknownIds()
  for (const [method, path, body] of BY_ID) {
    const ask = async (ids: Ids) => {
      const { user: ownUser, webhook: ownWebhook, delivery: ownDelivery, group: ownGroup } = own
      const all = { ...ids, ownUser, ownWebhook, ownDelivery, ownGroup }
      const sent = body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body), all))
      return asText(ids, await send(acme, method, fill(path, all), sent))
    }
    const [found, missing] = [await ask(other), await ask(unknown)]
    note(found !== missing, `${method} ${path} tells that another tenant has it`)
  }

  // How old an event is depends on those of the tenant alone.
  for (const [method, path, body] of [
    ['GET', `/events?after=${early}`], ['POST', `/webhooks/${own.webhook}/replay`, { after: early }]
  ] as const) {
    note((await send(acme, method, path, body)).statusCode !== 410, `${method} ${path} knows an event of others`)
  }

  // One address in two tenants, and one idempotency key of two keys.
  note((await send(acme, 'POST', '/users', { name: 'B', email: 'b@example.org' })).statusCode !== 201, 'a creation')
  await app.users.tenant('beta').create({ name: 'C', email: 'c@example.org' }, { idempotencyKey: 'k' })
  const twice = await send(acme, 'POST', '/users', { name: 'C', email: 'c@example.org' }, { 'idempotency-key': 'k' })
  note(twice.statusCode !== 201 || twice.headers['idempotency-replayed'] !== undefined, 'an address or a key is shared')
  const rows = `${JSON.stringify({ name: 'C', email: 'c@example.org' })}\n`
  const imported = await inject(app, 'POST', '/v1/users/import?onConflict=update', {
    headers: { authorization: `Bearer ${acme}`, 'content-type': 'application/x-ndjson' }, payload: rows
  })
  note(!imported.body.includes('"skipped":1'), 'an import finds users of another tenant')
  const ofDeleted = await inject(app, 'POST', '/v1/users/import', {
    headers: { authorization: `Bearer ${acme}`, 'content-type': 'application/x-ndjson' },
    payload: JSON.stringify({ id: other.deleted, name: 'D', email: 'd@example.org' })
  })
  const choosesNone = ofDeleted.body.includes('must be the id of a user of the tenant')
  note(!choosesNone, 'an import takes the id of a deleted user of another')

  // Naming another tenant: the answer depends on nothing that is stored.
  for (const tenant of ['beta', 'nobody']) {
    const answers = [
      await send(acme, 'GET', `/users?tenant=${tenant}`), await send(acme, 'GET', `/users/deleted?tenant=${tenant}`),
      await send(acme, 'POST', '/users', { ...ANN, tenant }),
      await send(acme, 'POST', '/api-keys', { name: 'x', tenant }), await send(acme, 'GET', `/events?tenant=${tenant}`),
      await send(acme, 'GET', `/webhooks?tenant=${tenant}`),
      await send(acme, 'POST', '/webhooks', { url: URL, tenant }),
      await send(acme, 'PATCH', `/webhooks/${own.webhook}`, { tenant }),
      await send(acme, 'GET', `/webhooks/${own.webhook}/deliveries?tenant=${tenant}`),
      await send(acme, 'GET', `/groups?tenant=${tenant}`), await send(acme, 'POST', '/groups', { name: 'X', tenant }),
      await send(acme, 'PATCH', `/groups/${own.group}`, { tenant })
    ]
    note(answers.some(({ statusCode, text }) => statusCode !== 403 || !text.includes('tenant_forbidden')),
      `the tenant ${tenant} can be named`)
  }

  // Everything of the other is as it was.
  const users = app.users.tenant('beta')
  const kept = await users.get(other.user).catch(() => null)
  note(kept?.version !== 1 || kept.name !== 'Ann', 'a user of another tenant was changed')
  const restored = await users.restore(other.deleted).catch(() => null)
  note(restored?.version !== 2 || restored.name !== 'Gone', 'a deleted user of another tenant was changed')
  const key = await users.apiKeys.get(other.key).catch(() => null)
  note(key === null || key.revokedAt !== undefined, 'a key of another tenant was revoked')
  const hooks = app.webhooks.tenant('beta')
  const hook = await hooks.get(other.webhook).catch(() => null)
  note(hook === null || !hook.enabled || 'description' in hook, 'a webhook of another tenant was changed')
  const deliveries = await hooks.deliveries(other.webhook).catch(() => null)
  note(deliveries?.meta.total !== 1 || deliveries.data[0]?.nextAttemptAt !== timeOf(1),
    'a delivery of another tenant was changed')
  await send(acme, 'PATCH', `/webhooks/${own.webhook}`, { description: 'changed' })
  note((await app.webhooks.tenant('acme').list()).meta.total !== 1, 'a webhook of its own is lost')
  return faults
}

for (const store of stores) {
  // What is a tenant's is decided in lib; the kit has what stores do with it.
  const skip = store.name !== 'memory' && from('ci')
  test(`${store.name}: a key of one tenant sees nothing of another`, { skip }, async (t) => {
    t.strictSame(await faultsOf(t, await store.create(t)), [])
  })
}
