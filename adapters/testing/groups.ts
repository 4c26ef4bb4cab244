import assert from 'node:assert/strict'
import type { Storage, UserFilter } from '../../lib/storage/storage.ts'
import type { Cases, Subject } from './cases.ts'
import { codesOf, turns } from './concurrency.ts'
import {
  add, addNth, changedAt, commit, drop, listAll, make, membershipOf, move, nextOf, nth, OK, rowIn, withMembers
} from './rows.ts'
import { firstPage, idsOf, upTo } from './list-values.ts'
import { walked, ORDERS, requireSame, requireUsers } from './users/compare.ts'
import { CONDITIONS } from './users/filters.ts'
import { plainList, plainWalk } from './users/plain.ts'
import { putUsers, type UserRow } from './users/put.ts'
import { SAMPLE_FIELDS, sampleOf } from './users/samples.ts'
import { everyone, idOf, timeOf } from './values.ts'

const ROUNDS = 12
const group = idOf('grp', 1)

/** Puts users into a group, which says how many it has. */
async function putMembers (storage: Storage, n: number, members: readonly string[]): Promise<void> {
  const row = withMembers(nth.userGroups(n), { members: members.length })
  await make(storage, [
    add('userGroups', row), ...members.map((each) => add('memberships', membershipOf(row.record.id, each)))
  ])
}

/** Requires that lists and walks of a group have its members, as plain JavaScript finds them by their ids. */
async function requireMembers (
  storage: Storage, rows: readonly UserRow[], ids: readonly string[], filter: Partial<UserFilter> = {}
): Promise<void> {
  const asked = { ...everyone, ...filter, group }
  const same = { ...everyone, ...filter, ids: ids.filter((id) => filter.ids?.includes(id) ?? true) }
  for (const order of ORDERS) {
    for (const from of [{ offset: 0 }, { offset: 2 }, { offset: 99 }, { after: idOf('usr', 7) }, { after: 'x' }]) {
      const page = { order, limit: 3, from }
      const [given, expected] = [await storage.users.list(asked, page), plainList(rows, same, page)]
      requireUsers(given.items, expected.items, { filter, page })
      requireSame(given.total, expected.total, { totalOf: filter, page })
    }
    for (const sort of [undefined, 'nameKey', { field: 'seats' }] as const) {
      const expected = plainWalk(rows, same, order, sort).map(({ record }) => record)
      requireUsers(await walked(storage, { ...filter, group }, order, sort), expected, { walk: filter, order, sort })
      if (sort === undefined) continue
      const { items, total } = await storage.users.list(asked, { order, limit: 99, from: { offset: 0 }, sort })
      requireUsers(items, expected, { filter, order, sort })
      assert.equal(total, expected.length)
    }
  }
}

/** Duties about groups, and who is in them. */
export const groupSubject: Subject = {
  needs: { filterable: SAMPLE_FIELDS },
  cases: {
    'commit: the name of a group is taken by another group of the tenant': async (storage) => {
      const named = (n: number, nameKey: string, tenant?: string) =>
        withMembers(nth.userGroups(n), { nameKey, ...tenant !== undefined && { tenant } })
      const taken = { code: 'taken', at: 0, member: 'nameKey' }
      await make(storage, [add('userGroups', named(1, 'staff')), add('userGroups', named(2, 'other'))])
      assert.deepEqual(await commit(storage, [add('userGroups', named(3, 'staff'))]), taken)
      const renamed = nextOf(named(2, 'other'), { nameKey: 'staff' })
      assert.deepEqual(await commit(storage, [move('userGroups', named(2, 'other'), renamed)]), taken)
      const free = [[4, 'Staff'], [5, 'staff '], [6, 'staff', 'acme'], [7, 'staff', 'beta']] as const
      for (const [n, key, tenant] of free) {
        assert.deepEqual(await commit(storage, [add('userGroups', named(n, key, tenant))]), OK, key)
      }
      assert.deepEqual(await commit(storage, [add('userGroups', named(8, 'staff', 'acme'))]), taken)
      // Its own it may have again, and what is given up is free.
      const next = nextOf(named(1, 'staff'), { members: 3 })
      assert.deepEqual(await commit(storage, [move('userGroups', named(1, 'staff'), next)]), OK)
      assert.deepEqual(await commit(storage, [drop('userGroups', next), add('userGroups', named(3, 'staff'))]), OK)
    },

    'commit: a membership is not added without its user, and while it is there, the user is not removed': async (
      storage
    ) => {
      const [user, member] = [nth.users(1), nth.memberships(1)]
      await make(storage, [add('userGroups', nth.userGroups(1)), add('userGroups', nth.userGroups(2))])
      assert.deepEqual(await commit(storage, [add('memberships', member)]), changedAt(0))
      await make(storage, [add('users', user), add('memberships', member)])
      assert.deepEqual(await commit(storage, [drop('users', user)]), changedAt(0))
      assert.deepEqual(await commit(storage, [add('marks', nth.marks(1)), drop('users', user)]), changedAt(1))
      assert.equal(await rowIn(storage, 'marks', nth.marks(1).record.id), null)
      assert.deepEqual(await rowIn(storage, 'users', user.record.id), user)
      // A change of the user keeps it.
      const next = nextOf(user, { name: 'New', updatedAt: timeOf(9) })
      await make(storage, [move('users', user, next)])
      assert.deepEqual(await rowIn(storage, 'memberships', member.record.id), member)
      // Of several, all must go, and in one unit they may.
      const other = membershipOf(idOf('grp', 2), user.record.id)
      await make(storage, [add('memberships', other)])
      assert.deepEqual(await commit(storage, [drop('memberships', other), drop('users', next)]), changedAt(1))
      assert.deepEqual(await commit(storage, [
        drop('memberships', other), drop('memberships', member), drop('users', next)
      ]), OK)
      assert.deepEqual(await listAll(storage, 'memberships'), { items: [], total: 0 })
      // With its group it goes too.
      await make(storage, [add('users', user), add('memberships', member), drop('userGroups', nth.userGroups(1))])
      assert.deepEqual(await commit(storage, [drop('users', user)]), OK)
    },

    'commit: a membership that is added while its user is removed is not left alone': async (storage) => {
      await make(storage, [add('userGroups', nth.userGroups(1))])
      for (let n = 1; n <= ROUNDS; n++) {
        await addNth(storage, 'users', n)
        const member = membershipOf(group, idOf('usr', n))
        const outcomes = await Promise.all([
          turns(n % 3).then(() => commit(storage, [drop('users', nth.users(n))])),
          turns(n % 2).then(() => commit(storage, [add('memberships', member)]))
        ])
        assert.deepEqual(codesOf(outcomes), { ok: 1, changed: 1 }, `round ${n}`)
        const isGone = await rowIn(storage, 'users', idOf('usr', n)) === null
        assert.equal(await rowIn(storage, 'memberships', member.record.id) === null, isGone, `round ${n}`)
      }
    },

    'commit: many memberships of one unit are made together, or none': async (storage, { records }) => {
      const numbers = upTo(Math.min(records, 300))
      await make(storage, [add('userGroups', nth.userGroups(1)), ...numbers.map((n) => add('users', nth.users(n)))])
      const members = numbers.map((n) => membershipOf(group, idOf('usr', n)))
      const added = members.map((row) => add('memberships', row))
      const missing = add('memberships', membershipOf(group, idOf('usr', 9999)))
      assert.deepEqual(await commit(storage, added.toSpliced(100, 0, missing)), changedAt(100))
      assert.equal((await listAll(storage, 'memberships')).total, 0)
      await make(storage, added)
      assert.deepEqual(await listAll(storage, 'memberships', { of: group }), { items: members, total: numbers.length })
      assert.deepEqual(await commit(storage, added.slice(50)), changedAt(0))
      const dropped = members.map((row) => drop('memberships', row))
      assert.deepEqual(await commit(storage, [...dropped, ...dropped.slice(0, 1)]), changedAt(numbers.length))
      await make(storage, dropped.slice(1))
      assert.deepEqual((await listAll(storage, 'memberships')).items, members.slice(0, 1))
    },

    'users.list, users.walk: a group has its members, beside every other condition': async (storage) => {
      const rows = upTo(20).map(sampleOf)
      await putUsers(storage, rows)
      const ids = idsOf([2, 3, 5, 7, 8, 11, 13, 17, 19])
      await putMembers(storage, 1, ids)
      await putMembers(storage, 2, idsOf([1, 2, 3]))
      for (const filter of [{}, ...CONDITIONS]) await requireMembers(storage, rows, ids, filter)
      for (const unknown of [idOf('grp', 9), '', 'x', "' OR 1=1", 'a\u0000', '\ud83d', group.toUpperCase()]) {
        const found = await storage.users.list({ ...everyone, group: unknown }, firstPage(9))
        assert.deepEqual(found, { items: [], total: 0 }, JSON.stringify(unknown))
      }
    }
  } satisfies Cases
}
