// The storage: one row that all writers write makes them come one after the other, numbers the events in the order of
// commits, and keeps writers from waiting for each other crosswise. Units that wait for the turn share it.

import type { Knex } from 'knex'
import { gather } from '../../../lib/core/gather.ts'
import { isStorageError } from '../../../lib/storage/storage-error.ts'
import type {
  Opened, OpenOptions, Outcome, Storage, StorageInTransaction, Unit, UserPageRequest
} from '../../../lib/storage/storage.ts'
import { UNLIMITED } from '../connection/time-limits.ts'
import { throwingUnseen } from '../connection/unseen-changes.ts'
import { connectionsOf, isTransaction, poolOf } from '../drivers/knex-internals.ts'
import { type Access, accessIn, accessTo, type Limits } from './connections.ts'
import { isConflict } from './driver.ts'
import { eventLog, REWRITE_MS } from './events.ts'
import { asksForAll, farPages, type ReadFar } from './far-pages.ts'
import { commitUnits, findRows, rowIn, rowsPage, shapeOf, type Turn } from './rows.ts'
import { createSchema } from './schema.ts'
import { weakSettings } from './settings.ts'
import { isIn, ofTenant, type Query, readPage, readPart, type Row, sqlOf } from './sql.ts'
import { type Tables, tablesOf } from './tables.ts'
import { pageBehind, userIn, userRow, usersPages } from './users.ts'

/** The name of Knex's client for it. */
export const MARIADB_CLIENT = 'mysql2'

const NAME = 'mariadb'
const READ_PART = 1000
// Of more units in one turn, the last ones would wait longer than a write may.
const TOGETHER_MAX = 64
// Each adds to the time that a transaction may take.
const WRITE_MS = 20
const FOUND_TOGETHER_MAX = 32
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
  // Callers may change their users, so each makes its own.
  const findTogether = gather(FOUND_TOGETHER_MAX, (id: string) => id, (ids) => read(async (query) => {
    const { sql } = isIn('id', ids)
    const { rows } = await query(`SELECT id, record FROM ${of('users')} WHERE ${sql}`, ids)
    const found = new Map(rows.map((row) => [String(row['id']), row]))
    return ids.map((id) => found.get(id) ?? null)
  }))
  return {
    find: (name, keys) => read(async (query) => {
      const rows = await findRows(query, tables, name, keys)
      return rows.map((row) => row === null ? null : name === 'users' ? userRow(row) : rowIn(row))
    }),

    list: (name, asked) => read(async (query) => {
      const { rows, total } = await readPage(query, rowsPage(tables, name, asked))
      return { items: rows.map(rowIn), total }
    }),

    users: {
      find: (id) => findTogether(id).then((row) => row === null ? null : userIn(row)),

      list: (filter, page) => far?.(filter, page) ?? read(async (query) => {
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

/** Commits units in one turn. */
function committing (access: Access, tables: Tables) {
  const { of } = tables
  return (units: readonly Unit[]): Promise<Outcome[]> => access.write(async (query) => {
    const { rows: [state] } = await query(`SELECT unique_fields, position FROM ${of('state')} FOR UPDATE`)
    const uniqueFields: string[] = JSON.parse(String(state?.['unique_fields']))
    const turn: Turn = { uniqueFields, position: Number(state?.['position']) }
    const outcomes: Outcome[] = []
    for (let at = 0; at < units.length; at = outcomes.length) {
      const shape = units.slice(at, at + 1).map(shapeOf)[0] ?? null
      const end = units.findIndex((unit, i) => i > at && (shape === null || shapeOf(unit) !== shape))
      outcomes.push(...await commitUnits(query, tables, units.slice(at, end === -1 ? undefined : end), turn))
    }
    return outcomes
  }, units.reduce((ms, { writes, rewrites }) =>
    ms + WRITE_MS * writes.length + REWRITE_MS * rewrites.length, 0))
}

/** Units that wait while others are committed are committed together. */
function together (commit: (units: readonly Unit[]) => Promise<Outcome[]>): Storage['commit'] {
  interface Waiting {
    unit: Unit
    shape: string
    isLong: boolean
    resolve: (outcome: Outcome) => void
    reject: (error: unknown) => void
  }
  const waiting: Waiting[] = []
  let isRunning = false
  let calls = 0

  async function run (): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const long = waiting.slice(0, TOGETHER_MAX).findIndex(({ isLong }) => isLong)
      // Nobody waits for one that takes long, but those behind it.
      const taken = waiting.splice(0, long === -1 ? TOGETHER_MAX : Math.max(1, long))
      // Units of the same shape come together, to be one statement. The units of one call keep their order.
      const batch = taken.sort((a, b) => a.shape < b.shape ? -1 : a.shape > b.shape ? 1 : 0)
      try {
        const outcomes = await commit(batch.map(({ unit }) => unit))
        for (const [i, { resolve }] of batch.entries()) resolve(outcomes[i] ?? { code: 'changed', at: 0 })
      } catch (error) {
        // A database that gave up on a conflict has undone everything: whoever asked reads anew and decides again.
        if (isConflict(error)) for (const { resolve } of batch) resolve({ code: 'changed', at: 0 })
        // A fault of one is no fault of the others, and has undone all.
        else if (batch.length > 1 && !(isStorageError(error) && error.code === 'unavailable')) await alone(batch)
        else for (const { reject } of batch) reject(error)
      }
    }
    isRunning = false
  }

  async function alone (batch: readonly Waiting[]): Promise<void> {
    for (const { unit, resolve, reject } of batch) {
      await commit([unit]).then(([outcome]) => resolve(outcome ?? { code: 'changed', at: 0 }), (error: unknown) =>
        isConflict(error) ? resolve({ code: 'changed', at: 0 }) : reject(error))
    }
  }

  return (units) => {
    const call = `call ${++calls}`
    const all = Promise.all(units.map((unit) => new Promise<Outcome>((resolve, reject) => {
      const shape = shapeOf(unit)
      waiting.push({ unit, shape: units.length === 1 ? shape ?? call : call, isLong: shape === null, resolve, reject })
    })))
    // What is asked for in this turn of the event loop is there by then.
    if (!isRunning) {
      isRunning = true
      setImmediate(run)
    }
    return all
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
    // Each statement by itself: whoever takes the parts may use the transaction too.
    const alone: Query = (sql, values) => within.read((query) => query(sql, values))
    const reads = readsOn(within, tables, (work) => work(alone), null)
    return {
      name: NAME,
      open: (options: OpenOptions = {}): Promise<Opened> => schema.openWithin(within, options),
      close: async () => {},
      ...reads,
      commit: throwingUnseen({ ...reads, commit: committing(within, tables) }),
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
    commit: together(committing(access, tables)),

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
