// Pages far from the first user are found by counted ranges, which are right whatever happens to users. Deliveries that
// are due are found by an index.
import { test } from 'tap'
import { mariadb } from '../../adapters/mariadb.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { mariadbHost, mariadbSql, mariadbUrl, temporaryDatabase, withoutMariadb } from '../helpers/mariadb.ts'
import { until } from '../helpers/until.ts'

test('pages far from the first user', { skip: from('ci') || withoutMariadb }, async (t) => {
  const database = await temporaryDatabase(t)
  const storage = mariadb({ connection: mariadbUrl(database) })
  const { app: { users } } = await testApp(t, { storage, trash: true })
  const COUNT = 5000
  await users.import(Array.from({ length: COUNT }, (_, n) => ({ name: 'Ann', email: `user${n}@example.org` })))
  const ids: string[] = []
  for await (const { id } of users.iterate()) ids.push(id)

  async function requirePages (): Promise<void> {
    for (const page of [6, 20, 26, 27, 40, 51, Math.ceil(ids.length / 100), Math.ceil(ids.length / 100) + 1]) {
      for (const sort of ['createdAt', '-createdAt'] as const) {
        const expected = (sort === 'createdAt' ? ids : ids.toReversed()).slice((page - 1) * 100, page * 100)
        const { data, meta } = await users.list({ page, limit: 100, sort })
        t.strictSame([data.map(({ id }) => id), meta.total], [expected, ids.length], `${sort} ${page}`)
      }
    }
    t.match(await storage.verifyCounts(), { users: ids.length, counted: ids.length, wrong: 0 })
  }

  const ranges = async (): Promise<number> =>
    Number((await mariadbSql([`SELECT count(*) AS n FROM ${database}.fastify_users_blocks`]))[0]?.['n'])
  await requirePages()
  await until('the range is divided', async () => await ranges() === 5)
  await requirePages()
  // In the middle, by many at a time, while pages are read and ranges are divided.
  const gone = ids.filter((_, n) => n % 3 === 0)
  await Promise.all([
    ...Array.from({ length: 8 }, async (_, worker) => {
      for (const id of gone.filter((_, n) => n % 8 === worker)) await users.delete(id)
    }),
    (async () => { for (let n = 0; n < 50; n++) await users.list({ page: 10 + n % 20, limit: 100 }) })()
  ])
  for (const id of gone) ids.splice(ids.indexOf(id), 1)
  await requirePages()
  const back = gone.slice(0, 500)
  await Promise.all(back.map((id) => users.restore(id)))
  ids.push(...back)
  ids.sort()
  await requirePages()
  await storage.rebuildCounts()
  t.equal(await ranges(), 1)
  await requirePages()
})

test('rows of an import are looked up together', { skip: from('ci') || withoutMariadb }, async (t) => {
  const host = mariadbHost(await temporaryDatabase(t), { pool: { min: 1, max: 1 } })
  t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(host), trash: true })
  const rows = Array.from({ length: 250 }, (_, n) => ({ name: 'Ann', email: `user${n}@example.org` }))
  await users.import(rows)
  const ids = new Map((await users.list({ limit: 100 })).data.map(({ id, email }) => [email, id]))
  const again = rows.flatMap((row) => ids.has(row.email) ? [{ ...row, id: ids.get(row.email) }] : [])
  await host.raw('FLUSH STATUS')
  t.match(await users.import(again, { onConflict: 'update', by: 'email' }), { skipped: 100 })
  const [[{ Value }]] = await host.raw("SHOW SESSION STATUS LIKE 'Com_select'")
  t.ok(Number(Value) < 50, `${Value} statements`)
})

test('deliveries that are due are read alone', { skip: from('ci') || withoutMariadb }, async (t) => {
  const host = mariadbHost(await temporaryDatabase(t), { pool: { min: 1, max: 1 } })
  t.teardown(() => host.destroy())
  const storage = knexStorage(host)
  await storage.open({ migrate: true })
  await host.raw('INSERT INTO fastify_users_webhooks (id, version, tenant, record) ' +
    "VALUES ('whk_1', 1, '', '{}'), ('whk_2', 1, '', '{}')")
  // Of the first endpoint ten are due, of the second one all.
  await host.raw('INSERT INTO fastify_users_deliveries (id, version, tenant, owner, record, event, status, due_at) ' +
    "SELECT concat('dlv_', seq), 1, '', concat('whk_', 1 + (seq > 2500)), '{}', seq, 'pending', " +
    "concat(2020 + (seq BETWEEN 11 AND 2500), '-01-01') FROM seq_1_to_5000")
  await host.raw('ANALYZE TABLE fastify_users_deliveries')
  for (const [owner, total] of [[{ of: 'whk_1' }, 10], [{}, 2510]] as const) {
    await host.raw('FLUSH STATUS')
    const due = await storage.list('deliveries', {
      ...owner,
      upTo: { member: 'dueAt', value: '2020-06' },
      by: 'dueAt',
      page: { order: 'asc', limit: 5, from: { offset: 0 } }
    })
    t.match(due, { items: { length: 5 }, total })
    const [read] = await host.raw("SHOW SESSION STATUS LIKE 'Handler_read%'")
    const rows = read.reduce((sum: number, { Value }: { Value: string }) => sum + Number(Value), 0)
    t.ok(rows < total + 50, `${rows} rows`)
  }
})
