// SQLite passes the conformance kit on every driver but the one that `conformance.test.ts` takes.
import { join } from 'node:path'
import { sqlite } from '../../adapters/sqlite.ts'
import { conform } from '../helpers/conform.ts'
import { sqliteDriver, sqliteDrivers } from '../helpers/sqlite.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const others = sqliteDrivers
  .filter(({ driver }) => driver !== sqliteDriver)
  .map(({ driver, skip }) => ({
    name: `sqlite on ${driver}`,
    create: async (t: Parameters<typeof temporaryDirectory>[0]) =>
      sqlite({ filename: join(await temporaryDirectory(t), 'users.db'), driver }),
    skip
  }))

conform(others, { from: 'ci', wholeFrom: 'nightly' })
