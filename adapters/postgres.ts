import type { Storage } from '../lib/storage.ts'
import { knexStorage } from './knex/index.ts'
import { quiet } from './knex/quiet.ts'
import { requirePeers } from './peers.ts'

const CONNECT_TIMEOUT_MS = 5000

export interface PostgresOptions {
  /** A connection URI, `postgres://user:password@host:port/database`, or the connection options of the pg package. */
  connection: string | Readonly<Record<string, unknown>>
  /** Connections kept and opened at most. Default `{ min: 0, max: 10 }`. */
  pool?: { min?: number, max?: number }
  /** Milliseconds after which the server ends a statement of ours; 0: never, and nothing is sent (a pooler may refuse it). Default 5000. */
  statementTimeout?: number
  /** Schema of the tables, made by `migrate()`. By default the search path decides. */
  schema?: string
  /** What every table, constraint and index of ours begins with. Default `fastify_users_`. */
  tablePrefix?: string
}

/**
 * A storage in PostgreSQL, on a pool of its own. Needs the packages `knex` and `pg`.
 * @throws Error if one of them is missing; TypeError for a wrong option
 */
export function postgres ({ connection, pool = {}, statementTimeout = 5000, schema, tablePrefix }: PostgresOptions): Storage {
  if (typeof connection !== 'object' && typeof connection !== 'string') throw new TypeError('fastify-users: postgres() needs a connection')
  const require = requirePeers('postgres()', ['knex', 'pg'])
  const { knex }: typeof import('knex') = require('knex')
  const own = knex({
    client: 'pg',
    connection: {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      ...(statementTimeout > 0 && { statement_timeout: statementTimeout }),
      ...(typeof connection === 'string' ? { connectionString: connection } : connection)
    },
    compileSqlOnError: false,
    acquireConnectionTimeout: CONNECT_TIMEOUT_MS,
    pool: { min: 0, max: 10, ...pool },
    log: quiet
  })
  const naming = { ...(schema !== undefined && { schema }), ...(tablePrefix !== undefined && { tablePrefix }) }
  return { ...knexStorage(own, naming), close: () => own.destroy() }
}
