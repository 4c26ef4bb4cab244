// sqlite(): how it sets up its file, and what it does while another connection holds the lock.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { betterSqlite3Driver } from '../../adapters/knex/drivers/better-sqlite3.ts'
import { nodeSqliteDriver } from '../../adapters/knex/drivers/node-sqlite.ts'
import { photostructureDriver } from '../../adapters/knex/drivers/photostructure.ts'
import { sqlite3Driver } from '../../adapters/knex/drivers/sqlite3.ts'
import { sqlite, type SqliteDriver } from '../../adapters/sqlite.ts'
import { migrated } from '../helpers/migrated.ts'
import { apiKeyOf, everyone, idempotencyOf, idOf, rename, timeOf, userOf } from '../helpers/records.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addFirstKey, addKey, addUser, addUserOnce, changeUser } from '../helpers/writes.ts'

const PRAGMAS = ['synchronous', 'busy_timeout', 'foreign_keys', 'journal_mode']
const firstOne = { order: 'asc', limit: 1, from: { offset: 0 } } as const
const drivers = {
  'better-sqlite3': betterSqlite3Driver,
  'node:sqlite': nodeSqliteDriver,
  '@photostructure/sqlite': photostructureDriver,
  sqlite3: sqlite3Driver
}

/** A file that another process has opened, and a function that makes a store on it. */
async function besideOther (t: Test, driver: SqliteDriver) {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const other = sqliteHost(filename, { driver })
  t.teardown(() => other.destroy())
  return { other, storageWith: (options = {}) => sqlite({ filename, driver, ...options }) }
}

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: creates the file with its directory, and sets it up for safety`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'a', 'b', 'users.db')
    const dialect = dialectOf(driver)
    const { run } = dialect
    const used = t.capture(dialect, 'run', run)
    const storage = await migrated(t, sqlite({ filename, driver, busyTimeoutMs: 4321 }))
    t.match(storage.server.driver, new RegExp(`^${driver} \\d+\\.\\d+\\.\\d+$`))
    t.ok((await stat(`${filename}-wal`)).isFile(), 'the write-ahead log is on')
    const connection: unknown = used()[0]?.args[0]
    const setting = async (name: string) => (await run(connection, `pragma ${name}`, []))[0]
    const settings = await Promise.all(PRAGMAS.map(setting))
    // 2 is FULL: every commit is on the disk before it is answered. No statement waits for a lock: its caller tries
    // again, and others use the connection meanwhile.
    t.strictSame(JSON.parse(JSON.stringify(settings)), [
      { synchronous: 2 }, { timeout: 0 }, { foreign_keys: 1 }, { journal_mode: 'wal' }
    ])
  })

  test(`${driver}: waits for a file that others have locked, and then fails as unavailable`, { skip }, async (t) => {
    const { other, storageWith } = await besideOther(t, driver)
    await other.raw('create table mine (x)')
    const reading = await other.transaction()
    await reading.raw('select * from mine')
    // The other's lock prevents that the write-ahead log is turned on.
    const calls = t.capture(drivers[driver], 'execute', drivers[driver].execute)
    const storage = storageWith({ busyTimeoutMs: 5 })
    t.teardown(() => storage.close())
    const migration = storage.open({ migrate: true })
    let attempts = 0
    await until('a second attempt to turn the log on', () => (attempts += calls().length) >= 2)
    await reading.rollback()
    await migration
    const writing = await other.transaction()
    await writing.raw('insert into mine values (1)')
    const created = addFirstKey(storage, apiKeyOf(1))
    await t.rejects(created, { code: 'unavailable', driverCode: 'SQLITE_BUSY' })
    await writing.rollback()
  })

  test(`${driver}: while another process locks the file, reads go on and writes wait`, { skip }, async (t) => {
    const { other, storageWith } = await besideOther(t, driver)
    const storage = await migrated(t, storageWith())
    const add = (n: number) => addUser(storage, userOf(n))
    await add(1)
    const writing = await other.transaction()
    await writing.raw('create table mine (x)')
    let ended = 0
    const writes = Promise.all([
      add(2), add(3), addFirstKey(storage, apiKeyOf(1)),
      changeUser(storage, idOf('usr', 1), rename('B'), { updatedAt: timeOf(1) }),
      addUserOnce(storage, userOf(4), idempotencyOf(1))
    ].map((write) => write.finally(() => { ended++ })))
    for (let i = 0; i < 100; i++) {
      t.equal((await storage.users.find(idOf('usr', 1)))?.name, userOf(1).name)
      t.equal((await storage.users.list(everyone, firstOne)).total, 1)
    }
    t.equal(ended, 0, 'all of this was read while the writes waited')
    await writing.commit()
    await writes
    t.equal((await storage.users.list(everyone, firstOne)).total, 4)
  })

  test(`${driver}: a write that SQLite has rolled back itself costs no connection`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'users.db')
    const dialect = dialectOf(driver)
    const { run } = dialect
    const used = t.capture(dialect, 'run', run)
    const storage = await migrated(t, sqlite({ filename, driver }))
    const connection: unknown = used().at(-1)?.args[0]
    const add = (n: number) => addUserOnce(storage, userOf(n), idempotencyOf(n))
    await add(0)
    await run(connection, 'pragma max_page_count = 1', [])
    const full = async () => {
      for (let n = 1; n < 1000; n++) await add(n)
    }
    await t.rejects(full(), { code: 'unavailable', driverCode: 'SQLITE_FULL' })
    const { total } = await storage.users.list(everyone, firstOne)
    await run(connection, 'pragma max_page_count = 1000000', [])
    await add(1000)
    t.equal((await storage.users.list(everyone, firstOne)).total, total + 1)
    // A new connection would need space for its own files.
    t.ok(used().every(({ args }) => args[0] === connection))
  })

  test(`${driver}: its own turn and the lock of others have one time limit`, { skip }, async (t) => {
    const { other, storageWith } = await besideOther(t, driver)
    const storage = await migrated(t, storageWith({ busyTimeoutMs: 300 }))
    const writing = await other.transaction()
    await writing.raw('create table mine (x)')
    const begun = performance.now()
    const writes = Array.from({ length: 20 }, (_, n) => n % 2 === 0
      ? addUser(storage, userOf(n))
      : addKey(storage, apiKeyOf(n)))
    const codes = await Promise.all(writes.map((write) => write.then(() => 'written', ({ code }) => code)))
    const took = performance.now() - begun
    t.strictSame(new Set(codes), new Set(['unavailable']))
    // One after the other they would need twenty times the limit.
    t.ok(took < 3000, `${took} ms`)
    await writing.rollback()
  })
}
