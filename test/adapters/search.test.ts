// A search that finds more users than are sorted together, behind 2,000 of them.
import { test } from 'tap'
import { SORTED_MAX } from '../../adapters/knex/pages.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import type { PageRequest } from '../../lib/storage/storage.ts'
import { migrated } from '../helpers/migrated.ts'
import { having, userOf } from '../helpers/records.ts'
import { stores } from '../helpers/stores.ts'

const MANY = SORTED_MAX + 50
const idAt = (n: number): string => `usr_${String(n).padStart(26, '0')}`

for (const { name, create: make } of stores.filter(({ name }) => name !== 'memory')) {
  test(`${name}: a search that finds many gives the same pages as one that finds few`, async (t) => {
    const storage = await migrated(t, await make(t))
    // What is found by one word lies apart, and nobody is created in the order of ids.
    const numbers = Array.from({ length: 2 * MANY }, (_, i) => (i * 7) % (2 * MANY)).filter((n) => n % 2 === 0)
    for (let start = 0; start < numbers.length; start += 500) {
      await repositoryOf(storage).users.write(numbers.slice(start, start + 500).map((n) => ({
        type: 'create',
        user: userOf(0, { id: idAt(n), email: `${n}@example.org` }),
        keys: {
          nameKey: 'x',
          emailKey: `${n}@example.org`,
          nameWords: ['many', ...n < 2 * SORTED_MAX ? ['few'] : [], `half${n % 4}`],
          emailWords: ['many', 'manya']
        },
        event: null
      })), { atomic: false, idempotency: null })
    }
    const all = [...new Set(numbers)].sort((a, b) => a - b)
    const few = all.filter((n) => n < 2 * SORTED_MAX)
    for (const [words, found] of [
      [['many'], all], [['few'], few], [['half', 'many', 'few'], few], [['many', 'nobody'], []]
    ] as const) {
      for (const order of ['asc', 'desc'] as const) {
        const sorted = (order === 'asc' ? found : found.toReversed()).map(idAt)
        const list = async (from: PageRequest['from']) => {
          const { items, total } = await storage.users.list(having(...words), { order, limit: 20, from })
          return [items.map(({ id }) => id), total]
        }
        for (const offset of [0, 10, SORTED_MAX - 5, Math.max(0, found.length - 1), found.length]) {
          const expected = [sorted.slice(offset, offset + 20), found.length]
          t.strictSame(await list({ offset }), expected, `${words.join()} from ${offset}`)
        }
        const at = found.length >> 1
        t.strictSame(await list({ after: sorted[at] ?? idAt(5) }), [sorted.slice(at + 1, at + 21), found.length])
      }
    }
  })
}
