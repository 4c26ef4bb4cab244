import assert from 'node:assert/strict'
import type { JsonObject, Outcome, Row } from '../../lib/storage/storage.ts'
import type { Subject } from './cases.ts'
import { add, commit, drop, make, move, nextOf, nth, OK, rowIn, withIdOf, withMembers } from './rows.ts'

const takenAt = (at: number, member: (Outcome & { code: 'taken' })['member']): Outcome =>
  ({ code: 'taken', at, member })
const field = (name: string) => ({ field: name })

/** A user with an address, of a tenant if one is given. */
function at (n: number, emailKey: string, tenant?: string, fields: JsonObject = {}): Row<'users'> {
  const row = nth.users(n)
  const record = { ...row.record, fields, ...tenant !== undefined && { tenant } }
  return { ...row, record, keys: { ...row.keys, emailKey } }
}

const having = (n: number, fields: JsonObject, tenant?: string) => at(n, `user${n}@example.org`, tenant, fields)

/** Duties about values that one row has. */
export const takenSubject: Subject = {
  needs: { unique: ['memberNo', 'nick'] },
  cases: {
    'commit: an address is taken by another user of the tenant, and of those who belong to none': async (storage) => {
      const [address, other] = ['one@x.org', 'two@x.org']
      await make(storage, [add('users', at(1, address)), add('users', at(2, other))])
      assert.deepEqual(await commit(storage, [add('users', at(3, address))]), takenAt(0, 'emailKey'))
      const moved = { ...nextOf(at(2, other)), keys: { ...at(2, other).keys, emailKey: address } }
      assert.deepEqual(await commit(storage, [move('users', at(2, other), moved)]), takenAt(0, 'emailKey'))
      assert.equal(await rowIn(storage, 'users', at(3, address).record.id), null)
      assert.deepEqual(await rowIn(storage, 'users', at(2, other).record.id), at(2, other))
      // Other texts, other tenants, and users who are put away.
      for (const [n, key, tenant] of [
        [4, 'ONE@x.org'], [5, 'one@x.org '], [6, address, 'acme'], [7, address, 'beta']
      ] as const) assert.deepEqual(await commit(storage, [add('users', at(n, key, tenant))]), OK, key)
      assert.deepEqual(await commit(storage, [add('users', at(8, address, 'acme'))]), takenAt(0, 'emailKey'))
      const away = nth.trash(9)
      await make(storage, [add('trash', { ...away, keys: { ...away.keys, emailKey: address } })])
      // Its own it may have again, and who is gone has none.
      assert.deepEqual(await commit(storage, [move('users', at(1, address))]), OK)
      assert.deepEqual(await commit(storage, [drop('users', nextOf(at(1, address)))]), OK)
      assert.deepEqual(await commit(storage, [add('users', at(3, address))]), OK)
    },

    'commit: a user who gets a tenant may find the address or a unique value taken there': async (storage) => {
      const rows = [
        at(1, 'a@x.org', 'acme'), having(2, { memberNo: 1 }, 'acme'), at(3, 'a@x.org'), having(4, { memberNo: 1 })
      ]
      await make(storage, rows.map((row) => add('users', row)))
      const assigned = (row: Row<'users'>) =>
        commit(storage, [move('users', row, withMembers(row, { tenant: 'acme' }))])
      const [, , third = at(3, ''), fourth = at(4, '')] = rows
      assert.deepEqual(await assigned(third), takenAt(0, 'emailKey'))
      assert.deepEqual(await assigned(fourth), takenAt(0, field('memberNo')))
      assert.deepEqual(await rowIn(storage, 'users', third.record.id), third)
    },

    'commit: a value of a unique field is taken by another user of the tenant, with the name of the field': async (
      storage
    ) => {
      await make(storage, [add('users', having(1, { memberNo: 7, nick: 'zoe' }))])
      for (const [fields, name] of [
        [{ memberNo: 7 }, 'memberNo'], [{ nick: 'zoe' }, 'nick'], [{ nick: 'other', memberNo: 7 }, 'memberNo']
      ] as const) {
        assert.deepEqual(await commit(storage, [add('users', having(2, fields))]), takenAt(0, field(name)))
      }
      // Other values, other types, none, and other tenants.
      const free: JsonObject[] = [
        { memberNo: '7' }, { memberNo: 7.5 }, { memberNo: true }, { memberNo: null }, { memberNo: null, nick: null },
        {}, { nick: 'Zoe' }, { nick: 'zoe ' }, { nick: ['zoe'] }, { other: 7 }
      ]
      for (const [i, fields] of free.entries()) {
        assert.deepEqual(await commit(storage, [add('users', having(10 + i, fields))]), OK, JSON.stringify(fields))
      }
      for (const tenant of ['acme', 'beta']) {
        const n = tenant === 'acme' ? 30 : 40
        assert.deepEqual(await commit(storage, [add('users', having(n, { memberNo: 7 }, tenant))]), OK)
        const again = having(n + 1, { memberNo: 7 }, tenant)
        assert.deepEqual(await commit(storage, [add('users', again)]), takenAt(0, field('memberNo')))
      }
      // By a change too; and what is given up is free.
      const second = having(10, { memberNo: '7' })
      const asked = nextOf(second, { fields: { nick: 'zoe' } })
      assert.deepEqual(await commit(storage, [move('users', second, asked)]), takenAt(0, field('nick')))
      const first = having(1, { memberNo: 7, nick: 'zoe' })
      const left = nextOf(first, { fields: { memberNo: 7 } })
      assert.deepEqual(await commit(storage, [move('users', first, left)]), OK)
      assert.deepEqual(await commit(storage, [move('users', second, asked)]), OK)
      await make(storage, [drop('users', left)])
      assert.deepEqual(await commit(storage, [add('users', having(2, { memberNo: 7 }))]), OK)
    },

    'commit: the start of a key is taken by a key of any tenant': async (storage) => {
      const key = nth.apiKeys(1)
      await make(storage, [add('apiKeys', key)])
      for (const members of [{}, { tenant: 'acme' }]) {
        const other = withMembers(nth.apiKeys(2), { start: key.record.start, ...members })
        assert.deepEqual(await commit(storage, [add('apiKeys', other)]), takenAt(0, 'start'))
      }
      const upper = withMembers(nth.apiKeys(3), { start: key.record.start.toUpperCase() })
      assert.deepEqual(await commit(storage, [add('apiKeys', upper)]), OK)
      const heir = withMembers(nth.apiKeys(2), { start: key.record.start })
      await make(storage, [drop('apiKeys', key), add('apiKeys', heir)])
      const [found] = await storage.find('apiKeys', [{ start: key.record.start }])
      assert.equal(found?.record.id, nth.apiKeys(2).record.id)
    },

    'commit: at is the place of the write that was refused': async (storage) => {
      await make(storage, [
        add('users', having(1, { memberNo: 7 })), add('apiKeys', nth.apiKeys(1)), add('marks', nth.marks(1))
      ])
      const others = [10, 11, 12, 13].map((n) => add('users', nth.users(n)))
      const start = nth.apiKeys(1).record.start
      const refused = [
        [add('users', at(2, 'user1@example.org')), 'emailKey'],
        [add('users', having(2, { memberNo: 7 })), field('memberNo')],
        [add('apiKeys', withMembers(nth.apiKeys(2), { start })), 'start'],
        [move('marks', nextOf(nth.marks(1))), null],
        [drop('apiKeys', nextOf(nth.apiKeys(1))), null],
        [add('users', withIdOf('users', nth.users(1))), null],
        [add('deliveries', nth.deliveries(1)), null]
      ] as const
      for (const [write, member] of refused) {
        for (const place of [0, 2, others.length]) {
          const writes = others.toSpliced(place, 0, write)
          const expected = member === null ? { code: 'changed', at: place } : takenAt(place, member)
          assert.deepEqual(await commit(storage, writes), expected, `${write.in} at ${place}`)
        }
      }
      assert.equal(await rowIn(storage, 'users', nth.users(10).record.id), null)
    }
  }
}
