import assert from 'node:assert/strict'
import { isStorageError } from '../../../lib/storage/storage-error.ts'
import type { Json, Storage, UserRecord } from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { FIELDS, LOOKALIKES, lookUpsNear, MOMENTS, NEAR } from '../hostile-values.ts'
import { firstPage } from '../list-values.ts'
import { everyone, idOf, TEXTS, timeOf, UNKNOWN_IDS, userOf } from '../values.ts'
import { requireUsers, walked } from './compare.ts'
import { changeUser, dropUsers, putUsers, rowOf, type UserRow } from './put.ts'
import { sampleOf, tenantOf } from './samples.ts'

/** Requires that every method gives a user as it was put, alone or among others. */
async function requireKept (storage: Storage, rows: readonly UserRow[]): Promise<void> {
  const records = rows.map(({ record }) => record).sort((a, b) => a.id < b.id ? -1 : 1)
  const found = await Promise.all(records.map(async ({ id }) => storage.users.find(id)))
  requireUsers(found.filter((user) => user !== null), records, 'users.find')
  const filter = { ...everyone, ids: records.map(({ id }) => id) }
  for (const sort of [undefined, 'emailKey'] as const) {
    const page = firstPage(1000)
    const { items } = await storage.users.list(filter, sort === undefined ? page : { ...page, sort })
    requireUsers(items.toSorted((a, b) => a.id < b.id ? -1 : 1), records, `users.list, sorted by ${sort ?? 'id'}`)
  }
  requireUsers(await walked(storage, filter), records, 'users.walk')
  const given = await storage.find('users', records.map(({ id }) => ({ id })))
  requireUsers(given.flatMap((row) => row === null ? [] : [row.record]), records, 'find')
}

/** Requires that users with these members come back, as new users and as changed ones. */
async function requireEach (storage: Storage, membersOf: ReadonlyArray<Partial<UserRecord>>): Promise<void> {
  const added = membersOf.map((members, n) => rowOf(userOf(n, { ...members, ...tenantOf(n) }), { emailKey: `${n}` }))
  const before = membersOf.map((_, n) => rowOf(userOf(500 + n, tenantOf(n))))
  await putUsers(storage, [...added, ...before])
  const changed: UserRow[] = []
  for (const [n, row] of before.entries()) {
    changed.push(await changeUser(storage, row, { updatedAt: timeOf(900), ...membersOf[n] }, { emailKey: `a${n}` }))
  }
  await requireKept(storage, [...added, ...changed])
}

/** What users are put with comes back exactly. */
export const values: Subject = {
  needs: {},
  cases: {
    'commit, users.find, users.list: names, addresses and reasons come back as they were put': async (storage) => {
      const longest = {
        name: '🦊'.repeat(200),
        statusReason: '🦊'.repeat(200),
        email: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.org`
      }
      await requireEach(storage, [
        ...[...LOOKALIKES, ...TEXTS].map((text, n) => ({ name: text, email: `${text}@${n}`, statusReason: text })),
        longest, { statusReason: null, status: 'suspended' }, { status: 'suspended', statusReason: 'unpaid' }
      ])
    },

    'commit, users.find, users.list: every value of JSON comes back in fields, members in order': async (storage) => {
      await requireEach(storage, FIELDS.map((fields) => ({ fields })))
    },

    'commit, users.find, users.list: times come back to the millisecond, whatever the zone and the year': async (
      storage
    ) => {
      await requireEach(storage, MOMENTS.map((at) => ({ createdAt: at, updatedAt: at })))
    },

    'commit, users.find: versions stay exact up to the largest of 32 bits': async (storage) => {
      const rows = [1, 9, 127, 255, 32_767, 65_535, 2 ** 24, 2 ** 31 - 3].map((version, n) =>
        rowOf(userOf(n, { version })))
      await putUsers(storage, rows)
      await requireKept(storage, rows)
      for (const row of rows) await requireKept(storage, [await changeUser(storage, row, { name: 'Ann' })])
    },

    'commit, users.find, users.list: a user keeps its tenant, or has none': async (storage) => {
      const rows = [
        rowOf(userOf(1, { tenant: 'acme' })), rowOf(userOf(2)), rowOf(userOf(3, { tenant: 'a-_9' })),
        rowOf(userOf(4, { tenant: 'x'.repeat(64) }))
      ]
      await putUsers(storage, rows)
      await requireKept(storage, rows)
      assert.equal('tenant' in (await storage.users.find(idOf('usr', 2)) ?? {}), false)
    },

    'commit, users.find: a value that differs little from the one before takes its place': async (storage) => {
      let row = rowOf(userOf(1))
      await putUsers(storage, [row])
      const members: Array<Partial<UserRecord>> = [
        ...NEAR.map((value: Json) => ({ fields: { value } })), { fields: { other: 1 } }, { fields: {} },
        ...LOOKALIKES.map((name) => ({ name })), ...LOOKALIKES.map((email) => ({ email })),
        { statusReason: 'a' }, { statusReason: 'A' }, { statusReason: null }, { status: 'suspended' }
      ]
      for (const [n, change] of members.entries()) {
        row = await changeUser(storage, row, { ...change, updatedAt: timeOf(1000 + n) })
        const found = await storage.users.find(row.record.id)
        requireUsers(found === null ? [] : [found], [row.record], change)
      }
      assert.deepEqual(await storage.users.find(row.record.id, row.record.version), row.record)
    },

    'users.find, users.list, users.walk: records are plain values, and what is not there is null': async (storage) => {
      const { record } = sampleOf(3)
      await putUsers(storage, [sampleOf(3)])
      const page = firstPage(9)
      const { items, total } = await storage.users.list(everyone, page)
      const sorted = await storage.users.list(everyone, { ...page, sort: 'nameKey' })
      const given = [await storage.users.find(record.id), ...items, ...sorted.items, ...await walked(storage)]
      assert.deepEqual([...given, total, sorted.total], [record, record, record, record, 1, 1])
      for (const user of given) {
        assert.deepEqual(Object.keys(user ?? {}).sort(), Object.keys(record).sort(), 'its members alone')
      }
      assert.equal(await storage.users.walk(everyone, 'asc', async () => {}), undefined)
      await dropUsers(storage, [sampleOf(3)])
      assert.equal(await storage.users.find(record.id), null)
    },

    'users.find: any text may be looked up, and only the whole id is found': async (storage) => {
      const row = sampleOf(10)
      await putUsers(storage, [row])
      for (const id of [...UNKNOWN_IDS, ...lookUpsNear(row.record.id), 'x'.repeat(1000)]) {
        assert.equal(await storage.users.find(id), null, JSON.stringify(id.slice(0, 60)))
        const filters = [{ ids: [id] }, { emailKey: id }, { tenant: id }]
        for (const filter of filters) {
          const found = await storage.users.list({ ...everyone, ...filter }, firstPage(9))
          assert.deepEqual(found, { items: [], total: 0 }, JSON.stringify(filter).slice(0, 80))
        }
      }
      await requireKept(storage, [row])
    }
  }
}

/** A fault may end a transaction. */
export const faults: Subject = {
  needs: {},
  cases: {
    'commit: a text that a store cannot keep is a fault, or comes back exactly': async (storage) => {
      const hostile = ['unkeepable\0b', '\0', 'a\ud800unkeepable', '\udc00']
      const refused = hostile.flatMap((text): Array<Partial<UserRecord>> => [
        { name: text }, { statusReason: text }, { fields: { text } }, { fields: { [text]: 1 } },
        { fields: { a: [[text]] } }
      ])
      for (const [n, members] of refused.entries()) {
        const row = rowOf(userOf(n, members), { nameKey: 'x', nameWords: [] })
        const error = await putUsers(storage, [row]).then(() => null, (reason: unknown) => reason)
        if (error === null) await requireKept(storage, [row])
        else {
          assert.equal(isStorageError(error) ? error.code : error, 'fault', JSON.stringify(members))
          assert.equal(await storage.users.find(row.record.id), null)
        }
      }
      await putUsers(storage, [sampleOf(99)])
      await requireKept(storage, [sampleOf(99)])
    }
  }
}
