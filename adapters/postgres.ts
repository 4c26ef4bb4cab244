import { Type } from '../lib/typebox.ts'
import { optionCheck } from '../lib/option-check.ts'
import { schema, tablePrefix } from './knex/names.ts'
import { watchKeyChanges } from './knex/key-changes.ts'
import { quiet } from './knex/quiet.ts'
import { type KnexStorage, ownStorage } from './knex/storage.ts'
import { requirePeers } from '../lib/peers.ts'

// A connection that can't be made is told before the wait for one ends, or it would fail whoever asks next.
const CONNECT_TIMEOUT_MS = 4000
const ACQUIRE_TIMEOUT_MS = 5000
const DEADLINE_MARGIN_MS = 1000
// The connection that listens says nothing itself: a network that drops idle ones would cut it off unseen.
const KEEP_ALIVE_MS = 10_000
const POOL_MAX = 10
// Reads that share a connection don't wait for a free one, nor for each other's answers; more lanes gain nothing where the database has few cores.
const LANES = 2

export interface PostgresOptions {
  /** A connection URI, `postgres://user:password@host:port/database`, or the connection options of the pg package. */
  connection: string | Readonly<Record<string, unknown>>
  /** Connections kept and opened at most. Default `{ min: 0, max: 10 }`. */
  pool?: { min?: number, max?: number }
  /** Milliseconds after which a statement of ours is ended; 0: never. Default 5000. */
  statementTimeout?: number
  /**
   * The connection goes through a pooler that lends a server's connection for a transaction at a time, such as PgBouncer. Nothing is then set on a session, not
   * even the server's own limit on statements: that is kept on this side alone; and `schema` is `public` unless you say another. Default `false`.
   */
  pooler?: boolean
  /** Hear at once of API keys that another process revoked, on a connection more (`LISTEN`). Default `true`, but `false` behind a pooler, which can't. */
  listen?: boolean
  /** Schema of the tables, made by `migrate()`. By default the search path decides. */
  schema?: string
  /** What every table, constraint and index of ours begins with. Default `fastify_users_`. */
  tablePrefix?: string
}

const refuseWrong = optionCheck<PostgresOptions>({
  connection: { required: true, schema: Type.Union([Type.String({ minLength: 1 }), Type.Object({})]), words: 'must be a connection URI, or the connection options of pg' },
  pool: {
    schema: Type.Object({ min: Type.Optional(Type.Integer({ minimum: 0 })), max: Type.Optional(Type.Integer({ minimum: 1 })) }, { additionalProperties: false }),
    words: 'must be { min, max } with whole numbers, max 1 or more'
  },
  statementTimeout: { schema: Type.Integer({ minimum: 0 }), words: 'must be a whole number of milliseconds, 0 or more' },
  pooler: { schema: Type.Boolean(), words: 'must be true or false' },
  listen: { schema: Type.Boolean(), words: 'must be true or false' },
  schema,
  tablePrefix
})

/**
 * A storage in PostgreSQL, on a pool of its own. Needs the packages `knex` and `pg`.
 * @throws Error if one of them is missing; TypeError for a wrong option
 */
export function postgres (options: PostgresOptions): KnexStorage {
  refuseWrong('fastify-users: postgres()', options)
  const { connection, pool = {}, statementTimeout = 5000, pooler = false, listen = !pooler } = options
  const require = requirePeers('postgres()', ['knex', 'pg'])
  const { knex }: typeof import('knex') = require('knex')
  const { Client }: typeof import('pg') = require('pg')
  // A pooler lends another connection each time, which knows no statement of ours.
  const direct = !pooler && 'pipeline' in new Client()
  const target = typeof connection === 'string' ? { connectionString: connection } : connection
  const settings = {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    ...(statementTimeout > 0 && !pooler && { statement_timeout: statementTimeout }),
    ...target,
    pipeline: direct
  }
  const own = knex({
    client: 'pg',
    connection: settings,
    compileSqlOnError: false,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    pool: { min: 0, max: POOL_MAX, ...pool },
    log: quiet
  })
  // A pooler's connection may have any search path: whoever had it before may have set one.
  const { schema: ownSchema = pooler ? 'public' : undefined, tablePrefix: prefix } = options
  const naming = { ...(ownSchema !== undefined && { schema: ownSchema }), ...(prefix !== undefined && { tablePrefix: prefix }) }
  // The server's limit comes first; ours is for a server, or a network, that says nothing any more.
  const deadline = statementTimeout > 0 ? statementTimeout + DEADLINE_MARGIN_MS : undefined
  const localLimit = pooler && statementTimeout > 0 ? statementTimeout : undefined
  // One connection at least is left to those who write.
  const lanes = direct ? Math.min(LANES, (pool.max ?? POOL_MAX) - 1) : 0
  const watch = listen
    ? watchKeyChanges(() => new Client({ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS, ...target }), ownSchema ?? null)
    : null
  return ownStorage(own, naming, { deadline, localLimit, prepare: !pooler, lanes }, watch)
}
