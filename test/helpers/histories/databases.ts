import { join } from 'node:path'
import type { Knex } from 'knex'
import type { Test } from 'tap'
import { createPoolExecutor } from '../../../adapters/knex/connection/pool-executor.ts'
import { retryWhileBusy } from '../../../adapters/knex/connection/retry-while-busy.ts'
import { createCompaction } from '../../../adapters/knex/counting/compaction.ts'
import type { Compaction } from '../../../adapters/knex/counting/hand-counting.ts'
import { type CountsReport, countsVerifier } from '../../../adapters/knex/counting/verify.ts'
import { dialectOf } from '../../../adapters/knex/dialects/index.ts'
import type { Param, Statement } from '../../../adapters/knex/drivers/driver.ts'
import type { SqliteDriver } from '../../../adapters/knex/drivers/sqlite-drivers.ts'
import { knexStorage } from '../../../adapters/knex/index.ts'
import { USER_COLUMNS } from '../../../adapters/knex/tables/columns.ts'
import { namesOf } from '../../../adapters/knex/tables/names.ts'
import type { Row } from '../../../adapters/knex/tables/rows.ts'
import { connectPg, pgHost } from '../postgres.ts'
import { sqliteHost } from '../sqlite.ts'
import { temporaryDirectory, temporarySchema } from '../stores.ts'
import { CONNECTIONS } from './steps.ts'

const LOCK_TIMEOUT_MS = 60_000

export type Query = (sql: string, params?: readonly unknown[]) => Promise<Row[]>

/** A database for histories: several connections of plain SQL, and the compaction of a storage. */
export interface HistoryDatabase {
  isSqlite: boolean
  connections: Query[]
  table: string
  /** SQL for the text of an id from a number. */
  id (n: string): string
  /** SQL for a table of the numbers from 1, with the column `value`. */
  series (length: number): string
  page (page: { order: 'asc' | 'desc', limit: number, offset: number, tenant: string | undefined }): Statement
  compaction: Compaction
  verify (): Promise<CountsReport>
}

async function databaseOn (host: Knex, schema: string | null, connections: Query[]): Promise<HistoryDatabase> {
  const naming = schema === null ? {} : { schema }
  await knexStorage(host, naming).open({ migrate: true })
  const dialect = dialectOf(String(host.client.driverName))
  const names = namesOf(naming, dialect.hasSchemas)
  const executor = createPoolExecutor(host, names, {
    limits: { wait: Infinity, busy: LOCK_TIMEOUT_MS, total: Infinity }
  })
  const pagesOfAll = dialect.counting.pages(names, false, USER_COLUMNS)
  const pagesOfTenant = dialect.counting.pages(names, true, USER_COLUMNS)
  const isSqlite = dialect.name === 'sqlite'
  const recursive = (length: number) => '(WITH RECURSIVE g (value) AS ' +
    `(SELECT 1 UNION ALL SELECT value + 1 FROM g WHERE value < ${length}) SELECT value FROM g)`
  return {
    isSqlite,
    connections,
    table: names.users,
    id: (n) => isSqlite ? `'usr_0' || printf('%010d', ${n})` : `'usr_0' || lpad((${n})::text, 10, '0')`,
    series: (length) => isSqlite ? recursive(length) : `generate_series(1, ${length}) AS g (value)`,
    page: ({ order, limit, offset, tenant }) => tenant === undefined
      ? pagesOfAll([{ order, limit, from: { offset } }])
      : pagesOfTenant([{ order, limit, from: { offset }, tenant }]),
    compaction: createCompaction(executor, names),
    verify: countsVerifier(executor, names)
  }
}

export async function postgresDatabase (t: Test): Promise<HistoryDatabase> {
  const schema = temporarySchema(t)
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connectPg(t)))
  const connections = clients.map((client): Query => async (sql, params = []) =>
    (await client.query(sql, [...params])).rows)
  return databaseOn(pgHost(t), schema, connections)
}

export async function sqliteDatabase (t: Test, driver: SqliteDriver): Promise<HistoryDatabase> {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const dialect = dialectOf(driver)
  // SQLite must not wait: on the thread of the event loop it would wait in vain for the other connections.
  const run = (connection: unknown, sql: string, params: readonly Param[] = []) =>
    retryWhileBusy(() => dialect.run(connection, sql, params), performance.now() + LOCK_TIMEOUT_MS)

  async function prepare (connection: unknown): Promise<void> {
    for (const setting of ['busy_timeout = 0', 'journal_mode = WAL', 'synchronous = OFF']) {
      await run(connection, `PRAGMA ${setting}`)
    }
  }

  const afterCreate = (connection: unknown, done: (error: unknown, connection: unknown) => void) => {
    prepare(connection).then(() => done(null, connection), (error) => done(error, connection))
  }
  const openFile = () => {
    const host = sqliteHost(filename, { driver, pool: { min: 1, max: 1, afterCreate } })
    t.teardown(() => host.destroy())
    return host
  }
  const connections = Array.from({ length: CONNECTIONS }, openFile).map((host): Query => async (sql, params = []) => {
    const connection: unknown = await host.client.acquireConnection()
    try {
      return await run(connection, sql, params.map((value) => typeof value === 'number' ? value : String(value)))
    } finally {
      await host.client.releaseConnection(connection)
    }
  })
  return databaseOn(openFile(), null, connections)
}
