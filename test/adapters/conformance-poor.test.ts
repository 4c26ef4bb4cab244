// The conformance kit on a PostgreSQL that can do little, once more with every transaction SERIALIZABLE.
import { test } from 'tap'
import { runKit, withoutTransactions } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { poorStore } from '../helpers/poor-postgres.ts'

for (const store of [poorStore(), poorStore(true)]) {
  test(store.name, { skip: from('ci') }, async (t) => {
    // Transactions are tested in conformance-host.test.ts.
    const create = async () => withoutTransactions(await store.create(t))
    runKit(t, create, { transactions: false }, { quick: from('nightly') !== false })
  })
}
