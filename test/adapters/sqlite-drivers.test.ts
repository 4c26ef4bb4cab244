// Which driver sqlite() takes, and what it says where none can be had.
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { nodeSqliteClient } from '../../adapters/knex/index.ts'
import { clientOn, nodeSqlite } from '../../adapters/knex/drivers/node-sqlite-client.ts'
import { toStorageError } from '../../adapters/knex/connection/driver-errors.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { retryWhileBusy } from '../../adapters/knex/connection/retry-while-busy.ts'
import { type DriverSource, loadSqliteDriver } from '../../adapters/knex/drivers/sqlite-drivers.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const WORKS = 'module.exports = class Database { close () {} }'
const BROKEN =
  "module.exports = class Database { constructor () { throw new Error('compiled against a different " +
    "Node.js version') } }"

/** A project with these packages, each a version and a text. */
async function projectWith (
  t: Test,
  packages: Record<string, readonly [version: string, text: string]>,
  nodeVersion = 'v22.13.0'
): Promise<DriverSource> {
  const directory = await temporaryDirectory(t)
  for (const [name, [version, text]] of Object.entries(packages)) {
    const path = join(directory, 'node_modules', name)
    await mkdir(path, { recursive: true })
    await writeFile(join(path, 'package.json'), JSON.stringify({ name, version, main: 'index.js' }))
    await writeFile(join(path, 'index.js'), text)
  }
  return { require: createRequire(join(directory, 'index.js')), nodeVersion, nodeSqlite: () => undefined }
}

test('takes the first driver that loads', async (t) => {
  const both = await projectWith(t, { 'better-sqlite3': ['13.2.0', WORKS], sqlite3: ['6.0.1', WORKS] })
  const better = { name: 'better-sqlite3', version: '13.2.0', client: 'better-sqlite3' }
  t.match(loadSqliteDriver(undefined, both), better)
  t.match(loadSqliteDriver('sqlite3', both), { name: 'sqlite3', version: '6.0.1', client: 'sqlite3' })
  const unasked = { ...both, nodeSqlite: () => { throw new Error('nobody asked for it') } }
  t.equal(loadSqliteDriver('sqlite3', unasked).name, 'sqlite3')
  const broken = await projectWith(t, { 'better-sqlite3': ['12.0.0', BROKEN], sqlite3: ['6.0.1', WORKS] })
  t.equal(loadSqliteDriver(undefined, broken).name, 'sqlite3')
  if (nodeSqlite() !== undefined) t.equal(loadSqliteDriver(undefined, { ...broken, nodeSqlite }).name, 'node:sqlite')
})

test('says of every driver why it does not load, and what mends it', async (t) => {
  const none = await projectWith(t, {}, 'v20.19.0')
  t.throws(() => loadSqliteDriver(undefined, none), {
    message: `fastify-users: sqlite() needs one of these drivers:
- better-sqlite3 is not installed: npm install better-sqlite3@12
- node:sqlite needs Node.js 22.13 or later, and this is v20.19.0: npm install @photostructure/sqlite@1
- @photostructure/sqlite is not installed: npm install @photostructure/sqlite@1
- sqlite3 is not installed: npm install sqlite3`
  })
  t.throws(() => loadSqliteDriver('better-sqlite3', { ...none, nodeVersion: 'v24.0.0' }), {
    message: 'fastify-users: sqlite(): better-sqlite3 is not installed: npm install better-sqlite3'
  })
  const root = process.cwd()
  process.chdir(await temporaryDirectory(t))
  t.teardown(() => process.chdir(root))
  t.throws(() => loadSqliteDriver('sqlite3', none), {
    message: `fastify-users: sqlite(): sqlite3 is not installed: npm install --prefix ${root} sqlite3`
  }, 'a service runs elsewhere than where it is installed')
  process.chdir(root)
  // That version would end an older Node.js.
  const ends = await projectWith(t, { 'better-sqlite3': ['13.0.0', 'process.abort()'] }, 'v20.19.0')
  t.throws(() => loadSqliteDriver('better-sqlite3', ends), {
    message: 'fastify-users: sqlite(): better-sqlite3 13.0.0 needs Node.js 22 or later, and this is v20.19.0: ' +
      'npm install better-sqlite3@12'
  })
  const broken = await projectWith(t, { 'better-sqlite3': ['12.0.0', BROKEN] })
  t.throws(() => loadSqliteDriver('better-sqlite3', broken), {
    message:
      'fastify-users: sqlite(): better-sqlite3 12.0.0 is installed, but does not load on this ' +
        'Node.js (v22.13.0): npm rebuild better-sqlite3',
    cause: { message: /different Node\.js version/ }
  })
})

test('node:sqlite is there from Node.js 22.13 on', async (t) => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  t.equal(nodeSqlite() !== undefined, major > 22 || (major === 22 && minor >= 13))
  t.equal(nodeSqlite(() => { throw new Error('no such module') }), undefined)
  if (nodeSqlite() !== undefined) t.equal(nodeSqliteClient().prototype.driverName, 'node:sqlite')
  t.throws(() => clientOn(undefined), {
    message: `fastify-users: node:sqlite needs Node.js 22.13 or later, and this is ${process.version}: npm ` +
      'install better-sqlite3@12, and name it as the client of your Knex instance'
  })
})

test('loading node:sqlite leaves the warnings of the process as they were', async (t) => {
  const { emitWarning } = process
  const warnings = t.capture(process, 'emitWarning')
  nodeSqlite((): never => {
    process.emitWarning('SQLite is an experimental feature')
    throw new Error('no such module')
  })
  t.equal(warnings().length, 0)
  process.emitWarning('x')
  t.equal(warnings().length, 1)
  t.type(emitWarning, 'function')
})

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: a host's own queries answer as on every Knex client of SQLite`, { skip }, async (t) => {
    const host = sqliteHost(':memory:', { driver })
    t.teardown(() => host.destroy())
    await host.schema.createTable('orders', (table) => {
      table.increments()
      table.string('item').unique()
      table.boolean('paid')
      table.datetime('at')
    })
    const at = new Date('2026-01-01T00:00:00.000Z')
    t.strictSame(await host('orders').insert({ item: 'a', paid: true, at }), [1])
    t.strictSame(await host('orders').insert([{ item: 'b', paid: false, at: null }], ['id', 'item']), [
      { id: 2, item: 'b' }
    ])
    const [first] = await host('orders').select()
    t.strictSame(first, { id: 1, item: 'a', paid: 1, at: at.valueOf() })
    t.equal(Object.getPrototypeOf(first), Object.prototype, 'rows are plain objects')
    t.equal(await host('orders').where({ id: 2 }).update({ paid: true }), 1)
    t.strictSame(await host('orders').where({ id: 2 }).update({ item: 'c' }, ['item']), [{ item: 'c' }])
    t.equal(await host('orders').where({ id: 2 }).del(), 1)
    t.strictSame(await host('orders').pluck('item'), ['a'])
    t.match(await host.raw('select count(*) as n from orders where item = ?', ['a']), [{ n: 1 }])
    await t.rejects(host('orders').insert({ item: 'a' }), /UNIQUE constraint failed: orders\.item/)
    await t.rejects(
      host.transaction(async (trx) => {
        await trx('orders').insert({ item: 'd' })
        throw new Error('undone')
      }),
      { message: 'undone' }
    )
    const streamed = []
    for await (const row of host('orders').select('item').stream()) streamed.push(row)
    t.match(streamed, [{ item: 'a' }])
  })
}

test('waits for the lock of another connection, and for no other error', async (t) => {
  const failing = (times: number, error: object) => {
    let calls = 0
    return () => (calls++ < times ? Promise.reject(error) : Promise.resolve(calls))
  }
  const errorWith = (members: object) => Object.assign(new Error('x'), members)
  const ofNode = (errcode: number) => errorWith({ code: 'ERR_SQLITE_ERROR', errcode })
  const busy = errorWith({ code: 'SQLITE_BUSY' })
  t.equal(await retryWhileBusy(failing(3, busy), Infinity), 4)
  t.equal(await retryWhileBusy(failing(1, ofNode(5)), Infinity), 2)
  t.equal(await retryWhileBusy(failing(1, ofNode(261)), Infinity), 2, 'another connection recovers the log')
  await t.rejects(retryWhileBusy(failing(Infinity, busy), 20), busy)
  for (const error of [new Error('x'), errorWith({ code: 'SQLITE_BUSY_SNAPSHOT' }), ofNode(517)]) {
    await t.rejects(retryWhileBusy(failing(1, error), Infinity), error)
  }
})

test('errors of node:sqlite have the codes of SQLite', async (t) => {
  const rows: Array<[errcode: number, expected: unknown[], message?: string]> = [
    [5, ['unavailable', 'SQLITE_BUSY']],
    [517, ['unavailable', 'SQLITE_BUSY_SNAPSHOT']],
    [13, ['unavailable', 'SQLITE_FULL']],
    [14, ['unavailable', 'SQLITE_CANTOPEN']],
    [26, ['fault', 'SQLITE_NOTADB']],
    [1555, ['fault', 'SQLITE_CONSTRAINT']],
    [99, ['fault', 'SQLITE_ERROR']],
    [2067, ['email_taken', undefined], 'UNIQUE constraint failed: fastify_users_users.email_key']
  ]
  for (const [errcode, expected, message = 'x'] of rows) {
    const error = Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode })
    const { code, driverCode } = toStorageError(error, namesOf({}, false))
    t.strictSame([code, driverCode], expected, String(errcode))
  }
})
