// Concurrent reads and writes are combined into few statements, or done once for all; and each statement looks its rows
// up by an index.
import type { Knex } from 'knex'
import { test, type Test } from 'tap'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { storageOnKnex } from '../../adapters/knex/storage.ts'
import { gather } from '../../lib/core/gather.ts'
import type { PageRequest, UserChanges } from '../../lib/storage/storage.ts'
import { migrated } from '../helpers/migrated.ts'
import { limitedConnection, pgHost } from '../helpers/postgres.ts'
import { everyone, idOf, keysOf, rename, userOf } from '../helpers/records.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { stores, temporarySchema } from '../helpers/stores.ts'
import { addUser, changeUser } from '../helpers/writes.ts'

const PAGE: PageRequest = { order: 'asc', limit: 20, from: { offset: 0 } }
const numbers = (length: number) => Array.from({ length }, (_, n) => n)

for (const { name, create: make } of stores.filter(({ name }) => name !== 'memory')) {
  test(`${name}: concurrent reads each get their own result`, async (t) => {
    const storage = await migrated(t, await make(t))
    await Promise.all(numbers(100).map((n) => addUser(storage, userOf(n))))
    const odd = ['usr_\0', '\ud800', "'; DROP TABLE users; --", '{a,"b}']
    const ids = [...numbers(150).map((n) => idOf('usr', n)), idOf('usr', 7), ...odd]
    const users = await Promise.all(ids.map((id) => storage.users.find(id)))
    t.strictSame(users, ids.map((_, n) => n < 100 ? userOf(n) : n === 150 ? userOf(7) : null))
    for (const user of users) if (user !== null) user.name = 'changed by a caller'
    t.strictSame(await storage.users.find(idOf('usr', 7)), userOf(7))

    const [one, two] = [1, 2].map((n) => keysOf(userOf(n)).emailKey)
    const addresses = [one, '\ud800', 'a\0b', two, two].map(String)
    const found = await Promise.all(addresses.map((emailKey) => storage.users.list({ ...everyone, emailKey }, PAGE)))
    t.strictSame(found.map(({ total }) => total), [1, 0, 0, 1, 1], 'what cannot be kept holds up no other')

    const list = (offset: number) => storage.users.list(everyone, { order: 'asc', limit: 3, from: { offset } })
    const offsets = [0, 0, 50, 50, 0]
    const pages = await Promise.all(offsets.map(list))
    for (const { items } of pages.slice(1)) for (const user of items) user.email = 'changed by a caller'
    t.strictSame(pages.map(({ items, total }) => [items.map(({ id }) => id), total]),
      offsets.map((offset) => [[0, 1, 2].map((n) => idOf('usr', offset + n)), 100]))
    t.strictSame(pages[0]?.items, [0, 1, 2].map((n) => userOf(n)))
  })
}

test('work begins when nobody can join it any more', async (t) => {
  let state = 'old'
  const ask = gather(8, (key: string) => key, async (keys) => keys.map(() => state))
  const first = ask('a')
  await null
  const second = ask('a')
  state = 'new'
  t.strictSame(await Promise.all([first, second]), ['new', 'new'])
})

test('a failure reaches every caller of a combined read, and no other one', async (t) => {
  let broken = true
  const ask = gather(2, (key: string) => key, async (keys) => {
    if (broken && keys.includes('a')) throw new Error('no database')
    return keys
  })
  const settled = await Promise.allSettled(['a', 'b', 'a', 'c'].map(ask))
  t.strictSame(settled.map(({ status }) => status), ['rejected', 'rejected', 'rejected', 'fulfilled'])
  await t.rejects(ask('a'), { message: 'no database' })
  broken = false
  t.strictSame(await Promise.all(['a', 'b', 'a', 'c'].map(ask)), ['a', 'b', 'a', 'c'])
})

const LATER = '2026-02-02T00:00:00.000Z'

interface SqliteConnection {
  prepare (sql: string, ...others: unknown[]): unknown
}

/**
 * Notes every statement that the only connection of an SQLite prepares from now on. Returns a function that returns
 * how many steps their plans have, and which of these scan the table of users.
 */
async function plansOf (host: Knex): Promise<() => Promise<{ steps: number, scans: string[] }>> {
  const connection: SqliteConnection = await host.client.acquireConnection()
  await host.client.releaseConnection(connection)
  const prepared: string[] = []
  const { prepare } = connection
  // Of a driver's own class it can't be assigned.
  Object.defineProperty(connection, 'prepare', {
    value: (sql: string, ...others: unknown[]) => {
      prepared.push(sql)
      return prepare.call(connection, sql, ...others)
    }
  })
  const { run } = dialectOf(host.client.driverName)
  const planOf = async (sql: string) => {
    const values = Array.from(new Set(sql.match(/\?\d+/g)), () => null)
    return (await run(connection, `EXPLAIN QUERY PLAN ${sql}`, values)).map(({ detail }) => String(detail))
  }
  return async () => {
    const steps = (await Promise.all(prepared.filter((sql) => /^(?:UPDATE|SELECT)/.test(sql)).map(planOf))).flat()
    return { steps: steps.length, scans: steps.filter((step) => /SCAN (?:fastify_users_)?users/.test(step)) }
  }
}

/** A Knex instance, and the options of a storage on it. */
function hostOf (t: Test, kind: 'sqlite' | 'postgres') {
  const connection = limitedConnection()
  if (kind === 'postgres') return { host: pgHost(t, { connection }), options: { schema: temporarySchema(t) } }
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  return { host, options: {} }
}

const ownSettings = { prepare: true, batching: { connections: 1, groups: 1, wait: Infinity } }
const storages = { 'a pool of our own': storageOnKnex, "a host's instance": knexStorage }

for (const [kind, where] of (['sqlite', 'postgres'] as const).flatMap((kind) =>
  (['a pool of our own', "a host's instance"] as const).map((where) => [kind, where] as const))) {
  test(`${kind}, ${where}: concurrent requests are few statements, however small the table was`, async (t) => {
    const { host, options } = hostOf(t, kind)
    const storage = storages[where](host, options, ownSettings)
    await migrated(t, storage)
    await addUser(storage, userOf(999))
    // From now on SQLite takes the table for a small one.
    if (kind === 'sqlite') await host.raw('ANALYZE')
    const plans = kind === 'sqlite' && where === 'a pool of our own' ? await plansOf(host) : null
    let acquired = 0
    const acquire = host.client.acquireConnection
    host.client.acquireConnection = function () {
      acquired++
      return acquire.call(this)
    }
    /** How often 200 concurrent calls acquire a connection. */
    async function cost (call: (n: number) => Promise<unknown>): Promise<number> {
      const before = acquired
      await Promise.all(numbers(200).map(call))
      return acquired - before
    }
    const update = (changes: UserChanges, ifVersion: number[] | null) => async (n: number) => {
      const guard = { ifVersion, unlessVersion: [] }
      t.equal((await changeUser(storage, idOf('usr', n), changes, { updatedAt: LATER, guard })).changed, true)
    }
    t.equal(await cost((n) => addUser(storage, userOf(n))), 1)
    t.equal(await cost(update(rename('new'), null)), 1)
    t.equal(await cost(update({ fields: { n: 1 } }, [2])), 1)
    t.equal(await cost(update({ ...rename('both'), fields: {} }, [3])), 1)
    const unchanging = await cost((n) => changeUser(storage, idOf('usr', n), rename('both'), { updatedAt: LATER }))
    t.ok(unchanging < 20, 'updates that change nothing are combined too')
    const finding = await cost(async (n) => { t.equal((await storage.users.find(idOf('usr', n)))?.version, 4) })
    t.ok(finding <= 4)
    const listing = await cost(async (n) => {
      const { emailKey } = keysOf(userOf(n))
      const { items } = await storage.users.list({ ...everyone, emailKey }, PAGE)
      t.strictSame(items.map(({ id }) => id), [idOf('usr', n)])
    })
    t.ok(listing <= 4)
    if (plans === null) return
    const { steps, scans } = await plans()
    t.ok(steps > 5)
    t.strictSame(scans, [], 'each row is looked up by an index')
  })
}

test("statements that are kept on a host's connection see its changes of the schema", async (t) => {
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  const storage = await migrated(t, knexStorage(host))
  const all = numbers(40).map((n) => userOf(n))
  await Promise.all(all.map((user) => addUser(storage, user)))
  const requireAll = async () => {
    t.strictSame(await Promise.all(all.map(({ id }) => storage.users.find(id))), all)
    t.strictSame((await storage.users.list(everyone, { ...PAGE, limit: 40 })).items, all)
  }
  await requireAll()
  await host.schema.alterTable('fastify_users_users', (table) => { table.string('of_the_host') })
  await requireAll()
  await host.schema.alterTable('fastify_users_users', (table) => { table.dropColumn('of_the_host') })
  await requireAll()
})
