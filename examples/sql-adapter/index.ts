// A skeleton for stores in SQL: right first. One row that all writers lock makes them come one after the other, numbers
// the events in the order of commits, and keeps writers from waiting for each other crosswise. The guards and unique
// constraints hold without it too: make it faster afterwards, with the conformance kit at hand.
import pg from 'pg'
import {
  type OpenOptions, type Opened, type Outcome, type Storage, StorageError, type StorageInTransaction,
  type UserPageRequest
} from 'fastify-users/storage'
import { type Access, HostTransaction, isConflict, isNoTable, openDatabase, type Query, type Row } from './database.ts'
import { sqlEvents } from './events.ts'
import { readPage, readPart, sqlOf } from './pages.ts'
import { commitUnit, findRows, rowIn, rowsPage } from './rows.ts'
import { SCHEMA_VERSION, TABLES } from './tables.ts'
import { makeUnique, pageBehind, putWords, userIn, userRow, usersPage } from './users.ts'

const READ_PART = 1000
const TENANTS = 'SELECT tenant, 1 AS one FROM users UNION ALL SELECT tenant, 0 FROM api_keys'

type Reads = Omit<Storage, 'name' | 'open' | 'close' | 'join'>

/** What works inside a transaction too. `walk`: where the parts of a walk are read. */
function storeOn (access: Access, walk: (work: (query: Query) => Promise<void>) => Promise<void>): Reads {
  const read: Access['read'] = (work) => access.read(work)
  return {
    commit: (units) => access.write(async (query) => {
      const outcomes: Outcome[] = []
      for (const unit of units) outcomes.push(await commitUnit(query, unit))
      return outcomes
    }),

    find: (name, keys) => read(async (query) => {
      const rows = await findRows(query, name, keys)
      return rows.map((row) => row === null ? null : name === 'users' ? userRow(row) : rowIn(row))
    }),

    list: (name, asked) => read(async (query) => {
      const { rows, total } = await readPage(query, rowsPage(name, asked))
      return { items: rows.map(rowIn), total }
    }),

    users: {
      find: (id) => read(async (query) => {
        const { rows: [row] } = await query('SELECT record FROM users WHERE id = ?', [id])
        return row === undefined ? null : userIn(row)
      }),

      list: (filter, page) => read(async (query) => {
        const { rows, total } = await readPage(query, usersPage(filter, page))
        return { items: rows.map(userIn), total }
      }),

      walk: (filter, order, onPart, sort) => walk(async (query) => {
        const first = { order, limit: READ_PART, from: { offset: 0 } }
        let page: UserPageRequest | null = sort === undefined ? first : { ...first, sort }
        while (page !== null) {
          const rows: Row[] = await readPart(query, usersPage(filter, page))
          if (rows.length > 0) await onPart(rows.map(userIn))
          const last = rows.length < READ_PART ? undefined : rows.at(-1)
          page = last === undefined ? null : pageBehind(page, last)
        }
      })
    },

    listTenants: ({ order, limit, from }) => read(async (query) => {
      const { rows, total } = await readPage(query, {
        columns: 'id, users',
        from: sqlOf(`(SELECT tenant AS id, sum(one) AS users FROM (${TENANTS}) AS rows_of_tenants WHERE tenant <> '' ` +
          'GROUP BY tenant) AS tenants'),
        where: sqlOf('1 = 1'),
        behind: 'after' in from ? sqlOf(`id ${order === 'asc' ? '>' : '<'} ?`, from.after) : sqlOf('1 = 1'),
        order: `id ${order}`,
        limit,
        offset: 'offset' in from ? from.offset : 0
      })
      return { items: rows.map((row) => ({ id: String(row['id']), users: Number(row['users']) })), total }
    }),

    log: sqlEvents(access)
  }
}

/** What the store was opened for; null: there are no tables yet. */
interface State { version: number, unique: string[], searchable: unknown }

async function stateIn (query: Query): Promise<State | null> {
  try {
    const { rows: [row] } = await query('SELECT * FROM state')
    return {
      version: Number(row?.['schema_version']),
      unique: JSON.parse(String(row?.['unique_fields'])),
      searchable: row?.['searchable'] ?? null
    }
  } catch (error) {
    if (isNoTable(error)) return null
    throw error
  }
}

export interface SqlStore extends Storage {
  /** Begins a transaction for `join`, as a host does. */
  begin (mode?: string): Promise<HostTransaction>
}

export function sqlStore (config: pg.PoolConfig): SqlStore {
  const database = openDatabase(config)
  const { pool, transaction, read, write, snapshot, close } = database
  const store = storeOn(database, snapshot)

  /** Creates the tables. A lock that needs no table: MySQL has GET_LOCK, SQLite BEGIN IMMEDIATE. */
  const create = () => transaction(async (query) => {
    await query('SELECT pg_advisory_xact_lock(7241)')
    const { rows: [found] } = await query("SELECT to_regclass('state') AS name")
    if (found?.['name'] !== null) return false
    await query(TABLES)
    return true
  })

  const isMissing = (state: State, { unique = [], searchable }: OpenOptions): boolean =>
    unique.some((field) => !state.unique.includes(field)) ||
    (searchable !== undefined && searchable.key !== state.searchable)

  async function open (options: OpenOptions = {}): Promise<Opened> {
    const { migrate = false, unique = [], searchable } = options
    let state = await read(stateIn)
    const created = state === null && migrate && await create()
    state ??= migrate ? await read(stateIn) : null
    if (state !== null && state.version > SCHEMA_VERSION) {
      throw new StorageError('schema_newer', 'the tables are those of a later version')
    }
    if (state !== null && !isMissing(state, options)) return { created }
    if (!migrate) throw new StorageError('schema_behind', 'something is not there yet: open with migrate')
    await write(async (query) => {
      const before = await stateIn(query)
      const known = before?.unique ?? []
      for (const field of unique) if (!known.includes(field)) await makeUnique(query, field)
      await query('UPDATE state SET unique_fields = ?', [JSON.stringify([...new Set([...known, ...unique])])])
      if (searchable === undefined || searchable.key === before?.searchable) return
      await query('UPDATE state SET searchable = ?', [searchable.key])
      const { rows } = await query('SELECT record FROM users')
      for (const { id, fields } of rows.map(userIn)) {
        const words = searchable.wordsOf(fields)
        await query('UPDATE users SET field_words = ? WHERE id = ?', [JSON.stringify(words), id])
        await putWords(query, id, 'fieldWords', words)
      }
    })
    return { created }
  }

  return {
    name: 'sql',
    open,
    close,
    ...store,

    // A database that gave up on a conflict has undone everything: whoever asked reads anew and decides again.
    commit: (units) => store.commit(units).catch((error: unknown) => {
      if (!isConflict(error)) throw error
      return units.map((): Outcome => ({ code: 'changed', at: 0 }))
    }),

    join (given): StorageInTransaction {
      if (!(given instanceof HostTransaction) || !given.isOpen) throw new TypeError('this is no open transaction')
      const joined: StorageInTransaction = {
        name: 'sql',
        open,
        close: async () => {},
        // Each statement by itself: whoever takes the parts may use the transaction too.
        ...storeOn(given, (work) => work((sql, values) => given.read((query) => query(sql, values)))),
        join: () => joined,
        afterCommit: (callback) => given.afterCommit(callback)
      }
      return joined
    },

    begin: (mode) => HostTransaction.begin(pool, mode)
  }
}
