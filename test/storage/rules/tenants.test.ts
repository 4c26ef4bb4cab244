// What belongs to tenants, how they are removed, and how they are given users.
import type { Repository } from '../../../lib/storage/repository.ts'
import type { UserWrite } from '../../../lib/storage/user-writes.ts'
import type { UnassignedUser } from '../../../lib/storage/tenant-loop.ts'
import { rules, rulesOutside, type Subject } from './on-stores.ts'
import {
  addKey, addKeys, after, apiKeyOf, awayIn, create, deliver, deliveriesIn, deliveryOf, done, eventOf, eventsIn, idOf,
  idsOf, keyed, keysIn, onlyVersion, purge, putAway, readdress, remove, rename, restore, SINGLE, timeOf, touch, update,
  upTo, userOf, usersIn, webhookOf, firstPage
} from './values.ts'

const NOT_FOUND = { code: 'not_found' }

/** Adds users to a tenant, with an event of each. */
async function addTo ({ write }: Subject, tenant: string | undefined, ...numbers: number[]): Promise<void> {
  for (const n of numbers) {
    await write(create(userOf(n), { event: eventOf(n, 'user.created') }), { tenant })
  }
}

/** Gives all users without a tenant to one, in steps. */
async function assignAll ({ tenants }: Repository, limit: number, afterStep: () => Promise<void> = async () => {}) {
  const walk = { assigned: 0, refused: new Array<UnassignedUser>(), steps: 0 }
  for (let next: string | null | undefined; next !== null;) {
    const step = await tenants.assign('own', { after: next ?? null, limit })
    walk.assigned += step.assigned
    walk.refused.push(...step.refused)
    walk.steps++
    next = step.next
    await afterStep()
  }
  return walk
}

rules('an address and a unique value are unique in a tenant', async (t, { repository, write }) => {
  const { email } = userOf(1)
  const fields = { legacyId: 1 }
  for (const [n, tenant] of [[1, 'acme'], [2, 'beta'], [3, undefined]] as const) {
    t.match(await write(create(userOf(n, { email, fields })), { tenant }), { user: { id: idOf('usr', n) } })
    t.strictSame(await write(create(userOf(9, { email })), { tenant }), { code: 'email_taken' })
    t.strictSame(await write(create(userOf(9, { fields })), { tenant }), { code: 'field_taken', field: 'legacyId' })
  }
  t.strictSame((await usersIn(repository)).map(({ tenant }) => tenant), ['acme', 'beta', undefined])
  await write(create(userOf(4)), { tenant: 'beta' })
  t.strictSame(await write(update(2, readdress(userOf(4).email))), { code: 'email_taken' })
  t.match(await write(update(1, readdress(userOf(4).email))), { changed: true })
  t.strictSame(await write(create(userOf(4, { email: 'x@example.org' })), { tenant: 'acme' }),
    { code: 'field_taken', field: 'id' }, 'an id of another tenant')
  await t.rejects(write(create(userOf(4, { email: 'x@example.org' })), { tenant: 'beta' }), { code: 'fault' })
})

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

rules('the trash of a tenant is its own', async (t, { repository, write }) => {
  for (const [n, tenant] of [[1, 'acme'], [2, 'beta'], [3, undefined], [4, 'acme']] as const) {
    await write(create(userOf(n)), { tenant })
    await write(putAway(n))
  }
  const listed = async (tenant: string) => {
    const { items, total } = await repository.trash.list({ offset: 1, limit: 1, tenant })
    return [items.map(({ user: { id } }) => id), total]
  }
  t.strictSame([await listed('acme'), await listed('beta')], [[idsOf('usr', [1]), 2], [[], 1]])
})

rules('tenants are listed that have a user or a key', async (t, { repository, write }) => {
  const { tenants, apiKeys } = repository
  t.strictSame(await tenants.list(firstPage(9)), { items: [], total: 0 })
  for (const [n, tenant] of [[1, 'b_2'], [2, 'b_2'], [3, 'b-1'], [4, undefined]] as const) {
    await write(create(userOf(n)), { tenant })
  }
  await addKeys(repository, apiKeyOf(1, { tenant: 'a' }), apiKeyOf(2, { tenant: 'b_2' }), apiKeyOf(3))
  await apiKeys.write(touch(1, 9, 8))
  const all = [{ id: 'a', users: 0 }, { id: 'b-1', users: 1 }, { id: 'b_2', users: 2 }]
  t.strictSame(await tenants.list(firstPage(9)), { items: all, total: 3 })
  await write(putAway(3))
  t.strictSame(await tenants.list(firstPage(9)), { items: [all[0], all[2]], total: 2 }, 'the trash does not count')
})

rulesOutside('a tenant is removed in steps, its keys first, and nothing of others goes', async (t, subject) => {
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

rulesOutside('users of no tenant are given to one in steps, with their events', async (t, subject) => {
  const { repository, write } = subject
  await addTo(subject, undefined, ...upTo(8))
  await addTo(subject, 'other', 101, 102)
  await addKeys(repository, apiKeyOf(1))
  await repository.webhooks.insert(webhookOf(1))
  await write(update(1, rename('Changed'), { event: eventOf(11, 'user.updated') }))
  await write(remove(6, { event: eventOf(16, 'user.deleted') }))
  await write(remove(7, { event: eventOf(17, 'user.deleted'), erase: true }))
  await write(putAway(8, 108, { event: eventOf(18, 'user.deleted') }))
  await repository.apiKeys.write(addKey(2, {}, { event: eventOf(19, 'api_key.created') }))
  const [users, log] = [await usersIn(repository), await eventsIn(repository)]
  const { assigned, refused, steps } = await assignAll(repository, 2, async () => {
    const ids = (await usersIn(repository, 'own')).map(({ id }) => id)
    t.ok((await eventsIn(repository)).every((event) => !ids.includes(event.subject) || event.tenant === 'own'))
  })
  t.strictSame({ assigned, refused, steps }, { assigned: 5, refused: [], steps: 4 })
  const own = ({ id }: { id: string }) => id < idOf('usr', 100)
  t.strictSame(await usersIn(repository), users.map((user) => own(user) ? { ...user, tenant: 'own' } : user))
  t.strictSame(await awayIn(repository), [userOf(8, { tenant: 'own' })])
  t.strictSame((await keysIn(repository)).map(({ tenant }) => tenant), [undefined, undefined])
  t.equal((await repository.webhooks.find(idOf('whk', 1)))?.tenant, undefined)
  // An event without values says nothing, and may be of a tenant that was removed.
  const isOwn = (id: string) => id.startsWith('usr') && id !== idOf('usr', 7) && id < idOf('usr', 100)
  const given = log.map((event) => isOwn(event.subject) ? { ...event, tenant: 'own' } : event)
  t.strictSame(await eventsIn(repository), given)
  t.strictSame(await assignAll(repository, 2), { assigned: 0, refused: [], steps: 4 })
  t.match(await write(create(userOf(31, { email: userOf(2).email }))), { code: 'done' }, 'the address is left')
  t.strictSame(await write(create(userOf(32, { email: userOf(2).email })), { tenant: 'own' }), { code: 'email_taken' })
})

rulesOutside('who has an address or a value of the tenant stays, and holds up nobody', async (t, subject) => {
  const { repository, write } = subject
  const fields = { legacyId: 'A7' }
  for (const n of upTo(6)) await write(create(userOf(n, n === 5 ? { fields } : {})))
  await write(create(userOf(21, { email: userOf(3).email })), { tenant: 'own' })
  await write(create(userOf(22, { fields })), { tenant: 'own' })
  const refused = [
    { id: idOf('usr', 3), code: 'email_taken' }, { id: idOf('usr', 5), code: 'field_taken', field: 'legacyId' }
  ]
  for (const assigned of [4, 0]) {
    t.match(await assignAll(repository, 4), { assigned, refused })
  }
  t.strictSame((await usersIn(repository, 'own')).map(({ id }) => id), idsOf('usr', [1, 2, 4, 6, 21, 22]))
  t.strictSame(await repository.users.find(idOf('usr', 3)), userOf(3))
  t.strictSame(await repository.users.find(idOf('usr', 5)), userOf(5, { fields }))
  await write(update(3, readdress('x@y.example')))
  t.equal((await assignAll(repository, 4)).assigned, 1)
})

rulesOutside('beside writes and other assignments nothing is lost', async (t, subject) => {
  const { repository, write } = subject
  const numbers = upTo(20)
  await addTo(subject, undefined, ...numbers)
  const writing = (n: number) => write(n % 5 === 0
    ? remove(n, { event: eventOf(100 + n, 'user.deleted') })
    : update(n, rename('X'), { event: eventOf(100 + n, 'user.updated') }))
  const walk = () => assignAll(repository, 3)
  await Promise.all([
    walk(), ...numbers.slice(0, 10).map(writing), walk(), ...numbers.slice(10).map(writing)
  ])
  t.match(await walk(), { assigned: 0, refused: [] })
  const kept = numbers.filter((n) => n % 5 !== 0)
  t.strictSame(await usersIn(repository, 'own'), kept.map((n) => after(n, { name: 'X', tenant: 'own' })))
  const events = await eventsIn(repository, 'own')
  const counts = numbers.map((n) => events.filter(({ subject: of }) => of === idOf('usr', n)).length)
  t.strictSame(counts, numbers.map(() => 2))
})

rulesOutside('a tenant that is removed beside its writes is removed by the next steps', async (t, subject) => {
  const { repository, write } = subject
  await addTo(subject, 'own', ...upTo(12))
  const removing = async () => { while (await repository.tenants.remove('own', 2) > 0); }
  const [, ...outcomes] = await Promise.all([
    removing(),
    ...upTo(12).map((n) => write(n % 3 === 0 ? putAway(n) : update(n, rename('X')), { tenant: 'own' })),
    repository.users.write(upTo(12).map((n) => update(n, rename('Y'))), { ...SINGLE, tenant: 'own' })
  ])
  t.equal(outcomes.length, 13)
  await removing()
  t.strictSame([await usersIn(repository), await awayIn(repository), await eventsIn(repository, 'own')], [[], [], []])
})
