import { converted, defaulted, type OptionsOf, readOptions, required } from '../lib/core/option-table.ts'
import { requireOptional } from '../lib/core/optional-packages.ts'
import { Type } from '../lib/core/typebox.ts'
import { listenForKeyChanges } from './knex/connection/key-change-listener.ts'
import { STANDBY_STATEMENT_MS } from './knex/connection/standby-server.ts'
import { silentLogger } from './knex/drivers/knex-internals.ts'
import { GROUP_WAIT_MS } from './knex/connection/time-limits.ts'
import type { KnexStorage } from './knex/knex-storage.ts'
import { storageOnOwnKnex } from './knex/storage.ts'
import { namingTable } from './knex/tables/names.ts'

// Less than the wait for a connection: a failed connection attempt must not fail the next caller's wait.
const CONNECT_TIMEOUT_MS = 2500
const ACQUIRE_TIMEOUT_MS = 3000
const DEADLINE_MARGIN_MS = 500
// The share of the statement timeout for lock waits. The rest covers the queue and the wait for a connection.
const LOCK_SHARE = 0.4
// The listening connection sends nothing by itself: a network that drops idle connections would cut it off unnoticed.
const KEEP_ALIVE_MS = 10_000
const POOL_MAX = 10
// Reads that share a connection wait neither for a free one nor for each other. More connections gain nothing where the
// database has few cores.
const CONCURRENT_GROUPS = 2

interface PoolSize { min: number, max: number }

const flagMessage = 'must be true or false'

const target = Type.Union([Type.String({ minLength: 1 }), Type.Object({})])

const optionTable = {
  /** A connection URI, `postgres://user:password@host:port/database`, or the connection options of the pg package. */
  connection: required<string | Readonly<Record<string, unknown>>>({
    schema: target,
    message: 'must be a connection URI, or the connection options of pg'
  }),
  /** Connections that are kept (`min`), and opened at most (`max`). */
  pool: converted<Partial<PoolSize>, PoolSize>((given) => ({ min: 0, max: POOL_MAX, ...given }), {
    schema: Type.Object({
      min: Type.Optional(Type.Integer({ minimum: 0 })),
      max: Type.Optional(Type.Integer({ minimum: 1 }))
    }, { additionalProperties: false }),
    message: 'must be { min, max } with whole numbers, max 1 or more'
  }),
  /** Milliseconds after which a statement of ours is ended, with the time that it waits for its turn; 0: never. */
  statementTimeoutMs: defaulted<number>(5000, {
    schema: Type.Integer({ minimum: 0 }),
    message: 'must be a whole number of milliseconds, 0 or more'
  }),
  /**
   * The connection goes through a pooler in transaction mode, such as PgBouncer. Then no setting of a session is used,
   * the server does not limit statements except in transactions that may wait, and the default `schema` is `public`.
   */
  pooler: defaulted<boolean>(false, { schema: Type.Boolean(), message: flagMessage }),
  /**
   * Learn immediately of API keys that another process revoked, on one more connection (`LISTEN`). Default `true`, but
   * `false` behind a pooler, which does not support it.
   */
  listen: converted<boolean, boolean | undefined>((given) => given, { schema: Type.Boolean(), message: flagMessage }),
  /**
   * Standbys that lists, searches and look-ups of users, and exports, may be read from; each as `connection`, and not
   * through a pooler. Whatever becomes of them, the primary answers.
   */
  replicas: defaulted<ReadonlyArray<string | Readonly<Record<string, unknown>>>>([], {
    schema: Type.Array(target),
    message: 'must be a list of connection URIs, or of connection options of pg'
  }),
  /** How old a read on a standby may be, in milliseconds; one that is further behind is left alone. */
  replicaMaxLagMs: defaulted<number>(5000, {
    schema: Type.Integer({ minimum: 1000 }),
    message: 'must be a whole number of milliseconds, 1000 or more'
  }),
  /** Milliseconds that a read with a `Consistency-Token` waits for a standby, before it goes to the primary. */
  replicaWaitMs: defaulted<number>(100, {
    schema: Type.Integer({ minimum: 0, maximum: 5000 }),
    message: 'must be a whole number of milliseconds, from 0 to 5000'
  }),
  ...namingTable
}

/**
 * The server's limits in a session. Whoever holds a lock for long must not hold up as long those who wait for it. As
 * text, which pg takes too, because it leaves out the number 0, and the role may have a limit.
 */
function limitsOf (statementTimeoutMs: number): object {
  return { statement_timeout: `${statementTimeoutMs}`, lock_timeout: `${Math.ceil(LOCK_SHARE * statementTimeoutMs)}` }
}

const targetOf = (connection: string | Readonly<Record<string, unknown>>): object =>
  typeof connection === 'string' ? { connectionString: connection } : connection

export interface PostgresOptions extends OptionsOf<typeof optionTable> {}

/**
 * A storage in PostgreSQL, on a pool of its own. Needs the packages `knex` and `pg`.
 * @throws Error if one of them is missing; TypeError for a wrong option
 */
export function postgres (given: PostgresOptions): KnexStorage {
  const options = readOptions('fastify-users: postgres()', optionTable, given)
  const { connection, pool, statementTimeoutMs, pooler, listen = !pooler, tablePrefix, profile, replicas } = options
  const require = requireOptional('postgres()', ['knex', 'pg'])
  const { knex }: typeof import('knex') = require('knex')
  const { Client }: typeof import('pg') = require('pg')
  const knexOn = (target: object, limits: object) => knex({
    client: 'pg',
    connection: { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true, ...limits, ...target },
    compileSqlOnError: false,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    pool,
    log: silentLogger
  })
  const own = targetOf(connection)
  const ownKnex = knexOn(own, pooler ? {} : limitsOf(statementTimeoutMs))
  // A pooler's connection may have any search path, set by whoever had it before.
  const schema = options.schema ?? (pooler ? 'public' : undefined)
  const naming = {
    ...(schema !== undefined && { schema }),
    ...(tablePrefix !== undefined && { tablePrefix }),
    ...(profile !== undefined && { profile })
  }
  const batching = {
    connections: 0,
    // At least one connection is left to other work.
    groups: Math.max(1, Math.min(CONCURRENT_GROUPS, pool.max - 1)),
    wait: GROUP_WAIT_MS
  }
  const settings = {
    // The server's limit comes first. Our total is for a server, or a network, that no longer answers.
    limits: statementTimeoutMs > 0
      ? { wait: (1 - LOCK_SHARE) * statementTimeoutMs, busy: 0, total: statementTimeoutMs + DEADLINE_MARGIN_MS }
      : undefined,
    localTimeout: pooler && statementTimeoutMs > 0 ? statementTimeoutMs : undefined,
    // A pooler lends another connection each time, and that knows no prepared statement of ours.
    prepare: !pooler,
    batching
  }
  const listeningClient = () => new Client({
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...own
  })
  // The portable profile tells nobody.
  const listener = listen && profile !== 'portable' ? listenForKeyChanges(listeningClient, schema ?? null) : null
  const standbys = replicas.length === 0
    ? null
    : {
        knexes: replicas.map((each) => knexOn(targetOf(each), limitsOf(STANDBY_STATEMENT_MS))),
        maxLagMs: options.replicaMaxLagMs,
        waitMs: options.replicaWaitMs,
        batching
      }
  return storageOnOwnKnex(ownKnex, naming, settings, listener, standbys)
}
