// What belongs to tenants, and how they are removed.
import type { UserWrite } from '../../../lib/storage/user-writes.ts'
import { rules } from './on-stores.ts'
import {
  addKey, addTo, after, awayIn, create, done, eventOf, eventsIn, firstPage, idOf, keyed, keysIn, onlyVersion, purge,
  putAway, remove, rename, restore, timeOf, update, upTo, userOf, usersIn
} from './values.ts'
import { deliver, deliveriesIn, deliveryOf, webhookOf } from './webhook-values.ts'

const NOT_FOUND = { code: 'not_found' }

rules('a caller that is bound to a tenant meets the users of it alone', async (t, { repository, write }) => {
  await write(create(userOf(1)), { tenant: 'acme' })
  await write(create(userOf(2)))
  for (const [n, tenant] of [[3, 'acme'], [4, undefined]] as const) {
    await write(create(userOf(n)), { tenant })
    await write(putAway(n))
  }
  const before = [await usersIn(repository), await awayIn(repository)]
  const never = (): never => { throw new Error('changes were asked for') }
  const writesOf = (n: number): Array<Exclude<UserWrite, { type: 'create' }>> => [
    update(n, rename('X')), update(n, never), update(n, {}), update(n, {}, { guard: onlyVersion(7) }), remove(n),
    remove(n, { guard: onlyVersion(7) }), putAway(n, 900), restore(n), purge(n), purge(n, { guard: onlyVersion(7) }),
    purge(n, { putAwayBefore: timeOf(900) })
  ]
  for (const asked of upTo(4).flatMap(writesOf)) {
    t.strictSame(await write(asked, { tenant: 'beta' }), NOT_FOUND, asked.type)
    t.strictSame(await write({ ...asked, tenant: 'beta' }), NOT_FOUND, 'as one of the write')
  }
  t.strictSame([await usersIn(repository), await awayIn(repository)], before)
  const scope = { tenant: 'acme' }
  t.strictSame(await write(update(1, rename('X')), scope), done(after(1, { name: 'X', ...scope })))
  t.strictSame(await write(restore(3), scope), done(after(3, scope)))
  t.match(await write(purge(1), scope), { code: 'done' })
  t.match(await write(remove(3), scope), { code: 'done' })
  t.equal(await repository.trash.find(idOf('usr', 4), 'acme'), null)
})

rules('an id of two tenants is of two users', async (t, { repository, write }) => {
  await write(create(userOf(1)), { tenant: 'acme' })
  await write(putAway(1))
  await write(create(userOf(1, { name: 'Again' })), { tenant: 'beta' })
  t.strictSame(await write(restore(1), { tenant: 'acme' }), { code: 'field_taken', field: 'id' })
  t.strictSame(await write(restore(1), { tenant: 'beta' }), NOT_FOUND)
  t.match(await write(purge(1), { tenant: 'beta' }), { user: { name: 'Again' }, types: ['user.deleted'] })
  t.strictSame((await awayIn(repository)).map(({ tenant }) => tenant), ['acme'], 'the other one stays in the trash')
  await write(create(userOf(1, { name: 'Again' })), { tenant: 'beta' })
  t.match(await write(purge(1)), { user: { name: 'Again' } })
  t.strictSame((await awayIn(repository)).length, 1, 'and also for a caller that is bound to none')
  await write(create(userOf(1, { name: 'Again' })), { tenant: 'beta' })
  t.strictSame(await write(purge(1), { tenant: 'acme' }), done(userOf(1, { tenant: 'acme' })))
  t.match(await usersIn(repository), [{ name: 'Again' }])
})

rules('a tenant is removed in steps, its keys first, and nothing of others goes', async (t, subject) => {
  const { repository, write } = subject
  const { tenants, webhooks, apiKeys, trash } = repository
  for (const [place, tenant] of ['own', 'other', undefined].entries()) {
    const n = 100 * place
    const belongs = tenant === undefined ? {} : { tenant }
    await addTo(subject, tenant, ...upTo(5).map((i) => n + i))
    await write(putAway(n + 5, n + 5, { event: eventOf(n + 6, 'user.deleted') }))
    for (const i of [1, 2]) {
      await apiKeys.write(addKey(n + i, belongs, { event: eventOf(n + 10 + i, 'api_key.created') }))
      await webhooks.insert(webhookOf(n + i, belongs))
      await deliver(repository, [deliveryOf(n + i, { webhook: idOf('whk', n + i) })], n + i)
    }
  }
  await repository.users.write([create(userOf(6))], { ...keyed(1), tenant: 'own' })
  const others = async () => [
    (await usersIn(repository)).filter(({ tenant }) => tenant !== 'own'),
    (await keysIn(repository)).filter(({ tenant }) => tenant !== 'own'),
    (await awayIn(repository)).filter(({ tenant }) => tenant !== 'own'),
    (await webhooks.list(firstPage())).items.filter(({ tenant }) => tenant !== 'own'),
    await deliveriesIn(repository, 101), (await eventsIn(repository)).filter(({ subject: of }) => of > idOf('usr', 99)),
    await eventsIn(repository, 'other')
  ]
  const [before, log] = [await others(), await eventsIn(repository)]
  t.strictSame([await tenants.remove('unknown', 3), await tenants.remove('own', 0)], [0, 0])
  const steps: number[] = []
  while (steps.at(-1) !== 0) {
    steps.push(await tenants.remove('own', 3))
    t.equal((await apiKeys.list({ ...firstPage(), tenant: 'own' })).total, 0, 'no key outlives the first step')
  }
  // Two keys, five users, one of the trash, eight events and two endpoints.
  t.strictSame(steps, [3, 3, 3, 3, 3, 3, 0])
  t.strictSame(await others(), before)
  t.strictSame([await usersIn(repository, 'own'), await eventsIn(repository, 'own')], [[], []])
  t.strictSame([(await trash.list({ offset: 0, limit: 9, tenant: 'own' })).total,
    (await webhooks.list({ ...firstPage(), tenant: 'own' })).total], [0, 0])
  t.strictSame([await webhooks.findDelivery(idOf('dlv', 1)), await deliveriesIn(repository, 1)], [null, []])
  const left = await eventsIn(repository)
  t.strictSame(left.map(({ id }) => id), log.map(({ id }) => id), 'its events keep their places')
  for (const { subject: of, data, tenant, actor } of left.slice(0, 8)) {
    t.strictSame([data['name'], data['email'] ?? null, tenant, actor?.name], [null, null, undefined, null], of)
  }
  const again = await repository.users.write([create(userOf(6))], { ...keyed(1), tenant: 'own' })
  t.equal(again.replayed, false, 'its idempotency keys go with the users')
})

rules('what a removed tenant leaves of keys and endpoints tells of nobody', async (t, { repository }) => {
  const { apiKeys, webhooks, tenants } = repository
  const belongs = { tenant: 'own' }
  const bounds = { owner: 'Zoë', addresses: ['203.0.113.0/24'], rateLimit: { max: 1, window: 1 } }
  await apiKeys.write(addKey(1, { ...belongs, ...bounds }, { event: eventOf(1, 'api_key.created') }))
  await webhooks.insert(webhookOf(1, belongs))
  const { id, url, description } = webhookOf(1)
  const about = { subject: id, data: { id, url, description }, before: { url } }
  const event = { ...eventOf(2, 'webhook.updated'), ...about, ...belongs }
  await webhooks.change(id, null, () => ({ event }))
  while (await tenants.remove('own', 9) > 0);
  const [key, webhook, ...more] = await eventsIn(repository)
  t.match(key?.data, { id: idOf('key', 1), name: null, owner: null, addresses: null, rateLimit: bounds.rateLimit })
  const { tenant, actor, ...rest } = event
  t.strictSame(webhook, {
    ...rest, actor: { ...actor, name: null }, data: { id: null, url: null, description: null }, before: null
  })
  t.strictSame(more, [])
})
