// What is used of Knex beyond its documented interface, where no test of a store would say what is wrong. Where one of
// these fails, read adapters/knex/drivers/knex-internals.ts again with the new version of Knex.
import knex from 'knex'
import { test, type Test } from 'tap'
import {
  closeBesidePool, connectionsOf, discard, openBesidePool, poolOf, takeFree
} from '../../adapters/knex/drivers/knex-internals.ts'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { pgHost } from '../helpers/postgres.ts'
import { sqliteDriver, sqliteHost } from '../helpers/sqlite.ts'

/** A Knex instance with one connection on each kind of database. */
function hostsOf (t: Test) {
  const onFile = sqliteHost(':memory:', { driver: sqliteDriver })
  t.teardown(() => onFile.destroy())
  return [
    { host: pgHost(t, { pool: { min: 0, max: 1 } }), driverName: 'pg' },
    { host: onFile, driverName: sqliteDriver }
  ]
}

test('a call waits for a connection if others use all, and not while one is opened for it', async (t) => {
  const host = pgHost(t, { pool: { min: 0, max: 2 } })
  const client = poolOf(host)
  const acquired = Array.from({ length: 3 }, () => client.acquireConnection())
  t.strictSame(connectionsOf(host), { used: 0, free: 0, waiting: 1 }, 'else a store that starts is overloaded')
  const [first, second] = await Promise.all(acquired.slice(0, 2))
  t.strictSame(connectionsOf(host), { used: 2, free: 0, waiting: 1 })
  await client.releaseConnection(first)
  t.equal(await acquired[2], first)
  for (const each of [first, second]) await client.releaseConnection(each)
  t.strictSame(connectionsOf(host), { used: 0, free: 2, waiting: 0 })
  await host.destroy()
  t.strictSame(connectionsOf(host), { used: 0, free: 0, waiting: 0 })
})

test('a free connection is taken without waiting, as the pool would lend it', async (t) => {
  for (const { host } of hostsOf(t)) {
    const client = poolOf(host)
    t.equal(takeFree(client), undefined, 'none is open yet')
    const first = await client.acquireConnection()
    t.equal(takeFree(client), undefined, 'it is in use')
    await client.releaseConnection(first)
    t.equal(takeFree(client), first, 'else every statement pays for the way through the pool: look how it keeps them')
    t.strictSame(connectionsOf(host), { used: 1, free: 0, waiting: 0 })
    const waiting = client.acquireConnection()
    await client.releaseConnection(first)
    t.equal(await waiting, first, 'who waits at the pool gets it')
    discard(first)
    await client.releaseConnection(first)
    t.equal(takeFree(client), undefined, 'the pool destroys it')
    const second = await client.acquireConnection()
    t.not(second, first)
    await client.releaseConnection(second)
  }
})

test('a connection beside the pool is prepared as those of the pool, which does not know it', async (t) => {
  for (const { host, driverName } of hostsOf(t)) {
    const prepared: unknown[] = []
    const afterCreate = (connection: unknown, done: (error: null, connection: unknown) => void): void => {
      prepared.push(connection)
      done(null, connection)
    }
    const other = knex({ ...host.client.config, pool: { min: 0, max: 1, afterCreate } })
    const connection = await openBesidePool(other)
    t.strictSame(prepared, [connection], 'else exports run without the settings of the host, such as a key')
    t.strictSame(connectionsOf(other), { used: 0, free: 0, waiting: 0 }, 'else exports take connections of the pool')
    await closeBesidePool(other, connection)
    await t.rejects(dialectOf(driverName).run(connection, "SELECT 'x' AS x", []), 'else connections stay open')
    await other.destroy()
  }
  const given = Object({ client: { config: { connectionPool: {} } } })
  await t.rejects(openBesidePool(given), { code: 'fault' }, 'it has no settings of connections')
})
