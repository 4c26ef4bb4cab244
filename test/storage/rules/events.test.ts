// What is recorded of each write, and what is erased.
import { rules } from './on-stores.ts'
import {
  addKey, addKeys, apiKeyOf, create, eventOf, eventsIn, idOf, idsOf, onlyVersion, purge, putAway, remove, rename,
  restore, revoke, rotate, timeOf, update, userOf
} from './values.ts'

const SUSPENDED = { status: 'suspended', statusReason: 'unpaid' } as const
const event = (n: number, type: string) => ({ event: eventOf(n, type) })

rules('changes of keys are recorded without the digest, and with the tenant beside', async (
  t, { repository, recorded }
) => {
  const { apiKeys } = repository
  await apiKeys.write(addKey(1, { tenant: 'acme' }, event(1, 'api_key.created')))
  await apiKeys.write(addKey(2, { tenant: 'acme' }, { ...event(2, 'api_key.created'), onlyFirst: true }))
  await t.rejects(apiKeys.write(addKey(4, { start: apiKeyOf(1).start }, event(3, 'api_key.created'))))
  const successor = { tenant: 'acme' }
  await apiKeys.write(rotate(1, 3, { successor, ...event(4, 'api_key.rotated') }))
  await apiKeys.write(rotate(3, 5, { successor }))
  await apiKeys.write(rotate(99, 6, event(5, 'api_key.rotated')))
  await apiKeys.write(rotate(1, 6, { ...event(6, 'api_key.rotated'), now: timeOf(900) }))
  await apiKeys.write(revoke(1, 70, {
    ...event(7, 'api_key.revoked'), keepOneWith: apiKeyOf(1).scopes, successors: true
  }))
  const revocation = { ...event(8, 'api_key.revoked'), successors: true }
  const made = await apiKeys.write(revoke(1, 75, revocation))
  await apiKeys.write(revoke(1, 80, revocation))
  const events = await recorded()
  const { digest, ...key } = apiKeyOf(1, { expiresAt: timeOf(200), rotatedAt: timeOf(50), revokedAt: timeOf(75) })
  const { digest: other, ...added } = apiKeyOf(3, { rotatedFrom: idOf('key', 1) })
  t.strictSame(events.map(({ type, subject, tenant, before }) => [type, subject, tenant, before]), [
    ['api_key.created', idOf('key', 1), 'acme', null], ['api_key.rotated', idOf('key', 3), 'acme', null],
    ...[1, 3, 5].map((n) => ['api_key.revoked', idOf('key', n), 'acme', null])
  ])
  t.strictSame(events.slice(0, 3).map(({ id }) => id), idsOf('evt', [1, 4, 8]))
  t.strictSame([events[1]?.data, events[2]?.data], [added, key])
  t.strictSame(made.code === 'done' && made.successors?.map((each) => [each.key.id, each.event?.id]),
    events.slice(3).map(({ id, subject }) => [subject, id]), 'each has an event of its own')
  for (const each of events.slice(3)) t.match(each, { ...eventOf(8, 'api_key.revoked'), id: /^evt_/ })
})

rules('every event of a tenant has it, and its data do not', async (t, { repository, write, recorded }) => {
  const scope = { tenant: 'acme' }
  await write(create(userOf(1), event(1, 'user.created')), scope)
  await write(update(1, { ...SUSPENDED, ...rename('X') }, event(2, 'user.updated')), scope)
  await write(putAway(1, 100, event(3, 'user.deleted')), scope)
  await write(restore(1, event(4, 'user.restored')), scope)
  await write(purge(1, event(5, 'user.purged')), scope)
  await repository.apiKeys.write(addKey(1, {}, event(6, 'api_key.created')), 'acme')
  const events = await recorded()
  t.equal(events.length, 8)
  for (const { tenant, data, before } of events) {
    t.equal(tenant, 'acme')
    t.notOk('tenant' in data || 'tenant' in Object(before))
  }
})

rules('a deletion or purge that erases leaves no value in the history', async (t, { write, recorded }) => {
  for (const n of [1, 2, 3, 4]) {
    await write(create(userOf(n, { fields: { plan: 'pro' } }), event(n, 'user.created')))
  }
  const actor = { type: 'user', id: idOf('usr', 1), name: 'User 1' }
  const by = (n: number, type: string) => ({ event: eventOf(n, type, { actor }) })
  await write(update(1, { ...SUSPENDED, fields: { plan: 'free' } }, by(5, 'user.updated')))
  await write(putAway(2, 100, event(7, 'user.deleted')))
  await write(purge(2, { ...event(8, 'user.purged'), erase: true }))
  await write(remove(1, { ...by(9, 'user.deleted'), erase: true }))
  await write(remove(4, { ...event(10, 'user.deleted'), erase: true, guard: onlyVersion(7) }))
  const events = await recorded()
  const erased = events.filter(({ subject }) => subject === idOf('usr', 1))
  t.strictSame(erased.map(({ type, actor: who, data, before }) => [
    type, who?.name, data['name'], data['email'], data['statusReason'], data['fields'], data['status'], before
  ]), [
    ['user.created', 'Key 7', null, null, null, { plan: null }, 'active', null],
    ['user.updated', null, null, null, null, { plan: null }, 'suspended',
      { fields: { plan: null }, status: 'active', statusReason: null }],
    ['user.suspended', null, null, null, null, { plan: null }, 'suspended', { status: 'active', statusReason: null }],
    ['user.deleted', null, null, null, null, { plan: null }, 'suspended', null]
  ])
  const others = events.filter(({ subject }) => subject !== idOf('usr', 1))
  t.strictSame(others.map(({ id, data: { name }, actor: who, before }) => [id, name, who?.name, before]), [
    [idOf('evt', 2), null, 'Key 7', null], [idOf('evt', 3), 'User 3', 'Key 7', null],
    [idOf('evt', 4), 'User 4', 'Key 7', null], [idOf('evt', 7), null, 'Key 7', null],
    [idOf('evt', 8), null, 'Key 7', null]
  ])
})

rules('an erasure counts the events that it has changed, and is of one tenant', async (
  t, { repository, write }
) => {
  const { events } = repository
  await write(create(userOf(1), event(1, 'user.created')), { tenant: 'acme' })
  await write(remove(1, event(2, 'user.deleted')))
  await write(create(userOf(1, { name: 'Again' }), event(3, 'user.created')), { tenant: 'beta' })
  const actor = { type: 'user', id: idOf('usr', 1), name: 'Again' }
  await write(create(userOf(2), { event: eventOf(4, 'user.created', { actor }) }), { tenant: 'beta' })
  await addKeys(repository, apiKeyOf(1))
  const seen = async () => (await eventsIn(repository)).map(({ data: { name }, actor: who }) => [name, who?.name])
  t.equal(await events.erase(idOf('usr', 1), 'none'), 0)
  const before = await seen()
  t.strictSame(before, [['User 1', 'Key 7'], ['User 1', 'Key 7'], ['Again', 'Key 7'], ['User 2', 'Again']])
  t.equal(await events.erase(idOf('usr', 1), 'acme'), 2)
  t.strictSame(await seen(), [[null, 'Key 7'], [null, 'Key 7'], ['Again', 'Key 7'], ['User 2', 'Again']])
  await write(remove(1, { ...event(5, 'user.deleted'), erase: true }))
  t.strictSame((await seen()).slice(2), [[null, 'Key 7'], ['User 2', null], [null, 'Key 7']])
  await write(remove(2, event(6, 'user.deleted')))
  t.equal(await events.erase(idOf('usr', 2)), 2)
  t.equal(await events.erase(idOf('usr', 9)), 0)
})
