import assert from 'node:assert/strict'
import { READ_PART_MAX } from '../../lib/core/limits.ts'
import type {
  Json, JsonObject, PageRequest, SortedPageRequest, UserFilter, UserRecord, UserSort
} from '../../lib/storage/storage.ts'
import type { Cases } from './cases.ts'
import type { KitStorage } from './kit-storage.ts'
import { firstPage, idsOf, upTo } from './list-values.ts'
import { placeIn } from './model-order.ts'
import { addUsers, anyVersion, everyone, idOf, keysOf, rename, timeOf, userOf } from './values.ts'

type Order = PageRequest['order']
export const ORDERS = ['asc', 'desc'] as const
const BY_RANK: UserSort = { field: 'rank' }
const SORTS: readonly UserSort[] = ['nameKey', 'emailKey', 'updatedAt', BY_RANK]

const idsIn = (users: readonly UserRecord[]): string[] => users.map(({ id }) => id)

async function idsSorted (
  storage: KitStorage, sort: UserSort, order: Order, filter: UserFilter = everyone
): Promise<string[]> {
  return idsIn((await storage.listUsers(filter, { sort, order, limit: 5000, from: { offset: 0 } })).items)
}

async function add (storage: KitStorage, n: number, members: Partial<UserRecord>): Promise<void> {
  const user = userOf(n, members)
  await storage.createUser(user, keysOf(user), null)
}

/** In their order; others make mistakes with some of them. */
const RANKS: readonly Json[] = [
  false, true, -1.5e300, -2, -0.5, 0, 1e-9, 0.1, 0.30000000000000004, 2, 10, 1e21,
  '', ' ', '!', '"', '10', '2', 'A', 'a', 'a"', 'a\\', 'ab', 'é',
  '\uffee', '🦊'
]

/** Fields without a rank that has a place. */
const NO_RANKS: readonly JsonObject[] = [{}, { rank: null }, { rank: [1] }, { rank: { a: 1 } }, { Rank: 1 }]

/** Users with these ranks and users without one: the number of each, in ascending order. */
async function addRanked (storage: KitStorage): Promise<{ ranked: number[], others: number[] }> {
  await storage.migrate({ filterable: ['rank'] })
  const count = RANKS.length
  // Not in the order of ids: 7 and the number of ranks have no common divisor.
  const ranked = RANKS.map((_, i) => 1 + (i * 7) % count)
  for (const [i, rank] of RANKS.entries()) await add(storage, Number(ranked[i]), { fields: { rank } })
  const others = NO_RANKS.map((_, i) => count + 1 + i)
  for (const [i, fields] of NO_RANKS.entries()) await add(storage, count + 1 + i, { fields })
  return { ranked, others }
}

/** Users of all kinds, so that each order has ties, and the last one has users without a value. */
async function addMixed (storage: KitStorage, numbers: readonly number[]): Promise<void> {
  await storage.migrate({ filterable: ['rank', 'plan'] })
  for (let start = 0; start < numbers.length; start += 50) {
    await Promise.all(numbers.slice(start, start + 50).map(async (n) => add(storage, n, {
      name: ['Ann', 'Bob', 'ann', 'Zoë'][n % 4] ?? '',
      updatedAt: timeOf(n % 3),
      fields: { ...(n % 5 > 1 && { rank: n % 2 === 0 ? n % 3 : `r${n % 3}` }), plan: n % 2 === 0 ? 'pro' : 'free' }
    })))
  }
}

/** Walks behind the place of the last user of each part. */
async function walked (
  storage: KitStorage, sort: UserSort, order: Order, filter: UserFilter, between: (n: number) => Promise<unknown>
): Promise<string[]> {
  const met: string[] = []
  let last: UserRecord | undefined
  for (let n = 0; n < 500; n++) {
    const from = last === undefined ? { offset: 0 } : { behind: placeIn(last, keysOf(last), sort) }
    const { items } = await storage.listUsers(filter, { sort, order, limit: 7, from })
    last = items.at(-1)
    if (last === undefined) return met
    met.push(...idsIn(items))
    await between(n)
  }
  assert.fail('the walk does not end')
}

/** Duties about lists of users in other orders than that of their ids. */
export const sortCases: Cases = {
  'listUsers: keys order users byte by byte, and ids those who have the same': async (storage) => {
    const names = ['b', 'Ab', 'ä', '🦊', 'a b', 'B', 'Z', '\uffee', 'a', 'a-b']
    const sorted = [8, 4, 9, 1, 0, 5, 6, 2, 7, 3]
    for (const [n, name] of names.entries()) {
      await add(storage, n, { name, email: `${names.length - n}${name === 'B' ? 'A' : 'a'}@example.org` })
    }
    assert.deepEqual(await idsSorted(storage, 'nameKey', 'asc'), idsOf(sorted))
    assert.deepEqual(await idsSorted(storage, 'nameKey', 'desc'), idsOf(sorted.toReversed()))
    // 10 is before 1 and 2: '0' is before 'a'.
    const byAddress = [0, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert.deepEqual(await idsSorted(storage, 'emailKey', 'asc'), idsOf(byAddress))
    assert.deepEqual(await idsSorted(storage, 'emailKey', 'desc'), idsOf(byAddress.toReversed()))
    await storage.updateUser(idOf('usr', 3), rename('Aa'), timeOf(9), anyVersion)
    assert.deepEqual(await idsSorted(storage, 'nameKey', 'asc'), idsOf([8, 4, 9, 3, 1, 0, 5, 6, 2, 7]))
  },

  'listUsers: the moment of the last change orders users, and a change moves one': async (storage) => {
    for (const n of [1, 2, 3, 4]) await add(storage, n, { updatedAt: timeOf(n === 4 ? 1 : 5 - n) })
    assert.deepEqual(await idsSorted(storage, 'updatedAt', 'asc'), idsOf([4, 3, 2, 1]))
    await storage.updateUser(idOf('usr', 3), rename('Ann'), timeOf(4), anyVersion)
    assert.deepEqual(await idsSorted(storage, 'updatedAt', 'asc'), idsOf([4, 2, 1, 3]), 'the same moment: by id')
    assert.deepEqual(await idsSorted(storage, 'updatedAt', 'desc'), idsOf([3, 1, 2, 4]))
  },

  'listUsers with fields: a field orders users by type and value, and those without one are last': async (storage) => {
    const { ranked, others } = await addRanked(storage)
    assert.deepEqual(await idsSorted(storage, BY_RANK, 'asc'), idsOf([...ranked, ...others]))
    assert.deepEqual(
      await idsSorted(storage, BY_RANK, 'desc'),
      idsOf([...ranked.toReversed(), ...others.toReversed()]),
      'last in the order desc too'
    )
    await storage.updateUser(idOf('usr', others[0] ?? 0), { fields: { rank: 5 } }, timeOf(99), anyVersion)
    await storage.updateUser(idOf('usr', ranked[0] ?? 0), { fields: {} }, timeOf(99), anyVersion)
    const at = RANKS.indexOf(10)
    const moved = [...ranked.slice(1, at), others[0] ?? 0, ...ranked.slice(at)]
    assert.deepEqual(
      await idsSorted(storage, BY_RANK, 'asc'), idsOf([...moved, ranked[0] ?? 0, ...others.slice(1)])
    )
  },

  'listUsers with fields: users with one value are ordered by id, of long texts by 256 characters': async (storage) => {
    await storage.migrate({ filterable: ['rank'] })
    const long = '🦊'.repeat(256)
    const ranks = ['b', 7, `${long}b`, 'b', `${long}a`, 7, long.slice(2), true, true]
    for (const [n, rank] of ranks.entries()) await add(storage, n, { fields: { rank } })
    const sorted = [7, 8, 1, 5, 0, 3, 6, 2, 4]
    assert.deepEqual(await idsSorted(storage, BY_RANK, 'asc'), idsOf(sorted))
    assert.deepEqual(await idsSorted(storage, BY_RANK, 'desc'), idsOf(sorted.toReversed()))
  },

  'listUsers: pages by offset have every user once in every order, with the exact total': async (storage) => {
    await addMixed(storage, upTo(40))
    for (const filter of [everyone, { ...everyone, words: [['ann']] }, { ...everyone, fields: { plan: 'pro' } }]) {
      for (const sort of SORTS) {
        for (const order of ORDERS) {
          const all = await idsSorted(storage, sort, order, filter)
          for (let offset = 0; offset < 50; offset += 6) {
            const { items, total } = await storage.listUsers(filter, { sort, order, limit: 6, from: { offset } })
            assert.deepEqual(idsIn(items), all.slice(offset, offset + 6), `${JSON.stringify(sort)} ${order} ${offset}`)
            assert.equal(total, all.length)
          }
          assert.equal(new Set(all).size, (await storage.listUsers(filter, firstPage(1))).total)
        }
      }
    }
  },

  'listUsers: a walk behind places has everybody who stays once, in every order': async (storage) => {
    const numbers = upTo(40).map((n) => n * 10)
    await addMixed(storage, numbers)
    let next = 5001
    for (const filter of [everyone, { ...everyone, fields: { plan: 'pro' } }]) {
      for (const sort of SORTS) {
        for (const order of ORDERS) {
          const before = await idsSorted(storage, sort, order, filter)
          const changed = before[3] ?? ''
          const met = await walked(storage, sort, order, filter, async (n) => {
            // Without an end, some orders would have always one more.
            if (n > 4) return
            await addUsers(storage, next++)
            await storage.deleteUser(idOf('usr', next - 2), anyVersion)
            if (n > 0) await storage.updateUser(changed, { fields: { n: next, plan: 'pro' } }, timeOf(99), anyVersion)
          })
          const stay = (ids: readonly string[]) => ids.filter((id) => id !== changed && before.includes(id))
          assert.deepEqual(stay(met), stay(before), `${JSON.stringify(sort)} ${order}`)
          await storage.deleteUser(idOf('usr', next - 1), anyVersion)
          const { total } = await storage.listUsers(filter, firstPage(1))
          const last = { value: null, id: idOf('usr', order === 'asc' ? 9999 : 0) }
          const page: SortedPageRequest = { sort: BY_RANK, order, limit: 5, from: { behind: last } }
          assert.deepEqual(await storage.listUsers(filter, page), { items: [], total }, 'the total counts all')
        }
      }
    }
  },

  'listUsers: a place need not be that of a user': async (storage) => {
    const { ranked, others } = await addRanked(storage)
    const behind = async (value: string | number | boolean | null, order: Order, n = 0) => idsIn((
      await storage.listUsers(everyone, {
        sort: BY_RANK, order, limit: 99, from: { behind: { value, id: idOf('usr', n) } }
      })).items)
    const from = (rank: Json) => ranked.slice(RANKS.indexOf(rank))
    const until = (rank: Json) => ranked.slice(0, RANKS.indexOf(rank)).reverse()
    const down = others.toReversed()
    assert.deepEqual(await behind(5, 'asc'), idsOf([...from(10), ...others]))
    assert.deepEqual(await behind(5, 'desc'), idsOf([...until(10), ...down]))
    assert.deepEqual(await behind('aa', 'asc'), idsOf([...from('ab'), ...others]))
    assert.deepEqual(await behind('aa', 'desc'), idsOf([...until('ab'), ...down]))
    assert.deepEqual(await behind(true, 'asc', 999), idsOf([...from(-1.5e300), ...others]))
    assert.deepEqual(await behind(false, 'desc', 0), idsOf(down))
    assert.deepEqual(await behind(null, 'asc', others[1]), idsOf(others.slice(2)))
    assert.deepEqual(await behind(null, 'desc', others[1]), idsOf(others.slice(0, 1)))
  },

  'readUsers: everybody comes once in every order, in parts of at most 1,000': async (storage) => {
    await addMixed(storage, upTo(READ_PART_MAX * 2 + 50))
    for (const sort of SORTS) {
      for (const order of ORDERS) {
        const met: string[] = []
        await storage.readUsers(everyone, order, async (part) => {
          assert.ok(part.length > 0 && part.length <= READ_PART_MAX, `a part of ${part.length} users`)
          met.push(...idsIn(part))
        }, sort)
        assert.deepEqual(met, await idsSorted(storage, sort, order), `${JSON.stringify(sort)} ${order}`)
      }
    }
    const few: string[] = []
    const filter = { ...everyone, words: [['bob']], fields: { plan: 'free' } }
    await storage.readUsers(filter, 'desc', async (part) => { few.push(...idsIn(part)) }, BY_RANK)
    assert.deepEqual(few, await idsSorted(storage, BY_RANK, 'desc', filter))
  }
}
