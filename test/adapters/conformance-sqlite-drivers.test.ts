// SQLite passes the conformance kit on every driver but the one that `conformance.test.ts` takes.
import { sqlite } from '../../adapters/sqlite.ts'
import { conform } from '../helpers/conform.ts'
import { sqliteDriver, sqliteDrivers } from '../helpers/sqlite.ts'
import { inFiles } from '../helpers/stores.ts'

const others = sqliteDrivers
  .filter(({ driver }) => driver !== sqliteDriver)
  .map(({ driver, skip }) => ({ ...inFiles(`sqlite on ${driver}`, (filename) => sqlite({ filename, driver })), skip }))

conform(others, { from: 'ci', wholeFrom: 'nightly' })
