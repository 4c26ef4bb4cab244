import { existsSync } from 'node:fs'
import type { KnexStorage } from '../adapters/knex/index.ts'
import { postgres } from '../adapters/postgres.ts'
import { sqlite } from '../adapters/sqlite.ts'
import { UsageError } from './failure.ts'

/** Where the tables are, as the options of every command say it. */
export interface DatabaseOptions {
  database?: string
  schema?: string
  tablePrefix?: string
  pooler?: boolean
}

/**
 * Opens the storage that the options, or DATABASE_URL, name. A file that is not there is an SQLite database to be made only where `create` is set: elsewhere a wrong
 * path would look like an empty store.
 * @throws UsageError
 */
export function openDatabase ({ database = process.env['DATABASE_URL'], schema, tablePrefix, pooler = false }: DatabaseOptions, { create }: { create: boolean }): KnexStorage {
  if (database === undefined || database === '') throw new UsageError('name the database: --database <url>, or the environment variable DATABASE_URL')
  const naming = { ...(tablePrefix !== undefined && { tablePrefix }) }
  // Beside a service that is at work this takes as little as it can.
  if (/^postgres(?:ql)?:\/\//.test(database)) return postgres({ connection: database, pooler, pool: { max: 2 }, ...naming, ...(schema !== undefined && { schema }) })
  if (schema !== undefined || pooler) throw new UsageError('--schema and --pooler are for PostgreSQL')
  if (/^sqlite:./.test(database)) {
    const filename = database.slice('sqlite:'.length)
    if (!create && !existsSync(filename)) throw new UsageError('there is no file at this path: make the database with fastify-users migrate')
    return sqlite({ filename, ...naming })
  }
  throw new UsageError('the database must be postgres://<user>:<password>@<host>/<database> or sqlite:<path>')
}
