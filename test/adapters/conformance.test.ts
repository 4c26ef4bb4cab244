// Every storage of this package passes the conformance kit on a real database, also on a host's Knex with settings of
// its own.
import { join } from 'node:path'
import knex, { type Knex } from 'knex'
import { test, type Test } from 'tap'
import { knexStorage, type KnexStorageOptions } from '../../adapters/knex/index.ts'
import { testStorage } from '../../adapters/testing/index.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { runKit, transactionsOf, withoutTransactions } from '../helpers/kit.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgBouncerUrl, pgUrl, pooled, stores, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const onOtherDrivers = sqliteDrivers
  .filter(({ driver }) => driver !== sqliteDriver)
  .map(({ driver, skip }) => ({
    name: `sqlite on ${driver}`,
    create: async (t: Test) => sqlite({ filename: join(await temporaryDirectory(t), 'users.db'), driver }),
    skip
  }))

for (const store of [...stores.map((store) => ({ ...store, skip: false })), ...onOtherDrivers, pooled]) {
  test(store.name, { skip: store.skip }, async (t) => {
    // Transactions are tested below, on a Knex of the host's.
    runKit(t, async () => withoutTransactions(await store.create(t)), { transactions: false })
  })
}

// Like Knex's snake-case mappers: they change every identifier in a query, and every row of an answer.
const mappers = {
  wrapIdentifier: (value: string, original: (value: string) => string) => original(value.toUpperCase()),
  postProcessResponse: () => { throw new Error('the host processes our rows') }
}

interface Host {
  name: string
  make: (t: Test) => Promise<{ host: Knex, options: KnexStorageOptions }>
  skip: string | false
}

const sqliteHosts = sqliteDrivers.map(({ driver, skip }): Host => ({
  name: `${driver} with mappers`,
  make: async (t) => ({
    host: sqliteHost(join(await temporaryDirectory(t), 'host.db'), { driver, asyncStackTraces: true, ...mappers }),
    options: { tablePrefix: 'people_' }
  }),
  skip
}))

const SESSION = '-c default_transaction_isolation=serializable -c timezone=Asia/Kathmandu -c datestyle=German'

const hosts: Host[] = [
  ...sqliteHosts,
  {
    name: 'pg with mappers, another isolation level, time zone and date style',
    make: async (t) => ({
      host: knex({
        client: 'pg',
        connection: { connectionString: pgUrl(), options: SESSION },
        pool: { min: 0, max: 8 },
        ...mappers
      }),
      options: { schema: temporarySchema(t) }
    }),
    skip: false
  },
  {
    name: 'pg through PgBouncer',
    make: async (t) => ({
      host: knex({ client: 'pg', connection: String(pgBouncerUrl()), pool: { min: 0, max: 8 } }),
      options: { schema: temporarySchema(t) }
    }),
    skip: pooled.skip
  }
]

for (const { name, make, skip } of hosts) {
  test(`a Knex instance of the host: ${name}`, { skip }, async (t) => {
    const create = async () => {
      const { host, options } = await make(t)
      t.teardown(() => host.destroy())
      return { storage: knexStorage(host, options), begin: transactionsOf(host) }
    }
    runKit(t, create, { transactions: true })
  })

  test(`all duties inside one transaction of the host: ${name}`, { skip }, async (t) => {
    const create = async () => {
      const { host, options } = await make(t)
      const transaction = await host.transaction()
      // The transaction ends with its case: a pooler lends few connections.
      const destroy = async () => {
        await transaction.rollback()
        await host.destroy()
      }
      const inside = knexStorage(host, options).joinTransaction(transaction)
      // A nested transaction calls back only after the outer one commits, which never happens here.
      return { storage: withoutTransactions(inside), destroy }
    }
    testStorage({ test: (name, run) => t.test(name, run), create, report: () => {} })
  })
}
