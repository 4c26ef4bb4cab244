// The storage in MariaDB.

import type { Knex } from 'knex'
import type {
  Opened, OpenOptions, Storage, StorageInTransaction, UserPageRequest
} from '../../../lib/storage/storage.ts'
import { UNLIMITED } from '../connection/time-limits.ts'
import { throwingUnseen } from '../connection/unseen-changes.ts'
import { connectionsOf, isTransaction, poolOf } from '../drivers/knex-internals.ts'
import { committingTogether, committingWithin } from './commits.ts'
import { type Access, accessIn, accessTo, type Limits } from './connections.ts'
import { eventLog } from './events.ts'
import { asksForAll, farPages, type ReadFar } from './far-pages.ts'
import { lookUps } from './look-ups.ts'
import { rowIn, rowsPage } from './rows.ts'
import { createSchema } from './schema.ts'
import { weakSettings } from './settings.ts'
import { ofTenant, type Query, readPage, readPart, type Row, sqlOf } from './sql.ts'
import { type Tables, tablesOf } from './tables.ts'
import { pageBehind, userIn, usersPages } from './users.ts'

/** The name of Knex's client for it. */
export const MARIADB_CLIENT = 'mysql2'

const NAME = 'mariadb'
const READ_PART = 1000
const CONCURRENCY_PER_CONNECTION = 4
const CONCURRENCY_MIN = 40

type Reads = Omit<Storage, 'name' | 'open' | 'close' | 'join' | 'commit'>

/**
 * What works inside a transaction too. `walk`: where the parts of a walk are read. `far`: reads pages that are far from
 * the first one; null: as all others.
 */
function readsOn (
  access: Access, tables: Tables, walk: (work: (query: Query) => Promise<void>) => Promise<void>, far: ReadFar | null
): Reads {
  const { of } = tables
  const usersPage = usersPages(tables)
  const read: Access['read'] = (work) => access.read(work)
  const { find, user, byEmail } = lookUps(access, tables)
  return {
    find,

    list: (name, asked) => read(async (query) => {
      const { rows, total } = await readPage(query, rowsPage(tables, name, asked))
      return { items: rows.map(rowIn), total }
    }),

    users: {
      find: user,

      list: (filter, page) => byEmail(filter, page) ?? far?.(filter, page) ?? read(async (query) => {
        const { sql, values } = ofTenant(filter.tenant)
        const counted = { sql: `SELECT coalesce(sum(users), 0) AS total FROM ${of('userCounts')} WHERE ${sql}`, values }
        const { rows, total } =
          await readPage(query, usersPage(filter, page), asksForAll(filter) ? counted : undefined)
        return { items: rows.map(userIn), total }
      }),

      walk: (filter, order, onPart, sort) => walk(async (query) => {
        const first = { order, limit: READ_PART, from: { offset: 0 } }
        let page: UserPageRequest | null = sort === undefined ? first : { ...first, sort }
        while (page !== null) {
          const rows: Row[] = await readPart(query, usersPage(filter, page, true))
          if (rows.length > 0) await onPart(rows.map(userIn))
          const last = rows.length < READ_PART ? undefined : rows.at(-1)
          page = last === undefined ? null : pageBehind(page, last)
        }
      })
    },

    listTenants: ({ order, limit, from }) => read(async (query) => {
      const { rows, total } = await readPage(query, {
        columns: 'id, users',
        from: sqlOf(`(SELECT tenant AS id, CAST(sum(users) AS integer) AS users FROM (
            SELECT tenant, users FROM ${of('userCounts')} WHERE users > 0
            UNION ALL SELECT DISTINCT tenant, 0 FROM ${of('apiKeys')}) AS each_one
          WHERE tenant <> '' GROUP BY tenant) AS tenants`),
        where: sqlOf('1 = 1'),
        behind: 'after' in from ? sqlOf(`id ${order === 'asc' ? '>' : '<'} ?`, from.after) : sqlOf('1 = 1'),
        by: ['id'],
        order,
        limit,
        offset: 'offset' in from ? from.offset : 0
      })
      return { items: rows.map((row) => ({ id: String(row['id']), users: Number(row['users']) })), total }
    }),

    log: eventLog(access, tables)
  }
}

/** A storage on a Knex instance with `mysql2`, which it does not close. */
export function mariadbOnKnex (knex: Knex, prefix: string, limits: Limits = UNLIMITED) {
  const tables = tablesOf(prefix)
  const lock = `UPDATE ${tables.of('state')} SET turn = turn + 1`
  const access = accessTo(knex, lock, limits)
  const schema = createSchema(access, tables)

  const join = (given: unknown): StorageInTransaction => {
    if (!isTransaction(given)) throw new TypeError('fastify-users: not a Knex transaction')
    if (given.isCompleted()) throw new TypeError('fastify-users: the transaction is over')
    if (poolOf(given).driverName !== MARIADB_CLIENT) {
      throw new TypeError('fastify-users: the transaction is not one on MariaDB')
    }
    const within = accessIn(given, lock)
    // Between two statements the caller may use the transaction too.
    const alone: Query = (sql, values) => within.read((query) => query(sql, values))
    const reads = readsOn(within, tables, (work) => work(alone), null)
    return {
      name: NAME,
      open: (options: OpenOptions = {}): Promise<Opened> => schema.openWithin(within, options),
      close: async () => {},
      ...reads,
      commit: throwingUnseen({ ...reads, commit: committingWithin(within, tables) }),
      join,
      afterCommit: within.afterCommit
    }
  }

  return {
    name: NAME,
    open: schema.open,
    ...schema.reports,
    async close () { access.close() },
    ...readsOn(access, tables, access.snapshot, farPages(access, tables)),
    commit: committingTogether(access, tables, { wait: limits.wait, connections: poolOf(knex).pool.max }),

    join,

    server: {
      concurrency: Math.max(CONCURRENCY_MIN, CONCURRENCY_PER_CONNECTION * poolOf(knex).pool.max),
      connections: () => connectionsOf(knex),
      warnings: () => access.read(weakSettings),
      isReadOnly: () => access.read(async (query) => {
        const { rows: [row] } = await query('SELECT @@read_only AS is_read_only')
        // A number before MariaDB 12.
        return !['0', 'OFF'].includes(String(row?.['is_read_only']))
      }),
      async upkeep () {}
    }
  }
}
