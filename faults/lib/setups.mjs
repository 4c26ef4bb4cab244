// What the faults happen to: each store, on each of its drivers, with one service and with two.
import { createRequire, isBuiltin } from 'node:module'
import { programPath } from '../../test/servers/program.mjs'

const driver = (name, options) => ({ store: 'sqlite', driver: name, services: 1, ...options })
const require = createRequire(import.meta.url)

/** Why a driver can't be used here; null: it can. One may be there that was built for another version of Node.js. */
function installed (name) {
  try {
    const exports = require(name)
    const Database = exports.DatabaseSync ?? exports.Database ?? exports
    new Database(':memory:').close()
    return null
  } catch (error) {
    return error.code === 'MODULE_NOT_FOUND' ? `${name} is not installed` : `${name} cannot be loaded: ${error.code}`
  }
}

const nodeSqlite = isBuiltin('node:sqlite') ? null : 'node:sqlite needs Node.js 22.13 or later'
const pgbouncer = programPath('pgbouncer') === undefined ? 'pgbouncer is not installed' : null

/** Every setup. `skip`: why it can't be had here. */
export const SETUPS = [
  { name: 'memory', store: 'memory', services: 1, skip: null },
  // The example of an adapter of one's own.
  { name: 'lmdb', store: 'lmdb', services: 1, skip: null },
  { name: 'sqlite', ...driver('better-sqlite3'), skip: installed('better-sqlite3') },
  { name: 'sqlite ×3', ...driver('better-sqlite3', { services: 3 }), skip: installed('better-sqlite3') },
  { name: 'sqlite (node:sqlite)', ...driver('node:sqlite'), skip: nodeSqlite },
  { name: 'sqlite (@photostructure)', ...driver('@photostructure/sqlite'), skip: installed('@photostructure/sqlite') },
  { name: 'sqlite (sqlite3)', ...driver('sqlite3'), skip: installed('sqlite3') },
  { name: 'postgres', store: 'postgres', services: 1, skip: null },
  { name: 'postgres ×2', store: 'postgres', services: 2, skip: null },
  // A server that lacks what the usual profile needs, so that the portable one is taken.
  { name: 'poor postgres ×2', store: 'postgres', poor: true, services: 2, skip: null },
  { name: 'pgbouncer', store: 'postgres', pooled: true, services: 1, skip: pgbouncer }
]

export const onSqlite = ({ store }) => store === 'sqlite'
export const onPostgres = ({ store }) => store === 'postgres'
export const onDisk = ({ store }) => store !== 'memory'
export const everywhere = () => true
export const first = (test) => (setup) => test(setup) && ['memory', 'sqlite', 'postgres'].includes(setup.name)
