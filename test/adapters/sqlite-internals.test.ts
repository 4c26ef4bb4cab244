// What is used of the drivers of SQLite beyond their documented interfaces: only how numbered values are bound. Where
// one of these fails, the driver's file in adapters/knex/drivers is to be read again with the new version.
import { test } from 'tap'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { poolOf } from '../../adapters/knex/drivers/knex-internals.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'

const bound = {
  'better-sqlite3': 'else it no longer takes an object with the numbers as keys, as issue 576 of better-sqlite3 has it',
  'node:sqlite': 'else it no longer takes an object whose keys are the numbers with a question mark before them',
  sqlite3: 'else it no longer takes a list'
}

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: values are bound by their numbers, in any order and more than once`, { skip }, async (t) => {
    const host = sqliteHost(':memory:', { driver })
    t.teardown(() => host.destroy())
    const pool = poolOf(host)
    const connection = await pool.acquireConnection()
    const { run } = dialectOf(driver)
    for (const prepare of [false, true, true]) {
      const rows = await run(connection, 'SELECT ?2 AS b, ?1 AS a, ?2 AS c, ?3 AS list', ['x', 7, [1, 'y']], prepare)
      t.strictSame(rows.map((row) => ({ ...row })), [{ b: 7, a: 'x', c: 7, list: '[1,"y"]' }], bound[driver])
    }
    const many = Array.from({ length: 12 }, (_, i) => i + 1)
    const [row] = await run(connection, `SELECT ${many.map((n) => `?${n} AS v${n}`).join(', ')}`, many)
    t.strictSame(Object.values(row ?? {}), many, bound[driver])
    await pool.releaseConnection(connection)
  })
}
