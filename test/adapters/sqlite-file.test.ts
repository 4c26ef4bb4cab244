// sqlite(): the file of the database is made for its owner alone, and no write is acknowledged once it is gone.
import fs, { existsSync } from 'node:fs'
import { copyFile, mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { onWatchedFile, openSqliteFile } from '../../adapters/knex/connection/sqlite-file.ts'
import { letGo } from '../../adapters/knex/drivers/knex-internals.ts'
import { storageOnOwnKnex } from '../../adapters/knex/storage.ts'
import { sqlite, type SqliteDriver } from '../../adapters/sqlite.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { migrated } from '../helpers/migrated.ts'
import { everyone, keysOf, rename as renaming, userOf, webhookOf } from '../helpers/records.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { addUser, changeUser, removeUser } from '../helpers/writes.ts'

const GONE = { code: 'unavailable', message: /deleted or replaced/ }
const FILES = ['users.db', 'users.db-wal', 'users.db-shm']
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

/** Runs statements on a connection of another tool. */
async function runOn (filename: string, driver: SqliteDriver, statements: readonly string[]): Promise<void> {
  const tool = sqliteHost(filename, { driver })
  for (const statement of statements) await tool.raw(statement)
  await tool.destroy()
}

async function opened (t: Test, driver = sqliteDriver) {
  const directory = await temporaryDirectory(t)
  const filename = join(directory, 'users.db')
  const storage = await migrated(t, sqlite({ filename, driver }))
  const add = async (n: number) => addUser(storage, userOf(n))
  await add(1)
  return { directory, filename, storage, add }
}

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: nothing is acknowledged once the file is deleted`, { skip }, async (t) => {
    const { filename, storage, add } = await opened(t, driver)
    await rm(filename)
    await t.rejects(storage.open(), GONE)
    await t.rejects(add(2), GONE)
    await t.rejects(changeUser(storage, userOf(1).id, renaming('x'), { updatedAt: userOf(1).createdAt }), GONE)
    await t.rejects(removeUser(storage, userOf(1).id), GONE)
    const batch = [2, 3].map((n) =>
      ({ type: 'create', user: userOf(n), keys: keysOf(userOf(n)), event: null }) as const)
    const { users, webhooks } = repositoryOf(storage)
    await t.rejects(users.write(batch, { atomic: false, idempotency: null }), GONE, 'a batch')
    await t.rejects(repositoryOf(storage).events.erase(userOf(1).id), GONE, 'an erasure')
    await t.rejects(webhooks.insert(webhookOf(1)), GONE, 'a change of a webhook')
    t.notOk(existsSync(filename), 'and no other file takes its place')
  })

  test(`${driver}: nothing is acknowledged once the file is cut or written over`, { skip }, async (t) => {
    for (const content of ['', 'a text that is no database']) {
      const { filename, storage, add } = await opened(t, driver)
      // With an empty log, all is in the file.
      await runOn(filename, driver, ['PRAGMA wal_checkpoint(TRUNCATE)'])
      await add(2)
      await writeFile(filename, content)
      await t.rejects(add(3), GONE)
      await t.rejects(storage.open(), GONE)
      await t.rejects(add(4), GONE)
    }
  })

  test(`${driver}: a file that became smaller by VACUUM is the same one`, { skip }, async (t) => {
    const { filename, storage, add } = await opened(t, driver)
    const checkpoint = 'PRAGMA wal_checkpoint(TRUNCATE)'
    await runOn(filename, driver, ['CREATE TABLE big AS SELECT zeroblob(10000000) AS x', checkpoint])
    await add(2)
    await runOn(filename, driver, ['DROP TABLE big', 'VACUUM', checkpoint])
    t.ok((await stat(filename)).size < 5_000_000)
    await add(3)
    await storage.open()
  })

  test(`${driver}: the file alone has everything after a clean stop`, { skip }, async (t) => {
    const { directory, filename, storage, add } = await opened(t, driver)
    await add(2)
    let read = 0
    await storage.users.walk(everyone, 'asc', async (users) => { read += users.length })
    await storage.close()
    await copyFile(filename, join(directory, 'copy.db'))
    const copy = sqlite({ filename: join(directory, 'copy.db'), create: false })
    t.teardown(() => copy.close())
    await copy.open()
    t.match([read, await copy.users.find(userOf(1).id), await copy.users.find(userOf(2).id)],
      [2, { id: userOf(1).id }, { id: userOf(2).id }])
  })
}

test('nothing is acknowledged once the file or its log is replaced, and all is once it is back', async (t) => {
  for (const name of FILES.slice(0, 2)) {
    const { directory, storage, add } = await opened(t)
    const path = join(directory, name)
    await rename(path, `${path}.away`)
    await writeFile(path, '')
    await t.rejects(storage.open(), { code: 'unavailable' }, name)
    await t.rejects(add(2), { code: 'unavailable' }, name)
    await rename(`${path}.away`, path)
    await storage.open()
    await add(3)
  }
})

test('a link to the file, and a relative path, are followed once', async (t) => {
  const directory = await temporaryDirectory(t)
  await mkdir(join(directory, 'data'))
  await symlink(join(directory, 'data', 'users.db'), join(directory, 'link.db'))
  await writeFile(join(directory, 'data', 'users.db'), '')
  const linked = await migrated(t, sqlite({ filename: join(directory, 'link.db') }))
  await addUser(linked, userOf(1))
  await rename(join(directory, 'data', 'users.db-wal'), join(directory, 'away'))
  await t.rejects(linked.open(), { code: 'unavailable' }, 'the log is beside the file itself')

  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  process.chdir(directory)
  const relative = sqlite({ filename: 'relative.db' })
  t.teardown(() => relative.close())
  process.chdir(before)
  await relative.open({ migrate: true })
  await addUser(relative, userOf(1))
})

test('a file that is there is not opened to make it: closing it would drop the locks of this process', async (t) => {
  const { filename, add } = await opened(t)
  const { openSync } = fs
  const calls = t.capture(fs, 'openSync', openSync)
  syncBuiltinESMExports()
  const again = sqlite({ filename })
  t.strictSame(calls().map((call) => [call.args[1], 'threw' in call]), [['ax', true]], 'it is there')
  calls.restore()
  syncBuiltinESMExports()
  await again.close()
  await add(2)
})

test('a file that cannot be opened or made is named, with the account and what to do', async (t) => {
  const directory = await temporaryDirectory(t)
  const filename = join(directory, 'users.db')
  const made = sqlite({ filename })
  await made.open({ migrate: true })
  await made.close()
  await rm(`${filename}-wal`, { force: true })
  await mkdir(`${filename}-wal`)
  const storage = sqlite({ filename })
  t.teardown(() => storage.close())
  const mend = 'make it the owner of the file and its directory, on a disk that is mounted for writing'
  const problem = (path: string, code: string) => `the account ${userInfo().username} (uid ${userInfo().uid}) can't ` +
    `write the database file ${path} (${code}): ${mend}`
  const message = problem(filename, 'SQLITE_CANTOPEN')
  await t.rejects(storage.open({ migrate: true }), { code: 'unavailable', message })
  await t.rejects(storage.open(), { code: 'unavailable', message })
  const below = join(filename, 'users.db')
  const notMade = `fastify-users: sqlite(): the database file ${below} can't be made (EEXIST)`
  t.throws(() => sqlite({ filename: below }), { message: notMade })
  const isDirectory = `fastify-users: sqlite(): ${directory} is a directory: name a file in it`
  for (const create of [true, false]) {
    t.throws(() => sqlite({ filename: directory, create }), { message: isDirectory })
  }
})

test('what it creates is for its owner alone, and what is there keeps its mode', async (t) => {
  const directory = await temporaryDirectory(t)
  const made = join(directory, 'a', 'b')
  await migrated(t, sqlite({ filename: join(made, 'users.db') }))
  t.strictSame(await Promise.all(FILES.map((name) => modeOf(join(made, name)))), ['600', '600', '600'])
  t.strictSame(await Promise.all([made, join(made, '..')].map(modeOf)), ['700', '700'])

  const shared = join(directory, 'shared')
  await mkdir(shared, { mode: 0o750 })
  await writeFile(join(shared, 'users.db'), '', { mode: 0o640 })
  await migrated(t, sqlite({ filename: join(shared, 'users.db') }))
  t.strictSame(await Promise.all(FILES.map((name) => modeOf(join(shared, name)))), ['640', '640', '640'])
  t.equal(await modeOf(shared), '750')
})

test('with create: false, a file without a database is an error', async (t) => {
  const directory = await temporaryDirectory(t)
  const filename = join(directory, 'users.db')
  const problem = `fastify-users: sqlite(): there is no database in ${filename}, and create is false`
  t.throws(() => sqlite({ filename, create: false }), { message: problem })
  t.throws(() => sqlite({ filename: join(directory, 'none', 'users.db'), create: false }), /there is no database/)
  t.notOk(existsSync(filename), 'and nothing is made')
  await writeFile(filename, '')
  t.throws(() => sqlite({ filename, create: false }), { message: problem })
  const first = sqlite({ filename })
  await first.open({ migrate: true })
  await first.close()
  const again = sqlite({ filename, create: false })
  t.teardown(() => again.close())
  await again.open()
})

test('the log says whether the store is new', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const logged = async () => {
    const log = captureLog()
    const { app } = await testApp(t, {
      storage: sqlite({ filename }), server: { logger: Object({ stream: log.stream }) }
    })
    await app.close()
    return log.text()
  }
  t.match(await logged(), /keeps its users in sqlite \([^)]+\), a new store without users and keys"/)
  t.match(await logged(), /keeps its users in sqlite \([^)]+\)"/)
})

test('a connection that can only read is given up, and the next one may write', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const host = sqliteHost(filename, { driver: sqliteDriver })
  const file = openSqliteFile(filename, { create: true })
  const onHost = storageOnOwnKnex(host, {}, {})
  const storage = await migrated(t, onWatchedFile(onHost, file, async () => 1, () => letGo(host)))
  t.notOk(await storage.server.isReadOnly())
  // As that of a file that could not be written when it was opened.
  await host.raw('pragma query_only = on')
  await t.rejects(addUser(storage, userOf(1)), { code: 'unavailable', message: /can't write the database file/ })
  t.ok(await storage.server.isReadOnly())
  await addUser(storage, userOf(1))
  t.notOk(await storage.server.isReadOnly())
})
