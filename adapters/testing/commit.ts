import assert from 'node:assert/strict'
import type { Rewrite, Row, Storage } from '../../lib/storage/storage.ts'
import type { Subject } from './cases.ts'
import {
  add, addNth, CHANGES, changedAt, COLLECTIONS, commit, countAll, drop, eventOf, listAll, make, move, nextOf, nth, OK,
  OWNERS, rowIn, unitOf, withIdOf, withMembers
} from './rows.ts'
import { everyone, idOf, timeOf } from './values.ts'

const first = { order: 'asc', limit: 10, from: { offset: 0 } } as const
const PARTS = ['keyUses', 'deliveries', 'idempotency', 'memberships'] as const

/** The ids of the users with an e-mail key. */
const idsAt = async (storage: Storage, emailKey: string): Promise<string[]> =>
  (await storage.users.list({ ...everyone, emailKey }, first)).items.map(({ id }) => id)

const renamed = (n: number, emailKey: string): Row<'users'> => {
  const row = nth.users(n)
  return { ...row, record: { ...row.record, email: emailKey.toUpperCase() }, keys: { ...row.keys, emailKey } }
}

const withoutName: Rewrite['make'] = (event) => ({ ...event, data: { ...event.data, name: null } })

/** Duties about units of writes: what is made, and what is refused. */
export const commitSubject: Subject = {
  needs: {},
  cases: {
    'commit: a row of every collection is put, replaced and taken away by its version': async (storage) => {
      for (const [at, name] of COLLECTIONS.entries()) {
        await addNth(storage, name, 1, 2)
        const row = nth[name](1)
        assert.deepEqual(await rowIn(storage, name, row.record.id), row, name)
        const next = nextOf(row, CHANGES[name])
        const events = [0, 1, 2].map((n) => eventOf(3 * at + n))
        assert.deepEqual(await commit(storage, [move(name, row, next)], events.slice(0, 1)), OK, name)
        assert.deepEqual(await rowIn(storage, name, row.record.id), next, name)
        assert.deepEqual(await commit(storage, [drop(name, next)], events.slice(1, 2)), OK, name)
        assert.equal(await rowIn(storage, name, row.record.id), null, name)
        const other = nth[name](2)
        assert.deepEqual(await rowIn(storage, name, other.record.id), other, `another row of ${name}`)
        // The id is free again.
        assert.deepEqual(await commit(storage, [add(name, row)], events.slice(2)), OK, name)
        assert.deepEqual(await rowIn(storage, name, row.record.id), row, name)
        for (const event of events) assert.deepEqual(await storage.log.find(event.id), event, `an event with ${name}`)
      }
    },

    'commit: a row that is there already, has another version or is gone is changed': async (storage) => {
      for (const name of COLLECTIONS) {
        await addNth(storage, name, 1)
        const [row, absent] = [nth[name](1), nth[name](2)]
        const next = nextOf(row, CHANGES[name])
        const again = { ...withIdOf(name, row), of: row.of }
        assert.deepEqual(await commit(storage, [add(name, again)]), changedAt(0), `${name} twice`)
        await make(storage, [move(name, row, next)])
        for (const write of [
          move(name, row), drop(name, row), move(name, nextOf(next)), drop(name, nextOf(next)), add(name, again),
          move(name, absent), drop(name, absent)
        ]) assert.deepEqual(await commit(storage, [write]), changedAt(0), name)
        assert.deepEqual(await rowIn(storage, name, row.record.id), next, name)
        assert.equal(await rowIn(storage, name, absent.record.id), null, name)
      }
    },

    'commit: a user of another moment is another one, though its version is the same': async (storage) => {
      const row = nth.users(1)
      await make(storage, [add('users', row)])
      const other = withMembers(row, { updatedAt: timeOf(2) })
      assert.deepEqual(await commit(storage, [move('users', other)]), changedAt(0))
      assert.deepEqual(await commit(storage, [drop('users', other)]), changedAt(0))
      assert.deepEqual(await rowIn(storage, 'users', row.record.id), row)
      assert.deepEqual(await commit(storage, [move('users', row)]), OK)
    },

    'commit: a row of another tenant is another one': async (storage) => {
      for (const name of ['users', 'trash', 'apiKeys', 'webhooks'] as const) {
        const row = withMembers(nth[name](1), { tenant: 'acme' })
        await make(storage, [add(name, row)])
        for (const tenant of ['beta', undefined]) {
          const { tenant: _tenant, ...record } = row.record
          const other = Object({ ...row, record: tenant === undefined ? record : { ...record, tenant } })
          assert.deepEqual(await commit(storage, [move(name, other)]), changedAt(0), name)
          assert.deepEqual(await commit(storage, [drop(name, other)]), changedAt(0), name)
        }
        assert.deepEqual(await rowIn(storage, name, row.record.id), row, name)
        assert.deepEqual(await commit(storage, [drop(name, row)]), OK, name)
      }
    },

    'commit: a row gets a tenant that had none': async (storage) => {
      for (const name of ['users', 'trash'] as const) {
        const row = nth[name](1)
        await make(storage, [add(name, row)])
        const put = withMembers(row, { tenant: 'acme' })
        await make(storage, [move(name, row, put)])
        assert.deepEqual(await rowIn(storage, name, row.record.id), put, name)
      }
      assert.equal((await storage.users.list({ ...everyone, tenant: 'acme' }, first)).total, 1)
      assert.equal((await listAll(storage, 'trash', { tenant: 'acme' })).total, 1)
      assert.deepEqual(await storage.listTenants(first), { items: [{ id: 'acme', users: 1 }], total: 1 })
    },

    'commit: a row whose owner is gone is changed': async (storage) => {
      for (const name of PARTS) {
        const owner = OWNERS[name]
        if (name === 'memberships') await addNth(storage, 'users', 1)
        assert.deepEqual(await commit(storage, [add(name, nth[name](1))]), changedAt(0), `${name} without ${owner}`)
        await addNth(storage, name, 2)
        await make(storage, [drop(owner, nth[owner](2))])
        assert.deepEqual(await commit(storage, [add(name, nth[name](2))]), changedAt(0), `${name} after ${owner}`)
        assert.equal(await rowIn(storage, name, nth[name](2).record.id), null)
      }
      // That of a call that has written several users is of none.
      const alone = { ...nth.idempotency(3), of: null }
      await make(storage, [add('idempotency', alone)])
      assert.deepEqual(await rowIn(storage, 'idempotency', alone.record.id), alone)
    },

    'commit: a row takes those with it that are of it, and no others': async (storage) => {
      for (const name of PARTS) {
        const owner = OWNERS[name]
        await addNth(storage, name, 1, 2)
        const more = withMembers({ ...nth[name](3), of: nth[owner](1).record.id },
          name === 'deliveries' ? { webhook: nth[owner](1).record.id } : {})
        if (name === 'memberships') await addNth(storage, 'users', 3)
        await make(storage, [add(name, more)])
        // Its own change keeps them.
        const next = nextOf(nth[owner](1))
        await make(storage, [move(owner, nth[owner](1), next)])
        assert.deepEqual(await rowIn(storage, name, nth[name](1).record.id), nth[name](1), name)
        // A unit that is refused keeps them too.
        const refused = [drop(owner, next), drop(owner, nth[owner](3))]
        assert.deepEqual(await commit(storage, refused), changedAt(1), name)
        assert.deepEqual(await rowIn(storage, name, nth[name](1).record.id), nth[name](1), name)
        await make(storage, [drop(owner, next)])
        assert.equal(await rowIn(storage, name, nth[name](1).record.id), null, name)
        assert.deepEqual(await listAll(storage, name), { items: [nth[name](2)], total: 1 }, name)
        // Neither does one that gets its id have them.
        await make(storage, [drop(owner, nth[owner](2)), add(owner, nth[owner](2))])
        assert.deepEqual(await listAll(storage, name), { items: [], total: 0 }, name)
      }
    },

    'commit: nothing of a refused unit is there': async (storage) => {
      await make(storage, [add('users', nth.users(1)), add('marks', nth.marks(1))], [eventOf(1)])
      const before = await countAll(storage)
      const others = COLLECTIONS.map((name) => add(name, nth[name](20)))
      const all = [move('users', nth.users(1)), ...others, add('marks', nth.marks(1))]
      const rewrite = { of: { subject: nth.users(1).record.id }, make: withoutName }
      assert.deepEqual(await commit(storage, all, [eventOf(2)], [rewrite]), changedAt(all.length - 1))
      assert.deepEqual(await countAll(storage), before)
      assert.deepEqual(await rowIn(storage, 'users', nth.users(1).record.id), nth.users(1))
      assert.deepEqual(await storage.log.find(eventOf(1).id), eventOf(1), 'its events are not written anew')
      assert.equal(await storage.log.find(eventOf(2).id), null, 'its events are not recorded')
      // Without the last write all of it is made.
      assert.deepEqual(await commit(storage, all.slice(0, -1), [eventOf(2)], [rewrite]), OK)
      assert.equal((await storage.log.find(eventOf(2).id))?.data['name'], null)
    },

    'commit: the writes of a unit are made in their order': async (storage) => {
      const [one, two] = [nth.users(1), nth.users(2)]
      const address = 'user1@example.org'
      await make(storage, [add('users', one)])
      // The id is free after the first, and the address.
      const again = withMembers(one, { name: 'Again', updatedAt: timeOf(9) })
      await make(storage, [drop('users', one), add('users', again)])
      assert.deepEqual(await rowIn(storage, 'users', one.record.id), again)
      await make(storage, [drop('users', again), add('users', renamed(2, address))])
      assert.deepEqual(await idsAt(storage, address), [two.record.id])
      // Given up and taken in one unit, and a row that is changed twice in it.
      const moved = { ...nextOf(renamed(2, address)), keys: { ...two.keys, emailKey: 'other@example.org' } }
      const last = nextOf(moved, { name: 'Last' })
      await make(storage, [
        move('users', renamed(2, address), moved), add('users', one), move('users', moved, last)
      ])
      assert.deepEqual(await idsAt(storage, address), [one.record.id])
      assert.deepEqual(await rowIn(storage, 'users', two.record.id), last)
      // Put and taken away again.
      await make(storage, [add('marks', nth.marks(1)), drop('marks', nth.marks(1))])
      assert.equal(await rowIn(storage, 'marks', nth.marks(1).record.id), null)
      // In the other order the address is taken still.
      const taken = [add('users', renamed(3, address)), drop('users', one)]
      assert.deepEqual(await commit(storage, taken), { code: 'taken', at: 0, member: 'emailKey' })
    },

    'commit: several units of one call are each made by itself': async (storage) => {
      await make(storage, [add('users', nth.users(1)), add('marks', nth.marks(1))])
      const outcomes = await storage.commit([
        unitOf([add('users', nth.users(2))], [eventOf(2)]),
        unitOf([add('users', nth.users(3)), drop('users', nextOf(nth.users(1)))], [eventOf(3)]),
        unitOf([move('marks', nth.marks(1))]),
        unitOf([add('users', renamed(4, 'user1@example.org'))], [eventOf(4)]),
        unitOf([drop('marks', nth.marks(9))]),
        unitOf([add('users', nth.users(5))], [eventOf(5)])
      ])
      assert.deepEqual(outcomes, [
        OK, changedAt(1), OK, { code: 'taken', at: 0, member: 'emailKey' }, changedAt(0), OK
      ])
      const { items } = await storage.users.list(everyone, first)
      assert.deepEqual(items.map(({ id }) => id), [1, 2, 5].map((n) => idOf('usr', n)))
      const { items: recorded } = await storage.log.history(eventOf(1).subject, { offset: 0, limit: 9 })
      assert.deepEqual(recorded.map(({ id }) => id).sort(), [eventOf(2).id, eventOf(5).id])
      assert.deepEqual(await storage.commit([]), [])
    },

    'commit: many units of one call, and many writes of one unit, are all made': async (storage, { records }) => {
      const numbers = Array.from({ length: records }, (_, i) => i)
      const some = numbers.filter((n) => n % 5 === 0)
      const outcomes = await storage.commit(some.map((n) => unitOf([add('marks', nth.marks(n))])))
      assert.deepEqual(outcomes, some.map(() => OK))
      await make(storage, numbers.filter((n) => n % 5 !== 0).map((n) => add('marks', nth.marks(n))))
      const moves = numbers.map((n) => move('marks', nth.marks(n)))
      assert.deepEqual(await commit(storage, [...moves, add('marks', nth.marks(0))]), changedAt(records))
      assert.deepEqual(await commit(storage, moves), OK)
      const rows = await storage.find('marks', numbers.map((n) => ({ id: nth.marks(n).record.id })))
      assert.deepEqual(rows, numbers.map((n) => nextOf(nth.marks(n))))
      assert.equal((await storage.list('marks', { page: first })).total, records)
    },

    'commit: of two units of one call on one version one is made': async (storage) => {
      for (const name of COLLECTIONS) {
        await addNth(storage, name, 1)
        const row = nth[name](1)
        const next = nextOf(row, CHANGES[name])
        const outcomes = await storage.commit([unitOf([move(name, row, next)]), unitOf([drop(name, row)])])
        const isFirst = outcomes[0]?.code === 'ok'
        assert.deepEqual(outcomes, isFirst ? [OK, changedAt(0)] : [changedAt(0), OK], name)
        assert.deepEqual(await rowIn(storage, name, row.record.id), isFirst ? next : null, name)
      }
    },

    'commit: a unit without writes records its events, and an empty one changes nothing': async (storage) => {
      const recorded = async () => (await storage.log.history(eventOf(1).subject, { offset: 0, limit: 9 })).items
      assert.deepEqual(await commit(storage, []), OK)
      assert.deepEqual(await recorded(), [])
      assert.deepEqual(await commit(storage, [], [eventOf(2), eventOf(1)]), OK)
      const rewrite = { of: { subject: eventOf(1).subject }, make: withoutName }
      assert.deepEqual(await commit(storage, [], [], [rewrite]), OK)
      assert.deepEqual(await recorded(), [eventOf(1), eventOf(2)].map(withoutName))
    }
  }
}
