// Rounds of compaction, while other transactions and other processes come between.
import { EventEmitter, once } from 'node:events'
import knex from 'knex'
import { test, type Test } from 'tap'
import type { PoolExecutor } from '../../adapters/knex/connection/executor.ts'
import { createPoolExecutor } from '../../adapters/knex/connection/pool-executor.ts'
import { createCompaction } from '../../adapters/knex/counting/compaction.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { migrated } from '../helpers/migrated.ts'
import { insertUsers, plainId } from '../helpers/plain-users.ts'
import { connectPg, pgHost } from '../helpers/postgres.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { count } from '../helpers/writes.ts'

const A_ROUND_MS = 30_000

/** A storage, and compactions beside its own. */
async function withCompactions (t: Test) {
  const schema = temporarySchema(t)
  const host = pgHost(t)
  const storage = await migrated(t, knexStorage(host, { schema }))
  const names = namesOf({ schema }, true)
  const executor = createPoolExecutor(host, names)
  const state = async () => (await sql(`SELECT boundary, next_boundary FROM ${names.state}`))[0]
  return {
    storage,
    names,
    executor,
    /** A compaction on an executor of which some methods are replaced. */
    compaction: (replaced: Partial<PoolExecutor> = {}) => createCompaction({ ...executor, ...replaced }, names),
    state,
    isAnnounced: async () => {
      const row = await state()
      return row?.['boundary'] !== row?.['next_boundary']
    }
  }
}

test('an open transaction that has written users delays the boundary, and nobody else', async (t) => {
  const { storage, names, compaction, state, isAnnounced } = await withCompactions(t)
  const writer = await connectPg(t)
  const [first, second] = [compaction(), compaction()]

  await sql(insertUsers(names.users, 1001, 3000))
  await writer.query('BEGIN')
  await writer.query(insertUsers(names.users, 1, 10))
  const running = first.run()
  t.equal(first.run(), running, 'concurrent calls share the work')
  await until('the announcement of the next boundary', isAnnounced)
  await second.run()
  t.equal((await state())?.['boundary'], '', 'the second leaves the round to the first')
  await running
  t.equal((await state())?.['boundary'], '', 'the first has given up for now')
  t.equal(await count(storage), 2000)
  await writer.query('COMMIT')
  t.equal(await count(storage), 2010)
  await until('a new boundary', async () => {
    await second.run()
    return (await state())?.['boundary'] !== ''
  }, A_ROUND_MS)
  t.equal(await count(storage), 2010)
  t.strictSame(await storage.verifyCounts(), { users: 2010, counted: 2010, wrong: 0, malformed: [] })

  await sql(insertUsers(names.users, 5001, 7000))
  await writer.query('BEGIN')
  await writer.query(insertUsers(names.users, 11, 11))
  const aborted = first.run()
  await until('the announcement of another boundary', isAnnounced)
  await first.close()
  await t.resolves(aborted, 'a closed storage waits for nobody')
  await t.resolves(first.close())
  await writer.query('ROLLBACK')
})

test('a failure in the background harms nobody, and the work is not retried immediately', async (t) => {
  const own = knex({ client: 'pg', connection: pgUrl() })
  const names = namesOf({ schema: temporarySchema(t) }, true)
  const executor = createPoolExecutor(own, names)
  let queries = 0
  const query: PoolExecutor['query'] = (...args) => {
    queries++
    return executor.query(...args)
  }
  const compaction = createCompaction({ ...executor, query }, names)
  await own.destroy()
  compaction.onPage(undefined, 5000, 0)
  await t.rejects(compaction.run(), { name: 'StorageError' })
  t.equal(queries, 1)
  compaction.onPage(undefined, 5000, 0)
  t.equal(queries, 1, 'it rests after a failure')
  await compaction.close()
  compaction.onPage(undefined, 0, 5000)
  await t.resolves(compaction.run(), 'after the end it does nothing')
  t.equal(queries, 1)
})

test('a round that another process has taken over moves nothing back', async (t) => {
  const { storage, names, executor, compaction } = await withCompactions(t)
  const signals = new EventEmitter()
  const [announced, takenOver] = [once(signals, 'announced'), once(signals, 'taken over')]
  await sql(insertUsers(names.users, 1001, 3000))
  const first = compaction({
    async snapshot (work, options) {
      signals.emit('announced')
      await takenOver
      return executor.snapshot(work, options)
    }
  })
  const done = first.run()
  await announced
  // Now the same number of blocks ends at a lower id.
  await sql(`DELETE FROM ${names.users} WHERE id <= '${plainId(1400)}'`)
  let isTakenOver = false
  const second = compaction({
    async query (text, params) {
      if (/^UPDATE .* next_boundary =/.test(text)) {
        isTakenOver = true
        signals.emit('taken over')
        await done
      }
      return executor.query(text, params)
    }
  })
  await until('a round of the second', async () => {
    await second.run()
    return isTakenOver
  }, A_ROUND_MS)
  t.strictSame(await storage.verifyCounts(), { users: 1600, counted: 1600, wrong: 0, malformed: [] })
})

test('a tail that is deleted while it is read does not become blocks', async (t) => {
  const { storage, names, executor, compaction, state } = await withCompactions(t)
  await sql(insertUsers(names.users, 1, 2000))
  await compaction({
    async query (text, params) {
      if (/OFFSET/.test(text)) await sql(`DELETE FROM ${names.users}`)
      return executor.query(text, params)
    }
  }).run()
  t.strictSame(await state(), { boundary: '', next_boundary: '' })
  t.strictSame(await storage.verifyCounts(), { users: 0, counted: 0, wrong: 0, malformed: [] })
})

test('creations in a tenant ask for a round of it every 4,096, and a page with a long tail immediately', async (t) => {
  const { storage, names, compaction } = await withCompactions(t)
  await sql(insertUsers(names.users, 1, 2000))
  await sql(`UPDATE ${names.users} SET tenant = CASE WHEN id < '${plainId(1000)}' THEN 'acme' ELSE 'globex' END`)
  const counted = async () => (await sql(`SELECT scope FROM ${names.state} WHERE boundary <> '' ORDER BY scope`))
    .map(({ scope }) => scope)
  const one = compaction()
  t.teardown(() => one.close())
  const create = (times: number) => { for (let n = 0; n < times; n++) one.onCreate('acme') }
  for (const [ask, scopes] of [
    [() => create(4095), ['']], [() => create(1), ['', 'acme']],
    [() => one.onPage('globex', 320, 0), ['', 'acme', 'globex']]
  ] as const) {
    ask()
    await one.run()
    await one.run()
    t.strictSame(await counted(), scopes)
  }
  t.strictSame(await storage.verifyCounts(), { users: 2000, counted: 2000, wrong: 0, malformed: [] })
  // Changes of what is counted already, which the blocks do not have yet.
  await sql(`DELETE FROM ${names.users} WHERE id IN ('${plainId(10)}', '${plainId(20)}', '${plainId(1010)}')`)
  const { items } = await storage.listTenants({ order: 'asc', limit: 9, from: { offset: 0 } })
  t.match(items, [{ id: 'acme', users: 997 }, { id: 'globex', users: 1000 }])
})

test('a tenant that has all users is counted as far as all are', async (t) => {
  const { storage, names, compaction } = await withCompactions(t)
  await sql(insertUsers(names.users, 1, 2000))
  await sql(`UPDATE ${names.users} SET tenant = 'acme'`)
  const one = compaction()
  t.teardown(() => one.close())
  await one.run()
  one.onPage('acme', 2000, 0)
  await one.run()
  const [all, acme] = await sql(`SELECT boundary, total FROM ${names.state} ORDER BY scope`)
  // A part of a block stays behind.
  t.match(all, { total: /^1[5-9]/ })
  t.strictSame(acme, all)
  t.match(await storage.verifyCounts(), { users: 2000, counted: 2000, wrong: 0 })
})
