// Stores on a Knex instance of the host's, with settings of its own, pass the conformance kit, in transactions too.
import { join } from 'node:path'
import knex, { type Knex } from 'knex'
import { test, type Test } from 'tap'
import { knexStorage, type KnexStorageOptions } from '../../adapters/knex/index.ts'
import { runKit, runTransactionDuties, transactionsOf } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { poorConnection, poorSchema } from '../helpers/poor-postgres.ts'
import { pgBouncerUrl, pgUrl, pooled, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

// Like Knex's snake-case mappers: they change every identifier in a query, and every row of an answer.
const mappers = {
  wrapIdentifier: (value: string, original: (value: string) => string) => original(value.toUpperCase()),
  postProcessResponse: () => { throw new Error('the host processes our rows') }
}

interface Host {
  name: string
  make: (t: Test) => Promise<{ host: Knex, options: KnexStorageOptions }>
  skip: string | false
  /** The first of its database: every duty runs inside its transactions too. */
  isFirst: boolean
}

const sqliteHosts = sqliteDrivers.map(({ driver, skip }): Host => ({
  name: `${driver} with mappers`,
  make: async (t) => {
    const filename = join(await temporaryDirectory(t), 'host.db')
    const host = sqliteHost(filename, { driver, asyncStackTraces: true, ...mappers })
    // On its one connection, so that no write waits for the disk. The mappers refuse the rows of any answer.
    await host.raw('PRAGMA synchronous = OFF').catch(() => {})
    return { host, options: { tablePrefix: 'people_' } }
  },
  skip,
  isFirst: driver === sqliteDriver
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
    skip: false,
    isFirst: true
  },
  {
    name: 'pg through PgBouncer',
    make: async (t) => ({
      host: knex({ client: 'pg', connection: pgBouncerUrl(), pool: { min: 0, max: 8 } }),
      options: { schema: temporarySchema(t) }
    }),
    skip: pooled.skip,
    isFirst: false
  },
  {
    name: 'pg on a server that can do little',
    make: async (t) => ({
      host: knex({ client: 'pg', connection: await poorConnection(), pool: { min: 0, max: 8 } }),
      options: { schema: await poorSchema(t) }
    }),
    skip: from('ci'),
    isFirst: false
  }
]

// Nightly every duty on each, though the statements of the drivers are the same.
const isNightly = from('nightly') === false

for (const { name, make, skip, isFirst } of hosts) {
  test(`a Knex instance of the host: ${name}`, { skip }, async (t) => {
    const create = async () => {
      const { host, options } = await make(t)
      return { storage: knexStorage(host, options), begin: transactionsOf(host), destroy: () => host.destroy() }
    }
    if (isNightly) runKit(t, create, { transactions: true })
    else runTransactionDuties(t, create, { quick: !isFirst })
  })
}
