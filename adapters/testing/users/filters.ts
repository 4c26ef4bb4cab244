import assert from 'node:assert/strict'
import type { JsonObject, Storage, UserFilter, UserRange, UserValue } from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { LOOKALIKES, NUMBERS } from '../hostile-values.ts'
import { firstPage, having, idsOf, upTo } from '../list-values.ts'
import { everyone, idOf, keysOf, TEXTS, timeOf, userOf } from '../values.ts'
import { ORDERS, requireFound, requirePage } from './compare.ts'
import { drawnCases } from './drawn.ts'
import { changeAt, dropAt, putUsers, rowOf } from './put.ts'
import { fromBothEnds, SAMPLE_FIELDS, sampleOf, tenantOf } from './samples.ts'

type Bounds = Omit<UserRange, 'of'>

/** Adds users with these fields, numbered from 0. What it gives compares lists and walks, and says what they found. */
async function withFields (storage: Storage, ...fieldsOfUsers: JsonObject[]) {
  const rows = fieldsOfUsers.map((fields, n) => rowOf(userOf(n, { fields, ...tenantOf(n) })))
  await putUsers(storage, rows)
  return (filter: Partial<UserFilter>) => requireFound(storage, rows, filter)
}

/** As many values as a filter may have: others, and at the end this one. */
const lastOf = <Value>(count: number, value: Value, other: (n: number) => Value): Value[] =>
  [...upTo(count - 1).map(other), value]

/** Conditions with what they match; the samples have all values that are named here. */
export const CONDITIONS: ReadonlyArray<Partial<UserFilter>> = [
  { tenant: 'acme' }, { tenant: 'none' }, { status: 'suspended' }, { emailKey: 'user2@example.org' },
  { words: [['bob']] },
  { words: [['zoe'], ['acme']] }, { fields: { plan: 'pro' } }, { fields: { seats: 10, active: true } },
  { ids: idsOf([3, 5, 6, 7, 8, 20]) }, { emailKeys: ['user2@example.org', 'user5@example.org', 'nobody'] },
  { anyOf: { plan: ['pro', 'free', '1'], seats: [0, 10, 9.5] } }, { exists: { seats: true, plan: false } },
  { ranges: [{ of: 'updatedAt', gt: timeOf(1), lte: timeOf(4) }] },
  {
    ranges: [
      { of: 'createdAt', gte: timeOf(6) }, { of: { field: 'seats' }, lt: 10 }, { of: 'updatedAt', lt: timeOf(3) }
    ]
  }
]

export const filters: Subject = {
  needs: { filterable: [...SAMPLE_FIELDS, 'Plan', 'value'] },
  cases: {
    'users.list, users.walk: an e-mail key matches exactly its users, one of each tenant': async (storage) => {
      const rows = upTo(40).map(sampleOf)
      await putUsers(storage, rows)
      const emailKey = 'user2@example.org'
      assert.deepEqual(await requireFound(storage, rows, { emailKey }), idsOf([6, 7, 8]))
      assert.deepEqual(await requireFound(storage, rows, { emailKey, tenant: 'beta' }), idsOf([7]))
      for (const near of ['user2@example', 'User2@Example.org', '%', 'user_@example.org', '', 'a\0', 'x\ud800']) {
        assert.deepEqual(await requireFound(storage, rows, { emailKey: near }), [], JSON.stringify(near))
      }
      for (const order of ORDERS) {
        for (const from of [{ offset: 1 }, ...[5, 6, 7, 8, 9].map((n) => ({ after: idOf('usr', n) }))]) {
          await requirePage(storage, rows, { emailKey }, { order, limit: 5, from })
        }
      }
    },

    'users.list: e-mail keys that are asked for at the same time are not mixed up': async (storage) => {
      const rows = upTo(12).map(sampleOf)
      await putUsers(storage, rows)
      await Promise.all([1, 2, 3].flatMap((n) => [{}, { tenant: 'acme' }, { tenant: 'beta' }, { tenant: 'none' }]
        .map((belongs) => requirePage(storage, rows, { emailKey: `user${n}@example.org`, ...belongs }, {
          order: 'asc', limit: 5, from: { offset: 0 }
        }))))
    },

    'users.list, users.walk: keys are compared byte by byte, and folded in no way': async (storage) => {
      const long = ['x'.repeat(50), 'x'.repeat(100), 'x'.repeat(253)].flatMap((start) => [`${start}a`, `${start}b`])
      const domains = ['a.b@x.org', 'ab@x.org', 'a+b@x.org', 'a@x.org', 'a@x.org.', 'a@googlemail.com', 'a@gmail.com']
      const keys = [...LOOKALIKES, ...long, ...domains]
      // The address says nothing of its key: a store does not make keys.
      const rows = keys.map((emailKey, n) => rowOf(userOf(n, { email: 'X@Y.org', tenant: 'acme' }), { emailKey }))
      await putUsers(storage, rows)
      for (const [n, emailKey] of keys.entries()) {
        const { items, total } = await storage.users.list({ ...everyone, emailKey, tenant: 'acme' }, firstPage(400))
        assert.deepEqual([items.map(({ id }) => id), total], [[idOf('usr', n)], 1], JSON.stringify(emailKey))
      }
      const emailKeys = [keys[3] ?? '', keys[40] ?? '', keys[41] ?? '', 'x@y.org']
      assert.deepEqual(await requireFound(storage, rows, { emailKeys }), idsOf([3, 40, 41]))
      assert.deepEqual(await requireFound(storage, rows, { emailKeys, ids: idsOf([40, 50]) }), idsOf([40]))
      await changeAt(storage, rows, 0, {}, { emailKey: 'other' })
      await requireFound(storage, rows, { emailKey: keys[0] ?? '' })
    },

    'users.list, users.walk: a field has the same value of the same type': async (storage) => {
      const found = await withFields(
        storage, { plan: 'pro', seats: 1, active: true }, { plan: 'free', seats: 1 },
        { plan: 'pro', seats: 10, active: false }, { plan: 'Pro' }, {}, { plan: null },
        { plan: 'pro', seats: '1', active: 'true' }, { seats: 1.5 }, { plan: ['pro'] }, { plan: { plan: 'pro' } },
        { Plan: 'pro' }, { seats: 0, plan: '' }
      )
      const by = (fields: UserFilter['fields']) => found({ fields })
      assert.deepEqual(await by({ plan: 'pro' }), idsOf([0, 2, 6]))
      assert.deepEqual(await by({ seats: 1 }), idsOf([0, 1]))
      assert.deepEqual(await by({ Plan: 'pro' }), idsOf([10]))
      for (const [fields, n] of [
        [{ seats: '1' }, 6], [{ seats: 1.5 }, 7], [{ active: true }, 0], [{ active: false }, 2], [{ seats: 0 }, 11],
        [{ plan: '' }, 11], [{ plan: 'pro', seats: 10 }, 2], [{ plan: 'pro', seats: 1, active: true }, 0]
      ] as const) assert.deepEqual(await by(fields), idsOf([n]), JSON.stringify(fields))
      for (const plan of ['null', 'p', 'pro ', 'pr%', 'pr_', '"pro"', "'", '[object Object]', 'a\0', 'x\ud800']) {
        assert.deepEqual(await by({ plan }), [], JSON.stringify(plan))
      }
    },

    'users.list: a field tells every two values apart': async (storage) => {
      const long = ['', 'a', 'b'].flatMap((end) =>
        [100, 253, 254, 255, 256, 257, 900, 5000].map((length) => 'x'.repeat(length) + end))
      const foxes = ['🦊'.repeat(300), `${'🦊'.repeat(300)}!`]
      const values: UserValue[] = [...new Set([
        ...LOOKALIKES, ...TEXTS, ...TEXTS.map((text) => `${text}\n"`), ...long, ...foxes, '', ' ',
        ...NUMBERS, ...NUMBERS.map(String), true, false
      ])]
      const rows = [...values, null, [], {}, [1], ['a'], { a: 1 }].map((value, n) =>
        rowOf(userOf(n, { fields: { value }, ...tenantOf(n) })))
      await putUsers(storage, [...rows, rowOf(userOf(rows.length))])
      for (const [n, value] of values.entries()) {
        const { items, total } = await storage.users.list({ ...everyone, fields: { value } }, firstPage(400))
        const message = `the value ${JSON.stringify(value).slice(0, 40)} (${typeof value})`
        assert.deepEqual([items.map(({ id }) => id), total], [[idOf('usr', n)], 1], message)
      }
      for (const value of ['zz', 2, 0.5, 'Null', 'object Object', 'e']) {
        await requirePage(storage, rows, { fields: { value } }, firstPage(9))
      }
    },

    'users.list, users.walk: every one of many conditions must hold': async (storage) => {
      const rows = fromBothEnds(60).map(sampleOf)
      await putUsers(storage, rows)
      for (const [i, one] of CONDITIONS.entries()) {
        await requireFound(storage, rows, one)
        for (const other of CONDITIONS.slice(i + 1)) {
          await requirePage(storage, rows, { ...one, ...other }, firstPage(99))
        }
      }
      const all = Object.assign({}, ...CONDITIONS.toReversed())
      await requireFound(storage, rows, { ...all, tenant: 'beta', emailKey: null, status: 'active' })
      for (const order of ORDERS) {
        const from = { offset: 1 }
        for (const one of CONDITIONS) {
          await requirePage(storage, rows, one, { order, limit: 3, from, sort: { field: 'seats' } })
        }
      }
    },

    'users.list, users.walk: filters find what users have now, not what they had': async (storage) => {
      const rows = upTo(6).map((n) => rowOf(userOf(n, { fields: { plan: 'pro' }, ...tenantOf(n) })))
      await putUsers(storage, rows)
      await changeAt(storage, rows, 0, { fields: { plan: 'free' } })
      await changeAt(storage, rows, 1, { fields: {} })
      await changeAt(storage, rows, 2, { fields: { plan: 'pro', other: 1 }, name: 'Zz' })
      await changeAt(storage, rows, 3, { status: 'suspended', updatedAt: timeOf(80) })
      await changeAt(storage, rows, 4, { email: 'new@example.org' }, { fieldWords: ['acme'] })
      await changeAt(storage, rows, 0, { fields: { plan: 'Pro' } })
      await dropAt(storage, rows, 5)
      for (const filter of [
        { fields: { plan: 'pro' } }, { fields: { plan: 'free' } }, { fields: { plan: 'Pro' } }, having('zz'),
        having('user', '3'), having('acme'), having('new'), { status: 'active' }, { status: 'suspended' },
        { emailKey: 'new@example.org' }, { emailKey: 'user5@example.org' }, { emailKey: 'user6@example.org' },
        { exists: { plan: false } }, { anyOf: { plan: ['free', 'Pro'] } }, { tenant: 'acme' },
        { ranges: [{ of: 'updatedAt', gte: timeOf(80) }] }, { ids: idsOf([5, 6]) }
      ] as const) await requireFound(storage, rows, filter)
    },

    'users.list, users.walk: moments are bounded on either side, with or without the bound itself': async (storage) => {
      const rows = upTo(6).map((n) => rowOf(userOf(n, { updatedAt: timeOf(n * 10), ...tenantOf(n) })))
      await putUsers(storage, rows)
      await changeAt(storage, rows, 0, { updatedAt: timeOf(45) })
      const by = (of: 'createdAt' | 'updatedAt', bounds: Bounds) =>
        requireFound(storage, rows, { ranges: [{ of, ...bounds }] })
      assert.deepEqual(await by('createdAt', { gte: timeOf(3) }), idsOf([3, 4, 5, 6]))
      assert.deepEqual(await by('createdAt', { gt: timeOf(3) }), idsOf([4, 5, 6]))
      assert.deepEqual(await by('createdAt', { lte: timeOf(3) }), idsOf([1, 2, 3]))
      assert.deepEqual(await by('createdAt', { lt: timeOf(3) }), idsOf([1, 2]))
      assert.deepEqual(await by('createdAt', { gt: timeOf(2), lt: timeOf(5) }), idsOf([3, 4]))
      assert.deepEqual(await by('createdAt', { gte: timeOf(4), lt: timeOf(4) }), [])
      assert.deepEqual(await by('updatedAt', { gte: timeOf(45), lte: timeOf(50) }), idsOf([1, 5]))
    },

    'users.list, users.walk: numbers and texts are bounded, each among its own type': async (storage) => {
      const found = await withFields(
        storage, { value: 10 }, { value: 9 }, { value: '10' }, { value: true }, { value: null }, {}, { value: [10] },
        { value: -2.5 }, { value: 1e300 }, { value: '2026-01-31' }, { value: '2026-02-01' }, { value: '' },
        { value: '\uffee' }, { value: '🦊' }, { value: `2026-02-01${'x'.repeat(400)}` }, { value: { a: 10 } },
        { value: 2 ** 53 - 2 }, { value: 2 ** 53 - 1 }
      )
      const by = (bounds: Bounds) => found({ ranges: [{ of: { field: 'value' }, ...bounds }] })
      for (const [bounds, numbers] of [
        [{ gte: 9, lt: 1e9 }, [0, 1]], [{ gt: 9 }, [0, 8, 16, 17]], [{ lt: 10 }, [1, 7]], [{ lte: 10 }, [0, 1, 7]],
        [{ gte: -3, lt: 9 }, [7]], [{ gte: -1e301, lte: 1e301 }, [0, 1, 7, 8, 16, 17]],
        [{ gt: 2 ** 53 - 2 }, [8, 17]], [{ gt: 10, lt: 2 ** 53 - 1 }, [16]],
        [{ gte: '2026-01-31', lt: '2026-02-01' }, [9]], [{ gt: '2026-01-31', lte: '2026-02-01' }, [10]],
        [{ gt: '2026-02-01' }, [12, 13, 14]], [{ gt: '\uffee' }, [13]], [{ lte: '2026-01-31' }, [2, 9, 11]]
      ] as const) assert.deepEqual(await by(bounds), idsOf(numbers), JSON.stringify(bounds))
    },

    'users.list, users.walk: one of several values matches, of the same type': async (storage) => {
      const long = 'x'.repeat(300)
      const found = await withFields(
        storage, { plan: 'pro' }, { plan: 'team' }, { plan: 'free' }, { plan: '1' }, { plan: 1 }, { plan: true },
        { plan: 'true' }, {}, { plan: null }, { plan: `${long}a` }, { plan: `${long}b` }
      )
      for (const [plan, numbers] of [
        [['team', 'pro'], [0, 1]], [['pro', 'pro', 'nobody', '\0'], [0]], [['1', 'true'], [3, 6]], [[1, true], [4, 5]],
        [[`${long}b`, 'x'], [10]], [[], []], [['null', '', 'pr', 'PRO'], []],
        [lastOf<UserValue>(100, 'pro', (n) => n % 2 === 0 ? n : `${n}`), [0, 3]]
      ] as const) assert.deepEqual(await found({ anyOf: { plan } }), idsOf(numbers), JSON.stringify(plan))
    },

    'users.list, users.walk: a user has a value of a field or has none': async (storage) => {
      const found = await withFields(
        storage, { value: 0 }, { value: '' }, { value: false }, { value: null }, {}, { value: [] }, { value: {} },
        { Value: 1 }
      )
      assert.deepEqual(await found({ exists: { value: true } }), idsOf([0, 1, 2]))
      assert.deepEqual(await found({ exists: { value: false } }), idsOf([3, 4, 5, 6, 7]))
      assert.deepEqual(await found({ exists: { value: false, plan: true } }), [])
    },

    'users.list, users.walk: ids and e-mail keys find their users, each once and ordered as ever': async (storage) => {
      const rows = upTo(6).map((n) => rowOf(userOf(n, tenantOf(n))))
      await putUsers(storage, rows)
      await dropAt(storage, rows, 3)
      const found = (filter: Partial<UserFilter>) => requireFound(storage, rows, filter)
      const keyOf = (n: number): string => keysOf(userOf(n)).emailKey
      assert.deepEqual(await found({ ids: idsOf([5, 2, 4, 2, 99]) }), idsOf([2, 5]))
      assert.deepEqual(await found({ ids: ['nobody', '\0', 'x\ud800', idOf('key', 1)] }), [])
      assert.deepEqual(await found({ ids: [] }), [])
      assert.deepEqual(await found({ ids: idsOf(upTo(100).toReversed()) }), idsOf([1, 2, 3, 5, 6]))
      assert.deepEqual(await found({ emailKeys: [5, 2, 4, 2, 99].map(keyOf) }), idsOf([2, 5]))
      assert.deepEqual(await found({ emailKeys: lastOf(100, keyOf(2), (n) => `nobody ${n}`) }), idsOf([2]))
      assert.deepEqual(await found({ emailKeys: [keyOf(2), keyOf(3)], ids: idsOf([3, 5]) }), idsOf([3]))
      assert.deepEqual(await found({ emailKeys: ['nobody', '\0', keyOf(2).toUpperCase()] }), [])
      assert.deepEqual(await found({ emailKeys: [] }), [])
      await requirePage(storage, rows, { ids: idsOf([6, 1, 3]) }, {
        order: 'desc', limit: 2, from: { after: idOf('usr', 6) }
      })
    },

    ...drawnCases
  }
}
