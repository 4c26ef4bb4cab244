// The exact number of users, and every page of them, at a flat cost: equal to what count(*) and OFFSET give, whatever has happened to the table.
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import { test, type Test } from 'tap'
import { auditor } from '../../adapters/knex/blocks/audit.ts'
import { blocksPage } from '../../adapters/knex/blocks/page.ts'
import { USER_COLUMNS } from '../../adapters/knex/rows.ts'
import { createUpkeep, type Upkeep } from '../../adapters/knex/blocks/upkeep.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { namesOf } from '../../adapters/knex/names.ts'
import { openSession } from '../../adapters/knex/session.ts'
import { dialectOf } from '../../adapters/knex/dialect.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { pgUrl, sql, stores, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const CONNECTIONS = 3

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
  upkeep: Upkeep
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
    if (each.kind === 'upkeep') { running.push(upkeep.rounds()); return }
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
  await upkeep.rounds()
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
  const names = namesOf(naming, dialect)
  const session = openSession(own, names)
  const pages = blocksPage(dialect, names, USER_COLUMNS)
  const postgres = dialect.name === 'postgres'
  return {
    name: dialect.name,
    queries,
    table: names.users,
    id: (n) => postgres ? `'u' || lpad((${n})::text, 12, '0')` : `'u' || printf('%012d', ${n})`,
    series: (count) => postgres ? `generate_series(1, ${count}) AS g (value)` : `(WITH RECURSIVE g (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM g WHERE value < ${count}) SELECT value FROM g)`,
    page: ({ order, limit, offset }) => pages({ order, limit, from: { offset } }),
    upkeep: createUpkeep(session, names),
    audit: auditor(session, names)
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

async function sqliteGround (t: Test): Promise<Ground> {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const setUp = (connection: { exec (sql: string, done: (error: Error | null) => void): void }, done: (error: Error | null, connection: unknown) => void) =>
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 60000', (error) => done(error, connection))
  const openFile = () => knex({ client: 'sqlite3', connection: { filename }, useNullAsDefault: true, pool: { min: 1, max: 1, afterCreate: setUp } })
  const others = Array.from({ length: CONNECTIONS }, openFile)
  for (const other of others) t.teardown(() => other.destroy())
  const dialect = dialectOf('sqlite3')
  return groundOn(t, openFile(), null, others.map((other) => async (sql, params = []) => {
    const connection: unknown = await other.client.acquireConnection()
    try {
      return await dialect.run(connection, sql, params.map((value) => typeof value === 'number' ? value : String(value)))
    } finally {
      await other.client.releaseConnection(connection)
    }
  }))
}

for (const { name, make } of [{ name: 'postgres', make: postgresGround }, { name: 'sqlite', make: sqliteGround }]) {
  test(`${name}: total and page are exact after any history`, { timeout: 250_000 }, async (t) => {
    const ground = await make(t)
    const result = await fc.check(fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), (steps) => play(ground, steps)), { numRuns: Number(process.env['HISTORIES'] ?? 25), endOnFailure: true })
    t.notOk(result.failed, `${String(result.errorInstance)} ${fc.defaultReportMessage(result)}`)
  })
}

/** A connection of a new role that has these rights alone. */
async function connectAs (t: Test, role: string, rights: readonly string[]): Promise<pg.Client> {
  await sql([`CREATE ROLE "${role}" LOGIN PASSWORD 'x'`, ...rights.map((right) => `GRANT ${right} TO "${role}"`)].join('; '))
  t.teardown(() => sql(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`))
  const url = new URL(pgUrl())
  url.username = role
  url.password = 'x'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** Waits until a question is answered with yes. */
async function until (answer: () => Promise<boolean>): Promise<void> {
  while (!await answer()) await delay(10)
}

test('an open transaction that has written users holds the seal back, and nobody else', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const table = `"${schema}".fastify_users_users`
  const insert = (from: number, to: number) => `INSERT INTO ${table} SELECT 'u' || lpad(n::text, 9, '0'), 'n', 'n', 'e', n::text, 1, now(), now() FROM generate_series(${from}, ${to}) AS n`
  const [writer, own, names] = [new pg.Client({ connectionString: pgUrl() }), knex({ client: 'pg', connection: pgUrl() }), namesOf({ schema }, dialectOf('pg'))]
  t.teardown(() => own.destroy())
  await writer.connect()
  t.teardown(() => writer.end())
  const sealed = async () => (await sql(`SELECT sealed FROM "${schema}".fastify_users_sealing`))[0]?.['sealed']
  const total = async () => (await storage.listUsers({ emailKey: null, prefix: null }, { order: 'asc', limit: 1, from: { offset: 0 } })).total
  const [first, second] = [createUpkeep(openSession(own, names), names), createUpkeep(openSession(own, names), names)]

  await sql(insert(1001, 3000))
  await writer.query('BEGIN')
  await writer.query(insert(1, 10))
  const waiting = first.rounds()
  t.equal(first.rounds(), waiting, 'who asks meanwhile joins in')
  await until(async () => (await sql(`SELECT sealed <> pending AS announced FROM "${schema}".fastify_users_sealing`))[0]?.['announced'] === true)
  await second.rounds()
  t.equal(await sealed(), '', 'the second leaves the round to the first')
  await waiting
  t.equal(await sealed(), '', 'the first has given up for now')
  t.equal(await total(), 2000)
  await writer.query('COMMIT')
  t.equal(await total(), 2010)
  await until(async () => {
    await second.rounds()
    return await sealed() !== ''
  })
  t.equal(await total(), 2010)
  t.strictSame(await storage.checkCounts(), { users: 2010, counted: 2010, wrong: 0 })

  await sql(insert(5001, 7000))
  await writer.query('BEGIN')
  await writer.query(insert(11, 11))
  const broken = first.rounds()
  await until(async () => (await sql(`SELECT sealed <> pending AS announced FROM "${schema}".fastify_users_sealing`))[0]?.['announced'] === true)
  await first.close()
  await t.resolves(broken, 'a store that is closed waits for nobody')
  await first.close()
  await writer.query('ROLLBACK')
})

for (const { name, make } of stores.filter(({ name }) => name !== 'memory').map(({ name, create }) => ({ name, make: create }))) {
  test(`${name}: what is created and deleted through the storage is sealed and folded by itself`, async (t) => {
    const storage = await make(t)
    t.teardown(() => storage.close())
    await storage.migrate()
    if (!('checkCounts' in storage)) throw new Error('not a storage in SQL')
    const users = Array.from({ length: 1600 }, (_, n) => ({ id: `usr_${String(n).padStart(26, '0')}`, name: 'n', email: `${n}@example.com`, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }))
    await Promise.all(users.map((user) => storage.createUser(user, { emailKey: user.email, nameKey: 'n' }, null)))
    const total = async () => (await storage.listUsers({ emailKey: null, prefix: null }, { order: 'desc', limit: 1, from: { offset: 0 } })).total
    t.equal(await total(), 1600)
    for (const { id } of users.slice(0, 700)) await storage.deleteUser(id, { ifVersion: null, unlessVersion: [] })
    t.equal(await total(), 900)
    t.strictSame(await storage.listUsers({ emailKey: null, prefix: null }, { order: 'asc', limit: 2, from: { offset: 0 } }).then(({ items }) => items.map(({ email }) => email)), ['700@example.com', '701@example.com'])
    const { items } = await storage.listUsers({ emailKey: null, prefix: null }, { order: 'desc', limit: 2, from: { after: String(users[702]?.id) } })
    t.strictSame(items.map(({ email }) => email), ['701@example.com', '700@example.com'])
  })
}

test('what goes past the triggers is found, and counted again', async (t) => {
  const schema = temporarySchema(t)
  const filename = join(await temporaryDirectory(t), 'users.db')
  const other = knex({ client: 'sqlite3', connection: { filename }, useNullAsDefault: true })
  t.teardown(() => other.destroy())
  const row = (id: string, email: string) => `('${id}', 'n', 'n', 'e', '${email}', 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`
  const rows = Array.from({ length: 3000 }, (_, n) => row(`u${String(n).padStart(6, '0')}`, String(n))).join(', ')
  const both = [
    { storage: postgres({ connection: pgUrl(), schema }), run: (statement: string) => sql(statement.replace('TABLE', `"${schema}".fastify_users_users`)), past: 'SET session_replication_role = replica; DELETE FROM TABLE WHERE id < \'u000010\'' },
    { storage: sqlite({ filename }), run: (statement: string) => other.raw(statement.replace('TABLE', 'fastify_users_users')), past: `INSERT OR REPLACE INTO TABLE VALUES ${Array.from({ length: 10 }, (_, n) => row(`u00000${n}`, String(n))).join(', ')}` }
  ]
  for (const { storage, run, past } of both) {
    t.teardown(() => storage.close())
    await storage.migrate()
    t.strictSame(await storage.checkCounts(), { users: 0, counted: 0, wrong: 0 })
    await run(`INSERT INTO TABLE VALUES ${rows}`)
    await storage.rebuildCounts()
    t.strictSame(await storage.checkCounts(), { users: 3000, counted: 3000, wrong: 0 })
    await run(past)
    const { users, counted, wrong } = await storage.checkCounts()
    t.strictSame({ off: counted - users, wrong }, { off: 10, wrong: 1 })
    await storage.rebuildCounts()
    t.strictSame(await storage.checkCounts(), { users, counted: users, wrong: 0 })
    await storage.close()
  }
})

test('who may write users need not know the other tables', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const client = await connectAs(t, `${schema}_writer`, [`USAGE ON SCHEMA "${schema}"`, `INSERT, DELETE, TRUNCATE, SELECT ON "${schema}".fastify_users_users, "${schema}".fastify_users_idempotency`])
  const insert = `INSERT INTO "${schema}".fastify_users_users SELECT 'u' || lpad(n::text, 9, '0'), 'n', 'n', 'e', n::text, 1, now(), now() FROM generate_series(1, 40000) AS n`
  await client.query(insert)
  // More than one round seals.
  await storage.rebuildCounts()
  await client.query(`DELETE FROM "${schema}".fastify_users_users WHERE id <= 'u000006000'`)
  const total = async () => (await storage.listUsers({ emailKey: null, prefix: null }, { order: 'asc', limit: 1, from: { offset: 0 } })).total
  await until(async () => {
    t.equal(await total(), 34_000)
    return (await sql(`SELECT count(*)::int AS n FROM "${schema}".fastify_users_block_changes`))[0]?.['n'] === 0
  })
  t.strictSame(await storage.checkCounts(), { users: 34_000, counted: 34_000, wrong: 0 })
  await client.query(`TRUNCATE "${schema}".fastify_users_users CASCADE`)
  await client.query(insert)
  t.strictSame(await storage.checkCounts(), { users: 40_000, counted: 40_000, wrong: 0 })
})

test('what fails in the background harms nobody, and is not tried at once again', async (t) => {
  const own = knex({ client: 'pg', connection: pgUrl() })
  const names = namesOf({ schema: temporarySchema(t) }, dialectOf('pg'))
  const upkeep = createUpkeep(openSession(own, names), names)
  await own.destroy()
  upkeep.looked(5000, 0)
  await t.rejects(upkeep.rounds(), { name: 'StorageError' })
  upkeep.looked(5000, 0)
  await upkeep.close()
  upkeep.looked(0, 5000)
  t.resolves(upkeep.rounds(), 'after the end nothing is done any more')
})

/** Users by plain SQL, with ids from one number to another. */
const usersFrom = (schema: string, from: number, to: number) => `INSERT INTO "${schema}".fastify_users_users SELECT 'u' || lpad(n::text, 9, '0'), 'n', 'n', 'e', n::text, 1, now(), now() FROM generate_series(${from}, ${to}) AS n`
const everybody = { emailKey: null, prefix: null }

test('a round that was taken for dead and is not moves nothing back', async (t) => {
  const schema = temporarySchema(t)
  const own = knex({ client: 'pg', connection: pgUrl() })
  t.teardown(() => own.destroy())
  const storage = knexStorage(own, { schema })
  await storage.migrate()
  const names = namesOf({ schema }, dialectOf('pg'))
  const session = openSession(own, names)
  const signals = new EventEmitter()
  const [announced, goOn] = [once(signals, 'announced'), once(signals, 'go on')]
  await sql(usersFrom(schema, 1001, 3000))
  const first = createUpkeep({
    ...session,
    async snapshot (work, options) {
      signals.emit('announced')
      await goOn
      return session.snapshot(work, options)
    }
  }, names)
  const done = first.rounds()
  await announced
  // Now the same number of blocks ends at a lower id.
  await sql(`DELETE FROM "${schema}".fastify_users_users WHERE id <= 'u000001400'`)
  let takenOver = false
  const second = createUpkeep({
    ...session,
    async run (text, params) {
      if (/^UPDATE .* pending =/.test(text)) {
        takenOver = true
        signals.emit('go on')
        await done
      }
      return session.run(text, params)
    }
  }, names)
  await until(async () => {
    await second.rounds()
    return takenOver
  })
  t.strictSame(await storage.checkCounts(), { users: 1600, counted: 1600, wrong: 0 })
})

test('a tail that has gone while it was looked at is not sealed', async (t) => {
  const schema = temporarySchema(t)
  const own = knex({ client: 'pg', connection: pgUrl() })
  t.teardown(() => own.destroy())
  const storage = knexStorage(own, { schema })
  await storage.migrate()
  await sql(usersFrom(schema, 1, 2000))
  const names = namesOf({ schema }, dialectOf('pg'))
  const session = openSession(own, names)
  const upkeep = createUpkeep({
    ...session,
    async run (text, params) {
      if (/OFFSET/.test(text)) await sql(`DELETE FROM "${schema}".fastify_users_users`)
      return session.run(text, params)
    }
  }, names)
  await upkeep.rounds()
  t.strictSame(await sql(`SELECT sealed, pending FROM "${schema}".fastify_users_sealing`), [{ sealed: '', pending: '' }])
  t.strictSame(await storage.checkCounts(), { users: 0, counted: 0, wrong: 0 })
})

test('nobody but the owner of the tables can use what counts them', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const client = await connectAs(t, `${schema}_stranger`, [`USAGE, CREATE ON SCHEMA "${schema}"`])
  await client.query(`CREATE TABLE "${schema}".forged (id text)`)
  for (const name of ['inserted', 'deleted', 'renumbered', 'truncated']) {
    await t.rejects(client.query(`CREATE TRIGGER forged AFTER INSERT ON "${schema}".forged FOR EACH ROW EXECUTE FUNCTION "${schema}".fastify_users_users_${name}()`), { code: '42501' }, name)
  }
})

test('a snapshot that is older than the emptying of the table sees its own users alone', async (t) => {
  const schema = temporarySchema(t)
  const own = knex({ client: 'pg', connection: pgUrl() })
  t.teardown(() => own.destroy())
  const storage = knexStorage(own, { schema })
  await storage.migrate()
  await sql(usersFrom(schema, 1, 10))
  const transaction = await own.transaction({ isolationLevel: 'repeatable read' })
  await transaction.raw('SELECT 1')
  await sql(`TRUNCATE "${schema}".fastify_users_users CASCADE`)
  await transaction.raw(usersFrom(schema, 11, 15))
  const { items, total } = await storage.within(transaction).listUsers(everybody, { order: 'asc', limit: 3, from: { offset: 1 } })
  t.strictSame({ ids: items.map(({ id }) => id), total }, { ids: ['u000000012', 'u000000013', 'u000000014'], total: 5 })
  await transaction.commit()
})

test('blocks that everybody has left are given up, and a publication of all tables disturbs nothing', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  await sql(`CREATE PUBLICATION "${schema}" FOR TABLES IN SCHEMA "${schema}"`)
  t.teardown(() => sql(`DROP PUBLICATION IF EXISTS "${schema}"`))
  await sql(usersFrom(schema, 1, 5000))
  await storage.rebuildCounts()
  await sql(`DELETE FROM "${schema}".fastify_users_users WHERE id <= 'u000004000'`)
  const blocks = async () => Number((await sql(`SELECT count(*) AS n FROM "${schema}".fastify_users_blocks`))[0]?.['n'])
  await until(async () => {
    t.equal((await storage.listUsers(everybody, { order: 'asc', limit: 5, from: { offset: 0 } })).total, 1000)
    return await blocks() <= 6
  })
  t.strictSame(await storage.checkCounts(), { users: 1000, counted: 1000, wrong: 0 })
})

test('a store is closed though somebody holds what its upkeep needs', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  await storage.migrate()
  await sql(usersFrom(schema, 1, 5000))
  const blocker = new pg.Client({ connectionString: pgUrl() })
  await blocker.connect()
  t.teardown(() => blocker.end())
  await blocker.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users`)
  const rebuilt = t.rejects(storage.rebuildCounts(), { name: 'StorageError', code: 'unavailable' })
  await storage.close()
  await rebuilt
})

test('sqlite: a write that met another process leaves no old moment of the database behind', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const storage = sqlite({ filename, busyTimeout: 0 })
  t.teardown(() => storage.close())
  await storage.migrate()
  const other = knex({ client: 'sqlite3', connection: { filename }, useNullAsDefault: true })
  t.teardown(() => other.destroy())
  const total = async () => (await storage.listUsers(everybody, { order: 'asc', limit: 1, from: { offset: 0 } })).total
  const user = (n: number) => ({ id: `usr_${n}`, name: 'n', email: `${n}@example.com`, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' })
  const create = (n: number) => storage.createUser(user(n), { emailKey: user(n).email, nameKey: 'n' }, null)
  await create(1)
  await other.raw('BEGIN IMMEDIATE')
  await t.rejects(create(2), { code: 'unavailable' })
  t.equal(await total(), 1)
  await other.raw("INSERT INTO fastify_users_users SELECT 'usr_9', name, name_key, email, '9', version, created_at, updated_at FROM fastify_users_users")
  await other.raw('COMMIT')
  t.equal(await total(), 2)
  await create(3)
  t.equal(await total(), 3)
})
