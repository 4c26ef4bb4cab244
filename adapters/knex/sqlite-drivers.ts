import { createRequire } from 'node:module'
import type { Knex } from 'knex'
import { betterSqlite3Driver } from './drivers/better-sqlite3.ts'
import type { SqliteDriverMethods } from './drivers/driver.ts'
import { nodeSqliteDriver } from './drivers/node-sqlite.ts'
import { sqlite3Driver } from './drivers/sqlite3.ts'
import { clientOn, type NodeSqlite, nodeSqlite } from './node-sqlite-client.ts'

/** The SQLite drivers that `sqlite()` knows. */
export type SqliteDriver = 'better-sqlite3' | 'node:sqlite' | 'sqlite3'

/** A driver that loads, and what `sqlite()` does differently on it. */
export interface LoadedDriver {
  name: SqliteDriver
  version: string
  /** What Knex takes as its `client`. */
  client: string | typeof Knex.Client
  execute: SqliteDriverMethods['execute']
  /** Who waits for the lock of another connection, and for how many milliseconds: SQLite itself, or whoever asked, who comes again (undefined: nobody). */
  lockTimeouts (busyTimeout: number): { connection: number, caller: number | undefined }
}

/** SQLite would wait on the thread of the event loop. */
const callerWaits = (busyTimeout: number) => ({ connection: 0, caller: busyTimeout })
/** It has threads of its own. */
const connectionWaits = (busyTimeout: number) => ({ connection: busyTimeout, caller: undefined })

/** Where a driver is looked for. */
export interface DriverSource {
  require: NodeJS.Require
  /** Version of Node.js, such as `v22.13.0`. */
  nodeVersion: string
  /** Node.js's own SQLite, loaded only where it is asked for. */
  nodeSqlite (): NodeSqlite | undefined
}

type Database = new (filename: string) => { close (): void }

const thisProcess = (): DriverSource => ({ require: createRequire(import.meta.url), nodeVersion: process.version, nodeSqlite })
const majorOf = (version: string): number => Number.parseInt(version.replace('v', ''), 10)

/** Loads a package, and with `open` its binary too. */
function loadPackage (name: 'better-sqlite3' | 'sqlite3', { require, nodeVersion }: DriverSource, open: (exports: Database) => void): string {
  const isOld = majorOf(nodeVersion) < 22
  const install = `npm install ${name}${name === 'better-sqlite3' && isOld ? '@12' : ''}`
  try {
    require.resolve(name)
  } catch {
    throw new Error(`${name} is not installed: ${install}`)
  }
  const { version } = require(`${name}/package.json`)
  // It would not throw: an older Node.js ends with a segmentation fault.
  if (name === 'better-sqlite3' && isOld && majorOf(version) >= 13) throw new Error(`${name} ${version} needs Node.js 22 or later, and this is ${nodeVersion}: ${install}`)
  try {
    open(require(name))
  } catch (cause) {
    throw new Error(`${name} ${version} is installed, but does not load on this Node.js (${nodeVersion}): npm rebuild ${name}`, { cause })
  }
  return version
}

const loaders: Record<SqliteDriver, (source: DriverSource) => LoadedDriver> = {
  'better-sqlite3': (source) => {
    const version = loadPackage('better-sqlite3', source, (Database) => new Database(':memory:').close())
    return { name: 'better-sqlite3', version, client: 'better-sqlite3', lockTimeouts: callerWaits, execute: betterSqlite3Driver.execute }
  },
  'node:sqlite': ({ nodeVersion, nodeSqlite }) => {
    const sqlite = nodeSqlite()
    if (sqlite === undefined) throw new Error(`node:sqlite needs Node.js 22.13 or later, and this is ${nodeVersion}: npm install better-sqlite3@12`)
    return { name: 'node:sqlite', version: String(process.versions['sqlite']), client: clientOn(sqlite), lockTimeouts: callerWaits, execute: nodeSqliteDriver.execute }
  },
  // Its binary is loaded with it.
  sqlite3: (source) => ({ name: 'sqlite3', version: loadPackage('sqlite3', source, () => {}), client: 'sqlite3', lockTimeouts: connectionWaits, execute: sqlite3Driver.execute })
}

/** The drivers in the order in which they are looked for: what is faster under load comes first (`node bench/drivers.mjs`). */
export const SQLITE_DRIVERS: readonly SqliteDriver[] = ['better-sqlite3', 'node:sqlite', 'sqlite3']

/**
 * Loads a driver; without a name the first of `SQLITE_DRIVERS` that loads.
 * @throws Error that says why it does not load, and the command that mends it
 */
export function loadSqliteDriver (name?: SqliteDriver, source: DriverSource = thisProcess()): LoadedDriver {
  const problems: Error[] = []
  for (const each of name === undefined ? SQLITE_DRIVERS : [name]) {
    try {
      return loaders[each](source)
    } catch (error) {
      problems.push(Object(error))
    }
  }
  const reasons = problems.map(({ message }) => message)
  if (name !== undefined) throw new Error(`fastify-users: sqlite(): ${reasons.join()}`, { cause: problems[0]?.cause })
  throw new Error(`fastify-users: sqlite() needs one of these drivers:\n- ${reasons.join('\n- ')}`)
}
