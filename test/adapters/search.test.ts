import { test } from 'tap'
import { kitStorage } from '../../adapters/testing/kit-storage.ts'
import { SEARCH_BOUND } from '../../adapters/knex/pages.ts'
import type { PageRequest } from '../../lib/storage/storage.ts'
import { stores } from '../helpers/stores.ts'

const ACTIVE = { status: 'active', statusReason: null } as const

const AT = '2026-01-01T00:00:00.000Z'
/**
 * So many users each: found by name alone, by address alone, by both; by half of them in one, the others in the other.
 */
const KINDS: ReadonlyArray<
  [prefix: string, count: number, inName: (i: number) => boolean, inEmail: (i: number) => boolean]
> = [
  ...[1, SEARCH_BOUND - 1, SEARCH_BOUND, SEARCH_BOUND + 1, 2 * SEARCH_BOUND + 1].flatMap(
    (count) =>
      [
        [`n${count}x`, count, () => true, () => false],
        [`e${count}x`, count, () => false, () => true],
        [`b${count}x`, count, () => true, () => true]
      ] as const satisfies typeof KINDS
  ),
  ['half', 2 * SEARCH_BOUND, (i) => i % 2 === 0, (i) => i % 2 === 1],
  ['quarter', SEARCH_BOUND, (i) => i % 2 === 0, (i) => i % 2 === 1],
  ['\u{10ffff}\u{10ffff}', 3, () => true, () => false]
]

for (const { name, create: make } of stores) {
  test(`${name}: a search finds all, few or many, on every page`, async (t) => {
    const storage = await make(t)
    t.teardown(() => storage.close())
    await storage.migrate()
    const expected = new Map<string, string[]>()
    let n = 0
    // One kind after the other in each round, so that what is found lies apart.
    for (let i = 0; i <= 2 * SEARCH_BOUND; i++) {
      await Promise.all(
        KINDS.filter(([, count]) => i < count).map(([prefix, , inName, inEmail]) => {
          const id = `usr_${String(n++).padStart(26, '0')}`
          expected.set(prefix, [...(expected.get(prefix) ?? []), id])
          const [nameKey, emailKey] = [
            inName(i) ? `${prefix}-${i}` : `z${n}`,
            inEmail(i) ? `${prefix}-${i}@example.com` : `z${n}@example.com`
          ]
          return kitStorage(storage).createUser(
            { id, name: nameKey, email: emailKey, fields: {}, ...ACTIVE, version: 1, createdAt: AT, updatedAt: AT },
            { nameKey, emailKey },
            null
          )
        })
      )
    }
    const list = async (prefix: string, page: PageRequest) => {
      const { items, total } = await storage.listUsers({ emailKey: null, prefix, fields: {} }, page)
      return [items.map(({ id }) => id), total]
    }
    for (const [prefix, ids] of expected) {
      const found = ids.toSorted()
      for (const [order, all] of [
        ['asc', found],
        ['desc', found.toReversed()]
      ] as const) {
        for (const offset of [0, 10, found.length - 1, found.length]) {
          t.strictSame(await list(prefix, { order, limit: 20, from: { offset } }), [
            all.slice(offset, offset + 20),
            all.length
          ])
        }
        const at = all.length >> 1
        t.strictSame(await list(prefix, { order, limit: 20, from: { after: String(all[at]) } }), [
          all.slice(at + 1, at + 21),
          all.length
        ])
      }
    }
    t.strictSame(await list('nobody', { order: 'asc', limit: 20, from: { offset: 0 } }), [[], 0])
    const byAddress = ['n1x-0', 'z1@example.com', '\ud800', 'a\0b', 'e1x-0@example.com', 'e1x-0@example.com'].map(
      async (emailKey) => {
        return (
          await storage.listUsers(
            { emailKey, prefix: null, fields: {} },
            { order: 'asc', limit: 20, from: { offset: 0 } }
          )
        ).total
      }
    )
    t.strictSame(
      await Promise.all(byAddress),
      [0, 1, 0, 0, 1, 1],
      "what can not be kept is nobody's address, and holds up no other"
    )
  })
}
