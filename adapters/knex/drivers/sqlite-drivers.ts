import type { Knex } from 'knex'
import { npmCommand, packageRequire } from '../../../lib/core/optional-packages.ts'
import { betterSqlite3Driver } from './better-sqlite3.ts'
import type { SqliteDriverMethods } from './driver.ts'
import { clientOn, type NodeSqlite, nodeSqlite } from './node-sqlite-client.ts'
import { nodeSqliteDriver } from './node-sqlite.ts'
import { photostructureDriver } from './photostructure.ts'
import { sqlite3Driver } from './sqlite3.ts'

/** The SQLite drivers that `sqlite()` supports. */
export type SqliteDriver = 'better-sqlite3' | 'node:sqlite' | '@photostructure/sqlite' | 'sqlite3'

/** A driver that loads, and what `sqlite()` does differently on it. */
export interface LoadedDriver {
  name: SqliteDriver
  version: string
  /** Knex's `client`. */
  client: string | typeof Knex.Client
  execute: SqliteDriverMethods['execute']
}

/** Where drivers are searched. */
export interface DriverSource {
  require: NodeJS.Require
  /** Version of Node.js, such as `v22.13.0`. */
  nodeVersion: string
  /** Node.js's own SQLite, loaded only when it is called. */
  nodeSqlite (): NodeSqlite | undefined
}

interface Database {
  new (filename: string): { close (): void }
  DatabaseSync: new (filename: string) => { close (): void }
}

// The versions for Node.js 20, where the newest need a later one.
const OLD_NODE_VERSIONS = { 'better-sqlite3': '@12', '@photostructure/sqlite': '@1', sqlite3: '' }

const thisProcess = (): DriverSource =>
  ({ require: packageRequire, nodeVersion: process.version, nodeSqlite })
const majorOf = (version: string): number => Number.parseInt(version.replace('v', ''), 10)

/** Loads a package; `open` loads its binary. Returns its version. @throws Error with the command that helps */
function loadPackage (
  name: Exclude<SqliteDriver, 'node:sqlite'>,
  { require, nodeVersion }: DriverSource,
  open: (exports: Database) => void
): string {
  const isOld = majorOf(nodeVersion) < 22
  const install = npmCommand('install', `${name}${isOld ? OLD_NODE_VERSIONS[name] : ''}`)
  try {
    require.resolve(name)
  } catch {
    throw new Error(`${name} is not installed: ${install}`)
  }
  const { version } = require(`${name}/package.json`)
  // Loading it would not throw: an older Node.js ends with a segmentation fault.
  if (name === 'better-sqlite3' && isOld && majorOf(version) >= 13) {
    throw new Error(`${name} ${version} needs Node.js 22 or later, and this is ${nodeVersion}: ${install}`)
  }
  try {
    open(require(name))
  } catch (cause) {
    const problem = `${name} ${version} is installed, but does not load on this Node.js (${nodeVersion})`
    throw new Error(`${problem}: ${npmCommand('rebuild', name)}`, { cause })
  }
  return version
}

const loaders: Record<SqliteDriver, (source: DriverSource) => LoadedDriver> = {
  'better-sqlite3': (source) => ({
    name: 'better-sqlite3',
    version: loadPackage('better-sqlite3', source, (Database) => new Database(':memory:').close()),
    client: 'better-sqlite3',
    execute: betterSqlite3Driver.execute
  }),
  'node:sqlite': ({ nodeVersion, nodeSqlite }) => {
    const sqlite = nodeSqlite()
    if (sqlite === undefined) {
      const problem = `node:sqlite needs Node.js 22.13 or later, and this is ${nodeVersion}`
      throw new Error(`${problem}: ${npmCommand('install', '@photostructure/sqlite@1')}`)
    }
    return {
      name: 'node:sqlite',
      version: String(process.versions['sqlite']),
      client: clientOn(sqlite),
      execute: nodeSqliteDriver.execute
    }
  },
  '@photostructure/sqlite': (source) => ({
    name: '@photostructure/sqlite',
    version: loadPackage('@photostructure/sqlite', source, (sqlite) => new sqlite.DatabaseSync(':memory:').close()),
    client: clientOn(source.require('@photostructure/sqlite'), '@photostructure/sqlite'),
    execute: photostructureDriver.execute
  }),
  sqlite3: (source) => ({
    name: 'sqlite3',
    // The package loads its binary itself.
    version: loadPackage('sqlite3', source, () => {}),
    client: 'sqlite3',
    execute: sqlite3Driver.execute
  })
}

/** The drivers in the order in which they are tried: the fastest under load first (`node bench/ways.mjs`). */
export const SQLITE_DRIVERS: readonly SqliteDriver[] = [
  'better-sqlite3', 'node:sqlite', '@photostructure/sqlite', 'sqlite3'
]

/**
 * Loads a driver; without a name the first of `SQLITE_DRIVERS` that loads.
 * @throws Error that says why it does not load, and the command that helps
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
