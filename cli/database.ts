import { existsSync } from 'node:fs'
import { isDirectory } from '../adapters/knex/connection/sqlite-file.ts'
import type { KnexStorage } from '../adapters/knex/index.ts'
import { PROFILES } from '../adapters/knex/tables/profiles.ts'
import { mariadb } from '../adapters/mariadb.ts'
import { postgres } from '../adapters/postgres.ts'
import { sqlite } from '../adapters/sqlite.ts'
import { secretOf } from './environment.ts'
import { UsageError } from './failure.ts'

/** Where the tables are, in the options of every command. */
export interface DatabaseOptions {
  database?: string
  schema?: string
  tablePrefix?: string
  pooler?: boolean
  profile?: string
}

/** The database that the options, or DATABASE_URL, name. @throws UsageError */
export function databaseUrl ({ database = secretOf('DATABASE_URL') }: Pick<DatabaseOptions, 'database'>): string {
  if (database !== undefined && database !== '') return database
  throw new UsageError('name the database: --database <url>, or the environment variable DATABASE_URL')
}

/**
 * Opens the storage that the options, or DATABASE_URL, name. A missing SQLite file is created only with `create`:
 * otherwise a wrong path would look like an empty store.
 * @throws UsageError
 */
export function openDatabase (
  { schema, tablePrefix, pooler = false, profile, ...options }: DatabaseOptions,
  { create }: { create: boolean }
): KnexStorage {
  const database = databaseUrl(options)
  const naming = { ...(tablePrefix !== undefined && { tablePrefix }) }
  if (/^postgres(?:ql)?:\/\//.test(database)) {
    const given = PROFILES.find((each) => each === profile)
    if (profile !== undefined && given === undefined) throw new UsageError('--profile takes classic or portable')
    const inSchema = { ...(schema !== undefined && { schema }), ...(given !== undefined && { profile: given }) }
    // Few connections, to leave the others to a running service.
    return postgres({ connection: database, pooler, pool: { max: 2 }, ...naming, ...inSchema })
  }
  if (schema !== undefined || pooler || profile !== undefined) {
    throw new UsageError('--schema, --pooler and --profile are for PostgreSQL')
  }
  if (/^mariadb:\/\//.test(database)) return mariadb({ connection: database, pool: { max: 2 }, ...naming })
  if (!/^sqlite:./.test(database)) {
    throw new UsageError('the database must be postgres://<user>:<password>@<host>/<database>, mariadb:// likewise, ' +
      'or sqlite:<path>')
  }
  const filename = database.slice('sqlite:'.length)
  if (!create && !existsSync(filename)) {
    throw new UsageError('there is no file at this path: create the database with fastify-users migrate')
  }
  if (isDirectory(filename)) {
    throw new UsageError('the path of the database is a directory: name a file in it, such as sqlite:data/users.db')
  }
  return sqlite({ filename, ...naming })
}
