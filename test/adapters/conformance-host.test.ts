// Stores on a Knex instance of the host's, with settings of its own, pass the conformance kit, in transactions too.
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import knex, { type Knex } from 'knex'
import { test, type Test } from 'tap'
import { knexStorage, type KnexStorageOptions } from '../../adapters/knex/index.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { EACH_WAY } from '../helpers/each-kind.ts'
import { type CreateFor, isOfTransactions, openedForKit, runDuties, runKit, transactionsOf } from '../helpers/kit.ts'
import { from } from '../helpers/level.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { poorConnection, poorDatabaseUrl, poorSchema } from '../helpers/poor-postgres.ts'
import { copiedFiles, type Places, recycledSchemas } from '../helpers/recycled.ts'
import { pgBouncerUrl, pgUrl, pooled, temporarySchema } from '../helpers/stores.ts'

// Like Knex's snake-case mappers: they change every identifier in a query, and every row of an answer.
const mappers = {
  wrapIdentifier: (value: string, original: (value: string) => string) => original(value.toUpperCase()),
  postProcessResponse: () => { throw new Error('the host processes our rows') }
}

interface Host {
  name: string
  /** Where its stores are: files or schemas that are used again. */
  places: (t: Test) => Places
  make: (place: string) => Promise<{ host: Knex, options: KnexStorageOptions }>
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

/** A host's store that closes the host with it, to make tables that are used again. */
async function storeOf (make: Host['make'], place: string): Promise<Storage> {
  const { host, options } = await make(place)
  const storage = await openedForKit(knexStorage(host, options))
  return { ...storage, close: async () => { await storage.close(); await host.destroy() } }
}

const sqliteHosts = sqliteDrivers.map(({ driver, skip }): Host => {
  const make: Host['make'] = async (filename) => {
    await mkdir(dirname(filename), { recursive: true })
    const host = sqliteHost(filename, { driver, asyncStackTraces: true, ...mappers })
    // On its one connection, so that no write waits for the disk. The mappers refuse the rows of any answer.
    await host.raw('PRAGMA synchronous = OFF').catch(() => {})
    return { host, options: { tablePrefix: 'people_' } }
  }
  return {
    name: `${driver} with mappers`,
    places: (t) => copiedFiles(t, (filename) => storeOf(make, filename)),
    make,
    skip,
    has: driver === sqliteDriver ? withoutRepetitions : ofEachWay
  }
})

const SESSION = '-c default_transaction_isolation=serializable -c timezone=Asia/Kathmandu -c datestyle=German'

const onServer = (connect: () => Promise<Knex>) => {
  const make: Host['make'] = async (schema) => ({ host: await connect(), options: { schema } })
  const at = (schema: string) => storeOf(make, schema)
  return {
    make,
    places: (t: Test) => recycledSchemas(t, at, { url: pgUrl, newSchema: () => temporarySchema(t) }),
    poorPlaces: (t: Test) => recycledSchemas(t, at, { url: poorDatabaseUrl, newSchema: () => poorSchema(t) })
  }
}
const pgHost = (config: Knex.Config): Knex => knex({ client: 'pg', pool: { min: 0, max: 8 }, ...config })

const withMappers = onServer(async () => pgHost({
  connection: { connectionString: pgUrl(), options: SESSION },
  ...mappers
}))
const throughPgBouncer = onServer(async () => pgHost({ connection: pgBouncerUrl() }))
const poor = onServer(async () => pgHost({ connection: await poorConnection() }))

const hosts: Host[] = [
  ...sqliteHosts,
  {
    name: 'pg with mappers, another isolation level, time zone and date style',
    ...withMappers,
    skip: false,
    has: withWrites
  },
  { name: 'pg through PgBouncer', ...throughPgBouncer, skip: pooled.skip, has: ofEachWay },
  {
    name: 'pg on a server that can do little',
    make: poor.make,
    places: poor.poorPlaces,
    skip: from('ci'),
    has: withoutRepetitions
  }
]

// Nightly every duty on each, though the statements of the drivers are the same.
const isNightly = from('nightly') === false

for (const { name, places, make, skip, has } of hosts) {
  test(`a Knex instance of the host: ${name}`, { skip }, async (t) => {
    const taken = places(t)
    const create: CreateFor = async (isNew) => {
      const place = await taken.take(isNew)
      const { host, options } = await make(place)
      const destroy = async () => {
        await host.destroy()
        await taken.giveBack(place)
      }
      return { storage: knexStorage(host, options), begin: transactionsOf(host), destroy }
    }
    if (isNightly) runKit(t, create, { transactions: true })
    else runDuties(t, create, (duty) => isOfTransactions(duty) && has(duty))
  })
}
