import assert from 'node:assert/strict'
import type { UserFilter, UserWrite } from '../../lib/storage/storage.ts'
import { addKey, ANY_KEY } from './api-key-values.ts'
import type { Cases } from './cases.ts'
import { readEvents } from './event-values.ts'
import { firstPage, listedIds, upTo } from './list-values.ts'
import { tenantAssignmentCases } from './tenant-assignment.ts'
import { addForeign, addTo, inTenant, OTHER, OWN, requireForeign } from './tenant-values.ts'
import { anyVersion, apiKeyOf, everyone, idOf, keysOf, onlyVersion, rename, timeOf, userOf } from './values.ts'

/** A change of the nth user for a tenant. */
function update (n: number, tenant: string): UserWrite & { type: 'update' } {
  const [id, updatedAt] = [idOf('usr', n), timeOf(9)]
  return { type: 'update', id, changes: rename('X'), updatedAt, guard: anyVersion, event: null, tenant }
}

/** The duties of a store with tenants. */
export const tenantCases: Cases = {
  'tenants: users and keys are returned with their tenant, and those of none without': async (storage) => {
    await addTo(storage, 'acme', 1)
    await addTo(storage, undefined, 2)
    assert.deepEqual(await storage.findUser(idOf('usr', 1)), userOf(1, { tenant: 'acme' }))
    assert.deepEqual(await storage.findUser(idOf('usr', 2)), userOf(2))
    const { items } = await storage.listUsers(everyone, firstPage(9))
    assert.deepEqual(items, [userOf(1, { tenant: 'acme' }), userOf(2)])
    await addKey(storage, 1, { tenant: 'acme' })
    await addKey(storage, 2)
    assert.deepEqual(await storage.findApiKey({ id: idOf('key', 1) }), apiKeyOf(1, { tenant: 'acme' }))
    assert.deepEqual(await storage.findApiKey({ start: apiKeyOf(2).start }), apiKeyOf(2))
  },

  'tenants: an address is unique within a tenant': async (storage) => {
    const { email } = userOf(1)
    const creation = (n: number, tenant?: string): UserWrite => {
      const user = userOf(n, { email, ...(tenant !== undefined && { tenant }) })
      return { type: 'create', user, keys: keysOf(user), event: null }
    }
    for (const [n, tenant] of [[1, 'acme'], [2, 'beta'], [3, undefined]] as const) {
      const made = await storage.writeUsers([creation(n, tenant)], { atomic: false, idempotency: null })
      assert.equal(made.outcomes[0]?.code, 'done', `user ${n} has the address in a tenant of its own`)
      const again = await storage.writeUsers([creation(n + 10, tenant)], { atomic: false, idempotency: null })
      assert.equal(again.outcomes[0]?.code, 'email_taken', 'a second user of the tenant is refused')
    }
    const filter = { ...everyone, emailKey: keysOf(userOf(1)).emailKey }
    assert.deepEqual(await listedIds(storage, filter, firstPage(9)), [1, 2, 3].map((n) => idOf('usr', n)))
    // Together: a store that combines look-ups must not mix them up.
    const asked = [{ tenant: 'acme' }, { tenant: 'beta' }, { tenant: 'none' }, {}]
    const found = await Promise.all(asked.map((of) => listedIds(storage, { ...filter, ...of }, firstPage(9))))
    assert.deepEqual(found, [[1], [2], [], [1, 2, 3]].map((numbers) => numbers.map((n) => idOf('usr', n))))
    // A change into an address that a user of another tenant has, and into one of the own.
    await addTo(storage, 'beta', 4)
    const { email: taken } = userOf(4)
    const change = { email: { value: taken, key: taken.toLowerCase() } }
    await assert.rejects(storage.updateUser(idOf('usr', 2), change, timeOf(9), anyVersion), { code: 'email_taken' })
    assert.equal((await storage.updateUser(idOf('usr', 1), change, timeOf(9), anyVersion))?.changed, true)
  },

  'tenants: lists and totals are those of the tenant': async (storage) => {
    await addTo(storage, 'acme', 1, 3, 5, 7)
    await addTo(storage, 'beta', 2, 4)
    await addTo(storage, undefined, 6)
    const numbers = async (filter: UserFilter, from: { offset: number } | { after: string }, order: 'asc' | 'desc') => {
      const { items, total } = await storage.listUsers(filter, { order, limit: 2, from })
      return { ids: items.map(({ id }) => id), total }
    }
    const ids = (...numbers: number[]) => numbers.map((n) => idOf('usr', n))
    const acme = inTenant('acme')
    assert.deepEqual(await numbers(acme, { offset: 0 }, 'asc'), { ids: ids(1, 3), total: 4 })
    assert.deepEqual(await numbers(acme, { offset: 2 }, 'asc'), { ids: ids(5, 7), total: 4 })
    assert.deepEqual(await numbers(acme, { offset: 1 }, 'desc'), { ids: ids(5, 3), total: 4 })
    // The id of a user of another tenant is a place like any other.
    assert.deepEqual(await numbers(acme, { after: idOf('usr', 4) }, 'asc'), { ids: ids(5, 7), total: 4 })
    assert.deepEqual(await numbers(acme, { after: idOf('usr', 4) }, 'desc'), { ids: ids(3, 1), total: 4 })
    assert.deepEqual(await numbers(everyone, { offset: 5 }, 'asc'), { ids: ids(6, 7), total: 7 })
    const words = { ...acme, words: [['user']] }
    assert.deepEqual(await numbers(words, { offset: 2 }, 'asc'), { ids: ids(5, 7), total: 4 })
    assert.deepEqual(await numbers(inTenant('none'), { offset: 0 }, 'asc'), { ids: [], total: 0 })
    const read: string[] = []
    await storage.readUsers(acme, 'desc', async (users) => { read.push(...users.map(({ id }) => id)) })
    assert.deepEqual(read, ids(7, 5, 3, 1))
    for (const [n, tenant] of [[1, 'acme'], [2, 'beta'], [3, 'acme']] as const) await addKey(storage, n, { tenant })
    await addKey(storage, 4)
    const keys = await storage.listApiKeys({ ...firstPage(9), tenant: 'acme' })
    assert.deepEqual(keys.items.map(({ id }) => id), [idOf('key', 1), idOf('key', 3)])
    assert.equal(keys.total, 2)
    assert.equal((await storage.listApiKeys(firstPage(1))).total, 4)
  },

  'tenants: a write for another tenant finds no user, and changes nothing': async (storage) => {
    await addTo(storage, 'acme', 1)
    await addTo(storage, undefined, 2)
    const deletion = { type: 'delete', guard: anyVersion, event: null, erase: false, tenant: 'beta' } as const
    for (const n of [1, 2]) {
      const id = idOf('usr', n)
      const writes: UserWrite[] = [
        { ...update(n, 'beta') },
        { ...update(n, 'beta'), changes: () => rename('X') },
        // Nothing to change, or another version: that must not tell that the user is there.
        { ...update(n, 'beta'), changes: {} },
        { ...update(n, 'beta'), guard: onlyVersion(7) },
        { ...deletion, id },
        { ...deletion, id, guard: onlyVersion(7) }
      ]
      for (const write of writes) {
        const { outcomes } = await storage.writeUsers([write], { atomic: false, idempotency: null })
        assert.deepEqual(outcomes, [{ code: 'not_found' }], `${write.type} for another tenant`)
      }
    }
    assert.equal((await storage.findUser(idOf('usr', 1)))?.version, 1)
    assert.equal((await storage.findUser(idOf('usr', 2)))?.version, 1)
    const own = [update(1, 'acme')]
    const { outcomes: [done] } = await storage.writeUsers(own, { atomic: false, idempotency: null })
    const expected = userOf(1, { tenant: 'acme', name: 'X', version: 2, updatedAt: timeOf(9) })
    assert.deepEqual(done, { code: 'done', changed: true, user: expected })
  },

  'tenants: of the keys that must stay one is of the same tenant': async (storage) => {
    const scopes = ['keys:write']
    await addKey(storage, 1, { scopes, tenant: 'acme' })
    await addKey(storage, 2, { scopes, tenant: 'beta' })
    await addKey(storage, 3, { scopes })
    for (const n of [1, 3]) {
      await assert.rejects(storage.revokeApiKey(idOf('key', n), timeOf(9), { keepOneWith: scopes }),
        { code: 'last_admin_key' }, 'keys of other tenants do not count')
    }
    await addKey(storage, 4, { scopes, tenant: 'acme' })
    assert.equal((await storage.revokeApiKey(idOf('key', 1), timeOf(9), { keepOneWith: scopes }))?.changed, true)
    assert.equal((await storage.revokeApiKey(idOf('key', 2), timeOf(9), ANY_KEY))?.changed, true)
  },

  'tenants: the list has those with a user or key, and the exact numbers of their users': async (storage) => {
    const { tenants } = storage
    assert.ok(tenants !== undefined)
    assert.deepEqual(await tenants.list(firstPage(9)), { items: [], total: 0 })
    await addTo(storage, 'b_2', 1, 2)
    await addTo(storage, 'b-1', 3)
    await addTo(storage, undefined, 4)
    await addKey(storage, 1, { tenant: 'a' })
    await addKey(storage, 2, { tenant: 'b_2' })
    await addKey(storage, 3)
    const all = [{ id: 'a', users: 0 }, { id: 'b-1', users: 1 }, { id: 'b_2', users: 2 }]
    assert.deepEqual(await tenants.list(firstPage(9)), { items: all, total: 3 })
    assert.deepEqual(await tenants.list({ order: 'desc', limit: 2, from: { offset: 1 } }),
      { items: [all[1], all[0]], total: 3 })
    assert.deepEqual(await tenants.list({ order: 'asc', limit: 1, from: { after: 'a' } }),
      { items: [all[1]], total: 3 })
    await storage.deleteUser(idOf('usr', 3), anyVersion)
    assert.deepEqual(await tenants.list(firstPage(9)), { items: [all[0], all[2]], total: 2 })
  },

  'tenants: one is removed in steps, with its keys first, and nothing of others goes': async (storage) => {
    const { tenants } = storage
    assert.ok(tenants !== undefined)
    await addForeign(storage)
    await addTo(storage, OWN, ...upTo(7))
    await addKey(storage, 1, { tenant: OWN })
    await addKey(storage, 2, { tenant: OWN })
    let steps = 0
    while (await tenants.remove(OWN, 3) > 0) {
      const { total } = await storage.listApiKeys({ ...firstPage(9), tenant: OWN })
      assert.equal(total, 0, 'no key outlives the first step')
      assert.ok(++steps < 20, 'tenants.remove: a step that has nothing to do returns 0')
    }
    assert.ok(steps >= 3, 'tenants.remove: a step deletes about as many as it may')
    assert.deepEqual(await storage.listUsers(inTenant(OWN), firstPage(9)), { items: [], total: 0 })
    if (storage.supports.eventLog) {
      assert.deepEqual(await readEvents(storage, { tenant: OWN }), [])
      const left = (await readEvents(storage)).filter(({ subject }) => subject < idOf('usr', 100))
      const values = left.map(({ data: { name, email }, tenant }) => [name, email, tenant])
      assert.deepEqual(values, upTo(7).map(() => [null, null, undefined]), 'its events stay, without its values')
    }
    await requireForeign(storage)
    assert.deepEqual((await tenants.list(firstPage(9))).items, [{ id: OTHER, users: 8 }])
    assert.equal(await tenants.remove('unknown', 3), 0)
  },

  ...tenantAssignmentCases
}
