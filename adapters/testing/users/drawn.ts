import type { Storage } from '../../../lib/storage/storage.ts'
import type { Cases } from '../cases.ts'
import { drawnList } from '../drawn-lists.ts'
import { randomFrom } from '../shrink.ts'
import { idOf, timeOf, userOf } from '../values.ts'
import { requirePage, requireUsers, walked } from './compare.ts'
import { plainWalk } from './plain.ts'
import { changeUser, dropUsers, putUsers, rowOf, type UserRow } from './put.ts'

const ROUNDS = 40
const LISTS = 6

// A small pool of values, so that users collide. A sloppy comparison mistakes some of them for equal.
const ADDRESSES = ['a@x.org', 'a_@x.org', 'ab@x.org', 'a@x.orgx', 'b@x.org']
const NAMES = ['ann', 'anne', 'ann x', 'ánn', 'a', 'ß', 'ss', 's']
const FIELDS = [
  {}, { plan: 'pro' }, { plan: 'Pro', seats: 1 }, { plan: '1', seats: 0, active: false },
  { seats: 1, plan: 'pro', active: true }, { plan: '', seats: null }, { other: [{ plan: 'pro' }], active: 'true' }
]
const FIELD_WORDS = [[], ['an'], ['zz', 's', 'anna']]
const TENANTS = [{}, { tenant: 'acme' }, { tenant: 'beta' }]

/** What plain JavaScript lists, of random users that change, is what a store lists. */
export const drawnCases: Cases = {
  'users.list, users.walk: random lists of random users are as plain JavaScript makes them': async (
    storage: Storage, { seed }
  ) => {
    const random = randomFrom(seed)
    const below = (n: number): number => Math.floor(random() * n)
    function one<Item> (items: readonly Item[]): Item {
      const item = items[below(items.length)]
      if (item === undefined) throw new RangeError('nothing to draw from')
      return item
    }
    const rows = new Map<string, UserRow>()
    for (let round = 0; round < ROUNDS; round++) {
      const n = below(12)
      const was = rows.get(idOf('usr', n))
      const record = userOf(n, {
        name: one(NAMES),
        fields: one(FIELDS),
        status: one(['active', 'suspended']),
        updatedAt: timeOf(below(60)),
        ...was === undefined ? one(TENANTS) : {}
      })
      // Addresses are unique within a tenant.
      const tenant = (was?.record ?? record).tenant
      const taken = new Set([...rows.values()].filter((row) => row !== was && row.record.tenant === tenant)
        .map(({ keys }) => keys.emailKey))
      record.email = ADDRESSES.find((each) => !taken.has(each)) ?? `${n}@x.org`
      const keys = { fieldWords: one(FIELD_WORDS) }
      const { version, createdAt, ...members } = record
      if (was === undefined) {
        rows.set(record.id, rowOf(record, keys))
        await putUsers(storage, [rowOf(record, keys)])
      } else if (below(4) === 0) {
        rows.delete(record.id)
        await dropUsers(storage, [was])
      } else {
        rows.set(record.id, await changeUser(storage, was, members, keys))
      }
      const all = [...rows.values()]
      for (let i = 0; i < LISTS; i++) {
        const [filter, page] = drawnList(ADDRESSES, one, below)
        await requirePage(storage, all, filter, page)
        if (i > 0) continue
        const { order, sort } = page
        const expected = plainWalk(all, filter, order, sort).map(({ record }) => record)
        requireUsers(await walked(storage, filter, order, sort), expected, { walk: filter, order, sort, seed })
      }
    }
  }
}
