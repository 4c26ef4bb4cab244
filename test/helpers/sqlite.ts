import knex, { type Knex } from 'knex'
import { loadSqliteDriver, SQLITE_DRIVERS, type SqliteDriver } from '../../adapters/knex/drivers/sqlite-drivers.ts'

/** Why tests of a driver are skipped, with the command that installs it; false if the driver loads. */
function skipReason (driver: SqliteDriver): string | false {
  try {
    loadSqliteDriver(driver)
    return false
  } catch (error) {
    const { message }: Error = Object(error)
    const reason = message.replace('fastify-users: sqlite(): ', '').replace(/: npm .*/, '')
    return driver === 'node:sqlite' ? reason : `${reason}: npm run drivers`
  }
}

/** Every driver of SQLite, with a reason to skip its tests if it does not load on this machine. */
export const sqliteDrivers: ReadonlyArray<{ driver: SqliteDriver; skip: string | false }> = SQLITE_DRIVERS.map(
  (driver) => ({ driver, skip: skipReason(driver) })
)

const chosen = SQLITE_DRIVERS.find((driver) => driver === process.env['SQLITE_DRIVER'])

/** The driver for tests of other things: SQLITE_DRIVER, or the one that `sqlite()` selects. */
export const sqliteDriver: SqliteDriver = loadSqliteDriver(chosen).name

/** A host's Knex instance on an SQLite file. */
export function sqliteHost (
  filename: string,
  { driver = sqliteDriver, ...config }: Omit<Knex.Config, 'client' | 'connection'> & { driver?: SqliteDriver } = {}
): Knex {
  return knex({
    client: loadSqliteDriver(driver).client,
    connection: { filename },
    useNullAsDefault: true,
    ...config
  })
}

/** Runs a script of several statements through the driver. */
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
