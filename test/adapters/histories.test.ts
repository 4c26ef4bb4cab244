// Total and page are equal to what count(*) and OFFSET give, after any history of several connections: open transactions, plain SQL, upkeep in between.
import { join } from 'node:path'
import fc from 'fast-check'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import { test, type Test } from 'tap'
import { countsVerifier } from '../../adapters/knex/counting/verify.ts'
import { USER_COLUMNS } from '../../adapters/knex/tables/columns.ts'
import { createCompaction, type Compaction } from '../../adapters/knex/counting/compaction.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { createPoolExecutor } from '../../adapters/knex/connection/pool-executor.ts'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import type { Param } from '../../adapters/knex/drivers/driver.ts'
import type { SqliteDriver } from '../../adapters/knex/drivers/sqlite-drivers.ts'
import { retryWhileBusy } from '../../adapters/knex/connection/retry-while-busy.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const CONNECTIONS = 3
const LOCK_TIMEOUT_MS = 60_000

/** What happens: on one of several connections, each of which may have a transaction open. */
type Step =
  | { kind: 'begin', on: number, isolation: string }
  | { kind: 'end', on: number, how: 'COMMIT' | 'ROLLBACK' }
  | { kind: 'insert', on: number, count: number, at: number }
  | { kind: 'append', on: number, count: number }
  | { kind: 'delete', on: number, from: number, to: number, of: number }
  | { kind: 'renumber', on: number, at: number }
  | { kind: 'undone', on: number, count: number, at: number }
  | { kind: 'truncate', on: number }
  | { kind: 'upkeep' }
  | { kind: 'rebuild' }
  | { kind: 'check', on: number, desc: boolean, at: number, limit: number }

const on = fc.nat(CONNECTIONS - 1)
const at = fc.integer({ min: 0, max: 9999 })
const count = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 500, max: 3000 }))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('begin' as const), on, isolation: fc.constantFrom('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), on, how: fc.constantFrom('COMMIT' as const, 'COMMIT' as const, 'ROLLBACK' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('insert' as const), on, count, at }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('append' as const), on, count }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), on, from: at, to: at, of: fc.integer({ min: 1, max: 10 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renumber' as const), on, at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('undone' as const), on, count, at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('truncate' as const), on }) },
  { weight: 5, arbitrary: fc.constant({ kind: 'upkeep' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rebuild' as const }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('check' as const), on, desc: fc.boolean(), at, limit: fc.integer({ min: 1, max: 40 }) }) }
)

type Row = Record<string, unknown>

/** A database on which histories are played: several connections of plain SQL, and a session of ours for the upkeep. */
interface Ground {
  name: 'postgres' | 'sqlite'
  queries: Array<(sql: string, params?: unknown[]) => Promise<Row[]>>
  table: string
  /** SQL for the text of an id from a number. */
  id: (n: string) => string
  series: (count: number) => string
  page: (page: { order: 'asc' | 'desc', limit: number, offset: number }) => { sql: string, params: readonly unknown[] }
  upkeep: Compaction
  audit: () => Promise<{ users: number, counted: number, wrong: number }>
}

/** Whether a statement was refused because another transaction has been there: the connection's own is over then. */
function metAnother (error: unknown): boolean {
  return ['40001', '40P01', 'SQLITE_BUSY'].includes(String(Object(error).code))
}

/** Plays a history; throws where total or page are not those of count(*) and OFFSET in the same snapshot. */
async function play ({ name, queries, table, id, series, page, upkeep, audit }: Ground, steps: readonly Step[]): Promise<void> {
  const open: Array<string | null> = queries.map(() => null)
  const running: Array<Promise<unknown>> = []
  let newest = 1_000_000_000
  let unique = 0
  const q = (on: number, sql: string, params?: unknown[]) => queries[on]?.(sql, params) ?? Promise.reject(new Error('no connection'))

  /** On SQLite there is one writer: where another connection's transaction is open, a write would wait for ever. */
  const blocked = (on: number) => name === 'sqlite' && open.some((isolation, other) => other !== on && isolation !== null)
  const insert = (on: number, count: number, number: string) => q(on, `INSERT INTO ${table} (id, name, name_key, email, email_key, version, created_at, updated_at) ` +
    `SELECT ${id(number)} || '.${++unique}', 'n', 'n', 'e', '${unique}-' || value, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM ${series(count)}`)
  const between = (on: number, count: number, at: number) => insert(on, count, `${at * 100_000} + value`)

  async function check (on: number, order: 'asc' | 'desc', share: number, limit: number): Promise<void> {
    const alone = open[on] === null
    if (alone && blocked(on)) return
    if (alone) await q(on, name === 'sqlite' ? 'BEGIN' : 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const compare = async (): Promise<void> => {
      const [truth] = await q(on, `SELECT count(*) AS n FROM ${table}`)
      const total = Number(truth?.['n'])
      for (const offset of [0, Math.floor(share / 9999 * total), Math.max(0, total - limit), total + 3]) {
        const expected = (await q(on, `SELECT id FROM ${table} ORDER BY id ${order} LIMIT ${limit} OFFSET ${offset}`)).map((row) => row['id'])
        const { sql, params } = page({ order, limit, offset })
        const [row] = await q(on, sql, [...params])
        const items = row?.['items'] ?? []
        // pg takes JSON apart by itself.
        const found: string[] = (typeof items === 'string' ? JSON.parse(items) : Object(items)).map(([id]: [string]) => id)
        const counted = Number(row?.['counted']) + Number(row?.['tail'])
        if (counted !== total || JSON.stringify(found) !== JSON.stringify(expected)) {
          throw new Error(`${order} ${offset} ${limit}: total ${counted} of ${total}, ${found.length} of ${expected.length} users, from ${String(found[0])} instead of ${String(expected[0])}`)
        }
      }
    }
    // Under READ COMMITTED each statement sees its own moment: another's commit can't come between, since they come one after the other here.
    await compare()
    if (alone) await q(on, 'COMMIT')
  }

  const act = async (each: Step): Promise<void> => {
    if (each.kind === 'upkeep') { running.push(upkeep.run()); return }
    if (each.kind === 'rebuild') { running.push(upkeep.rebuild()); return }
    if (each.kind === 'check') { await check(each.on, each.desc ? 'desc' : 'asc', each.at, each.limit); return }
    if (each.kind === 'begin') {
      if (open[each.on] !== null || blocked(each.on)) return
      open[each.on] = each.isolation
      await q(each.on, name === 'sqlite' ? 'BEGIN IMMEDIATE' : `BEGIN ISOLATION LEVEL ${each.isolation}`)
      // The snapshot is taken by the first statement.
      await q(each.on, `SELECT count(*) FROM ${table}`)
      return
    }
    if (each.kind === 'end') {
      if (open[each.on] === null) return
      open[each.on] = null
      await q(each.on, each.how)
      return
    }
    if (blocked(each.on)) return
    switch (each.kind) {
      case 'insert': await between(each.on, each.count, each.at); break
      case 'append':
        newest += each.count
        await insert(each.on, each.count, `${newest - each.count} + value`)
        break
      case 'delete': {
        const [low, high] = [each.from, each.to].sort((a, b) => a - b).map((n) => id(String(n * 120_000)))
        const skip = name === 'sqlite' ? '' : ' FOR UPDATE SKIP LOCKED'
        const nth = name === 'sqlite' ? `abs(unicode(substr(id, 13, 1))) % ${each.of} = 0` : `ascii(substr(id, 13, 1)) % ${each.of} = 0`
        await q(each.on, `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id >= ${low} AND id <= ${high} AND ${nth}${skip})`)
        break
      }
      case 'renumber':
        await q(each.on, `UPDATE ${table} SET id = id || '.${++unique}' WHERE id IN (SELECT id FROM ${table} WHERE id >= ${id(String(each.at * 120_000))} ORDER BY id LIMIT 5${name === 'sqlite' ? '' : ' FOR UPDATE SKIP LOCKED'})`)
        break
      case 'undone':
        if (open[each.on] === null) break
        await q(each.on, 'SAVEPOINT s')
        await between(each.on, each.count, each.at)
        await q(each.on, 'ROLLBACK TO SAVEPOINT s')
        break
      case 'truncate':
        if (open.some((isolation, other) => other !== each.on && isolation !== null)) break
        await q(each.on, name === 'sqlite' ? `DELETE FROM ${table}` : `TRUNCATE ${table} CASCADE`)
        // Everybody else waits for the end of a transaction that has emptied a table.
        if (open[each.on] !== null) await act({ kind: 'end', on: each.on, how: ++unique % 2 === 0 ? 'COMMIT' : 'ROLLBACK' })
        break
    }
  }

  await q(0, `DELETE FROM ${table}`)
  try {
    for (const each of steps) {
      try {
        await act(each)
      } catch (error) {
        if (!('on' in each) || !metAnother(error)) throw error
        if (open[each.on] !== null) await q(each.on, 'ROLLBACK')
        open[each.on] = null
      }
    }
  } finally {
    for (const [other, isolation] of open.entries()) if (isolation !== null) await q(other, 'COMMIT').catch(() => q(other, 'ROLLBACK'))
  }
  await Promise.all(running)
  await upkeep.run()
  open.fill(null)
  for (const order of ['asc', 'desc'] as const) await check(0, order, 5000, 20)
  const { users, counted, wrong } = await audit()
  if (users !== counted || wrong !== 0) throw new Error(`${counted} counted, ${users} there, ${wrong} numbers wrong`)
}

async function groundOn (t: Test, own: Knex, schema: string | null, queries: Ground['queries']): Promise<Ground> {
  const naming = schema === null ? {} : { schema }
  const storage = knexStorage(own, naming)
  t.teardown(() => own.destroy())
  await storage.migrate()
  const dialect = dialectOf(String(own.client.driverName))
  const names = namesOf(naming, dialect.hasSchemas)
  const session = createPoolExecutor(own, names, { busyTimeout: LOCK_TIMEOUT_MS })
  const pages = dialect.counting.page(names, USER_COLUMNS)
  const postgres = dialect.name === 'postgres'
  return {
    name: dialect.name,
    queries,
    table: names.users,
    id: (n) => postgres ? `'usr_0' || lpad((${n})::text, 10, '0')` : `'usr_0' || printf('%010d', ${n})`,
    series: (count) => postgres ? `generate_series(1, ${count}) AS g (value)` : `(WITH RECURSIVE g (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM g WHERE value < ${count}) SELECT value FROM g)`,
    page: ({ order, limit, offset }) => pages({ order, limit, from: { offset } }),
    upkeep: createCompaction(session, names),
    audit: countsVerifier(session, names)
  }
}

async function postgresGround (t: Test): Promise<Ground> {
  const schema = temporarySchema(t)
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    const client = new pg.Client({ connectionString: pgUrl() })
    await client.connect()
    t.teardown(() => client.end())
    return client
  }))
  return groundOn(t, knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 4 } }), schema, clients.map((client) => async (sql, params) => (await client.query(sql, params)).rows))
}

async function sqliteGround (t: Test, driver: SqliteDriver): Promise<Ground> {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const dialect = dialectOf(driver)
  // A driver that waits on the thread of the event loop would wait for the others in vain.
  const run = (connection: unknown, sql: string, params: readonly Param[] = []) => retryWhileBusy(() => dialect.run(connection, sql, params), LOCK_TIMEOUT_MS)
  const setUp = (connection: unknown, done: (error: unknown, connection: unknown) => void) => {
    const settings = ['busy_timeout = 0', 'journal_mode = WAL', 'synchronous = OFF'].map((each) => () => run(connection, `PRAGMA ${each}`))
    settings.reduce<Promise<unknown>>((before, set) => before.then(set), Promise.resolve()).then(() => done(null, connection), (error) => done(error, connection))
  }
  const openFile = () => sqliteHost(filename, { driver, pool: { min: 1, max: 1, afterCreate: setUp } })
  const others = Array.from({ length: CONNECTIONS }, openFile)
  for (const other of others) t.teardown(() => other.destroy())
  return groundOn(t, openFile(), null, others.map((other) => async (sql, params = []) => {
    const connection: unknown = await other.client.acquireConnection()
    try {
      return await run(connection, sql, params.map((value) => typeof value === 'number' ? value : String(value)))
    } finally {
      await other.client.releaseConnection(connection)
    }
  }))
}

interface Kind { name: string, make: (t: Test) => Promise<Ground>, skip: string | false }
const kinds: Kind[] = [
  { name: 'postgres', make: postgresGround, skip: false },
  ...sqliteDrivers.map(({ driver, skip }) => ({ name: `sqlite on ${driver}`, make: (t: Test) => sqliteGround(t, driver), skip }))
]

for (const { name, make, skip } of kinds) {
  test(`${name}: total and page are exact after any history`, { skip, timeout: 250_000 }, async (t) => {
    const ground = await make(t)
    const result = await fc.check(fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), (steps) => play(ground, steps)), { numRuns: Number(process.env['HISTORIES'] ?? 25), endOnFailure: true })
    t.notOk(result.failed, `${String(result.errorInstance)} ${fc.defaultReportMessage(result)}`)
  })
}
