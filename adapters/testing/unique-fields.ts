import assert from 'node:assert/strict'
import { isStorageError } from '../../lib/storage/storage-error.ts'
import type { JsonObject, UserRecord } from '../../lib/storage/storage.ts'
import type { KitStorage } from './kit-storage.ts'
import type { Cases } from './cases.ts'
import {
  anyVersion, concurrently, count, CONCURRENT_CALLS, everyone, idempotencyOf, idOf, keysOf, rename, timeOf, userOf
} from './values.ts'

/** The unique fields of the duties. */
export const UNIQUE_FIELDS: readonly string[] = ['legacyId', 'badge']

const UNIQUE = { unique: ['legacyId'] }

function create (storage: KitStorage, n: number, fields: JsonObject, members: Partial<UserRecord> = {}) {
  const user = userOf(n, { ...members, fields })
  return storage.createUser(user, keysOf(user), null)
}

function change (storage: KitStorage, n: number, fields: JsonObject) {
  return storage.updateUser(idOf('usr', n), { fields }, timeOf(900), anyVersion)
}

/** Requires that a call is refused, because somebody has the value of this field. */
async function requireTaken (call: Promise<unknown>, field = 'legacyId'): Promise<void> {
  const refusal = await call.then(() => null, (error: unknown) => error)
  assert.ok(isStorageError(refusal), 'a value that another user has is refused')
  assert.deepEqual({ code: refusal.code, field: refusal.field }, { code: 'field_taken', field })
}

async function holdersOf (storage: KitStorage, value: string | number, field = 'legacyId'): Promise<string[]> {
  const filter = { ...everyone, fields: { [field]: value } }
  const { items, total } = await storage.listUsers(filter, { order: 'asc', limit: 50, from: { offset: 0 } })
  assert.equal(total, items.length)
  return items.map(({ id }) => id)
}

/** Duties about fields whose value at most one user has. */
export const uniqueFieldCases: Cases = {
  'create with unique fields: a value of another user is refused as field_taken': async (storage) => {
    await storage.migrate({ unique: UNIQUE_FIELDS })
    await create(storage, 1, { legacyId: 'A7', badge: 1 })
    await requireTaken(create(storage, 2, { legacyId: 'A7', badge: 2 }))
    await requireTaken(create(storage, 3, { legacyId: 'A8', badge: 1 }), 'badge')
    assert.equal(await count(storage), 1)
    await create(storage, 2, { legacyId: 'A8', badge: 2 })
    assert.deepEqual(await holdersOf(storage, 'A8'), [idOf('usr', 2)])
    assert.deepEqual(await holdersOf(storage, 1, 'badge'), [idOf('usr', 1)])
  },

  'create with unique fields: users without the field, with null, or with a near value are no conflict':
    async (storage) => {
      await storage.migrate(UNIQUE)
      const near = [
        '7', 7, '07', '7 ', 'a7', 'A7', 'null', '', 'ａ7', 70, 7.5, -7, '\u{10ffff}', 'x"\\\n', 'é', 'e\u0301'
      ]
      const fields: JsonObject[] = [
        {}, {}, { legacyId: null }, { legacyId: null }, { other: 'A7' }, { other: 'A7' },
        ...near.map((legacyId) => ({ legacyId })),
        ...['x', 'y'].map((end) => ({ legacyId: 'x'.repeat(252) + end }))
      ]
      for (const [n, each] of fields.entries()) await create(storage, n, each)
      assert.equal(await count(storage), fields.length)
      for (const legacyId of [...near, `${'x'.repeat(252)}x`]) await requireTaken(create(storage, 99, { legacyId }))
    },

  'create, update with unique fields: each field has values of its own': async (storage) => {
    await storage.migrate({ unique: UNIQUE_FIELDS })
    await create(storage, 1, { legacyId: 7, badge: 7 })
    await create(storage, 2, { legacyId: 8 })
    await create(storage, 3, { badge: 8 })
    await create(storage, 4, {})
    assert.equal((await change(storage, 4, { legacyId: 'A7', badge: 'A7' }))?.changed, true)
    await requireTaken(create(storage, 5, { legacyId: 7 }))
    await requireTaken(create(storage, 5, { badge: 8, legacyId: 9 }), 'badge')
    await requireTaken(change(storage, 3, { badge: 'A7' }), 'badge')
    await storage.deleteUser(idOf('usr', 2), anyVersion)
    await requireTaken(create(storage, 5, { badge: 8 }), 'badge')
    await create(storage, 5, { legacyId: 8 })
  },

  'update with unique fields: a value of another user is refused and changes nothing': async (storage) => {
    await storage.migrate(UNIQUE)
    await create(storage, 1, { legacyId: 'A7' })
    const { user } = await create(storage, 2, { legacyId: 'A8' })
    await requireTaken(change(storage, 2, { legacyId: 'A7' }))
    await requireTaken(
      storage.updateUser(user.id, { ...rename('New'), fields: { legacyId: 'A7' } }, timeOf(900), anyVersion)
    )
    assert.deepEqual(await storage.findUser(user.id), user)
    assert.equal((await change(storage, 1, { legacyId: 'A7', plan: 'pro' }))?.changed, true, 'its own value is kept')
    assert.deepEqual(await holdersOf(storage, 'A7'), [idOf('usr', 1)])
  },

  'update, delete with unique fields: a value that was given up is free immediately': async (storage) => {
    await storage.migrate(UNIQUE)
    for (const n of [1, 2, 3]) await create(storage, n, { legacyId: n })
    await change(storage, 1, { legacyId: 10 })
    await change(storage, 2, { legacyId: 1 })
    await change(storage, 3, {})
    await change(storage, 1, { legacyId: 3 })
    await storage.deleteUser(idOf('usr', 1), anyVersion)
    await create(storage, 4, { legacyId: 3 })
    await create(storage, 5, { legacyId: 2 })
    await requireTaken(create(storage, 6, { legacyId: 1 }))
    assert.deepEqual(await holdersOf(storage, 3), [idOf('usr', 4)])
  },

  'create with unique fields: of many concurrent calls with one value, one succeeds': async (storage) => {
    await storage.migrate(UNIQUE)
    const { values, codes } = await concurrently((i) => create(storage, i, { legacyId: 'A7' }))
    assert.equal(values.length, 1)
    assert.deepEqual(codes, Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'field_taken'))
    assert.deepEqual(await holdersOf(storage, 'A7'), values.map(({ user }) => user.id))
    assert.equal(await count(storage), 1)
  },

  'update with unique fields: of many concurrent calls with one value, one succeeds and no other is harmed':
    async (storage) => {
      await storage.migrate(UNIQUE)
      for (let n = 0; n < CONCURRENT_CALLS; n++) await create(storage, n, { legacyId: n })
      const bystanders = Array.from({ length: CONCURRENT_CALLS }, (_, i) => 100 + i)
      for (const n of bystanders) await create(storage, n, { legacyId: n })
      const [{ values, codes }] = await Promise.all([
        concurrently((i) => change(storage, i, { legacyId: 'A7' })),
        ...bystanders.map((n) => change(storage, n, { legacyId: 1000 + n }))
      ])
      assert.equal(values.length, 1)
      assert.deepEqual(codes, Array.from({ length: CONCURRENT_CALLS - 1 }, () => 'field_taken'))
      assert.deepEqual(await holdersOf(storage, 'A7'), values.map((value) => value?.user.id))
      for (const n of bystanders) assert.deepEqual(await holdersOf(storage, 1000 + n), [idOf('usr', n)])
    },

  'create with unique fields: a refused creation leaves no idempotency key behind': async (storage) => {
    await storage.migrate(UNIQUE)
    await create(storage, 1, { legacyId: 'A7' })
    const refused = userOf(2, { fields: { legacyId: 'A7' } })
    await requireTaken(storage.createUser(refused, keysOf(refused), idempotencyOf(1)))
    const other = userOf(3, { fields: { legacyId: 'A8' } })
    assert.deepEqual(await storage.createUser(other, keysOf(other), idempotencyOf(1)), { user: other, replayed: false })
    const again = userOf(4, { fields: { legacyId: 'A8' } })
    assert.deepEqual(await storage.createUser(again, keysOf(again), idempotencyOf(1)), { user: other, replayed: true })
  }
}

/** Duties about making a field unique. */
export const uniqueSchemaCases: Cases = {
  'migrate with unique fields: refuses a field while users share a value, and accepts it once they differ': async (
    storage
  ) => {
    await create(storage, 1, { legacyId: 'A7' })
    await create(storage, 2, { legacyId: 'A7' })
    await requireTaken(storage.migrate(UNIQUE))
    await assert.rejects(storage.check(UNIQUE), { code: 'schema_behind' })
    await create(storage, 3, { legacyId: 'A7' })
    await change(storage, 2, { legacyId: 'A8' })
    await storage.deleteUser(idOf('usr', 3), anyVersion)
    await Promise.all([storage.migrate(UNIQUE), storage.migrate({ filterable: ['legacyId'], ...UNIQUE })])
    await storage.check(UNIQUE)
    await requireTaken(create(storage, 4, { legacyId: 'A8' }))
  },

  'migrate with unique fields: what an earlier call required stays, and a filterable field can become unique':
    async (storage) => {
      await storage.migrate({ filterable: ['legacyId'] })
      await storage.migrate(UNIQUE)
      await storage.migrate({ unique: ['badge'] })
      await storage.migrate({ filterable: ['plan'] })
      await storage.check({ filterable: ['plan'], unique: ['legacyId', 'badge'] })
      await create(storage, 1, { legacyId: 'A7', badge: 1 })
      await requireTaken(create(storage, 2, { legacyId: 'A7' }))
      await requireTaken(create(storage, 3, { badge: 1 }), 'badge')
    },

  'check with unique fields: it accepts only what is kept unique': async (storage) => {
    const refusal = await storage.check(UNIQUE).then(() => null, (error: unknown) => Object(error).code)
    if (refusal !== null) assert.equal(refusal, 'schema_behind')
    await create(storage, 1, { legacyId: 'A7' })
    if (refusal === null) await requireTaken(create(storage, 2, { legacyId: 'A7' }))
  }
}
