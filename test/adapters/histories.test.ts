// Totals and pages equal those of count(*) and OFFSET after any history of several connections: open transactions,
// plain SQL, and compaction in between; for all users and for those of tenants.
import fc from 'fast-check'
import { test, type Test } from 'tap'
import { type HistoryDatabase, postgresDatabase, sqliteDatabase } from '../helpers/histories/databases.ts'
import { playHistory } from '../helpers/histories/play.ts'
import { history } from '../helpers/histories/steps.ts'
import { from } from '../helpers/level.ts'
import { sqliteDriver, sqliteDrivers } from '../helpers/sqlite.ts'

interface Kind { name: string, skip: string | false, open (t: Test): Promise<HistoryDatabase> }
const kinds: Kind[] = [
  { name: 'postgres', skip: false, open: postgresDatabase },
  ...sqliteDrivers.map(({ driver, skip }): Kind => ({
    name: `sqlite with ${driver}`,
    skip: skip || (driver !== sqliteDriver && from('nightly')),
    open: (t) => sqliteDatabase(t, driver)
  }))
]
const numRuns = Number(process.env['HISTORIES'] ?? (from('nightly') === false ? 25 : 6))

for (const { name, skip, open } of kinds) {
  test(`${name}: totals and pages are exact after any history`, { skip, timeout: 250_000 }, async (t) => {
    const database = await open(t)
    const property = fc.asyncProperty(history, (steps) => playHistory(database, steps))
    const result = await fc.check(property, { numRuns, endOnFailure: true })
    t.notOk(result.failed, `${String(result.errorInstance)} ${fc.defaultReportMessage(result)}`)
  })
}
