import assert from 'node:assert/strict'
import type { AssignmentStep, UnassignedUser, UserRecord } from '../../lib/storage/storage.ts'
import { addKey } from './api-key-values.ts'
import type { Cases } from './cases.ts'
import { eventOf, readEvents } from './event-values.ts'
import type { KitStorage } from './kit-storage.ts'
import { firstPage, listedIds, upTo } from './list-values.ts'
import { addTo, inTenant, OTHER, OWN } from './tenant-values.ts'
import { anyVersion, everyone, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

interface Walk { assigned: number, refused: UnassignedUser[], steps: number }

/** Gives all users without a tenant to one, in steps. */
async function assignAll (
  { tenants }: KitStorage,
  limit: number,
  afterStep: () => Promise<void> = async () => {}
): Promise<Walk> {
  assert.ok(tenants !== undefined)
  const walk: Walk = { assigned: 0, refused: [], steps: 0 }
  let after: string | null = null
  do {
    const step: AssignmentStep = await tenants.assign(OWN, { after, limit })
    walk.assigned += step.assigned
    walk.refused.push(...step.refused)
    assert.ok(++walk.steps < 99, 'tenants.assign: the last step has no next one')
    after = step.next
    await afterStep()
  } while (after !== null)
  return walk
}

/** No user of the tenant has events outside of it. */
async function requireTogether (storage: KitStorage): Promise<void> {
  if (!storage.supports.eventLog) return
  const ids = await listedIds(storage, inTenant(OWN), firstPage(99))
  const outside = (await readEvents(storage)).filter(({ subject, tenant }) => ids.includes(subject) && tenant !== OWN)
  assert.deepEqual(outside, [], 'tenants.assign: users have all their events with them')
}

async function create (storage: KitStorage, user: UserRecord, eventNumber: number): Promise<void> {
  const event = storage.supports.eventLog ? eventOf(eventNumber, 'user.created') : null
  await storage.createUser(user, keysOf(user), null, event)
}

/** The duties of a store with tenants about users who belong to none. */
export const tenantAssignmentCases: Cases = {
  'tenants: users of none are given to one in steps, with their events, and nothing else changes': async (storage) => {
    const { supports: { eventLog } } = storage
    const event = (n: number, type: string) => eventLog ? eventOf(n, type) : null
    for (const n of upTo(7)) await create(storage, userOf(n), n)
    await addTo(storage, OTHER, 101, 102)
    await addKey(storage, 1)
    await storage.updateUser(idOf('usr', 1), rename('Changed'), timeOf(9), anyVersion, event(11, 'user.updated'))
    for (const [n, erase] of [[6, false], [7, true]] as const) {
      const deletion = event(n + 10, 'user.deleted')
      await storage.deleteUser(idOf('usr', n), anyVersion, deletion && { ...deletion, erase })
    }
    const { items: users } = await storage.listUsers(everyone, firstPage(9))
    const log = eventLog ? await readEvents(storage) : []

    const { assigned, refused, steps } = await assignAll(storage, 2, () => requireTogether(storage))
    assert.deepEqual({ assigned, refused }, { assigned: 5, refused: [] })
    assert.ok(steps >= 3, 'tenants.assign: a step looks at about as many as it may')
    const of = (id: string) => id < idOf('usr', 100) ? OWN : OTHER
    const expected = users.map((user) => ({ ...user, tenant: of(user.id) }))
    assert.deepEqual(await storage.listUsers(everyone, firstPage(9)), { items: expected, total: 7 })
    assert.deepEqual(await storage.listUsers(inTenant(OWN), firstPage(9)), { items: expected.slice(0, 5), total: 5 })
    assert.equal((await storage.listUsers(inTenant(OTHER), firstPage(9))).total, 2)
    assert.equal((await storage.listApiKeys({ ...firstPage(9), tenant: OWN })).total, 0, 'keys stay as they are')
    if (eventLog) {
      // An event without values says nothing, and may be of a tenant that was removed.
      const own = (subject: string) => subject === idOf('usr', 7) ? {} : { tenant: of(subject) }
      assert.deepEqual(await readEvents(storage), log.map((each) => ({ ...each, ...own(each.subject) })))
      const ofTenant = (await readEvents(storage, { tenant: OWN })).map(({ id }) => id)
      assert.deepEqual(ofTenant, [1, 2, 3, 4, 5, 6, 11, 16].map((n) => idOf('evt', n)))
    }
    const again = await assignAll(storage, 2)
    assert.deepEqual({ assigned: again.assigned, refused: again.refused }, { assigned: 0, refused: [] })
    // They have left the addresses of those without a tenant.
    const { email } = userOf(2)
    await create(storage, userOf(31, { email }), 31)
    const second = userOf(32, { email, tenant: OWN })
    await assert.rejects(storage.createUser(second, keysOf(second), null), { code: 'email_taken' })
  },

  'tenants: who has an address or a unique value of the tenant is not given to it, and holds up nobody': async (
    storage
  ) => {
    await storage.migrate({ unique: ['legacyId'] })
    const fields = { legacyId: 'A7' }
    for (const n of upTo(6)) await create(storage, userOf(n, n === 5 ? { fields } : {}), n)
    await create(storage, userOf(21, { tenant: OWN, email: userOf(3).email }), 21)
    await create(storage, userOf(22, { tenant: OWN, fields }), 22)
    const refused = [
      { id: idOf('usr', 3), code: 'email_taken' }, { id: idOf('usr', 5), code: 'field_taken', field: 'legacyId' }
    ]
    for (const assigned of [4, 0]) {
      const walk = await assignAll(storage, 4)
      assert.deepEqual({ assigned: walk.assigned, refused: walk.refused }, { assigned, refused })
    }
    const ids = [1, 2, 4, 6, 21, 22].map((n) => idOf('usr', n))
    assert.deepEqual(await listedIds(storage, inTenant(OWN), firstPage(9)), ids)
    for (const n of [3, 5]) {
      const members = n === 5 ? { fields } : {}
      assert.deepEqual(await storage.findUser(idOf('usr', n)), userOf(n, members), 'who is refused stays as before')
    }
    await requireTogether(storage)
    const free = { email: { value: 'x@y.example', key: 'x@y.example' } }
    await storage.updateUser(idOf('usr', 3), free, timeOf(9), anyVersion)
    assert.equal((await assignAll(storage, 4)).assigned, 1)
  },

  'tenants: beside writes of users and other assignments nothing is lost': async (storage) => {
    const { supports: { eventLog } } = storage
    const numbers = upTo(20)
    for (const n of numbers) await create(storage, userOf(n), n)
    const event = (n: number, type: string) => eventLog ? eventOf(n, type) : null
    async function write (n: number): Promise<void> {
      const id = idOf('usr', n)
      if (n % 5 === 0) {
        const deletion = event(100 + n, 'user.deleted')
        await storage.deleteUser(id, anyVersion, deletion && { ...deletion, erase: false })
      } else await storage.updateUser(id, rename('X'), timeOf(9), anyVersion, event(100 + n, 'user.updated'))
    }
    const [some, others] = [numbers.slice(0, 10), numbers.slice(10)]
    const walk = () => assignAll(storage, 3)
    await Promise.all([walk(), ...some.map(write), walk(), ...others.map(write)])
    const last = await assignAll(storage, 3)
    assert.deepEqual({ assigned: last.assigned, refused: last.refused }, { assigned: 0, refused: [] })
    const kept = numbers.filter((n) => n % 5 !== 0)
    const { items, total } = await storage.listUsers(inTenant(OWN), firstPage(30))
    assert.equal(total, kept.length)
    assert.deepEqual(items.map(({ id, name, version }) => ({ id, name, version })),
      kept.map((n) => ({ id: idOf('usr', n), name: 'X', version: 2 })))
    if (!eventLog) return
    const events = await readEvents(storage, { tenant: OWN })
    const found = numbers.map((n) => events.filter(({ subject }) => subject === idOf('usr', n)).length)
    assert.deepEqual(found, numbers.map(() => 2), 'the events of each user are those of the tenant')
  }
}
