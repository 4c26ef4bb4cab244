// What is used of Knex beyond its documented interface. Where one of these fails, read
// adapters/knex/drivers/knex-internals.ts again with the new version of Knex: the message says what breaks without it.
import { createRequire } from 'node:module'
import knex from 'knex'
import { test, type Test } from 'tap'
import {
  closeBesidePool, connectionsOf, discard, isDiscarded, isTransaction, onStatement, openBesidePool, outermostOf, poolOf,
  sqlite3ClientOf, takeFree
} from '../../adapters/knex/drivers/knex-internals.ts'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { clientOn } from '../../adapters/knex/drivers/node-sqlite-client.ts'
import { pgHost, pgUrlWith, terminate } from '../helpers/postgres.ts'
import { sqliteDriver, sqliteHost } from '../helpers/sqlite.ts'
import { temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

/** A Knex instance with one connection on each kind of database. */
function hostsOf (t: Test) {
  const onFile = sqliteHost(':memory:', { driver: sqliteDriver })
  t.teardown(() => onFile.destroy())
  return [
    { host: pgHost(t, { pool: { min: 0, max: 1 } }), driverName: 'pg' },
    { host: onFile, driverName: sqliteDriver }
  ]
}

test('an instance has a client that names its driver and lends the connections of its pool', async (t) => {
  for (const { host, driverName } of hostsOf(t)) {
    const client = poolOf(host)
    t.equal(client.driverName, driverName, 'else dialectOf() must learn elsewhere which database a host has')
    t.equal(client.pool.max, 1, 'else shareConnections() must learn elsewhere how many connections a pool has')
    const connection = await client.acquireConnection()
    t.type(connection, 'object', 'else statements must go to the driver on another way')
    t.equal(client.pool.numPendingAcquires(), 0)
    const waiting = client.acquireConnection()
    t.equal(client.pool.numPendingAcquires(), 1, 'else reads keep the only connection from those who wait for it')
    await client.releaseConnection(connection)
    t.equal(await waiting, connection, 'else connections of a host are not returned to its pool')
    await client.releaseConnection(connection)
    const destroyed: unknown[] = []
    client.pool.on('destroyRequest', (_id, each) => destroyed.push(each))
    await host.destroy()
    t.strictSame(destroyed, [connection], 'else sqlite3 cannot close: finalise its statements on another occasion')
  }
})

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
    await host.destroy()
    t.equal(takeFree(client), undefined)
  }
})

test('a transaction has a client that lends its one connection', async (t) => {
  for (const { host, driverName } of hostsOf(t)) {
    const transaction = await host.transaction()
    const client = poolOf(transaction)
    t.equal(client.driverName, driverName, 'else join() accepts transactions on other databases')
    const connection = await client.acquireConnection()
    await client.releaseConnection(connection)
    t.equal(await client.acquireConnection(), connection, 'else our statements run outside of the host\'s transaction')
    await transaction.rollback()
  }
})

test('a connection with the mark is destroyed, not lent again', async (t) => {
  for (const { host } of hostsOf(t)) {
    const client = poolOf(host)
    const first = await client.acquireConnection()
    t.notOk(isDiscarded(first))
    discard(first)
    t.ok(isDiscarded(first))
    await client.releaseConnection(first)
    const second = await client.acquireConnection()
    t.not(second, first, 'else lost connections are lent again: find how Knex marks a broken connection now')
    await client.releaseConnection(second)
  }
  t.doesNotThrow(() => discard(null))
})

test('a connection beside the pool is prepared as those of the pool, which does not know it', async (t) => {
  for (const { host, driverName } of hostsOf(t)) {
    const prepared: unknown[] = []
    const afterCreate = (connection: unknown, done: (error: null, connection: unknown) => void): void => {
      prepared.push(connection)
      done(null, connection)
    }
    const pool = { min: 0, max: 1, afterCreate }
    const other = knex({ ...host.client.config, pool })
    const connection = await openBesidePool(other)
    t.strictSame(prepared, [connection], 'else exports run without the settings of the host, such as a key')
    const client = poolOf(other)
    t.equal(client.pool.numUsed() + client.pool.numFree(), 0, 'else exports take connections of the pool')
    const [row] = await dialectOf(driverName).run(connection, "SELECT 'x' AS x", [])
    t.equal(row?.['x'], 'x')
    await closeBesidePool(other, connection)
    await t.rejects(dialectOf(driverName).run(connection, "SELECT 'x' AS x", []), 'else connections stay open')
    await other.destroy()
  }
  const given = Object({ client: { config: { connectionPool: {} } } })
  await t.rejects(openBesidePool(given), { code: 'fault' }, 'it has no settings of connections')
})

test('Knex marks a connection that the server has ended in the same way', async (t) => {
  const name = temporarySchema(t)
  const client = poolOf(pgHost(t, { connection: pgUrlWith({ application_name: name }) }))
  const connection = await client.acquireConnection()
  t.notOk(isDiscarded(connection))
  await terminate(name)
  const what = 'the mark of Knex, else shared connections that were lost go on being shared'
  await until(what, () => isDiscarded(connection))
  await client.releaseConnection(connection)
})

test('transactions are recognised, and lead to the outermost one', async (t) => {
  for (const { host } of hostsOf(t)) {
    t.notOk(isTransaction(host), 'else a host\'s instance passes for a transaction')
    const outer = await host.transaction()
    t.ok(isTransaction(outer), 'else join() refuses transactions: find how Knex tells them from instances')
    const inner = await (await outer.transaction()).transaction()
    t.ok(isTransaction(inner))
    t.equal(outermostOf(inner), outer, 'else callbacks of nested transactions run before the outermost one commits')
    t.equal(outermostOf(outer), outer)
    await outer.rollback()
  }
  const others = [null, {}, () => {}, Object.assign(() => {}, { isTransaction: true })]
  for (const other of others) t.notOk(isTransaction(other))
})

test('the outermost transaction emits every statement, those of nested ones too', async (t) => {
  for (const { host } of hostsOf(t)) {
    const statementsOf = async (work: (outer: knex.Knex.Transaction) => Promise<unknown>) => {
      const outer = await host.transaction()
      const statements: string[] = []
      onStatement(outer, (sql) => statements.push(sql))
      await work(outer)
      await outer.executionPromise
      return statements.map((sql) => sql.replace(/trx\d+/, 'ID'))
    }
    const committed = await statementsOf(async (outer) => {
      await outer.transaction((inner) => inner.raw('select 1'))
      await outer.commit()
    })
    t.match(committed, [/^savepoint ID/i, /^select 1$/, /^release( savepoint)? ID/i, /^commit/i],
      'else it is not known what a host has committed: find where Knex reports the statements that it sends')
    const undone = await statementsOf(async (outer) => {
      const inner = await outer.transaction()
      await inner.rollback()
      await outer.rollback()
    })
    t.match(undone, [/^savepoint ID/i, /^rollback to( savepoint)? ID/i, /^rollback/i],
      'else events are emitted for what a host has rolled back')
  }
})

test('the client for sqlite3 can be extended with another driver', async (t) => {
  const calls: unknown[] = []
  class DatabaseSync {
    constructor (...args: unknown[]) { calls.push(['open', ...args]) }
    close () { calls.push('close') }
    prepare (sql: string) {
      return {
        all: (...values: unknown[]) => { calls.push(['all', sql, values]); return [{ n: 7 }] },
        run: (...values: unknown[]) => { calls.push(['run', sql, values]); return { changes: 3, lastInsertRowid: 9 } }
      }
    }
  }
  const Client = clientOn({ DatabaseSync })
  t.ok(Client.prototype instanceof sqlite3ClientOf(createRequire(import.meta.url)))
  const host = knex({ client: Client, connection: { filename: 'x.db' }, useNullAsDefault: true })
  t.equal(host.client.driverName, 'node:sqlite')
  t.strictSame(await host('orders').select('n').where({ n: true }), [{ n: 7 }], 'else host queries have no rows')
  t.strictSame(await host('orders').insert({ n: 1 }), [9], 'else inserts do not return row ids')
  t.strictSame(await host('orders').insert({ n: 1 }, ['n']), [{ n: 7 }])
  t.equal(await host('orders').update({ n: 2 }), 3, 'else updates do not return the number of changed rows')
  t.equal(await host('orders').del(), 3, 'else deletions do not return the number of deleted rows')
  t.strictSame(await host('orders').first('n'), { n: 7 })
  await host.destroy()
  t.match(calls, [
    ['open', 'x.db', { timeout: 5000 }],
    ['all', 'select `n` from `orders` where `n` = ?', [1]],
    ['run', 'insert into `orders` (`n`) values (?)', [1]],
    ['all', /returning `n`$/, [1]],
    ['run', 'update `orders` set `n` = ?', [2]],
    ['run', 'delete from `orders`', []],
    ['all', /limit \?$/, [1]],
    'close'
  ], 'else Knex calls its clients in another way: see what lib/dialects/sqlite3 overrides of lib/client now')
})
