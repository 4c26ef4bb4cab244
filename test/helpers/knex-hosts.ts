import { join } from 'node:path'
import knex, { type Knex } from 'knex'
import type { Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import type { Users } from '../../lib/index.ts'
import { testApp, type TestAppOptions } from './app.ts'
import { from } from './level.ts'
import { pgHost } from './postgres.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from './sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from './stores.ts'

interface HostKind {
  driver: string
  skip: string | false
  connect: (t: Test) => Promise<Knex>
}

/** Hosts with a Knex instance of their own, one for each driver. Those of one database differ in little. */
export const knexHosts: readonly HostKind[] = [
  ...sqliteDrivers.map(({ driver, skip }) => ({
    driver,
    skip: skip || (driver !== sqliteDriver && from('nightly')),
    connect: async (t: Test) => sqliteHost(join(await temporaryDirectory(t), 'host.db'), { driver })
  })),
  {
    driver: 'pg',
    skip: false,
    async connect (t) {
      const schema = temporarySchema(t)
      await sql(`create schema "${schema}"`)
      return knex({ client: 'pg', connection: pgUrl(), searchPath: [schema], pool: { min: 0, max: 4 } })
    }
  }
]

/** A Knex instance on PostgreSQL, destroyed with the test. */
export const postgresKnex = (t: Test, max = 4): Knex => pgHost(t, { pool: { min: 0, max } })

/** Records events as `<type> <name>`; returns a function that takes those so far. */
export function recordEvents ({ events }: Users): () => Promise<string[]> {
  const seen: string[] = []
  for (const type of ['user.created', 'user.updated', 'user.deleted', 'user.restored', 'user.purged'] as const) {
    events.on(type, ({ data }) => { seen.push(`${type} ${data.name}`) })
  }
  return async () => {
    // Listeners run on a later turn of the event loop than the commit.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    return seen.splice(0)
  }
}

/** A host that keeps users and its own table `orders` in one database. */
export async function shop (t: Test, connect: HostKind['connect'], options: TestAppOptions = {}) {
  const host = await connect(t)
  t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(host), ...options })
  await host.schema.createTable('orders', (columns) => { columns.string('user_id') })
  return {
    host,
    users,
    events: recordEvents(users),
    order: (trx: Knex.Transaction, id: string) => trx('orders').insert({ user_id: id })
  }
}
