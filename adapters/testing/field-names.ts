import assert from 'node:assert/strict'
import type { KitStorage } from './kit-storage.ts'
import { awaitedLater } from './awaited-later.ts'
import type { Cases } from './cases.ts'
import { firstPage, having } from './list-values.ts'
import { anyVersion, apiKeyOf, everyone, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

/** Names that are words of SQL, members of every object or of a user, or alike in their beginning or but for case. */
const NAMES = [
  'select', 'order', 'group', 'user', 'index', 'constructor', 'toString', 'hasOwnProperty', 'name', 'email', 'id',
  'version', 'fields', 'createdAt', 'length', '_x', '_', 'a', 'A', 'x1', 'X1', 'camelCase', 'camelcase', 'snake_case',
  'value', 'key',
  `${'n'.repeat(62)}a`, `${'n'.repeat(62)}b`, `${'n'.repeat(40)}a`, `${'n'.repeat(40)}b`, 'type', 'total'
]

async function idsBy (storage: KitStorage, fields: Readonly<Record<string, string | number | boolean>>) {
  const { items, total } = await storage.listUsers({ ...everyone, fields }, firstPage(100))
  return { ids: items.map(({ id }) => id), total }
}

const found = (...numbers: number[]) => ({ ids: numbers.map((n) => idOf('usr', n)), total: numbers.length })

async function add (storage: KitStorage, n: number, fields: ReturnType<typeof userOf>['fields']): Promise<void> {
  const user = userOf(n, { fields })
  await storage.createUser(user, keysOf(user), null)
}

const codeOf = (error: unknown): string => String(Object(error).code ?? error)

/** Duties of the requirements of `migrate` and `check`. */
export const fieldNameCases: Cases = {
  'migrate, listUsers with fields: a field may have any name, and each is told from the others': async (storage) => {
    // Some users are there before, and some names are given twice.
    await add(storage, 0, Object.fromEntries(NAMES.map((name, i) => [name, i])))
    await storage.migrate({ filterable: [...NAMES, ...NAMES.slice(0, 3)] })
    await storage.check({ filterable: NAMES.toReversed() })
    await add(storage, 1, Object.fromEntries(NAMES.map((name, i) => [name, i + 1])))
    await add(storage, 2, {})
    for (const [i, name] of NAMES.entries()) {
      assert.deepEqual(await idsBy(storage, { [name]: i }), found(0), name)
      assert.deepEqual(await idsBy(storage, { [name]: i + 1 }), found(1), name)
      assert.deepEqual(await idsBy(storage, { [name]: 'User 1' }), found(), name)
    }
  },

  'listUsers with fields: every one of many fields must match': async (storage) => {
    const names = ['plan', 'seats', 'active', 'text', 'value', 'Plan']
    await storage.migrate({ filterable: names })
    const all = Object.fromEntries(names.map((name, i) => [name, i]))
    await add(storage, 0, all)
    for (const [i, name] of names.entries()) await add(storage, i + 1, { ...all, [name]: 99 })
    assert.deepEqual(await idsBy(storage, all), found(0))
    for (const [i, name] of names.entries()) {
      assert.deepEqual(await idsBy(storage, { ...all, [name]: 99 }), found(i + 1))
    }
  },

  'migrate, check: what earlier calls required stays, in any order and amount': async (storage) => {
    await add(storage, 0, { plan: 'pro', seats: 3, active: false })
    await storage.migrate({ filterable: ['plan'] })
    await storage.migrate({ filterable: ['seats'] })
    await Promise.all([storage.migrate({ filterable: ['active'] }), storage.migrate({ filterable: ['text'] })])
    await storage.migrate()
    await storage.migrate({})
    await storage.migrate({ filterable: [] })
    for (const filterable of [['plan', 'seats', 'active', 'text'], ['text', 'plan'], ['seats'], []]) {
      await storage.check({ filterable })
    }
    await storage.check({})
    await add(storage, 1, { plan: 'pro', seats: '3', active: true })
    assert.deepEqual(await idsBy(storage, { plan: 'pro' }), found(0, 1))
    assert.deepEqual(await idsBy(storage, { seats: 3 }), found(0), 'values of users from before keep their type')
    assert.deepEqual(await idsBy(storage, { active: false }), found(0))
  },

  'migrate, listUsers with fields: what is written while migrate runs is found': async (storage) => {
    const plans = ['free', 'pro', 'team']
    for (let n = 0; n < 60; n++) await add(storage, n, { plan: plans[n % 3] ?? '' })
    const ready = awaitedLater(storage.migrate({ filterable: ['plan'] }))
    const writes = Array.from({ length: 60 }, async (_, n) => {
      const id = idOf('usr', n)
      for (let turns = 0; turns < n % 7; turns++) await new Promise((resolve) => setImmediate(resolve))
      switch (n % 5) {
        case 0: return storage.updateUser(id, rename('Renamed'), timeOf(1), anyVersion)
        case 1: return storage.updateUser(id, { fields: { plan: 'moved' } }, timeOf(1), anyVersion)
        case 2: return storage.updateUser(id, { fields: {} }, timeOf(1), anyVersion)
        case 3: return storage.deleteUser(id, anyVersion)
        default: return add(storage, 100 + n, { plan: 'new' })
      }
    })
    await awaitedLater(Promise.all(writes))
    await ready
    const { items } = await storage.listUsers(everyone, firstPage(100))
    for (const plan of [...plans, 'moved', 'new']) {
      const numbers = items.filter(({ fields }) => fields['plan'] === plan).map(({ id }) => id)
      assert.deepEqual(await idsBy(storage, { plan }), { ids: numbers, total: numbers.length }, plan)
    }
    assert.equal(items.filter(({ name }) => name === 'Renamed').length, 12)
    assert.equal(items.length, 60)
  },

  'check: a field that migrate has not prepared is refused wherever it stands, or nowhere': async (storage) => {
    const verdict = async (...filterable: string[]) => storage.check({ filterable }).then(() => 'accepted', codeOf)
    const missing = await verdict('never')
    assert.ok(['accepted', 'schema_behind'].includes(missing), missing)
    await storage.migrate({ filterable: ['plan', 'seats'] })
    for (const names of [['never'], ['plan', 'never'], ['never', 'seats'], ['plan', 'seats', 'never']]) {
      assert.equal(await verdict(...names), missing, names.join(', '))
    }
    assert.equal(await verdict('seats', 'plan'), 'accepted')
  },

  'migrate: keeps every record, with what it is found by': async (storage) => {
    const [user, other] = [userOf(1, { fields: { plan: 'pro' } }), userOf(2)]
    const times = { now: timeOf(0), expiresAt: timeOf(1000) }
    const idempotency = { key: 'k'.repeat(43), fingerprint: 'f'.repeat(43), ...times, note: null }
    await storage.createUser(user, keysOf(user), idempotency)
    await storage.updateUser(user.id, rename('Later'), timeOf(5), anyVersion)
    const keys = [apiKeyOf(1), apiKeyOf(2, { revokedAt: timeOf(9) }), apiKeyOf(3, { expiresAt: timeOf(9) })]
    for (const key of keys) await storage.createApiKey(key, { onlyFirst: false })
    await storage.migrate({ filterable: ['plan'] })
    await Promise.all([storage.migrate(), storage.migrate({ filterable: ['plan', 'seats'] })])
    assert.deepEqual(await storage.createUser(other, keysOf(other), idempotency), { user, replayed: true })
    const later = { ...user, name: 'Later', version: 2, updatedAt: timeOf(5) }
    for (const filter of [everyone, having('lat'), { ...everyone, emailKey: 'user1@example.org' }]) {
      assert.deepEqual(await storage.listUsers(filter, firstPage(9)), { items: [later], total: 1 })
    }
    assert.deepEqual(await storage.listApiKeys(firstPage(9)), { items: keys, total: 3 })
    for (const key of keys) assert.deepEqual(await storage.findApiKey({ start: key.start }), key)
  }
}
