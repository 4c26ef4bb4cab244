// How users who belong to no tenant are given to one.
import type { Repository } from '../../../lib/storage/repository.ts'
import type { UnassignedUser } from '../../../lib/storage/tenant-loop.ts'
import { rules } from './on-stores.ts'
import {
  addKey, addKeys, addTo, apiKeyOf, awayIn, create, eventOf, eventsIn, idOf, keysIn, putAway, remove, rename, update,
  upTo, userOf, usersIn
} from './values.ts'
import { webhookOf } from './webhook-values.ts'

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

rules('users of no tenant are given to one in steps, with their events', async (t, subject) => {
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
