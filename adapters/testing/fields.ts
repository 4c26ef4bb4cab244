import assert from 'node:assert/strict'
import type { JsonObject, UserFilter } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import type { Cases } from './cases.ts'
import { having } from './list-values.ts'
import {
  addUsers, anyVersion, CONCURRENT_CALLS, concurrently, everyone, idOf, keysOf, TEXTS, timeOf, userOf
} from './values.ts'

/** Fields that a careless store changes: the order of members, numbers, null, empty and odd names. */
const ODD_FIELDS: JsonObject[] = [
  {},
  { zebra: 1, apple: { z: null, a: [], m: {} }, mango: [[1, [2, [3]]], { b: 1, a: 2 }] },
  {
    zero: 0,
    half: 0.5,
    tenth: 0.1,
    least: -9007199254740991,
    most: 9007199254740991,
    tiny: 5e-324,
    huge: 1.7976931348623157e308,
    third: 1 / 3
  },
  { yes: true, no: false, none: null, empty: '', text: 'null', digits: '007', list: [null, true, '1', 1] },
  { 'a.b': 1, "it's": 2, '"quoted"': 3, $: 4, '': 5, 'a/b~c\\': 6, ключ: 7, '🦊': 8 },
  { constructor: 1, toString: 2 },
  Object.fromEntries(TEXTS.map((text, i) => [`text${i}`, `${text}\n\t\u0001\u2028"\\`])),
  { deep: { a: { b: { c: { d: { e: { f: 'g' } } } } } }, long: 'x'.repeat(10_000) }
]

const by = (fields: UserFilter['fields'], rest: Partial<UserFilter> = {}): UserFilter => ({
  ...everyone,
  ...rest,
  fields
})

async function addWith (storage: KitStorage, ...each: JsonObject[]): Promise<void> {
  for (const [n, fields] of each.entries()) {
    const user = userOf(n, { fields })
    await storage.createUser(user, keysOf(user), null)
  }
}

async function found (
  storage: KitStorage,
  filter: UserFilter,
  order: 'asc' | 'desc' = 'asc',
  limit = 50,
  offset = 0
): Promise<{ ids: string[]; total: number }> {
  const { items, total } = await storage.listUsers(filter, { order, limit, from: { offset } })
  return { ids: items.map(({ id }) => id), total }
}

const ids = (...numbers: number[]): string[] => numbers.map((n) => idOf('usr', n))

/** Duties about the host's own fields: they come back as they were, and lists are narrowed by them. */
export const fieldCases: Cases = {
  'create with fields: every method returns the fields as they were given, members in order': async (storage) => {
    for (const [n, fields] of ODD_FIELDS.entries()) {
      const user = userOf(n, { fields })
      const { user: created } = await storage.createUser(user, keysOf(user), null)
      assert.equal(JSON.stringify(created.fields), JSON.stringify(fields))
      assert.equal(JSON.stringify((await storage.findUser(user.id))?.fields), JSON.stringify(fields))
    }
    for (const filter of [everyone, having('user')]) {
      const { items } = await storage.listUsers(filter, { order: 'asc', limit: 50, from: { offset: 0 } })
      assert.deepEqual(
        items.map(({ fields }) => JSON.stringify(fields)),
        ODD_FIELDS.map((fields) => JSON.stringify(fields))
      )
    }
    for (const [n, fields] of ODD_FIELDS.entries()) {
      assert.equal(
        JSON.stringify((await storage.deleteUser(idOf('usr', n), anyVersion))?.fields),
        JSON.stringify(fields)
      )
    }
  },

  'create with fields: stored fields share no objects with the caller': async (storage) => {
    const fields = { list: [1], inner: { a: 1 } }
    const user = userOf(1, { fields })
    const { user: created } = await storage.createUser(user, keysOf(user), null)
    fields.list.push(2)
    Object.assign(Object(created.fields['inner']), { a: 2 })
    const found = await storage.findUser(user.id)
    assert.deepEqual(found?.fields, { list: [1], inner: { a: 1 } })
    Object.assign(Object(found?.fields['inner']), { a: 3 })
    assert.deepEqual((await storage.findUser(user.id))?.fields, { list: [1], inner: { a: 1 } })
  },

  'update with fields: all fields are replaced, and another order of members is a change': async (storage) => {
    await addUsers(storage, 1)
    const set = async (fields: JsonObject) => {
      const result = await storage.updateUser(idOf('usr', 1), { fields }, timeOf(9), anyVersion)
      return { text: JSON.stringify(result?.user.fields), version: result?.user.version, changed: result?.changed }
    }
    assert.deepEqual(await set({ a: 1, b: { c: 2 } }), { text: '{"a":1,"b":{"c":2}}', version: 2, changed: true })
    assert.deepEqual(await set({ a: 1, b: { c: 2 } }), { text: '{"a":1,"b":{"c":2}}', version: 2, changed: false })
    assert.deepEqual(await set({ b: { c: 2 }, a: 1 }), { text: '{"b":{"c":2},"a":1}', version: 3, changed: true })
    assert.deepEqual(await set({}), { text: '{}', version: 4, changed: true })
    const renamed = await storage.updateUser(
      idOf('usr', 1),
      { name: { value: 'New', key: 'new' }, fields: { a: 1 } },
      timeOf(9),
      anyVersion
    )
    assert.deepEqual(renamed?.user, {
      ...userOf(1),
      name: 'New',
      fields: { a: 1 },
      version: 5,
      updatedAt: timeOf(9)
    })
    const kept = await storage.updateUser(
      idOf('usr', 1),
      { name: { value: 'Newer', key: 'newer' } },
      timeOf(9),
      anyVersion
    )
    assert.deepEqual(kept?.user.fields, { a: 1 }, 'an update without fields leaves them as they are')
  },

  'update with fields: of many concurrent calls with one version, exactly one succeeds': async (storage) => {
    await addUsers(storage, 1)
    const { values, codes } = await concurrently((i) =>
      storage.updateUser(idOf('usr', 1), { fields: { winner: i } }, timeOf(9), {
        ifVersion: [1],
        unlessVersion: []
      })
    )
    assert.equal(values.length, 1)
    assert.deepEqual(
      codes,
      Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'version_mismatch')
    )
    assert.deepEqual((await storage.findUser(idOf('usr', 1)))?.fields, values[0]?.user.fields)
  },

  'create with fields: a repetition returns the fields of the first creation': async (storage) => {
    const user = userOf(1, { fields: { plan: 'pro' } })
    const times = { now: timeOf(1), expiresAt: timeOf(99) }
    const idempotency = { key: 'k'.repeat(43), fingerprint: 'f'.repeat(43), ...times, note: null }
    await storage.createUser(user, keysOf(user), idempotency)
    await storage.updateUser(user.id, { fields: { plan: 'free' } }, timeOf(9), anyVersion)
    const again = userOf(2, { fields: { plan: 'pro' } })
    assert.deepEqual(await storage.createUser(again, keysOf(again), idempotency), { user, replayed: true })
  },

  'listUsers with fields: the same value of the same type matches, with the exact total': async (storage) => {
    await storage.migrate({ filterable: ['plan', 'seats', 'active'] })
    await storage.check({ filterable: ['plan', 'seats', 'active'] })
    await addWith(
      storage,
      { plan: 'pro', seats: 1, active: true },
      { plan: 'free', seats: 1 },
      { plan: 'pro', seats: 10, active: false },
      { plan: 'Pro' },
      {},
      { plan: null },
      { plan: 'pro', seats: '1', active: 'true' },
      { seats: 1.5 },
      { plan: ['pro'] },
      { plan: { plan: 'pro' } }
    )
    assert.deepEqual(await found(storage, by({ plan: 'pro' })), { ids: ids(0, 2, 6), total: 3 })
    assert.deepEqual(await found(storage, by({ plan: 'pro' }), 'desc', 2), { ids: ids(6, 2), total: 3 })
    assert.deepEqual(await found(storage, by({ plan: 'pro' }), 'asc', 2, 2), { ids: ids(6), total: 3 })
    assert.deepEqual(await found(storage, by({ seats: 1 })), { ids: ids(0, 1), total: 2 }, 'a number is no text')
    assert.deepEqual(await found(storage, by({ seats: 1.5 })), { ids: ids(7), total: 1 })
    assert.deepEqual(await found(storage, by({ active: true })), { ids: ids(0), total: 1 })
    assert.deepEqual(await found(storage, by({ active: false })), { ids: ids(2), total: 1 })
    for (const plan of ['', 'null', 'p', 'pro ', 'pr%', 'pr_', '"pro"', "'", '[object Object]']) {
      assert.deepEqual(await found(storage, by({ plan })), { ids: [], total: 0 }, plan)
    }
  },

  'listUsers with fields: every part of a filter must match': async (storage) => {
    await storage.migrate({ filterable: ['plan', 'seats'] })
    await addWith(storage, { plan: 'pro', seats: 1 }, { plan: 'pro', seats: 2 }, { plan: 'free', seats: 1 })
    assert.deepEqual(await found(storage, by({ plan: 'pro', seats: 1 })), { ids: ids(0), total: 1 })
    assert.deepEqual(await found(storage, by({ plan: 'pro' }, having('user'))), { ids: ids(0, 1), total: 2 })
    assert.deepEqual(await found(storage, by({ plan: 'pro' }, having('user', '1'))), { ids: ids(1), total: 1 })
    assert.deepEqual(await found(storage, by({ plan: 'pro' }, { emailKey: 'user1@example.org' })), {
      ids: ids(1),
      total: 1
    })
    assert.deepEqual(await found(storage, by({ plan: 'pro' }, { emailKey: 'user2@example.org' })), {
      ids: [],
      total: 0
    })
    const { items, total } = await storage.listUsers(by({ plan: 'pro' }), {
      order: 'asc',
      limit: 5,
      from: { after: idOf('usr', 0) }
    })
    assert.deepEqual({ ids: items.map(({ id }) => id), total }, { ids: ids(1), total: 2 })
  },

  'listUsers with fields: a filter matches the current fields after updates and deletions': async (storage) => {
    await storage.migrate({ filterable: ['plan'] })
    await addWith(storage, { plan: 'pro' }, { plan: 'pro' }, {})
    await storage.updateUser(idOf('usr', 0), { fields: { plan: 'free' } }, timeOf(9), anyVersion)
    await storage.updateUser(idOf('usr', 2), { fields: { plan: 'pro', other: 1 } }, timeOf(9), anyVersion)
    await storage.updateUser(idOf('usr', 2), { name: { value: 'Zz', key: 'zz' } }, timeOf(9), anyVersion)
    assert.deepEqual(await found(storage, by({ plan: 'pro' })), { ids: ids(1, 2), total: 2 })
    assert.deepEqual(await found(storage, by({ plan: 'free' })), { ids: ids(0), total: 1 })
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    await storage.updateUser(idOf('usr', 2), { fields: {} }, timeOf(9), anyVersion)
    assert.deepEqual(await found(storage, by({ plan: 'pro' })), { ids: [], total: 0 })
  },

  'migrate, listUsers with fields: users from before a field was filterable are found': async (storage) => {
    await addWith(storage, { plan: 'pro', Plan: 'free' }, { plan: 'free', Plan: 'pro' })
    await Promise.all([
      storage.migrate({ filterable: ['plan'] }),
      storage.migrate({ filterable: ['plan', 'Plan'] })
    ])
    await storage.migrate({ filterable: ['plan', 'Plan'] })
    await storage.check({ filterable: ['plan', 'Plan'] })
    await storage.migrate()
    assert.deepEqual(await found(storage, by({ plan: 'pro' })), { ids: ids(0), total: 1 })
    assert.deepEqual(
      await found(storage, by({ Plan: 'pro' })),
      { ids: ids(1), total: 1 },
      'the case of a name counts'
    )
  },

  'listUsers with fields: texts of any length are compared by every character': async (storage) => {
    await storage.migrate({ filterable: ['text'] })
    const long = ['', 'a', 'b'].flatMap((end) =>
      [100, 253, 254, 255, 256, 257, 900, 5000].map((length) => 'x'.repeat(length) + end)
    )
    const texts = [
      ...new Set([
        ...long,
        ...TEXTS,
        ...TEXTS.map((text) => `${text}\n"`),
        '🦊'.repeat(300),
        `${'🦊'.repeat(300)}!`
      ])
    ]
    await addWith(storage, ...texts.map((text) => ({ text })))
    for (const [n, text] of texts.entries()) {
      assert.deepEqual(await found(storage, by({ text })), { ids: ids(n), total: 1 }, text.slice(0, 20))
    }
  }
}
