import knex, { type Knex } from 'knex'
import { loadSqliteDriver, SQLITE_DRIVERS, type SqliteDriver } from '../../adapters/knex/drivers/sqlite-drivers.ts'

/** What a test of a driver is skipped for, with the command that brings that; false where the machine has it. */
function lackOf (driver: SqliteDriver): string | false {
  try {
    loadSqliteDriver(driver)
    return false
  } catch (error) {
    const { message }: Error = Object(error)
    const reason = message.replace('fastify-users: sqlite(): ', '').replace(/: npm .*/, '')
    return driver === 'node:sqlite' ? reason : `${reason}: npm run drivers`
  }
}

/** Every driver of SQLite, with the reason where this machine has it not. */
export const sqliteDrivers: ReadonlyArray<{ driver: SqliteDriver, skip: string | false }> = SQLITE_DRIVERS.map((driver) => ({ driver, skip: lackOf(driver) }))

const chosen = SQLITE_DRIVERS.find((driver) => driver === process.env['SQLITE_DRIVER'])

/** The driver of tests that are about something else: SQLITE_DRIVER, or what `sqlite()` itself takes. */
export const sqliteDriver: SqliteDriver = loadSqliteDriver(chosen).name

/** Knex instance of a host's on an SQLite file. */
export function sqliteHost (filename: string, { driver = sqliteDriver, ...config }: Omit<Knex.Config, 'client' | 'connection'> & { driver?: SqliteDriver } = {}): Knex {
  return knex({ client: loadSqliteDriver(driver).client, connection: { filename }, useNullAsDefault: true, ...config })
}

/** Runs a script of several statements as its owner would: by the driver, in one go. */
export async function runScript (filename: string, script: string): Promise<void> {
  const host = sqliteHost(filename)
  try {
    const connection: unknown = await host.client.acquireConnection()
    await loadSqliteDriver(sqliteDriver).execute(connection, script)
    await host.client.releaseConnection(connection)
  } finally {
    await host.destroy()
  }
}
