// Every storage of ours passes the conformance kit, on the real thing; on a host's Knex with settings of its own too.
import { join } from 'node:path'
import knex, { type Knex } from 'knex'
import { test, type Test } from 'tap'
import { knexStorage, type KnexStorageOptions } from '../../adapters/knex/index.ts'
import { testStorage } from '../../adapters/testing/index.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgBouncerUrl, pgUrl, pooled, stores, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const onOtherDrivers = sqliteDrivers.filter(({ driver }) => driver !== sqliteDriver).map(({ driver, skip }) => ({
  name: `sqlite on ${driver}`,
  create: async (t: Test) => sqlite({ filename: join(await temporaryDirectory(t), 'users.db'), driver }),
  skip
}))

for (const store of [...stores.map((store) => ({ ...store, skip: false })), ...onOtherDrivers, pooled]) {
  test(store.name, { skip: store.skip }, async (t) => {
    const lines: string[] = []
    // A store that opened its own pool has no host to begin a transaction: that duty is shown below, on a Knex of the host's.
    const create = async () => ({ ...await store.create(t), supports: { transactions: false }, joinTransaction: () => { throw new TypeError('not here') } })
    testStorage({ test: (name, run) => t.test(name, run), create, report: (line) => lines.push(line) })
    t.test('what it reported', async (t) => t.match(lines, [/^fastify-users\/testing: .+: 80 duties passed, 0 failed; the store declares unsupported: transactions \(6 duties\)$/]))
  })
}

// What the snake-case mappers of Knex's field do: every identifier on its way in, every row on its way out.
const mappers = {
  wrapIdentifier: (value: string, original: (value: string) => string) => original(value.toUpperCase()),
  postProcessResponse: () => { throw new Error('the host processes our rows') }
}

interface Host { make: (t: Test) => Promise<{ host: Knex, options: KnexStorageOptions }>, skip?: string | false }
const hosts: Record<string, Host> = {
  ...Object.fromEntries(sqliteDrivers.map(({ driver, skip }) => [`${driver} with mappers`, {
    make: async (t: Test) => ({
      host: sqliteHost(join(await temporaryDirectory(t), 'host.db'), { driver, asyncStackTraces: true, ...mappers }),
      options: { tablePrefix: 'people_' }
    }),
    skip
  }])),
  'pg with mappers, another isolation level, time zone and date style': {
    make: async (t) => ({
      host: knex({ client: 'pg', connection: { connectionString: pgUrl(), options: '-c default_transaction_isolation=serializable -c timezone=Asia/Kathmandu -c datestyle=German' }, pool: { min: 0, max: 8 }, ...mappers }),
      options: { schema: temporarySchema(t) }
    })
  },
  'pg through PgBouncer': {
    make: async (t) => ({
      host: knex({ client: 'pg', connection: String(pgBouncerUrl()), pool: { min: 0, max: 8 } }),
      options: { schema: temporarySchema(t) }
    }),
    skip: pooled.skip
  }
}

for (const [name, { make, skip = false }] of Object.entries(hosts)) {
  test(`a Knex instance of the host: ${name}`, { skip }, async (t) => {
    const create = async () => {
      const { host, options } = await make(t)
      t.teardown(() => host.destroy())
      const begin = async () => {
        const transaction = await host.transaction()
        return { transaction, commit: async () => transaction.commit(), rollback: async () => transaction.rollback() }
      }
      return { storage: knexStorage(host, options), begin }
    }
    const lines: string[] = []
    testStorage({ test: (name, run) => t.test(name, run), create, report: (line) => lines.push(line) })
    t.test('what it reported', async (t) => t.match(lines, [/86 duties passed, 0 failed; the store declares nothing unsupported$/]))
  })

  test(`everything inside one transaction of the host: ${name}`, { skip }, async (t) => {
    const create = async () => {
      const { host, options } = await make(t)
      const transaction = await host.transaction()
      // The transaction ends with its case: a pooler lends few connections.
      const destroy = async () => {
        await transaction.rollback()
        await host.destroy()
      }
      const inside = knexStorage(host, options).joinTransaction(transaction)
      // Callbacks of a nested transaction come with the outer one's commit, which is the next test's: here there is none.
      return { storage: { ...inside, supports: { transactions: false }, joinTransaction: () => { throw new TypeError('not here') } }, destroy }
    }
    testStorage({ test: (name, run) => t.test(name, run), create, report: () => {} })
  })
}
