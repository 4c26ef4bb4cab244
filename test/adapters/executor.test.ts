// The four ways to run SQL, each with its guarantee, on PostgreSQL.
import { test, type Test } from 'tap'
import { createPoolExecutor, type PoolSettings } from '../../adapters/knex/connection/pool-executor.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { pgHost, pgUrlWith, terminate, waitingForLock } from '../helpers/postgres.ts'
import { pgBouncerUrl, pgUrl, sql, temporarySchema, withoutPgBouncer } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

interface Options {
  settings?: PoolSettings
  /** PostgreSQL's settings of each session. */
  session?: string
  connection?: string
  max?: number
  schema?: string
}

/** An executor on a pool, whose connections the server knows by the name of the schema. */
function executorOn (t: Test, { settings = {}, session = '', max = 2, schema = temporarySchema(t), ...more }: Options) {
  const { connection = pgUrlWith({ application_name: schema, options: session }) } = more
  const host = pgHost(t, { connection, pool: { min: 0, max } })
  const names = namesOf({ schema }, true)
  return { host, schema, executor: createPoolExecutor(host, names, settings) }
}

const tableOf = (schema: string) => `"${schema}".fastify_users_users`

/** An executor on a schema with a table of users. */
async function withTable (t: Test, options: Options = {}) {
  const on = executorOn(t, options)
  await sql(`CREATE SCHEMA "${on.schema}"; CREATE TABLE ${tableOf(on.schema)} (id text)`)
  return { ...on, table: tableOf(on.schema) }
}

/** Creates a function that always conflicts, and counts its calls. Returns its call, and the number of calls. */
async function conflicting (schema: string) {
  await sql(`CREATE SCHEMA "${schema}"; CREATE SEQUENCE "${schema}".calls`)
  await sql(`CREATE FUNCTION "${schema}".conflict() RETURNS int LANGUAGE plpgsql AS $$
    BEGIN PERFORM nextval('"${schema}".calls'); RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$`)
  const calls = async () => Number((await sql(`SELECT last_value FROM "${schema}".calls`))[0]?.['last_value'])
  return { call: `SELECT "${schema}".conflict()`, calls }
}

// Of every statement, and more than the server's own in these tests.
const LIMITS = { wait: 1000, busy: 0, total: 1000 }
const TIMEOUT = "SELECT current_setting('statement_timeout') AS timeout"
const conflict = { name: 'StorageError', code: 'unavailable', driverCode: '40001' }

test('a query is repeated after a conflict, unless it asks for one attempt', async (t) => {
  const { executor, schema } = executorOn(t, {})
  const { call, calls } = await conflicting(schema)
  await t.rejects(executor.query(call), conflict)
  t.equal(await calls(), 20)
  await t.rejects(executor.query(call, [], { retry: false }), conflict)
  t.equal(await calls(), 21)
  await t.rejects(executor.transaction((on) => on(call)), conflict)
  t.equal(await calls(), 41, 'a transaction is repeated as a whole')
  await sql(`CREATE TABLE ${tableOf(schema)} (id text)`)
  await t.rejects(executor.snapshot((on) => on(call)), conflict)
  t.equal(await calls(), 61)
})

test('a statement that a stricter isolation level refuses is repeated under READ COMMITTED', async (t) => {
  const { executor, schema } = executorOn(t, { session: '-c default_transaction_isolation=serializable' })
  await sql(`CREATE SCHEMA "${schema}"`)
  await sql(`CREATE FUNCTION "${schema}".level() RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('transaction_isolation') = 'read committed' THEN RETURN 'read committed'; END IF;
      RAISE EXCEPTION 'conflict' USING ERRCODE = '40001';
    END $$`)
  const ask = `SELECT "${schema}".level() AS level`
  const found = [{ level: 'read committed' }]
  t.strictSame(await executor.query(ask), found)
  t.strictSame(await executor.query(ask, [], { bounded: true, waitsFor: 'a' }), found)
  t.strictSame(await executor.read(ask), found)
  await t.rejects(executor.query(ask, [], { retry: false }), conflict)
  const [session] = await executor.query('SHOW default_transaction_isolation')
  t.strictSame(session, { default_transaction_isolation: 'serializable' }, 'the host has its own')
})

test('a bounded query has a local limit in a transaction of its own, behind a pooler too', async (t) => {
  for (const connection of [pgUrl(), ...withoutPgBouncer === false ? [pgBouncerUrl()] : []]) {
    const { executor } = executorOn(t, { settings: { localTimeout: 100 }, max: 1, connection })
    t.strictSame(await executor.query(TIMEOUT, [], { bounded: true }), [{ timeout: '100ms' }])
    const slow = executor.query('SELECT pg_sleep(10)', [], { bounded: true })
    await t.rejects(slow, { name: 'StorageError', code: 'unavailable', driverCode: '57014' })
    t.strictSame(await executor.query(TIMEOUT), [{ timeout: '0' }], 'the session keeps its own')
  }
})

test('exclusive transactions of one installation run one after the other, and no others wait', async (t) => {
  const { executor, schema } = executorOn(t, {})
  const { executor: second } = executorOn(t, { schema, max: 4 })
  const { executor: other } = executorOn(t, {})
  const order: string[] = []
  let end = () => {}
  const first = executor.transaction(async () => {
    order.push('first began')
    await new Promise<void>((resolve) => { end = resolve })
    order.push('first ended')
  }, { exclusive: true })
  await until('the first transaction', () => order.length === 1)
  const waiting = second.transaction(async () => { order.push('second') }, { exclusive: true })
  await until('a second that waits', async () => (await waitingForLock(schema)).length === 1)
  await second.transaction(async () => { order.push('not exclusive') })
  await other.transaction(async () => { order.push('another installation') }, { exclusive: true })
  end()
  await Promise.all([first, waiting])
  t.strictSame(order, ['first began', 'not exclusive', 'another installation', 'first ended', 'second'])
})

test('noTimeout lifts the limits on statements for one transaction', async (t) => {
  const session = '-c statement_timeout=100'
  const { executor } = executorOn(t, { session, settings: { limits: LIMITS }, max: 1 })
  const slow = 'SELECT pg_sleep(1.2)'
  await t.rejects(executor.transaction((on) => on(slow)), { code: 'unavailable', driverCode: '57014' })
  t.equal((await executor.transaction((on) => on(slow), { noTimeout: true })).length, 1)
  t.strictSame(await executor.query(TIMEOUT), [{ timeout: '100ms' }])
})

test('a wait for a connection that takes too long fails, and the connection is not lost', async (t) => {
  const { executor, host } = executorOn(t, { settings: { limits: { wait: 200, busy: 0, total: 9000 } }, max: 1 })
  // To connect may take longer than the wait.
  await host.raw('SELECT 1')
  const slow = executor.query('SELECT pg_sleep(1)')
  const late = { name: 'StorageError', code: 'unavailable', message: /no connection to the database is free/ }
  await t.rejects(executor.query('SELECT 1'), late)
  await slow
  t.strictSame(await executor.query('SELECT 2 AS two'), [{ two: '2' }])
  await until('the return of the connection', () => host.client.pool.numUsed() === 0)
})

test('a snapshot sees the database as it was when it began, without a time limit', async (t) => {
  const { executor, table } = await withTable(t, {
    session: '-c statement_timeout=100', settings: { limits: LIMITS }
  })
  const count = `SELECT count(*) AS n FROM ${table}`
  const counts = await executor.snapshot(async (on) => {
    const before = await on(count)
    await sql(`INSERT INTO ${table} VALUES ('x')`)
    await on('SELECT pg_sleep(1.2)')
    return [before, await on(count)]
  })
  t.strictSame(counts, [[{ n: '0' }], [{ n: '0' }]])
})

for (const [whose, settings] of [['a host\'s pool', {}], ['a pool of our own', { limits: LIMITS }]] as const) {
  test(`a snapshot on ${whose} is taken behind its locks, so that it sees who held them`, async (t) => {
    const { executor, schema, table } = await withTable(t, { settings })
    const other = await pgHost(t).transaction()
    await other.raw(`TRUNCATE ${table}; INSERT INTO ${table} VALUES ('x')`)
    const counted = executor.snapshot((on) => on(`SELECT count(*) AS n FROM ${table}`))
    await until('a snapshot that waits', async () => (await waitingForLock(schema)).length === 1)
    await other.commit()
    t.strictSame(await counted, [{ n: '1' }])
  })
}

test('a snapshot is given up soon if another transaction locks the users, and when it is told to stop', async (t) => {
  const { executor, schema, table } = await withTable(t)
  await pgHost(t).transaction(async (trx) => {
    await trx.raw(`LOCK TABLE ${table}`)
    await t.rejects(executor.snapshot(async () => {}), { code: 'unavailable', driverCode: '55P03' })
  })
  const stopping = new AbortController()
  const endless = executor.snapshot(async (on) => {
    stopping.abort()
    return on('SELECT pg_sleep(60)')
  }, { signal: stopping.signal })
  await t.rejects(endless, { code: 'unavailable', driverCode: 'ECONNRESET' })
  // The server would sleep on.
  await terminate(schema)
})
