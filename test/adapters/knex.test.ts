// What is particular to the SQL stores: settings, indexes, errors of the drivers, optional peers.
import { join } from 'node:path'
import { stat, writeFile } from 'node:fs/promises'
import knex from 'knex'
import pg from 'pg'
import { test } from 'tap'
import { untilAborted } from '../../adapters/knex/connection/deadlines.ts'
import type { Dialect } from '../../adapters/knex/dialects/dialect.ts'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { postgresDialect } from '../../adapters/knex/dialects/postgres.ts'
import { sqliteDialect } from '../../adapters/knex/dialects/sqlite.ts'
import { isDiscarded } from '../../adapters/knex/drivers/knex-internals.ts'
import { betterSqlite3Driver } from '../../adapters/knex/drivers/better-sqlite3.ts'
import { nodeSqliteDriver } from '../../adapters/knex/drivers/node-sqlite.ts'
import { cork, destroySocket } from '../../adapters/knex/drivers/pg-internals.ts'
import { sqlite3Driver } from '../../adapters/knex/drivers/sqlite3.ts'
import { isConflict, isLost, toStorageError } from '../../adapters/knex/connection/driver-errors.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { type Condition, fieldIs } from '../../adapters/knex/schema/field-indexes.ts'
import { beginsWith, afterPrefix, pageStatement } from '../../adapters/knex/pages.ts'
import { USER_COLUMNS } from '../../adapters/knex/tables/columns.ts'
import { loadSqliteDriver } from '../../adapters/knex/drivers/sqlite-drivers.ts'
import { requireOptional } from '../../lib/core/optional-packages.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { StorageError } from '../../lib/core/storage-error.ts'
import { pgBouncerUrl, pgUrl, pooled, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { sqliteDriver, sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'

/** Stands between a Knex instance and the driver: `send` sends the statement, or another one. The answer takes it away again. */
function intercept (host: knex.Knex, step: (statement: string, send: (other?: string) => Promise<unknown>) => Promise<unknown>): () => void {
  const pool: { acquireConnection: () => Promise<{ query: (...args: unknown[]) => Promise<unknown> }> } = host.client
  const acquire = pool.acquireConnection.bind(pool)
  pool.acquireConnection = async () => {
    const connection = await acquire()
    const query = connection.query.bind(connection)
    connection.query = (...args) => step(JSON.stringify(args), (other) => other === undefined ? query(...args) : query(other))
    return connection
  }
  return () => { pool.acquireConnection = acquire }
}

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: an SQLite file is made with its directory, and set up for safety`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'a', 'b', 'users.db')
    const dialect = dialectOf(driver)
    const { run } = dialect
    const used = t.capture(dialect, 'run', run)
    const storage = sqlite({ filename, driver, busyTimeout: 4321 })
    t.teardown(() => storage.close())
    await storage.migrate()
    t.match(storage.name, new RegExp(`^sqlite \\(${driver} \\d+\\.\\d+\\.\\d+\\)$`))
    t.ok((await stat(`${filename}-wal`)).isFile(), 'the write-ahead log is on')
    const connection: unknown = used()[0]?.args[0]
    const setting = async (name: string) => (await run(connection, `pragma ${name}`, []))[0]
    // 2 is FULL: every commit is on the disk before it is answered. A synchronous driver never waits for a lock: its caller comes again.
    t.strictSame(JSON.parse(JSON.stringify(await Promise.all(['synchronous', 'busy_timeout', 'foreign_keys', 'journal_mode'].map(setting)))),
      [{ synchronous: 2 }, { timeout: driver === 'sqlite3' ? 4321 : 0 }, { foreign_keys: 1 }, { journal_mode: 'wal' }])
    await storage.close()
    const other = sqliteHost(filename, { driver })
    t.teardown(() => other.destroy())
    t.match(await other.raw('pragma journal_mode'), [{ journal_mode: 'wal' }])
  })
}

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: a file that others have locked is waited for, and then given up as unavailable`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'users.db')
    const other = sqliteHost(filename, { driver })
    t.teardown(() => other.destroy())
    await other.raw('create table mine (x)')
    const reading = await other.transaction()
    await reading.raw('select * from mine')
    // The other's lock keeps the write-ahead log from being turned on.
    const storage = sqlite({ filename, driver, busyTimeout: 5 })
    t.teardown(() => storage.close())
    const migrated = storage.migrate()
    for (const begun = performance.now(); performance.now() < begun + 100;) await reading.raw('select * from mine')
    await reading.rollback()
    await migrated
    const writing = await other.transaction()
    await writing.raw('insert into mine values (1)')
    await t.rejects(storage.createApiKey({ id: 'key_1', name: 'x', scopes: [], start: 'x', digest: 'x', createdAt: '', expiresAt: null, revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null }, { onlyFirst: true }), { code: 'unavailable', driverCode: 'SQLITE_BUSY' })
    await writing.rollback()
    t.strictSame((await storage.listApiKeys({ order: 'asc', limit: 1, from: { offset: 0 } })).total, 0)
  })
}

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: two connections of sqlite() on one file write concurrently`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'users.db')
    const [a, b] = [sqlite({ filename, driver }), sqlite({ filename, driver })]
    for (const each of [a, b]) t.teardown(() => each.close())
    await a.migrate()
    const insert = (storage: typeof a, n: number) => storage.createUser({ id: `usr_${n}`, name: 'A', email: `${n}@b.co`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }, { emailKey: `${n}@b.co`, nameKey: 'a' }, null)
    await Promise.all(Array.from({ length: 100 }, (_, n) => insert(n % 2 === 0 ? a : b, n)))
    t.equal((await b.listUsers({ emailKey: null, prefix: null, fields: {} }, { order: 'asc', limit: 1, from: { offset: 0 } })).total, 100, 'two connections write at once, and neither is refused')
  })
}

test('every look-up and every search goes by an index', async (t) => {
  const schema = temporarySchema(t)
  const pgStore = postgres({ connection: pgUrl(), schema })
  t.teardown(() => pgStore.close())
  await pgStore.migrate({ filterable: ['plan'] })
  await sql(`insert into "${schema}".fastify_users_users select 'usr_' || lpad(i::text, 26, '0'), 'Name ' || i, 'name ' || i, i || '@example.org', i || '@example.org', 1, now(), now() from generate_series(1, 20000) i`)
  await sql(`update "${schema}".fastify_users_users set fields = '{"plan":"pro"}' where email like '%7@example.org'`)
  await sql(`analyze "${schema}".fastify_users_users`)
  const filename = join(await temporaryDirectory(t), 'users.db')
  const fileStore = sqlite({ filename })
  await fileStore.migrate({ filterable: ['plan'] })
  await fileStore.close()
  const file = sqliteHost(filename)
  t.teardown(() => file.destroy())

  const literal = (value: unknown) => typeof value === 'string' ? `'${value}'` : String(value)
  const plan = async (given: Condition | null | ((dialect: Dialect) => Condition), from: { offset: number } | { after: string }) => {
    const statement = (dialect: Dialect, table: string) => {
      const condition = typeof given === 'function' ? given(dialect) : given
      const { sql: text, params } = pageStatement(dialect, table, USER_COLUMNS, condition, { order: 'asc', limit: 20, from })
      // Values in place of placeholders, for EXPLAIN alone.
      return text.replaceAll(/[$?](\d+)/g, (_, n) => literal(params[Number(n) - 1]))
    }
    const onPg = (await sql(`explain ${statement(postgresDialect, `"${schema}".fastify_users_users`)}`)).map((row) => row['QUERY PLAN']).join('\n')
    const onFile: Array<{ detail: string }> = await file.raw(`explain query plan ${statement(sqliteDialect, 'fastify_users_users')}`)
    return { onPg, onFile: onFile.map(({ detail }) => detail).join('\n') }
  }
  const email = await plan({ sql: 'email_key = ?', values: ['5@example.org'] }, { offset: 0 })
  t.match(email.onPg, 'fastify_users_users_email_unique')
  t.notMatch(email.onPg, 'Seq Scan')
  t.match(email.onFile, /SEARCH fastify_users_users USING (COVERING )?INDEX sqlite_autoindex_fastify_users_users_2/)
  const [name, address] = [beginsWith('name_key', 'name 199'), beginsWith('email_key', 'name 199')]
  const q = await plan({ sql: `(${name.sql} OR ${address.sql})`, values: [...name.values, ...address.values] }, { offset: 0 })
  for (const index of ['fastify_users_users_name_key', 'fastify_users_users_email_unique']) t.match(q.onPg, index)
  t.notMatch(q.onPg, 'Seq Scan')
  t.match(q.onFile, /MULTI-INDEX OR/)
  const field = await plan((dialect) => fieldIs(dialect, 'plan', 'pro'), { offset: 0 })
  t.match(field.onPg, 'fastify_users_field_plan_')
  t.notMatch(field.onPg, 'Seq Scan')
  t.match(field.onFile, /SEARCH fastify_users_users USING COVERING INDEX fastify_users_field_plan_\w{8} \(<expr>=\?\)\n[^]*SEARCH fastify_users_users USING INDEX fastify_users_field_plan_\w{8} \(<expr>=\?\)/)
  t.notMatch(field.onFile, 'TEMP B-TREE', 'the index has them in the order of ids')
  t.comment(field.onPg, field.onFile)
  const after = await plan(null, { after: 'usr_00000000000000000000010000' })
  t.match(after.onPg, /Index (Only )?Scan using fastify_users_users_pkey/)
  t.match(after.onFile, /SEARCH fastify_users_users USING INDEX sqlite_autoindex_fastify_users_users_1 \(id>\?\)/)
})

test('errors of the drivers, each to its own', (t) => {
  const names = namesOf({}, false)
  const map = (error: unknown) => {
    const { code, driverCode, message } = toStorageError(error, names)
    if (/secret|select/.test(message)) t.fail(message)
    return `${code} ${driverCode ?? ''}`.trim()
  }
  const driver = (code: string, more: object = {}) => Object.assign(new Error("select 'secret'"), { code, ...more })
  t.equal(map(driver('23505', { constraint: 'fastify_users_users_email_unique', detail: 'Key (email_key)=(secret) already exists.' })), 'email_taken')
  t.equal(map(driver('23505', { constraint: 'fastify_users_users_pkey' })), 'fault 23505')
  t.equal(map(driver('23505', { constraint: 'hosts_email_unique' })), 'fault 23505')
  t.equal(map(driver('23502')), 'fault 23502')
  t.equal(map(Object.assign(new Error('SQLITE_CONSTRAINT: UNIQUE constraint failed: fastify_users_users.email_key'), { code: 'SQLITE_CONSTRAINT' })), 'email_taken')
  t.equal(map(Object.assign(new Error('SQLITE_CONSTRAINT: UNIQUE constraint failed: fastify_users_users.id'), { code: 'SQLITE_CONSTRAINT' })), 'fault SQLITE_CONSTRAINT')
  t.equal(map(Object.assign(new Error('SQLITE_CONSTRAINT: UNIQUE constraint failed: users.email_key'), { code: 'SQLITE_CONSTRAINT' })), 'fault SQLITE_CONSTRAINT')
  for (const code of ['08006', '08P01', '53300', '53100', '57P01', '57P03', '57014', '55P03', '40001', '40P01', '25006', '28P01', '3D000', 'ECONNREFUSED', 'ECONNRESET', 'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_FULL', 'SQLITE_CANTOPEN']) t.equal(map(driver(code)), `unavailable ${code}`)
  for (const code of ['42601', '42P01', '22021', '23503', '0800', '57P', 'SQLITE_ERROR', 'SQLITE_CORRUPT', 'X']) t.equal(map(driver(code)), `fault ${code}`)
  for (const message of ['timeout expired', 'timeout exceeded when trying to connect', 'Unable to acquire a connection', 'aborted']) t.equal(map(new Error(message)), 'unavailable')
  for (const message of ['Connection terminated unexpectedly', 'Client has encountered a connection error and is not queryable']) t.equal(map(new Error(message)), 'unavailable ECONNRESET')
  t.equal(map(Object.assign(new Error('x'), { name: 'KnexTimeoutError' })), 'unavailable')
  for (const [code, words] of [['28P01', /user or the password/], ['3D000', /the database does not exist/], ['SQLITE_CANTOPEN', /cannot be opened/], ['SQLITE_NOTADB', /no SQLite database/]] as const) t.match(toStorageError(driver(code), names).message, words)
  for (const odd of [undefined, null, 'text', 5, {}, { code: 5 }]) t.equal(map(odd), 'fault')
  const own = new StorageError('version_mismatch', 'x')
  t.equal(toStorageError(own, names), own)
  t.ok(isLost(toStorageError(driver('ECONNRESET'), names)) && isLost(toStorageError(new Error('Connection terminated'), names)) && !isLost(toStorageError(new Error('timeout expired'), names)) && !isLost(toStorageError(driver('ECONNREFUSED'), names)) && !isLost(toStorageError(driver('42601'), names)) && !isLost(null))
  t.ok(isConflict(driver('40001')) && isConflict(driver('40P01')) && !isConflict(driver('23505')) && !isConflict(null))
  t.end()
})

test('wrong options are errors at once, all in one', async (t) => {
  for (const tablePrefix of ['', 'Users_', '1x', 'a-b', 'a"b', 'x'.repeat(37)]) t.throws(() => namesOf({ tablePrefix }, sqliteDialect.hasSchemas), { name: 'TypeError', message: /tablePrefix must be/ })
  t.throws(() => namesOf({ schema: 'a.b' }, postgresDialect.hasSchemas), { name: 'TypeError', message: /schema must be/ })
  t.equal(namesOf({ schema: 's', tablePrefix: 't_' }, postgresDialect.hasSchemas).users, '"s"."t_users"')
  const untyped = (value: unknown) => JSON.parse(JSON.stringify(value))
  t.throws(() => sqlite(untyped({ filename: '', busyTimeout: -1, file: 'x' })), { name: 'TypeError', message: 'fastify-users: sqlite(): 3 wrong options:\n- file is not a known option\n- filename must be the path of a file, no URI, or :memory:\n- busyTimeout must be a whole number of milliseconds, 0 or more' })
  for (const filename of ['sqlite:users.db', 'file:users.db', 'https://example.org/x']) t.throws(() => sqlite({ filename }), { message: /- filename must be/ })
  t.throws(() => sqlite(untyped({})), { message: /- filename must be/ })
  t.throws(() => sqlite(Object(undefined)[0]), { message: /- filename must be/ })
  t.throws(() => postgres(untyped({ statementTimeout: '5s', pool: { max: 0 }, schema: 'X', tableprefix: 'x_' })), { name: 'TypeError', message: /^fastify-users: postgres\(\): 5 wrong options:\n- tableprefix is not a known option\n- connection must be .*\n- pool must be .*\n- statementTimeout must be .*\n- schema must be / })
  for (const connection of ['', null, 5]) t.throws(() => postgres(untyped({ connection })), TypeError)
  for (const statementTimeout of [-1, 1.5]) t.throws(() => postgres({ connection: pgUrl(), statementTimeout }), TypeError)
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  t.throws(() => knexStorage(host, { schema: 'x' }), { name: 'TypeError', message: 'fastify-users: the option schema is for PostgreSQL' })
  t.throws(() => knexStorage(host, untyped({ prefix: 'x' })), { name: 'TypeError', message: /prefix is not a known option/ })
  t.throws(() => dialectOf('mysql2'), { name: 'TypeError', message: 'fastify-users: knexStorage() works with the Knex clients pg, sqlite3, better-sqlite3, node:sqlite, not with mysql2' })
})

test('behind a pooler nothing is set on a session, and the tables are in the schema public whatever the search path says', async (t) => {
  const tablePrefix = `${temporarySchema(t)}_`
  const url = new URL(pgUrl())
  url.searchParams.set('options', '-c search_path=pg_temp -c statement_timeout=0')
  const storage = postgres({ connection: url.href, pooler: true, tablePrefix, pool: { max: 2 } })
  t.teardown(() => storage.close())
  await storage.migrate()
  t.strictSame(await sql('select schemaname from pg_tables where tablename = $1', [`${tablePrefix}users`]), [{ schemaname: 'public' }])
  const idempotency = { key: 'k', fingerprint: 'f', now: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-02T00:00:00.000Z' }
  const user = { id: 'usr_1', name: 'n', email: 'a@example.com', fields: {}, version: 1, createdAt: idempotency.now, updatedAt: idempotency.now }
  const create = () => storage.createUser(user, { emailKey: user.email, nameKey: 'n' }, idempotency)
  t.equal((await create()).replayed, false)
  t.equal((await create()).user.id, 'usr_1')
  await storage.rollback(0)
  t.strictSame(await sql("select tablename from pg_tables where tablename like $1 || '%'", [tablePrefix]), [])
  const unlimited = postgres({ connection: url.href, pooler: true, statementTimeout: 0, schema: 'public', tablePrefix })
  t.teardown(() => unlimited.close())
  await t.rejects(unlimited.check(), { code: 'schema_behind' })
})

test('without a schema the search path decides, for what is listened to as well', async (t) => {
  const schema = temporarySchema(t)
  await sql(`create schema "${schema}"`)
  const url = new URL(pgUrl())
  url.searchParams.set('options', `-c search_path=${schema}`)
  const storage = postgres({ connection: url.href, pool: { max: 2 } })
  t.teardown(() => storage.close())
  await storage.migrate()
  const told: string[] = []
  const stop = storage.watchApiKeys?.(() => { told.push('changed') })
  const key = { id: 'key_1', name: 'k', scopes: [], start: 'uk_1', digest: 'd', createdAt: '2026-01-01T00:00:00.000Z', expiresAt: null, revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null }
  await storage.createApiKey(key, { onlyFirst: true })
  while (told.length === 0) await new Promise((resolve) => setImmediate(resolve))
  stop?.()
  t.equal((await storage.findApiKey('key_1'))?.name, 'k')
})

test('a connection of another driver is refused', async (t) => {
  for (const connection of [null, 'x', {}]) {
    for (const name of ['pg', 'sqlite3', 'better-sqlite3', 'node:sqlite']) {
      const dialect = dialectOf(name)
      await t.rejects(dialect.run(connection, 'select 1', []), TypeError)
      t.equal(dialect.watchCommit(connection), null)
      t.doesNotThrow(() => dialect.keepOrder(connection))
      t.doesNotThrow(() => dialect.finalizeStatements(connection))
    }
    for (const { execute } of [sqlite3Driver, betterSqlite3Driver, nodeSqliteDriver]) await t.rejects(execute(connection, 'select 1'), TypeError)
    t.doesNotThrow(() => cork(connection))
    t.doesNotThrow(() => sqliteDialect.finalizeStatements({ all () {} }))
  }
})

test('reads that come together share connections, one that is lost takes its own reads alone, and writers always find one', async (t) => {
  const schema = temporarySchema(t)
  const url = new URL(pgUrl())
  url.searchParams.set('application_name', schema)
  const lanes = async () => (await sql('select pid from pg_stat_activity where application_name = $1', [schema])).map(({ pid }) => pid)
  for (const max of [1, 2, 4]) {
    const storage = postgres({ connection: url.href, schema, pool: { max } })
    t.teardown(() => storage.close())
    await storage.migrate()
    const reads = Array.from({ length: 300 }, (_, n) => storage.findUser(`usr_${n}`))
    const user = { id: `usr_max${max}`, name: 'n', email: `${max}@example.com`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }
    await storage.createUser(user, { emailKey: user.email, nameKey: 'n' }, null)
    t.strictSame(await Promise.all(reads), reads.map(() => null))
    t.ok((await lanes()).length <= max)
    const blocker = new pg.Client({ connectionString: pgUrl() })
    await blocker.connect()
    await blocker.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users`)
    const lost = Array.from({ length: Math.min(2, max) }, () => storage.findUser(user.id))
    const waiting = () => sql("select pid from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'", [schema])
    while ((await waiting()).length < 1) { /* until they wait for the lock */ }
    const [cut] = await waiting()
    await blocker.query('select pg_terminate_backend($1)', [cut?.['pid']])
    while (!(await waiting()).some(({ pid }) => pid !== cut?.['pid'])) { /* until they wait for it again, on other connections */ }
    await blocker.end()
    t.strictSame(await Promise.all(lost), lost.map(() => user), 'a read that was lost is read again')
    await storage.close()
  }
})

test('what is told to stop, and hangs, loses its connection', async (t) => {
  const stopping = new AbortController()
  const connection = { connection: { stream: { destroy () {} } } }
  const answer = new Promise((_resolve, reject) => { connection.connection.stream.destroy = () => reject(new Error('cut')) })
  const stopped = t.rejects(untilAborted(answer, { destroySocket }, connection, stopping.signal), { message: 'cut' })
  t.notOk(isDiscarded(connection))
  stopping.abort()
  await stopped
  t.ok(isDiscarded(connection))
})

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: a table that is missing is a fault, prepared or not`, { skip }, async (t) => {
    const storage = sqlite({ filename: ':memory:', driver })
    t.teardown(() => storage.close())
    await t.rejects(storage.findUser('usr_x'), { name: 'StorageError', code: 'fault' })
  })
}

test('a host that debugs its Knex sees its own statements, and nothing of its users', async (t) => {
  const schema = temporarySchema(t)
  const hosts = [
    { client: loadSqliteDriver(sqliteDriver).client, connection: { filename: join(await temporaryDirectory(t), 'host.db') }, useNullAsDefault: true, options: {} },
    { client: 'pg', connection: pgUrl(), pool: { min: 0, max: 2 }, options: { schema } }
  ]
  for (const { options, ...config } of hosts) {
    const logged: unknown[] = []
    const keep = (...entries: unknown[]) => { logged.push(...entries) }
    const host = knex({ ...config, debug: true, asyncStackTraces: true, log: { debug: keep, warn: keep, error: keep } })
    t.teardown(() => host.destroy())
    const queries: string[] = []
    host.on('query', ({ sql }) => queries.push(sql))
    const storage = knexStorage(host, options)
    await storage.migrate()
    await host.transaction(async (trx) => {
      await storage.joinTransaction(trx).createUser({ id: 'usr_1', name: 'canary', email: 'canary@b.co', fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }, { emailKey: 'canary@b.co', nameKey: 'canary' }, null)
      await trx.raw('select 1 as mine')
    })
    t.equal((await storage.findUser('usr_1'))?.name, 'canary')
    t.match(JSON.stringify(logged), 'select 1 as mine')
    t.notMatch(JSON.stringify([logged, queries]), 'canary')
    t.match(queries, ['BEGIN;', 'select 1 as mine', 'COMMIT;'])
  }
})

test('a missing peer is named with its install command, an unbuilt one with that of its build', async (t) => {
  t.throws(() => requireOptional('sqlite()', ['knex', 'sqlite9', 'knexx']), { message: 'fastify-users: sqlite() needs sqlite9 and knexx: npm install sqlite9 knexx' })
  t.type(requireOptional('sqlite()', ['knex']), 'function')
  const unbuilt = join(await temporaryDirectory(t), 'unbuilt.cjs')
  await writeFile(unbuilt, "throw new Error('no binary')")
  t.throws(() => requireOptional('sqlite()', ['knex', unbuilt]), { message: `fastify-users: sqlite() needs ${unbuilt}, which is installed but does not load: npm rebuild ${unbuilt}`, cause: { message: 'no binary' } })
})

test('the text behind a prefix, in code points', (t) => {
  for (const [prefix, end] of [['ab', 'ac'], ['z\ud7ff', 'z\ue000'], ['z\uffff', 'z\u{10000}'], ['a\u{10ffff}\u{10ffff}', 'b'], ['\u{10ffff}', null], ['', null]] as const) t.equal(afterPrefix(prefix), end)
  t.end()
})

test('a schema that is taken away while it is looked at is behind, and any other fault is one', async (t) => {
  const schema = temporarySchema(t)
  const other = postgres({ connection: pgUrl(), schema })
  t.teardown(() => other.close())
  await other.migrate()
  const storageWhere = (step: Parameters<typeof intercept>[1]) => {
    const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 2 } })
    t.teardown(() => host.destroy())
    intercept(host, step)
    return knexStorage(host, { schema })
  }
  const broken = storageWhere(async (statement, send) => send(statement.includes('max(version)') ? 'select nonsense' : undefined))
  await t.rejects(broken.check(), { code: 'fault', driverCode: '42703' })
  const late = storageWhere(async (statement, send) => {
    if (statement.includes('max(version)')) await other.rollback(0)
    return send()
  })
  await t.rejects(late.check(), { code: 'schema_behind', message: /at version 0/ })
})

test('a pooler that is not told of says so', { skip: pooled.skip }, async (t) => {
  const connection = String(pgBouncerUrl())
  const untold = postgres({ connection })
  t.teardown(() => untold.close())
  await t.rejects(untold.check(), { code: 'unavailable', message: 'the server or a pooler refuses the connection; a pooler that refuses session settings needs the option pooler of postgres() (08P01)' })
})

test('behind a pooler nothing is set on a session, and the limit on statements is kept on this side', async (t) => {
  const schema = temporarySchema(t)
  const told = postgres({ connection: pgBouncerUrl() ?? pgUrl(), schema, pooler: true, statementTimeout: 200 })
  t.teardown(() => told.close())
  await told.migrate()
  const blocker = knex({ client: 'pg', connection: pgUrl() })
  t.teardown(() => blocker.destroy())
  await blocker.transaction(async (trx) => {
    await trx.raw(`lock table "${schema}".fastify_users_users`)
    await t.rejects(told.findUser('usr_1'), { code: 'unavailable', driverCode: 'ETIMEDOUT' }, 'given up, though the server was told of no limit')
  })
  t.equal(await told.findUser('usr_1'), null)
})

test('PostgreSQL with options of pg, and a pool that gives everything back', async (t) => {
  const schema = temporarySchema(t)
  const { hostname, port, username, password, pathname } = new URL(pgUrl())
  const storage = postgres({ connection: { host: hostname, port: Number(port), user: username, password, database: pathname.slice(1), application_name: schema }, schema, statementTimeout: 0 })
  await storage.migrate()
  await Promise.all(Array.from({ length: 30 }, () => storage.check()))
  const connections = async () => (await sql('select count(*)::int as n from pg_stat_activity where application_name = $1', [schema]))[0]?.['n']
  t.ok(Number(await connections()) > 0)
  await storage.close()
  while (await connections() !== 0) await new Promise((resolve) => setImmediate(resolve))
  await t.rejects(storage.check(), { code: 'unavailable' }, 'closed is closed')
  await storage.close()
})

test('a statement that loses against others again and again is given up as unavailable', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  await sql(`create function "${schema}".lose() returns trigger language plpgsql as $$ begin raise exception 'lost' using errcode = '40001'; end $$`)
  await sql(`create trigger lose before insert on "${schema}".fastify_users_users execute function "${schema}".lose()`)
  const user = { id: 'usr_1', name: 'A', email: 'a@b.co', fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }
  await t.rejects(storage.createUser(user, { emailKey: 'a@b.co', nameKey: 'a' }, null), { code: 'unavailable', driverCode: '40001' })
})

test('a transaction of ours whose connection dies is an error, not a hang', async (t) => {
  const schema = temporarySchema(t)
  const host = knex({ client: 'pg', connection: { connectionString: pgUrl(), application_name: schema }, pool: { min: 0, max: 1 } })
  t.teardown(() => host.destroy())
  const storage = knexStorage(host, { schema })
  await storage.migrate()
  const restore = intercept(host, async (statement, send) => {
    if (statement.includes('LIMIT 1')) await sql('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [schema])
    return send()
  })
  const key = { id: 'key_1', name: 'x', scopes: ['users:read'], start: 'uk_1', digest: 'x', createdAt: '2026-01-01T00:00:00.000Z', expiresAt: null, revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null }
  await t.rejects(storage.createApiKey(key, { onlyFirst: true }), { name: 'StorageError', code: 'unavailable' })
  restore()
  t.equal(await storage.findApiKey('key_1'), null)
})

test('a transaction of ours that could not begin leaves the connection as it was', async (t) => {
  const schema = temporarySchema(t)
  const host = knex({ client: 'pg', connection: { connectionString: pgUrl(), options: '-c lock_timeout=100' }, pool: { min: 0, max: 1 } })
  t.teardown(() => host.destroy())
  const storage = knexStorage(host, { schema })
  await storage.migrate()
  const key = { id: 'key_1', name: 'x', scopes: ['users:read'], start: 'uk_1', digest: 'x', createdAt: '2026-01-01T00:00:00.000Z', expiresAt: null, revokedAt: null, lastUsedAt: null, rotatedFrom: null, lifetime: null }
  const other = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 1 } })
  t.teardown(() => other.destroy())
  await other.transaction(async (trx) => {
    await trx.raw("select pg_advisory_xact_lock(hashtextextended('fastify-users.' || coalesce(current_schema(), '') || '.' || ?, 0))", [`${schema}.fastify_users_`])
    await t.rejects(storage.createApiKey(key, { onlyFirst: true }), { code: 'unavailable', driverCode: '55P03' })
    t.equal(await storage.createApiKey(key, { onlyFirst: false }), true, 'and others need no lock')
    await storage.rotateApiKey('key_1', { ...key, id: 'key_2', start: 'uk_2' }, { now: '2026-01-01T00:00:00.000Z', expiresAt: '2026-02-01T00:00:00.000Z' })
  })
  t.match(await host.raw('select 1 as one'), { rows: [{ one: 1 }] })
})

test('a creation whose answer was lost finds itself, with an idempotency key and without', async (t) => {
  const schema = temporarySchema(t)
  const host = knex({ client: 'pg', connection: { connectionString: pgUrl(), application_name: schema }, pool: { min: 0, max: 1 } })
  t.teardown(() => host.destroy())
  const storage = knexStorage(host, { schema })
  await storage.migrate()
  let lose = true
  intercept(host, async (statement, send) => {
    const answer = await send()
    if (!lose || !statement.includes('INSERT INTO')) return answer
    // The statement is carried out; then the connection goes, with the answer.
    lose = false
    await sql('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [schema])
    return send('select 1')
  })
  for (const [n, idempotency] of [[1, null], [2, { key: 'k', fingerprint: 'f', now: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-02T00:00:00.000Z' }]] as const) {
    lose = true
    const user = { id: `usr_${n}`, name: 'A', email: `${n}@b.co`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }
    t.strictSame(await storage.createUser(user, { emailKey: user.email, nameKey: 'a' }, idempotency), { user, replayed: false })
    t.equal(lose, false, 'the answer was lost')
    const other = { ...user, name: 'B' }
    await t.rejects(storage.createUser(other, { emailKey: 'other@b.co', nameKey: 'b' }, null), { code: 'fault' }, 'another user with the id is not ours')
  }
  t.equal((await storage.listUsers({ emailKey: null, prefix: null, fields: {} }, { order: 'asc', limit: 5, from: { offset: 0 } })).total, 2)
})

test('a wait for a first creation that does not end is in progress', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema, statementTimeout: 100 })
  t.teardown(() => storage.close())
  await storage.migrate()
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 1 } })
  t.teardown(() => host.destroy())
  const create = (on: Pick<typeof storage, 'createUser'>, n: number) => on.createUser({ id: `usr_${n}`, name: 'A', email: `${n}@b.co`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }, { emailKey: `${n}@b.co`, nameKey: 'a' },
    { key: 'k', fingerprint: 'f', now: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-02T00:00:00.000Z' })
  await host.transaction(async (trx) => {
    await create(knexStorage(host, { schema }).joinTransaction(trx), 1)
    await t.rejects(create(storage, 2), { code: 'idempotency_in_progress' })
  })
  t.match(await create(storage, 3), { user: { id: 'usr_1' }, replayed: true })
})

test('behind a pooler too, a wait for a first creation that does not end is in progress', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgBouncerUrl() ?? pgUrl(), schema, pooler: true, statementTimeout: 100 })
  t.teardown(() => storage.close())
  await storage.migrate()
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 2 } })
  t.teardown(() => host.destroy())
  const create = (on: Pick<typeof storage, 'createUser'>, n: number) => on.createUser({ id: `usr_${n}`, name: 'A', email: `${n}@b.co`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }, { emailKey: `${n}@b.co`, nameKey: 'a' },
    { key: 'k', fingerprint: 'f', now: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-02T00:00:00.000Z' })
  await host.transaction(async (trx) => {
    await create(knexStorage(host, { schema }).joinTransaction(trx), 1)
    await t.rejects(create(storage, 2), { code: 'idempotency_in_progress' })
  })
  t.match(await create(storage, 3), { user: { id: 'usr_1' }, replayed: true })
})

test('behind a pooler the tables are in public unless a schema is named', async (t) => {
  const bystander = temporarySchema(t)
  await sql(`create schema "${bystander}"`)
  const tablePrefix = `${bystander}_`
  const connection = new URL(pgUrl())
  connection.searchParams.set('options', `-c search_path=${bystander}`)
  const storage = postgres({ connection: connection.href, pooler: true, tablePrefix })
  t.teardown(() => storage.close())
  await storage.migrate()
  t.strictSame(await sql('select distinct schemaname from pg_tables where tablename like $1', [`${tablePrefix}%`]), [{ schemaname: 'public' }])
  await storage.rollback(0)
})

test('a creation that gets no connection waits for one once', async (t) => {
  const schema = temporarySchema(t)
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 1 }, acquireConnectionTimeout: 100 })
  t.teardown(() => host.destroy())
  const storage = knexStorage(host, { schema })
  await storage.migrate()
  await host.transaction(async () => {
    const pool: { acquireConnection: () => Promise<unknown> } = host.client
    const asked = t.capture(pool, 'acquireConnection', pool.acquireConnection)
    await t.rejects(storage.createUser({ id: 'usr_1', name: 'A', email: 'a@b.co', fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }, { emailKey: 'a@b.co', nameKey: 'a' }, null), { code: 'unavailable' })
    t.equal(asked().length, 1)
  })
})

test('a key whose user is deleted while it is looked up is free', async (t) => {
  const schema = temporarySchema(t)
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 1 } })
  t.teardown(() => host.destroy())
  const storage = knexStorage(host, { schema })
  await storage.migrate()
  const create = (n: number) => storage.createUser({ id: `usr_${n}`, name: 'A', email: `${n}@b.co`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }, { emailKey: `${n}@b.co`, nameKey: 'a' },
    { key: 'k', fingerprint: 'f', now: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-02T00:00:00.000Z' })
  await create(1)
  intercept(host, async (statement, send) => {
    if (statement.includes('SELECT fingerprint')) await sql(`delete from "${schema}".fastify_users_users where id = 'usr_1'`)
    return send()
  })
  t.match(await create(2), { user: { id: 'usr_2' }, replayed: false })
})
