import { join } from 'node:path'
import { test } from 'tap'
import { batchLookups } from '../../adapters/knex/batching/batch-lookups.ts'
import { createCoalescer } from '../../adapters/knex/batching/coalesce.ts'
import { shareConnections } from '../../adapters/knex/connection/shared-connections.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { stores, temporaryDirectory } from '../helpers/stores.ts'

const everybody = { emailKey: null, prefix: null, fields: {} }
const userOf = (n: number) => ({ id: `usr_${String(n).padStart(26, '0')}`, name: `n${n}`, email: `${n}@example.com`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' })

for (const { name, create: make } of stores) {
  test(`${name}: reads at once answer each who asks for himself`, async (t) => {
    const storage = await make(t)
    t.teardown(() => storage.close())
    await storage.migrate()
    const create = (n: number) => storage.createUser(userOf(n), { emailKey: `${n}@example.com`, nameKey: `n${n}` }, null)
    await Promise.all(Array.from({ length: 200 }, (_, n) => create(n)))
    const ids = [...Array.from({ length: 300 }, (_, n) => userOf(n).id), userOf(7).id, 'usr_\0', '\ud800', "'; DROP TABLE users; --", '{a,"b}']
    const found = await Promise.all(ids.map((id) => storage.findUser(id)))
    t.strictSame(found, ids.map((_, n) => n < 200 ? userOf(n) : n === 300 ? userOf(7) : null))
    for (const user of found) if (user !== null) user.name = 'changed by who asked'
    t.strictSame(await Promise.all([storage.findUser(userOf(7).id), storage.findUser(userOf(7).id)]), [userOf(7), userOf(7)])

    const list = (offset: number) => storage.listUsers(everybody, { order: 'asc', limit: 3, from: { offset } })
    const pages = await Promise.all([0, 0, 100, 100, 0].map(list))
    t.strictSame(pages.map(({ items, total }) => [items.map(({ id }) => id), total]), [0, 0, 100, 100, 0].map((offset) => [[0, 1, 2].map((n) => userOf(offset + n).id), 200]))
    for (const { items } of pages.slice(1)) for (const user of items) user.name = 'changed by who asked'
    t.strictSame(pages[0]?.items, [0, 1, 2].map(userOf))

    // Each creation is in every list that is asked for after its answer, whoever asks for the same at that moment.
    const totals = await Promise.all(Array.from({ length: 100 }, async (_, n) => {
      const before = list(0)
      await create(200 + n)
      const { total } = await list(0)
      await before
      return { total, least: (await storage.findUser(userOf(200 + n).id))?.id }
    }))
    t.strictSame(totals.map(({ least }) => least), totals.map((_, n) => userOf(200 + n).id))
    t.equal((await list(0)).total, 300)
    t.ok(totals.every(({ total }) => total > 200 && total <= 300))
  })
}

test('what fails fails for everybody who has asked, and for nobody who asks later', async (t) => {
  let broken = true
  const failing = async () => { if (broken) throw new Error('no database') }
  const find = batchLookups<string>(
    async (id) => { await failing(); return id },
    async (ids) => { await failing(); return new Map(ids.map((id) => [id, id])) }
  )
  const same = createCoalescer<string>()
  const ask = () => [find('a'), find('b'), same('x', async () => { await failing(); return 'x' }), same('x', async () => 'never asked')]
  t.strictSame((await Promise.allSettled(ask())).map(({ status }) => status), ['rejected', 'rejected', 'rejected', 'rejected'])
  await t.rejects(find('alone'), { message: 'no database' })
  broken = false
  t.strictSame(await Promise.all(ask()), ['a', 'b', 'x', 'x'])
  t.equal(await find('alone'), 'alone')
})

test('the only connection of a pool is not shared while somebody waits for it', async (t) => {
  let waiting = 0
  const released: unknown[] = []
  const pool = {
    driverName: 'sqlite3',
    pool: { max: 1, numPendingAcquires: () => waiting, on () {} },
    acquireConnection: async () => 'the only one',
    releaseConnection: async (connection: unknown) => { released.push(connection) }
  }
  const share = shareConnections(pool, { cork () {} }, 1, () => {})
  let end = () => {}
  const first = share(() => new Promise<void>((resolve) => { end = resolve }))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(await share(async () => 'joined'), 'joined')
  waiting = 1
  t.equal(share(async () => 'joined'), null)
  end()
  await first
  t.strictSame(released, ['the only one'])
  t.equal(await share(async () => 'again'), 'again')
})

test('sqlite: who writes is not kept waiting by reads without a gap', async (t) => {
  const storage = sqlite({ filename: join(await temporaryDirectory(t), 'users.db') })
  t.teardown(() => storage.close())
  await storage.migrate()
  const reading = new AbortController()
  const readers = Array.from({ length: 16 }, async (_, n) => {
    while (!reading.signal.aborted) await (n % 2 === 0 ? storage.findUser(userOf(n).id) : storage.listUsers(everybody, { order: 'asc', limit: 3, from: { offset: n } }))
  })
  for (let n = 0; n < 50; n++) await storage.createUser(userOf(n), { emailKey: `${n}@example.com`, nameKey: 'n' }, null)
  reading.abort()
  await Promise.all(readers)
  t.equal((await storage.listUsers(everybody, { order: 'asc', limit: 3, from: { offset: 0 } })).total, 50)
})
