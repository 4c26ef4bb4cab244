// A database that is away, silent, locked or busy: requests get 503 in time, and the service recovers.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { captureLog } from '../helpers/log.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { startProxy } from '../helpers/tcp-proxy.ts'

/** A proxy before the suite's PostgreSQL, and the URL of the database through it. */
async function behindProxy (t: Test) {
  const url = new URL(pgUrl())
  const proxy = await startProxy(Number(url.port))
  t.teardown(() => proxy.close())
  url.port = String(proxy.port)
  return { proxy, connection: url.href }
}

test('a PostgreSQL that goes away is 503, and the service recovers by itself', async (t) => {
  const { proxy, connection } = await behindProxy(t)
  const log = captureLog()
  const { call, app } = await testApp(t, {
    storage: postgres({ connection, schema: temporarySchema(t) }),
    apiKeys: { cache: 0 },
    server: { logger: { stream: log.stream } }
  })
  t.equal((await call('GET', '/users')).statusCode, 200)
  proxy.close()
  for (let i = 0; i < 3; i++) {
    const response = await call('GET', '/users')
    t.strictSame(
      [response.statusCode, response.headers['retry-after'], response.json().code],
      [503, '5', 'storage_unavailable']
    )
  }
  t.match(log.text(), /the storage is unavailable/)
  await proxy.open()
  t.equal((await call('POST', '/users', { payload: { name: 'A', email: 'a@b.co' } })).statusCode, 201)
  t.equal((await app.users.list()).meta.total, 1)
})

test('a database that stops answering is 503 after statementTimeoutMs, and closing does not wait for it', async (t) => {
  const { proxy, connection } = await behindProxy(t)
  const { call, app } = await testApp(t, {
    storage: postgres({ connection, schema: temporarySchema(t), statementTimeoutMs: 1000 })
  })
  // Not over HTTP: storing the last use of the key would still be opening a connection, and later calls would wait.
  t.equal((await app.users.list()).meta.total, 0)
  proxy.freeze()
  t.match(await Promise.all([call('GET', '/users'), call('GET', '/users')]), [{ statusCode: 503 }, { statusCode: 503 }])
  proxy.thaw()
  t.equal((await call('GET', '/users')).statusCode, 200, 'the silent connections were discarded')
  proxy.freeze()
  const hanging = call('GET', '/users')
  await app.close()
  t.equal((await hanging).statusCode, 503)
})

test('a PostgreSQL that is slow, and not overloaded, serves as many clients as there are places', async (t) => {
  const { proxy, connection } = await behindProxy(t)
  const { call } = await testApp(t, { storage: postgres({ connection, schema: temporarySchema(t) }) })
  t.equal((await call('GET', '/users')).statusCode, 200)
  proxy.slow(200)
  const clients = Array.from({ length: 32 }, async (_, client) => {
    const create = (n: number) =>
      call('POST', '/users', { payload: { name: 'A', email: `${client}-${n}@example.org` } })
    return [await create(0), await create(1)]
  })
  const statuses = (await Promise.all(clients)).flat().map(({ statusCode }) => statusCode)
  t.strictSame(statuses, Array.from({ length: 64 }, () => 201))
})

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: reads are served while more writes wait for the lock of others than have places`, {
    skip: skip || (driver !== sqliteDriver && from('nightly'))
  }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'users.db')
    const { call } = await testApp(t, { storage: sqlite({ filename, driver }), limits: { inFlight: 8 } })
    t.equal((await call('GET', '/users')).statusCode, 200)
    const other = sqliteHost(filename, { driver })
    t.teardown(() => other.destroy())
    const writing = await other.transaction()
    await writing.raw('create table mine (x)')
    let refused = 0
    const writes = Array.from({ length: 24 }, async (_, n) => {
      const answer = await call('POST', '/users', { payload: { name: 'A', email: `${n}@example.org` } })
      if (answer.statusCode === 503) refused++
      return answer
    })
    const reads = await Promise.all(Array.from({ length: 8 }, () => call('GET', '/users?limit=5')))
    await until('those without a place are refused', () => refused === 16)
    reads.push(await call('GET', '/users'))
    await writing.commit()
    const statuses = (all: typeof reads) => all.map(({ statusCode }) => statusCode).sort()
    t.strictSame(statuses(reads), Array.from({ length: 9 }, () => 200))
    t.strictSame(statuses(await Promise.all(writes)), [
      ...Array.from({ length: 8 }, () => 201), ...Array.from({ length: 16 }, () => 503)
    ])
  })
}
