// A search reads the entries of its rare words alone, and finds the same.
import { test } from 'tap'
import { wordSplitter } from '../../adapters/knex/common-words.ts'
import { createPoolExecutor } from '../../adapters/knex/connection/pool-executor.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { knexHosts } from '../helpers/knex-hosts.ts'
import { migrated } from '../helpers/migrated.ts'
import { USER_COLUMN_LIST } from '../helpers/plain-users.ts'

const NOW = '2026-01-01T00:00:00.000Z'

for (const { driver, skip, connect } of knexHosts) {
  test(`${driver}: words that many have are compared in the rows that rarer ones find`, { skip }, async (t) => {
    const host = await connect(t)
    t.teardown(() => host.destroy())
    const storage = await migrated(t, knexStorage(host))
    const rows = Array.from({ length: 600 }, (_, i) => `('usr_${String(i).padStart(26, '0')}', 'N', 'n', '${i}@a',
      '${i}@a', 1, '${NOW}', '${NOW}', 'kim ${i % 3 === 0 ? 'lee' : 'li'} n${i}x', '${i} example')`)
    const columns = USER_COLUMN_LIST.replace(')', ', name_words, email_words)')
    await host.raw(`insert into fastify_users_users ${columns} values ${rows.join(', ')}`)
    const found = async (...words: string[][]) => {
      const page = { order: 'asc', limit: 20, from: { offset: 0 } } as const
      const { items, total } = await storage.users.list({ emailKey: null, words, fields: {} }, page)
      return [total, ...items.slice(0, 2).map(({ id }) => Number(id.slice(4)))]
    }
    t.strictSame(await found(['n300x', 'exam', 'kim']), [1, 300])
    t.strictSame(await found(['exam', 'n301x', 'lee']), [0], 'whoever lacks the common word is not found')
    t.strictSame(await found(['exam', 'n301x'], ['n302x', 'li'], ['n303x', 'li']), [2, 301, 302])
    t.strictSame(await found(['exam', 'n3']), [111, 3, 30], 'the beginning of a word')
    t.strictSame(await found(['kim', 'lee', 'exam']), [200, 0, 3], 'all of them are common')
    t.strictSame(await found(['nobody', 'lee']), [0])

    const names = namesOf({}, false)
    const split = wordSplitter(names)
    t.strictSame(await split(createPoolExecutor(host, names), [['n300x', 'exam', 'kim'], ['lee', 'exam'], ['n300x']]), [
      { indexed: ['n300x'], compared: ['exam', 'kim'] },
      { indexed: ['lee', 'exam'], compared: [] },
      { indexed: ['n300x'], compared: [] }
    ])
  })
}
