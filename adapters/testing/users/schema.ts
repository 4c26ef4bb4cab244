import assert from 'node:assert/strict'
import { isStorageError } from '../../../lib/storage/storage-error.ts'
import type { JsonObject, Storage } from '../../../lib/storage/storage.ts'
import { awaitedLater, turn } from './beside.ts'
import { firstPage, having, idsOf } from '../list-values.ts'
import { everyone, idOf, keysOf, timeOf, userOf } from '../values.ts'
import { idsIn, requireFound, requirePage } from './compare.ts'
import { changeAt, changeUser, dropUsers, outcomeOf, putUsers, rowOf, type UserRow } from './put.ts'
import { sampleOf, tenantOf } from './samples.ts'

/** Names that are words of SQL, members of every object or of a user, or alike in their beginning or but for case. */
const NAMES = [
  'select', 'order', 'group', 'user', 'index', 'constructor', 'toString', 'hasOwnProperty', 'name', 'email', 'id',
  'version', 'fields', 'createdAt', 'length', '_x', '_', 'a', 'A', 'x1', 'X1', 'camelCase', 'camelcase', 'snake_case',
  'value', 'key',
  `${'n'.repeat(62)}a`, `${'n'.repeat(62)}b`, `${'n'.repeat(40)}a`, `${'n'.repeat(40)}b`, 'type', 'total', 'tenant'
]

const UNIQUE = { unique: ['legacyId'] }

/** What a field of this name is searched by: its words, as they are. */
const searchable = (name: string) => ({
  key: name, wordsOf: (fields: JsonObject) => String(fields[name] ?? '').split(' ').filter((word) => word !== '')
})

const codeOf = (error: unknown): unknown => isStorageError(error) ? error.code : error

/** What opening for these needs ends with, without changing anything. */
const verdict = (storage: Storage, needs: { filterable?: string[], unique?: string[] }): Promise<unknown> =>
  storage.open(needs).then(() => 'accepted', codeOf)

const userWith = (n: number, fields: JsonObject): UserRow => rowOf(userOf(n, { fields, ...tenantOf(n) }))

async function requireTaken (storage: Storage, row: UserRow, field = 'legacyId'): Promise<void> {
  assert.deepEqual(await outcomeOf(storage, row), { code: 'taken', at: 0, member: { field } })
}

/** Duties of `open` about the fields of users. Each gets a way to make stores that were not opened yet. */
export const userSchemaCases: Record<string, (create: () => Promise<Storage>) => Promise<void>> = {
  'open, users.list: users from before a field was needed are found and ordered by it': async (create) => {
    const storage = await create()
    await storage.open({ migrate: true })
    const rows = [
      userWith(0, { plan: 'pro', Plan: 'free' }), userWith(1, { plan: 'free', Plan: 'pro' }), userWith(2, { plan: 7 }),
      userWith(3, {}), userWith(4, { plan: true })
    ]
    await putUsers(storage, rows)
    await Promise.all([
      storage.open({ migrate: true, filterable: ['plan'] }),
      storage.open({ migrate: true, filterable: ['plan', 'Plan'] })
    ])
    await storage.open({ migrate: true, filterable: ['plan', 'Plan'] })
    await storage.open({ filterable: ['plan', 'Plan'] })
    await storage.open({ migrate: true })
    assert.deepEqual(await requireFound(storage, rows, { fields: { plan: 'pro' } }), idsOf([0]))
    assert.deepEqual(await requireFound(storage, rows, { fields: { Plan: 'pro' } }), idsOf([1]), 'the case of a name')
    assert.deepEqual(await requireFound(storage, rows, { fields: { plan: 7 } }), idsOf([2]))
    assert.deepEqual(await requireFound(storage, rows, {}, { field: 'plan' }), idsOf([4, 2, 1, 0, 3]))
  },

  'open, users.list: a field may have any name, and each is told from the others': async (create) => {
    const storage = await create()
    await storage.open({ migrate: true })
    const valuesFrom = (first: number) => Object.fromEntries(NAMES.map((name, i) => [name, first + i]))
    // Some users are there before, and some names are given twice.
    await putUsers(storage, [userWith(0, valuesFrom(0))])
    await storage.open({ migrate: true, filterable: [...NAMES, ...NAMES.slice(0, 3)] })
    await storage.open({ filterable: NAMES.toReversed() })
    await putUsers(storage, [userWith(1, valuesFrom(1)), userWith(2, {})])
    const rows = [userWith(0, valuesFrom(0)), userWith(1, valuesFrom(1)), userWith(2, {})]
    for (const [i, name] of NAMES.entries()) {
      for (const value of [i, i + 1, 'User 1']) {
        await requirePage(storage, rows, { fields: { [name]: value } }, firstPage(9))
      }
      await requirePage(storage, rows, { exists: { [name]: true } }, { ...firstPage(9), sort: { field: name } })
    }
    await requirePage(storage, rows, { fields: valuesFrom(1) }, firstPage(9))
  },

  'open, users.list: what earlier calls required stays, in any order and amount': async (create) => {
    const storage = await create()
    await storage.open({ migrate: true, filterable: ['plan'] })
    const rows = [userWith(0, { plan: 'pro', seats: 3, active: false })]
    await putUsers(storage, rows)
    await storage.open({ migrate: true, filterable: ['seats'] })
    await Promise.all(['active', 'text'].map((name) => storage.open({ migrate: true, filterable: [name] })))
    for (const needs of [{}, { filterable: [] }]) await storage.open({ migrate: true, ...needs })
    for (const filterable of [['plan', 'seats', 'active', 'text'], ['text', 'plan'], ['seats'], []]) {
      await storage.open({ filterable })
    }
    rows.push(userWith(1, { plan: 'pro', seats: '3', active: true }))
    await putUsers(storage, rows.slice(1))
    for (const fields of [{ plan: 'pro' }, { seats: 3 }, { active: false }, { plan: 'pro', seats: '3' }]) {
      await requireFound(storage, rows, { fields })
    }
  },

  'open, users.list: what is written while it migrates is found': async (create) => {
    const storage = await create()
    await storage.open({ migrate: true })
    const plans = ['free', 'pro', 'team']
    const before = Array.from({ length: 60 }, (_, n) => userWith(n, { plan: plans[n % 3] ?? '' }))
    await putUsers(storage, before)
    const ready = awaitedLater(storage.open({ migrate: true, filterable: ['plan'] }))
    const after = await awaitedLater(Promise.all(before.map(async (row, n): Promise<UserRow[]> => {
      for (let turns = 0; turns < n % 7; turns++) await turn()
      const at = { updatedAt: timeOf(900) }
      switch (n % 5) {
        case 0: return [await changeUser(storage, row, { name: 'Renamed', ...at })]
        case 1: return [await changeUser(storage, row, { fields: { plan: 'moved' }, ...at })]
        case 2: return [await changeUser(storage, row, { fields: {}, ...at })]
        case 3:
          await dropUsers(storage, [row])
          return []
        default: {
          const added = userWith(100 + n, { plan: 'new' })
          await putUsers(storage, [added])
          return [row, added]
        }
      }
    })))
    await ready
    for (const plan of [...plans, 'moved', 'new']) await requireFound(storage, after.flat(), { fields: { plan } })
    await requireFound(storage, after.flat())
  },

  'open: a field that was not made ready is refused wherever it stands, or nowhere': async (create) => {
    const storage = await create()
    await storage.open({ migrate: true })
    const missing = await verdict(storage, { filterable: ['never'] })
    assert.match(String(missing), /^(?:accepted|schema_behind)$/)
    await storage.open({ migrate: true, filterable: ['plan', 'seats'] })
    for (const names of [['never'], ['plan', 'never'], ['never', 'seats'], ['plan', 'seats', 'never']]) {
      assert.equal(await verdict(storage, { filterable: names }), missing, names.join(', '))
    }
    assert.equal(await verdict(storage, { filterable: ['seats', 'plan'] }), 'accepted')
    const rows = [userWith(1, { plan: 'pro', never: 1 })]
    await putUsers(storage, rows)
    if (missing === 'accepted') await requireFound(storage, rows, { fields: { never: 1 } })
  },

  'open: a later migration keeps every user, with what it is found by': async (create) => {
    const storage = await create()
    await storage.open({ migrate: true })
    const rows = [1, 2, 3, 4, 5].map(sampleOf)
    await putUsers(storage, rows)
    await changeAt(storage, rows, 0, { name: 'Later', updatedAt: timeOf(50) })
    await storage.open({ migrate: true, filterable: ['plan'] })
    await Promise.all([storage.open({ migrate: true }), storage.open({ migrate: true, filterable: ['plan', 'seats'] })])
    for (const filter of [{}, having('lat'), having('acme'), { emailKey: 'user1@example.org' }, { tenant: 'beta' }]) {
      await requireFound(storage, rows, filter)
    }
    for (const sort of ['nameKey', 'emailKey', 'updatedAt'] as const) await requireFound(storage, rows, {}, sort)
  },

  'open, users.list: with another key for what is searched, the words of all fields are made anew': async (create) => {
    const storage = await create()
    await storage.open({ migrate: true, searchable: searchable('company') })
    const rows = [
      rowOf(userOf(1, { fields: { company: 'acme', city: 'bonn' } }), { fieldWords: ['acme'] }),
      rowOf(userOf(2, { tenant: 'beta', fields: { city: 'rom' } }), { nameWords: ['bonn'] })
    ]
    await putUsers(storage, rows)
    const found = async (word: string) => idsIn((await storage.users.list(having(word), firstPage(9))).items)
    assert.deepEqual(await found('acme'), idsOf([1]))
    await storage.open({ migrate: true, searchable: searchable('city') })
    await storage.open({ searchable: searchable('city') })
    assert.deepEqual(await found('acme'), [])
    assert.deepEqual(await found('bonn'), idsOf([1, 2]))
    assert.deepEqual(await found('rom'), idsOf([2]))
    await storage.open({ migrate: true })
    await storage.open()
    assert.deepEqual(await found('rom'), idsOf([2]), 'whoever requires nothing changes nothing')
  },

  'open: a field does not become unique while users of a tenant share a value, and does once they differ': async (
    create
  ) => {
    const storage = await create()
    await storage.open({ migrate: true })
    const shared = [1, 2, 3].map((n) => rowOf(userOf(n, { fields: { legacyId: 'A7' } })))
    await putUsers(storage, [...shared, rowOf(userOf(4, { fields: { legacyId: 'A7' }, tenant: 'acme' }))])
    const refusal = await storage.open({ migrate: true, ...UNIQUE }).then(() => null, (error: unknown) => error)
    assert.deepEqual([codeOf(refusal), Object(refusal).field], ['field_taken', 'legacyId'])
    assert.equal(await verdict(storage, UNIQUE), 'schema_behind')
    // It is not kept unique yet.
    shared.push(rowOf(userOf(5, { fields: { legacyId: 'A7' } })))
    await putUsers(storage, shared.slice(-1))
    await dropUsers(storage, shared.slice(2))
    await changeAt(storage, shared, 1, { fields: { legacyId: 'A8' } })
    await Promise.all([
      storage.open({ migrate: true, ...UNIQUE }), storage.open({ migrate: true, filterable: ['legacyId'], ...UNIQUE })
    ])
    await storage.open(UNIQUE)
    await requireTaken(storage, rowOf(userOf(6, { fields: { legacyId: 'A8' } })))
    await requireTaken(storage, rowOf(userOf(6, { fields: { legacyId: 'A7' }, tenant: 'acme' })))
    await putUsers(storage, [rowOf(userOf(6, { fields: { legacyId: 'A8' }, tenant: 'acme' }))])
  },

  'open: what is unique stays unique, and a filterable field can become it': async (create) => {
    const storage = await create()
    for (const needs of [
      { filterable: ['legacyId'] }, UNIQUE, { unique: ['badge'] }, { filterable: ['plan'] }, {}
    ]) await storage.open({ migrate: true, ...needs })
    await storage.open({ filterable: ['plan'], unique: ['legacyId', 'badge'] })
    await putUsers(storage, [rowOf(userOf(1, { fields: { legacyId: 'A7', badge: 1 } }))])
    await requireTaken(storage, rowOf(userOf(2, { fields: { legacyId: 'A7' } })))
    await requireTaken(storage, rowOf(userOf(3, { fields: { badge: 1 } })), 'badge')
    const rows = [rowOf(userOf(1, { fields: { legacyId: 'A7', badge: 1 } }))]
    await requireFound(storage, rows, { fields: { legacyId: 'A7' } })
  },

  'open: without migrate it accepts only what is kept unique': async (create) => {
    const storage = await create()
    await storage.open({ migrate: true })
    const refusal = await verdict(storage, UNIQUE)
    assert.match(String(refusal), /^(?:accepted|schema_behind)$/)
    const row = rowOf(userOf(1, { fields: { legacyId: 'A7' } }))
    await putUsers(storage, [row])
    assert.deepEqual(await storage.users.find(idOf('usr', 1)), row.record)
    if (refusal === 'accepted') await requireTaken(storage, rowOf(userOf(2, { fields: { legacyId: 'A7' } })))
    const { total } = await storage.users.list({ ...everyone, emailKey: keysOf(row.record).emailKey }, firstPage(1))
    assert.equal(total, 1)
  }
}
