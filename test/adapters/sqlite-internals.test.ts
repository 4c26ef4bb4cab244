// What is used of the drivers of SQLite beyond their documented interfaces: how numbered values are bound, and which
// code an error has. If one of these fails, read the driver's file in adapters/knex/drivers again with the new version.
import { join } from 'node:path'
import { test } from 'tap'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { poolOf } from '../../adapters/knex/drivers/knex-internals.ts'
import { photostructureDriver } from '../../adapters/knex/drivers/photostructure.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: values are bound by their numbers, in any order and more than once`, { skip }, async (t) => {
    const host = sqliteHost(':memory:', { driver })
    t.teardown(() => host.destroy())
    const pool = poolOf(host)
    const connection = await pool.acquireConnection()
    const { run } = dialectOf(driver)
    for (const prepare of [false, true, true]) {
      const rows = await run(connection, 'SELECT ?2 AS b, ?1 AS a, ?2 AS c, ?3 AS list', ['x', 7, [1, 'y']], prepare)
      t.strictSame(rows.map((row) => ({ ...row })), [{ b: 7, a: 'x', c: 7, list: '[1,"y"]' }])
    }
    const many = Array.from({ length: 12 }, (_, i) => i + 1)
    const [row] = await run(connection, `SELECT ${many.map((n) => `?${n} AS v${n}`).join(', ')}`, many)
    t.strictSame(Object.values(row ?? {}), many)
    await pool.releaseConnection(connection)
  })
}

const PHOTOSTRUCTURE = '@photostructure/sqlite'
const skip = sqliteDrivers.find(({ driver }) => driver === PHOTOSTRUCTURE)?.skip ?? false

test(`${PHOTOSTRUCTURE}: rows and statements without rows fail with the codes of SQLite`, { skip }, async (t) => {
  const { run } = photostructureDriver
  const filename = join(await temporaryDirectory(t), 'a.db')
  const open = async () => {
    const { client } = sqliteHost(filename, { driver: PHOTOSTRUCTURE })
    const connection: unknown = await client.acquireRawConnection()
    t.teardown(() => client.destroyRawConnection(connection))
    return connection
  }
  const [one, other] = [await open(), await open()]
  const script = 'PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 0; CREATE TABLE IF NOT EXISTS t (a UNIQUE)'
  for (const connection of [one, other]) await photostructureDriver.execute(connection, script)
  const insert = (value: string, returning: string) => run(one, `INSERT INTO t VALUES (?1) ${returning}`, [value])
  const codeOf = (statement: Promise<unknown>) =>
    statement.then(() => null, (error: unknown) => Object(error).errcode)
  await insert('a', '')
  for (const returning of ['', 'RETURNING a']) {
    t.equal(await codeOf(insert('a', returning)) & 0xff, 19)
    await run(other, 'BEGIN IMMEDIATE', [])
    t.equal(await codeOf(insert('b', returning)), 5)
    await run(one, 'BEGIN', [])
    t.equal(await codeOf(insert('b', returning)), 5, 'in a transaction too, which may try again')
    await run(other, 'ROLLBACK', [])
    await insert(`later${returning}`, returning)
    await run(one, 'COMMIT', [])
    await run(one, 'BEGIN', [])
    await run(one, 'SELECT * FROM t', [])
    await run(other, `INSERT INTO t VALUES ('other${returning}')`, [])
    t.equal(await codeOf(insert('c', returning)), 517)
    await run(one, 'ROLLBACK', [])
  }
  t.match(await run(one, 'SELECT count(*) AS n FROM t', []), [{ n: 5 }])
})

test(`${PHOTOSTRUCTURE}: runs a statement again whose lock became free meanwhile`, { skip }, async (t) => {
  let calls = 0
  const row = { a: 1 }
  const all = () => {
    if (calls++ === 0) throw Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR' })
    return [row]
  }
  const connection = { isTransaction: true, prepare: () => ({ all }), exec () {} }
  t.strictSame(await photostructureDriver.run(connection, 'x', []), [row])
})
