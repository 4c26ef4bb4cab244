// A search reads the entries of its rare words alone, and finds the same.
import { test } from 'tap'
import { wordSplitter } from '../../adapters/knex/common-words.ts'
import { createPoolExecutor } from '../../adapters/knex/connection/pool-executor.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { idAt } from '../../lib/core/ids.ts'
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
    const ids = Array.from({ length: 600 }, (_, i) => idAt('usr', 60_000 * i, i))
    const wordsOf = (i: number) =>
      `kim ${i % 3 === 0 ? 'lee' : 'li'} ${i < 110 || i >= 490 ? 'edge' : 'inner'} n${i}x`
    const rows = ids.map((id, i) => `('${id}', 'N', 'n', '${i}@a', '${i}@a', 1, '${NOW}', '${NOW}', '${wordsOf(i)}',
      '${i} example')`)
    const columns = USER_COLUMN_LIST.replace(')', ', name_words, email_words)')
    await host.raw(`insert into fastify_users_users ${columns} values ${rows.join(', ')}`)
    const found = async (...words: string[][]) => {
      const page = { order: 'asc', limit: 20, from: { offset: 0 } } as const
      const { items, total } = await storage.users.list({ emailKey: null, words, fields: {} }, page)
      return [total, ...items.slice(0, 2).map(({ id }) => ids.indexOf(id))]
    }
    t.strictSame(await found(['n300x', 'exam', 'kim']), [1, 300])
    t.strictSame(await found(['exam', 'n301x', 'lee']), [0], 'whoever lacks the common word is not found')
    t.strictSame(await found(['exam', 'n301x'], ['n302x', 'li'], ['n303x', 'li']), [2, 301, 302])
    t.strictSame(await found(['exam', 'n3']), [111, 3, 30], 'the beginning of a word')
    t.strictSame(await found(['kim', 'lee', 'exam']), [200, 0, 3], 'all of them are common')
    t.strictSame(await found(['nobody', 'lee']), [0])

    const names = namesOf({}, false)
    const [splitter, executor] = [wordSplitter(names), createPoolExecutor(host, names)]
    const split = (...lists: string[][]) => splitter(executor, lists)
    t.strictSame(await split(['n300x', 'exam', 'kim']), [{ indexed: ['n300x'], compared: ['exam', 'kim'] }])
    for (const alone of [['lee', 'exam'], ['n300x'], ['inner', 'edge']]) {
      t.strictSame(await split(alone), [{ indexed: alone, compared: [] }], 'none of them is rare')
    }
    t.strictSame(await split(['n300x', 'exam'], ['lee']), [
      { indexed: ['n300x', 'exam'], compared: [] }, { indexed: ['lee'], compared: [] }
    ], 'several lists are left to the index')
  })
}
