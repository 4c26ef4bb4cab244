// What is recorded of each write, and what is erased.
import type { EventRecord, JsonObject } from '../../../lib/storage/storage.ts'
import { rules, rulesOutside } from './on-stores.ts'
import {
  addKey, addKeys, apiKeyOf, create, eventOf, eventsIn, idOf, idsOf, keyed, onlyVersion, purge, putAway, readdress,
  remove, rename, restore, revoke, rotate, timeOf, update, userOf
} from './values.ts'

const SUSPENDED = { status: 'suspended', statusReason: 'unpaid' } as const
const ACTIVE = { status: 'active', statusReason: null } as const
const event = (n: number, type: string) => ({ event: eventOf(n, type) })

/** What an event has beside the record. */
const about = ({ id, type, data: { version }, before }: EventRecord) => [id, type, version, before]

/** The event of a user, as it is recorded. */
function userEvent (n: number, type: string, user: ReturnType<typeof userOf>, before: JsonObject | null = null) {
  const { tenant, ...data } = user
  return { ...eventOf(n, type), subject: user.id, data, before, ...(tenant !== undefined && { tenant }) }
}

rules('each write of a user is recorded as the user is then, one that changes nothing is not', async (
  t, { repository, write, recorded }
) => {
  const first = userOf(1, { fields: { plan: 'pro', tags: ['a', null] } })
  const none = eventOf(3, 'user.created', { actor: null, requestId: null })
  await write(create(first, event(1, 'user.created')))
  await write(create(userOf(2, { email: first.email }), event(2, 'user.created')))
  await repository.users.write([create(userOf(3), { event: none })], keyed(1))
  await repository.users.write([create(userOf(4), event(4, 'user.created'))], keyed(1))
  await write(update(1, { ...rename('New'), fields: { plan: 'free' } }, event(5, 'user.updated')))
  await write(update(1, rename('New'), event(6, 'user.updated')))
  await write(update(1, rename('X'), { ...event(7, 'user.updated'), guard: onlyVersion(1) }))
  await write(update(1, readdress('USER3@example.org'), event(8, 'user.updated')))
  await write(update(99, rename('X'), event(9, 'user.updated')))
  await write(update(1, readdress('new@example.org'), event(10, 'user.updated')))
  await write(update(1, rename('Unrecorded')))
  await write(remove(1, { ...event(11, 'user.deleted'), guard: onlyVersion(1) }))
  await write(remove(1, event(12, 'user.deleted')))
  await write(remove(1, event(13, 'user.deleted')))
  await write(remove(3))
  const second = { ...first, name: 'New', fields: { plan: 'free' }, version: 2, updatedAt: timeOf(900) }
  const third = { ...second, email: 'new@example.org', version: 3 }
  t.strictSame(await recorded(), [
    userEvent(1, 'user.created', first),
    { ...userEvent(3, 'user.created', userOf(3)), ...none },
    userEvent(5, 'user.updated', second, { name: 'User 1', fields: first.fields }),
    userEvent(10, 'user.updated', third, { email: 'User1@Example.org' }),
    userEvent(12, 'user.deleted', { ...third, name: 'Unrecorded', version: 4 })
  ].map((each) => {
    const { name, email, status, statusReason, fields, ...rest } = each.data
    return { ...each, data: { ...rest, name, email, status, statusReason, fields } }
  }))
})

rules('a change of the status has an event of its type, behind that of the other members', async (
  t, { write, recorded }
) => {
  await write(create(userOf(1)))
  const changes = [
    { status: 'suspended' }, { statusReason: 'unpaid' }, { ...ACTIVE, ...rename('Name') },
    { ...SUSPENDED, fields: { plan: 'pro' } }, { ...SUSPENDED, fields: { plan: 'pro' } },
    { ...SUSPENDED, ...rename('Last') }, { statusReason: null, ...rename('Very last') }
  ] as const
  for (const [i, change] of changes.entries()) await write(update(1, change, event(i + 1, 'user.updated')))
  const events = await recorded()
  t.strictSame(events.map((each) => about(each).slice(1)), [
    ['user.suspended', 2, { status: 'active' }],
    ['user.updated', 3, { statusReason: null }],
    ['user.updated', 4, { name: 'User 1', status: 'suspended', statusReason: 'unpaid' }],
    ['user.activated', 4, { status: 'suspended', statusReason: 'unpaid' }],
    ['user.updated', 5, { fields: {}, status: 'active', statusReason: null }],
    ['user.suspended', 5, { status: 'active', statusReason: null }],
    ['user.updated', 6, { name: 'Name' }],
    ['user.updated', 7, { name: 'Last', statusReason: 'unpaid' }]
  ])
  t.strictSame([0, 1, 2, 4, 6, 7].map((i) => events[i]?.id), idsOf('evt', [1, 2, 3, 4, 6, 7]), 'the first has the id')
  t.equal(new Set(events.map(({ id }) => id)).size, events.length, 'the second one of its own')
  const { id, type, before, ...rest } = Object(events[3])
  t.match(events[2], rest, 'all else is the same')
})

rules('putting away, restoring and purging are recorded, the last without values', async (t, { write, recorded }) => {
  const user = userOf(1, { fields: { plan: 'pro' } })
  await write(create(user, event(1, 'user.created')))
  await write(putAway(1, 100, { ...event(2, 'user.deleted'), guard: onlyVersion(9) }))
  await write(putAway(1, 100, event(3, 'user.deleted')))
  await write(restore(1, { ...event(4, 'user.restored'), guard: onlyVersion(9) }))
  await write(restore(1, event(5, 'user.restored')))
  await write(restore(1, event(6, 'user.restored')))
  await write(purge(1, { ...event(7, 'user.purged'), putAwayBefore: timeOf(900) }))
  await write(putAway(1, 200, event(8, 'user.deleted')))
  await write(purge(1, { ...event(9, 'user.purged'), putAwayBefore: timeOf(200) }))
  const events = await recorded()
  t.strictSame(events.map(about), [
    [idOf('evt', 1), 'user.created', 1, null], [idOf('evt', 3), 'user.deleted', 1, null],
    [idOf('evt', 5), 'user.restored', 2, null], [idOf('evt', 8), 'user.deleted', 2, null],
    [idOf('evt', 9), 'user.purged', 2, null]
  ])
  const { name, email, ...kept } = user
  t.strictSame(events.at(-1)?.data, {
    ...kept, name: null, email: null, fields: { plan: null }, version: 2, updatedAt: timeOf(900)
  })
  t.equal(events[3]?.data['name'], name)
})

rules('the purge of a user that is not put away is a deletion and a purge', async (t, { write, recorded }) => {
  await write(create(userOf(1)))
  await write(purge(1, event(1, 'user.purged')))
  const [deleted, purged, ...more] = await recorded()
  t.match(deleted, { type: 'user.deleted', data: { name: 'User 1' } })
  t.match(purged, { id: idOf('evt', 1), type: 'user.purged', data: { name: null } })
  t.not(deleted?.id, purged?.id)
  const { timestamp, actor, requestId } = eventOf(1, '')
  for (const each of [deleted, purged]) t.match(each, { timestamp, actor, requestId, before: null })
  t.strictSame(more, [])
})

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

rulesOutside('an erasure counts the events that it has changed, and is of one tenant', async (
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
