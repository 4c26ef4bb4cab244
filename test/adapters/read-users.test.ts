// Connections of reads: walks run beside the pool, at most two at a time; other reads share its connections.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { shareConnections } from '../../adapters/knex/connection/shared-connections.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import type { Storage, UserRecord } from '../../lib/storage/storage.ts'
import { migrated } from '../helpers/migrated.ts'
import { connectPg, pgHost, pgUrlWith, terminate, waitingForLock } from '../helpers/postgres.ts'
import { everyone, idOf, userOf } from '../helpers/records.ts'
import { sqliteDriver, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addUser, removeUser } from '../helpers/writes.ts'

const USERS = 1001

/** A store with more users than a part, closed with the test. */
async function filled<Store extends Storage> (t: Test, storage: Store, length = USERS): Promise<Store> {
  await migrated(t, storage)
  const add = (n: number) => addUser(storage, userOf(n))
  await Promise.all(Array.from({ length }, (_, n) => add(n)))
  return storage
}

/** Begins to read, and goes on when it is released. */
async function held (storage: Storage) {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const users: UserRecord[] = []
  const reading = storage.users.walk(everyone, 'asc', async (part) => {
    users.push(...part)
    await released
  }).then(() => 'ended', ({ code, message }) => `${code}: ${message}`)
  await until('the first part was there', () => users.length > 0)
  return { release, reading, users }
}

const onPostgres = (t: Test, options = {}) =>
  postgres({ connection: pgUrl(), schema: temporarySchema(t), pool: { max: 1 }, ...options })
const onFile = async (t: Test) =>
  sqlite({ filename: join(await temporaryDirectory(t), 'users.db'), driver: sqliteDriver })

for (const [name, make] of [['postgres', onPostgres], ['sqlite', onFile]] as const) {
  test(`${name}: readers take no connection of the pool, a third is refused, and closing ends them`, async (t) => {
    const storage = await filled(t, await make(t))
    const readers = [await held(storage), await held(storage)]
    t.equal((await storage.users.find(idOf('usr', 3)))?.name, 'User 3')
    t.equal(storage.server.connections?.().used, 0)
    const third = { code: 'unavailable', message: /already running/ }
    await t.rejects(storage.users.walk(everyone, 'asc', async () => {}), third)
    await storage.close()
    for (const { reading } of readers) t.equal(await reading, 'unavailable: the storage is closed')
    await t.rejects(storage.users.walk(everyone, 'asc', async () => {}), { code: 'unavailable' })
  })
}

test('postgres: a connection that is lost ends its reader', async (t) => {
  const name = temporarySchema(t)
  // One part is read while the one before is taken.
  const storage = await filled(t, onPostgres(t, { connection: pgUrlWith({ application_name: name }) }), 2 * USERS)
  const { release, reading, users } = await held(storage)
  await terminate(name)
  release()
  t.match(await reading, /^unavailable: the database cannot be reached/)
  t.equal(users.length, 2000)
})

test('postgres: no timeout of the server ends a reader that takes its time', async (t) => {
  const options = '-c statement_timeout=300 -c idle_in_transaction_session_timeout=100'
  const schema = temporarySchema(t)
  // The users are made without the limits, which a busy machine does not meet.
  await filled(t, onPostgres(t, { schema }))
  const storage = onPostgres(t, { schema, connection: pgUrlWith({ options }) })
  t.teardown(() => storage.close())
  await storage.open()
  const watcher = await connectPg(t, pgUrlWith({ options }))
  const lost = new Promise((resolve) => watcher.on('error', resolve))
  const { release, reading } = await held(storage)
  // One that the limit holds for is ended: then it would have ended ours too.
  await watcher.query('BEGIN')
  await lost
  release()
  t.equal(await reading, 'ended')
})

test('postgres: a reader that cannot begin says so, and the next one can', async (t) => {
  const schema = temporarySchema(t)
  const storage = await filled(t, onPostgres(t, { schema }))
  const locker = await connectPg(t)
  await locker.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users IN ACCESS EXCLUSIVE MODE`)
  await t.rejects(storage.users.walk(everyone, 'asc', async () => {}), { code: 'unavailable', driverCode: '55P03' })
  await locker.query('COMMIT')
  const { release, reading } = await held(storage)
  release()
  t.equal(await reading, 'ended')
})

test('postgres: closing does not wait for a connection that is being opened', async (t) => {
  const host = pgHost(t)
  const schema = temporarySchema(t)
  const storage = await filled(t, knexStorage(host, { schema }))
  let open = (): void => {}
  const acquire = host.client.acquireRawConnection.bind(host.client)
  const opened = new Promise<void>((resolve) => { open = resolve })
  let asked = false
  host.client.acquireRawConnection = async () => {
    asked = true
    await opened
    return acquire()
  }
  const reading = storage.users.walk(everyone, 'asc', async () => {}).catch(({ code }) => code)
  await until('a connection was asked for', () => asked)
  await storage.close()
  t.equal(await reading, 'unavailable')
  open()
  const connections = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE $1'
  const part = `%${schema}%ORDER BY id ASC LIMIT%`
  await until('it is closed', async () => (await sql(connections, [part]))[0]?.['n'] === 0)
})

test('a connection that cannot be opened is unavailable', async (t) => {
  const host = pgHost(t)
  const storage = await filled(t, knexStorage(host, { schema: temporarySchema(t) }))
  host.client.acquireRawConnection = async () => { throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) }
  const refused = { code: 'unavailable', driverCode: 'ECONNREFUSED' }
  await t.rejects(storage.users.walk(everyone, 'asc', async () => {}), refused)
})

test('SQLite in memory, or without a write-ahead log, is read by one statement', async (t) => {
  const directory = await temporaryDirectory(t)
  for (const filename of [':memory:', join(directory, 'host.db')]) {
    const host = sqliteHost(filename)
    t.teardown(() => host.destroy())
    const storage = await filled(t, knexStorage(host))
    const { release, reading, users } = await held(storage)
    await removeUser(storage, idOf('usr', 1000))
    release()
    t.equal(await reading, 'ended')
    t.equal(users.length, USERS)
  }
})

test('sqlite: a file that was replaced is not read', async (t) => {
  const directory = await temporaryDirectory(t)
  const filename = join(directory, 'users.db')
  const storage = await filled(t, sqlite({ filename, driver: sqliteDriver }))
  await rm(filename)
  await t.rejects(storage.users.walk(everyone, 'asc', async () => {}), { code: 'unavailable' })
})

for (const max of [1, 4]) {
  test(`a pool of ${max}: concurrent reads are answered, and repeated if their connection is lost`, async (t) => {
    const schema = temporarySchema(t)
    const connection = pgUrlWith({ application_name: schema })
    const storage = await migrated(t, postgres({ connection, schema, pool: { max } }))
    const connections = () => sql('select pid from pg_stat_activity where application_name = $1', [schema])
    const reads = Array.from({ length: 300 }, (_, n) => storage.users.find(`usr_${n}`))
    const user = userOf(max)
    await addUser(storage, user)
    t.strictSame(await Promise.all(reads), reads.map(() => null))
    t.ok((await connections()).length <= max)

    const blocker = await connectPg(t)
    await blocker.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users`)
    const lost = Promise.all(Array.from({ length: Math.min(2, max) }, () => storage.users.find(user.id)))
    await until('a read that waits for the lock', async () => (await waitingForLock(schema)).length > 0)
    const [ended] = await waitingForLock(schema)
    await blocker.query('select pg_terminate_backend($1)', [ended])
    const waitsAgain = async () => (await waitingForLock(schema)).some((pid) => pid !== ended)
    await Promise.race([until('a read that waits on another connection', waitsAgain), lost])
    await blocker.end()
    const users = await lost
    t.strictSame(users, users.map(() => user), 'a read whose connection was lost is repeated')
  })
}

test('the only connection of a pool is not shared while others wait for it', async (t) => {
  let waiting = 0
  const released: unknown[] = []
  const share = shareConnections(Object({
    pool: { max: 1, numPendingAcquires: () => waiting },
    acquireConnection: async () => 'the only one',
    releaseConnection: async (connection: unknown) => { released.push(connection) }
  }), 1, () => {})
  let end = () => {}
  const first = share(() => new Promise<void>((resolve) => { end = resolve }))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(await share(async () => 'joined'), 'joined')
  waiting = 1
  t.equal(share(async () => 'joined'), null)
  end()
  await first
  t.strictSame(released, ['the only one'])
})

test('sqlite: continuous reads do not keep a writer waiting', async (t) => {
  const storage = await migrated(t, sqlite({ filename: join(await temporaryDirectory(t), 'users.db') }))
  const list = (offset: number) => storage.users.list(everyone, { order: 'asc', limit: 3, from: { offset } })
  const reading = new AbortController()
  const readers = Array.from({ length: 16 }, async (_, n) => {
    while (!reading.signal.aborted) await (n % 2 === 0 ? storage.users.find(userOf(n).id) : list(n))
  })
  for (let n = 0; n < 50; n++) await addUser(storage, userOf(n))
  reading.abort()
  await Promise.all(readers)
  t.equal((await list(0)).total, 50)
})
