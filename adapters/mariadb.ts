import { defaulted, converted, type OptionsOf, readOptions, required } from '../lib/core/option-table.ts'
import { requireOptional } from '../lib/core/optional-packages.ts'
import { Type } from '../lib/core/typebox.ts'
import { openingOf, silentLogger } from './knex/drivers/knex-internals.ts'
import type { KnexStorage } from './knex/knex-storage.ts'
import { DEFAULT_PREFIX, prefixOption } from './knex/tables/names.ts'
import { mysql2Driver, prepareSession } from './knex/mariadb/driver.ts'
import { mariadbOnKnex } from './knex/mariadb/store.ts'

const CONNECT_TIMEOUT_MS = 2500
const ACQUIRE_TIMEOUT_MS = 3000
const DEADLINE_MARGIN_MS = 500
// The share of the statement timeout for lock waits. The rest covers the queue and the wait for a connection.
const LOCK_SHARE = 0.4
const KEEP_ALIVE_MS = 10_000
const POOL_MAX = 10

interface PoolSize { min: number, max: number }

const optionTable = {
  /** A connection URI, `mariadb://user:password@host:port/database`, or the connection options of mysql2. */
  connection: required<string | Readonly<Record<string, unknown>>>({
    schema: Type.Union([Type.String({ minLength: 1 }), Type.Object({})]),
    message: 'must be a connection URI, or the connection options of mysql2'
  }),
  /** Connections that are kept (`min`), and opened at most (`max`). */
  pool: converted<Partial<PoolSize>, PoolSize>((given) => ({ min: 0, max: POOL_MAX, ...given }), {
    schema: Type.Object({
      min: Type.Optional(Type.Integer({ minimum: 0 })),
      max: Type.Optional(Type.Integer({ minimum: 1 }))
    }, { additionalProperties: false }),
    message: 'must be { min, max } with whole numbers, max 1 or more'
  }),
  /** Milliseconds after which work of ours is ended, with the time that it waits for its turn; 0: never. */
  statementTimeoutMs: defaulted<number>(5000, {
    schema: Type.Integer({ minimum: 0 }),
    message: 'must be a whole number of milliseconds, 0 or more'
  }),
  ...prefixOption
}

export interface MariadbOptions extends OptionsOf<typeof optionTable> {}

/**
 * A storage in MariaDB, on a pool of its own. Needs the packages `knex` and `mysql2`.
 * @throws Error if one of them is missing; TypeError for a wrong option
 */
export function mariadb (given: MariadbOptions): KnexStorage {
  const options = readOptions('fastify-users: mariadb()', optionTable, given)
  const { connection, pool, statementTimeoutMs, tablePrefix = DEFAULT_PREFIX } = options
  const require = requireOptional('mariadb()', ['knex', 'mysql2'])
  const { knex }: typeof import('knex') = require('knex')
  const ownKnex = knex({
    client: 'mysql2',
    connection: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      enableKeepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      charset: 'utf8mb4',
      ...typeof connection === 'string' ? { uri: connection } : connection
    },
    compileSqlOnError: false,
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    pool: {
      ...pool,
      afterCreate (created: unknown, done: (error: unknown, connection: unknown) => void) {
        const lockSeconds = Math.max(1, Math.round(LOCK_SHARE * statementTimeoutMs / 1000))
        prepareSession(created, statementTimeoutMs === 0 ? 50 : lockSeconds, statementTimeoutMs / 1000)
          .then(() => done(null, created), (error) => {
            // Knex closes none that it could not prepare.
            mysql2Driver.destroySocket(created)
            done(error, created)
          })
      }
    },
    log: silentLogger
  })
  const limits = statementTimeoutMs === 0
    ? { wait: Infinity, total: Infinity }
    : { wait: (1 - LOCK_SHARE) * statementTimeoutMs, total: statementTimeoutMs + DEADLINE_MARGIN_MS }
  const storage = mariadbOnKnex(ownKnex, tablePrefix, limits)
  return {
    ...storage,
    open: openingOf(ownKnex, storage.open),
    async close () {
      await storage.close()
      await ownKnex.destroy()
    }
  }
}
