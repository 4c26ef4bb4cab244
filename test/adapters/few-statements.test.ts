// Concurrent requests are few statements, each of which looks its rows up by an index.
import type { Knex } from 'knex'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { storageOnKnex } from '../../adapters/knex/storage.ts'
import type { PageRequest, UserChanges } from '../../lib/storage/storage.ts'
import { limitedConnection, pgHost } from '../helpers/postgres.ts'
import { everyone, idOf, keysOf, rename, userOf } from '../helpers/records.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { addUser, changeUser } from '../helpers/writes.ts'

const LATER = '2026-02-02T00:00:00.000Z'
const PAGE: PageRequest = { order: 'asc', limit: 20, from: { offset: 0 } }
const numbers = (length: number) => Array.from({ length }, (_, n) => n)

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
    t.teardown(() => storage.close())
    await storage.open({ migrate: true })
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

test("statements that are kept on a host's connection see its changes of the schema, and end with it", async (t) => {
  const filename = join(await temporaryDirectory(t), 'app.db')
  const host = sqliteHost(filename)
  const storage = knexStorage(host)
  await storage.open({ migrate: true })
  await Promise.all(numbers(40).map((n) => addUser(storage, userOf(n))))
  const readAll = async () => {
    const users = await Promise.all(numbers(40).map((n) => storage.users.find(idOf('usr', n))))
    const pages = await Promise.all([0, 20].map((offset) =>
      storage.users.list(everyone, { ...PAGE, from: { offset } })))
    return [users, pages.map(({ items }) => items).flat()]
  }
  const all = numbers(40).map((n) => userOf(n))
  t.strictSame(await readAll(), [all, all])
  await host.schema.alterTable('fastify_users_users', (table) => { table.string('of_the_host') })
  await host.raw('VACUUM')
  t.strictSame(await readAll(), [all, all])
  await host.schema.alterTable('fastify_users_users', (table) => { table.dropColumn('of_the_host') })
  await host.transaction(async (trx) => { await trx.raw('CREATE TABLE beside (id integer)') })
  t.strictSame(await readAll(), [all, all])
  await storage.close()
  await host.destroy()
})
