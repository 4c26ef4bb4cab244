import { betterSqlite3Driver } from '../drivers/better-sqlite3.ts'
import { nodeSqliteDriver } from '../drivers/node-sqlite.ts'
import { photostructureDriver } from '../drivers/photostructure.ts'
import type { Profile } from '../tables/profiles.ts'
import type { Dialect } from './dialect.ts'
import { portableDialect } from './portable/dialect.ts'
import { postgresDialect } from './postgres/dialect.ts'
import { sqliteDialect } from './sqlite/dialect.ts'

export { movesTo } from './portable/moves.ts'

/** The dialects by the driver name of a Knex client. */
const dialects = new Map<string, Dialect>([
  ['pg', postgresDialect],
  ['sqlite3', sqliteDialect],
  ['better-sqlite3', { ...sqliteDialect, ...betterSqlite3Driver }],
  ['node:sqlite', { ...sqliteDialect, ...nodeSqliteDriver }],
  ['@photostructure/sqlite', { ...sqliteDialect, ...photostructureDriver }]
])

/**
 * The dialect of a Knex client. `profile`: for PostgreSQL, how it is used.
 * @throws TypeError for a client of another database
 */
export function dialectOf (driverName: string, profile: Profile = 'classic'): Dialect {
  const dialect = profile === 'portable' && driverName === 'pg' ? portableDialect : dialects.get(driverName)
  if (dialect !== undefined) return dialect
  const known = [...dialects.keys()].join(', ')
  throw new TypeError(`fastify-users: knexStorage() works with the Knex clients ${known}, not with ${driverName}`)
}
