// Every storage of this package passes the conformance kit on a real database.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { sqlite } from '../../adapters/sqlite.ts'
import { runKit, withoutTransactions } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { sqliteDriver, sqliteDrivers } from '../helpers/sqlite.ts'
import { pooled, stores, temporaryDirectory } from '../helpers/stores.ts'

const onOtherDrivers = sqliteDrivers
  .filter(({ driver }) => driver !== sqliteDriver)
  .map(({ driver, skip }) => ({
    name: `sqlite on ${driver}`,
    create: async (t: Test) => sqlite({ filename: join(await temporaryDirectory(t), 'users.db'), driver }),
    skip
  }))

const own = stores.map((store) => ({ ...store, skip: false, quick: from('ci') !== false }))
// Only the driver or the way to the server differs.
const others = [...onOtherDrivers, pooled]
  .map((store) => ({ ...store, skip: from('ci') || store.skip, quick: from('nightly') !== false }))

for (const store of [...own, ...others]) {
  test(store.name, { skip: store.skip }, async (t) => {
    // Transactions are tested in conformance-host.test.ts, on a Knex of the host.
    const { quick } = store
    runKit(t, async () => withoutTransactions(await store.create(t)), { transactions: false }, { quick })
  })
}
