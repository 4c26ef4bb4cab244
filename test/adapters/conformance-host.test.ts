// Stores on a Knex instance of the host's, with settings of its own, pass the conformance kit, in transactions too.
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Knex } from 'knex'
import { test, type Test } from 'tap'
import { EACH_WAY } from '../helpers/each-kind.ts'
import { type CreateFor, isOfTransactions, mappers, onHosts, runDuties, runKit } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { pgHost } from '../helpers/postgres.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { poorConnection, poorDatabaseUrl, poorSchema } from '../helpers/poor-postgres.ts'
import { copiedFiles, recycledSchemas } from '../helpers/recycled.ts'
import { pgBouncerUrl, pgUrl, pooled, temporarySchema } from '../helpers/stores.ts'

interface Host {
  name: string
  create: (t: Test) => CreateFor
  skip: string | false
  /** Which of the duties about transactions run before the night. */
  has: (duty: string) => boolean
}

// Locks and conflicts, which each database has of its own.
const withoutRepetitions = (duty: string) => !/^join(?:: inside|, histories)/.test(duty)
// PostgreSQL has more: what the duties that are repeated inside a transaction write.
const withWrites = (duty: string) =>
  withoutRepetitions(duty) || /^join: inside a transaction the duties of commit(?:, find, list)? hold/.test(duty)
// Where only how a connection is lent differs.
const ofEachWay = (duty: string) => EACH_WAY.includes(duty)

const sqliteHosts = sqliteDrivers.map(({ driver, skip }): Host => ({
  name: `${driver} with mappers`,
  create: (t) => onHosts(async (filename) => {
    await mkdir(dirname(filename), { recursive: true })
    const host = sqliteHost(filename, { driver, asyncStackTraces: true, ...mappers })
    // On its one connection, so that no write waits for the disk. The mappers refuse the rows of any answer.
    await host.raw('PRAGMA synchronous = OFF').catch(() => {})
    return { host, options: { tablePrefix: 'people_' } }
  }, (at) => copiedFiles(t, at)),
  skip,
  has: driver === sqliteDriver ? withoutRepetitions : ofEachWay
}))

const SESSION = '-c default_transaction_isolation=serializable -c timezone=Asia/Kathmandu -c datestyle=German'

/** Stores in schemas of the suite's server, or of the poor database. */
const onServer = (config: () => Knex.Config | Promise<Knex.Config>, isPoor = false) => (t: Test): CreateFor =>
  onHosts(
    async (schema) => ({ host: pgHost(t, { pool: { min: 0, max: 8 }, ...await config() }), options: { schema } }),
    (at) => recycledSchemas(t, at, isPoor
      ? { url: poorDatabaseUrl, newSchema: () => poorSchema(t) }
      : { url: pgUrl, newSchema: () => temporarySchema(t) }))

const hosts: Host[] = [
  ...sqliteHosts,
  {
    name: 'pg with mappers, another isolation level, time zone and date style',
    create: onServer(() => ({ connection: { connectionString: pgUrl(), options: SESSION }, ...mappers })),
    skip: false,
    has: withWrites
  },
  {
    name: 'pg through PgBouncer',
    create: onServer(() => ({ connection: pgBouncerUrl() })),
    skip: pooled.skip,
    has: ofEachWay
  },
  {
    name: 'pg on a server that can do little',
    create: onServer(async () => ({ connection: await poorConnection() }), true),
    skip: from('ci'),
    has: withoutRepetitions
  }
]

for (const { name, create, skip, has } of hosts) {
  test(`a Knex instance of the host: ${name}`, { skip }, async (t) => {
    // Nightly every duty on each, though the statements of the drivers are the same.
    if (from('nightly') === false) runKit(t, create(t), { transactions: true })
    else runDuties(t, create(t), (duty) => isOfTransactions(duty) && has(duty))
  })
}
