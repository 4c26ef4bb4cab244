// The suite's MariaDB, and databases of it.
import { randomBytes } from 'node:crypto'
import knex, { type Knex } from 'knex'
import type { Test } from 'tap'
import { mariadb } from '../../adapters/mariadb.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { programPath } from '../servers/program.mjs'
import { sharedServerUrl } from '../servers/shared.mjs'
import { from } from './level.ts'
import type { Places } from './recycled.ts'
import type { StoreKind } from './stores.ts'

/** Why tests of MariaDB are skipped; false on a machine that has it, or must have it. */
export const withoutMariadb: string | false =
  programPath('mariadbd') === undefined && process.env['REQUIRE_MARIADB'] === undefined &&
  'this machine has no MariaDB: apt-get install mariadb-server'

/** The URL of a database of the suite's MariaDB, which starts with the first call in a run. */
export function mariadbUrl (database = 'mysql'): string {
  const url = new URL(sharedServerUrl('mariadb'))
  url.pathname = database
  return url.href
}

/** A Knex instance on a database, as a host has it. */
export const mariadbHost = (database = 'mysql', config: Knex.Config = {}): Knex =>
  knex({ client: 'mysql2', connection: { uri: mariadbUrl(database) }, pool: { min: 0, max: 8 }, ...config })

/** Runs statements on the suite's MariaDB, each by itself: the rows of the last one. */
export async function mariadbSql (statements: readonly string[]): Promise<Array<Record<string, unknown>>> {
  const host = mariadbHost('mysql', { pool: { min: 1, max: 1 } })
  try {
    let rows: Array<Record<string, unknown>> = []
    for (const each of statements) [rows = []] = await host.raw(each)
    return rows
  } finally {
    await host.destroy()
  }
}

/** The name of a new database for this test, dropped with it. */
export async function temporaryDatabase (t: Test): Promise<string> {
  const database = `t_${randomBytes(6).toString('hex')}`
  await mariadbSql([`CREATE DATABASE ${database}`])
  t.teardown(() => mariadbSql([`DROP DATABASE IF EXISTS ${database}`]))
  return database
}

/** MariaDB as a kind of store. */
export const inMariadb: StoreKind & { skip: string | false } = {
  name: 'mariadb',
  place: 'database',
  at: (database) => mariadb({ connection: mariadbUrl(database), pool: { max: 8 } }),
  create: async (t) => inMariadb.at(await temporaryDatabase(t)),
  skip: withoutMariadb
}

/**
 * Databases that are emptied and used again: making the tables takes most of the time of a small duty. `make` makes a
 * store in a database, to create its tables.
 */
export function recycledDatabases (t: Test, make: (database: string) => Promise<Storage>): Places {
  const free: string[] = []
  const made = new Map<string, string[]>()
  async function madeAnew (): Promise<string> {
    const database = await temporaryDatabase(t)
    const storage = await make(database)
    await storage.close()
    const tables = (await mariadbSql([`SHOW TABLES FROM ${database}`])).map((row) => String(Object.values(row)[0]))
    const state = tables.find((name) => name.endsWith('_state')) ?? ''
    made.set(database, [
      'SET foreign_key_checks = 0',
      ...tables.filter((name) => name !== state).map((name) => `DELETE FROM ${database}.${name}`),
      `UPDATE ${database}.${state} SET position = 0, unique_fields = '[]', searchable = NULL, pruned = '[]'`
    ])
    return database
  }
  return {
    async take (isNew) {
      if (isNew || from('nightly') === false) return temporaryDatabase(t)
      return free.pop() ?? madeAnew()
    },
    async giveBack (database) {
      const statements = made.get(database)
      await mariadbSql(statements ?? [`DROP DATABASE IF EXISTS ${database}`])
      if (statements !== undefined) free.push(database)
    }
  }
}
