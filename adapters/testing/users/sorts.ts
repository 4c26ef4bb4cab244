import assert from 'node:assert/strict'
import type {
  Json, JsonObject, PageRequest, Storage, UserFilter, UserSort, UserValue
} from '../../../lib/storage/storage.ts'
import type { Subject } from '../cases.ts'
import { firstPage, idsOf, upTo } from '../list-values.ts'
import { everyone, idOf, timeOf, userOf } from '../values.ts'
import { idsIn, ORDERS, requireFound, requirePage } from './compare.ts'
import { FILTERS } from './lists.ts'
import { placeOf } from './plain.ts'
import { changeAt, changeUser, dropUsers, putUsers, rowOf, type UserRow } from './put.ts'
import { fromBothEnds, SAMPLE_FIELDS, sampleOf, tenantOf } from './samples.ts'

const BY_RANK: UserSort = { field: 'rank' }
export const SORTS: readonly UserSort[] = ['nameKey', 'emailKey', 'updatedAt', { field: 'seats' }]

/** In their order; others make mistakes with some of them. */
const RANKS: readonly Json[] = [
  false, true, -1.5e300, -2, -0.5, 0, 1e-9, 0.1, 0.30000000000000004, 2, 10,
  2 ** 53 - 3, 2 ** 53 - 2, 2 ** 53 - 1, 1e21,
  '', ' ', '!', '"', '10', '2', 'A', 'a', 'a"', 'a\\', 'ab', 'é', '\uffee', '🦊'
]

/** Fields without a rank that has a place. */
const NO_RANKS: readonly JsonObject[] = [{}, { rank: null }, { rank: [1] }, { rank: { a: 1 } }, { Rank: 1 }]

/** Users with these ranks and users without one: the number of each, in ascending order. */
async function putRanked (storage: Storage): Promise<{ rows: UserRow[], ranked: number[], others: number[] }> {
  const count = RANKS.length
  // Not in the order of ids: 7 and the number of ranks have no common divisor.
  const ranked = RANKS.map((_, i) => 1 + (i * 7) % count)
  const others = NO_RANKS.map((_, i) => count + 1 + i)
  const fields: JsonObject[] = [...RANKS.map((rank) => ({ rank })), ...NO_RANKS]
  const rows = [...ranked, ...others].map((n, i) => rowOf(userOf(n, { fields: fields[i] ?? {}, ...tenantOf(n) })))
  await putUsers(storage, rows)
  return { rows, ranked, others }
}

/** Walks behind the place of the last user of each part. `rows`: all that a part may have. */
async function walkBehind (
  storage: Storage, rows: ReadonlyMap<string, UserRow>, between: (n: number) => Promise<unknown>,
  { filter, sort, order }: { filter: UserFilter, sort: UserSort, order: PageRequest['order'] }
): Promise<string[]> {
  const met: string[] = []
  let last: UserRow | undefined
  for (let n = 0; n < 500; n++) {
    const from = last === undefined ? { offset: 0 } : { behind: placeOf(last, sort) }
    const { items } = await storage.users.list(filter, { sort, order, limit: 7, from })
    if (items.length === 0) return met
    const { id = '' } = items.at(-1) ?? {}
    last = rows.get(id)
    met.push(...idsIn(items))
    await between(n)
  }
  assert.fail('the walk does not end')
}

/** Lists and walks of users that are not sorted by id. */
export const sorts: Subject = {
  needs: { filterable: [...SAMPLE_FIELDS, 'rank'] },
  cases: {
    'users.list, users.walk: keys order users byte by byte, and ids those who have the same': async (storage) => {
      const names = ['b', 'Ab', 'ä', '🦊', 'a b', 'B', 'Z', '\uffee', 'a', 'a-b']
      const rows = names.map((name, n) => rowOf(userOf(n, {
        name, email: `${names.length - n}${name === 'B' ? 'A' : 'a'}@example.org`, ...tenantOf(n)
      })))
      await putUsers(storage, rows)
      assert.deepEqual(await requireFound(storage, rows, {}, 'nameKey'), idsOf([8, 4, 9, 1, 0, 5, 6, 2, 7, 3]))
      // 10 is before 1 and 2: '0' is before 'a'.
      assert.deepEqual(await requireFound(storage, rows, {}, 'emailKey'), idsOf([0, 9, 8, 7, 6, 5, 4, 3, 2, 1]))
      await changeAt(storage, rows, 3, { name: 'Aa', updatedAt: timeOf(99) })
      assert.deepEqual(await requireFound(storage, rows, {}, 'nameKey'), idsOf([8, 4, 9, 3, 1, 0, 5, 6, 2, 7]))
      // The longest keys.
      const longest = ['b', 'a'].map((end, n) => rowOf(userOf(20 + n), {
        nameKey: `${'🦊'.repeat(253)}${end}`, emailKey: `${'x'.repeat(253)}${end}`
      }))
      await putUsers(storage, longest)
      for (const sort of ['nameKey', 'emailKey'] as const) {
        assert.deepEqual((await requireFound(storage, [...rows, ...longest], {}, sort)).slice(-2), idsOf([21, 20]))
      }
    },

    'users.list, users.walk: the moment of the last change orders users, and a change moves one': async (storage) => {
      const rows = upTo(4).map((n) => rowOf(userOf(n, { updatedAt: timeOf(n === 4 ? 1 : 5 - n), ...tenantOf(n) })))
      await putUsers(storage, rows)
      assert.deepEqual(await requireFound(storage, rows, {}, 'updatedAt'), idsOf([4, 3, 2, 1]))
      await changeAt(storage, rows, 2, { name: 'Ann', updatedAt: timeOf(4) })
      assert.deepEqual(await requireFound(storage, rows, {}, 'updatedAt'), idsOf([4, 2, 1, 3]))
    },

    'users.list, users.walk: a field orders users by type and value, and those without one are last': async (
      storage
    ) => {
      const { rows, ranked, others } = await putRanked(storage)
      assert.deepEqual(await requireFound(storage, rows, {}, BY_RANK), idsOf([...ranked, ...others]))
      const descending = idsOf([...ranked.toReversed(), ...others.toReversed()])
      const { items } = await storage.users.list(everyone, { ...firstPage(99), order: 'desc', sort: BY_RANK })
      assert.deepEqual(idsIn(items), descending, 'last in the order desc too')
      const at = RANKS.length
      await changeAt(storage, rows, at, { fields: { rank: 5 } })
      await changeAt(storage, rows, 0, { fields: {} })
      await requireFound(storage, rows, {}, BY_RANK)
      await requireFound(storage, rows, { tenant: 'acme' }, BY_RANK)
    },

    'users.list, users.walk: users with one value are ordered by id, of long texts by 256 characters': async (
      storage
    ) => {
      const long = '🦊'.repeat(256)
      const ranks = ['b', 7, `${long}b`, 'b', `${long}a`, 7, long.slice(2), true, true]
      const rows = ranks.map((rank, n) => rowOf(userOf(n, { fields: { rank }, ...tenantOf(n) })))
      await putUsers(storage, rows)
      assert.deepEqual(await requireFound(storage, rows, {}, BY_RANK), idsOf([7, 8, 1, 5, 0, 3, 6, 2, 4]))
      for (const order of ORDERS) {
        for (const row of rows) {
          const from = { behind: placeOf(row, BY_RANK) }
          await requirePage(storage, rows, {}, { sort: BY_RANK, order, limit: 3, from })
        }
      }
    },

    'users.list: pages by offset have every user once in every order, with the exact total': async (storage) => {
      const rows = fromBothEnds(40).map(sampleOf)
      await putUsers(storage, rows)
      for (const filter of FILTERS) {
        for (const sort of SORTS) {
          for (const order of ORDERS) {
            for (let offset = 0; offset < 50; offset += 6) {
              await requirePage(storage, rows, filter, { sort, order, limit: 6, from: { offset } })
            }
          }
        }
      }
    },

    'users.list: a walk behind places has everybody who stays once, in every order': async (storage) => {
      const stay = fromBothEnds(40).map((n) => sampleOf(n * 11))
      await putUsers(storage, stay)
      const rows = new Map(stay.map((row) => [row.record.id, row]))
      let next = 5000
      let moved = sampleOf(9)
      await putUsers(storage, [moved])
      for (const filter of [everyone, { ...everyone, fields: { plan: 'pro' } }, { ...everyone, tenant: 'acme' }]) {
        for (const sort of SORTS) {
          for (const order of ORDERS) {
            rows.set(moved.record.id, moved)
            const met = await walkBehind(storage, rows, async (n) => {
              // Without an end, some orders would have always one more.
              if (n > 4) return
              const added = [sampleOf(next++), sampleOf(next++)]
              await putUsers(storage, added)
              await dropUsers(storage, added)
              const fields = { plan: 'pro', seats: next }
              moved = await changeUser(storage, moved, { fields, updatedAt: timeOf(next) })
              rows.set(moved.record.id, moved)
            }, { filter, sort, order })
            const asked = `${JSON.stringify({ filter, sort })} ${order}`
            const others = met.filter((id) => id !== moved.record.id)
            const { items } = await storage.users.list(filter, { sort, order, limit: 99, from: { offset: 0 } })
            assert.deepEqual(others, idsIn(items).filter((id) => id !== moved.record.id), asked)
          }
        }
      }
    },

    'users.list: a place need not be that of a user': async (storage) => {
      const { rows, ranked, others } = await putRanked(storage)
      const behind = async (value: UserValue | null, order: PageRequest['order'], n = 0) => {
        const from = { behind: { value, id: idOf('usr', n) } }
        return idsIn((await requirePage(storage, rows, {}, { sort: BY_RANK, order, limit: 99, from })).items)
      }
      assert.deepEqual(await behind(5, 'asc'), idsOf([...ranked.slice(RANKS.indexOf(10)), ...others]))
      assert.deepEqual(await behind(null, 'desc', others[1]), idsOf(others.slice(0, 1)))
      for (const order of ORDERS) {
        for (const value of [5, 'aa', true, false, null, -1e301, '\u{10ffff}', ''] as const) {
          for (const n of [0, 7, others[1] ?? 0, 999]) await behind(value, order, n)
        }
        for (const sort of ['nameKey', 'emailKey', 'updatedAt'] as const) {
          for (const value of sort === 'updatedAt' ? [timeOf(0), timeOf(9)] : ['', 'user 2', 'user2', '~']) {
            const from = { behind: { value, id: idOf('usr', 5) } }
            await requirePage(storage, rows, {}, { sort, order, limit: 4, from })
          }
        }
      }
    }
  }
}
