// The numbers by which users are counted, in single cases: who holds them up, goes past them, empties the table, or has no rights on them.
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import fc from 'fast-check'
import knex from 'knex'
import pg from 'pg'
import { test, type Test } from 'tap'
import { createCompaction } from '../../adapters/knex/counting/compaction.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { createPoolExecutor } from '../../adapters/knex/connection/pool-executor.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { newId } from '../../lib/core/ids.ts'
import { pgUrl, sql, stores, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'

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

/** Asks until the answer is yes: each question waits for the database. */
async function until (answer: () => Promise<boolean>): Promise<void> {
  while (!await answer());
}

test('an open transaction that has written users holds the seal back, and nobody else', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const table = `"${schema}".fastify_users_users`
  const insert = (from: number, to: number) => `INSERT INTO ${table} SELECT 'u' || lpad(n::text, 9, '0'), 'n', 'n', 'e', n::text, 1, now(), now() FROM generate_series(${from}, ${to}) AS n`
  const [writer, own, names] = [new pg.Client({ connectionString: pgUrl() }), knex({ client: 'pg', connection: pgUrl() }), namesOf({ schema }, true)]
  t.teardown(() => own.destroy())
  await writer.connect()
  t.teardown(() => writer.end())
  const sealed = async () => (await sql(`SELECT boundary FROM "${schema}".fastify_users_counting_state`))[0]?.['boundary']
  const total = async () => (await storage.listUsers({ emailKey: null, prefix: null, fields: {} }, { order: 'asc', limit: 1, from: { offset: 0 } })).total
  const [first, second] = [createCompaction(createPoolExecutor(own, names), names), createCompaction(createPoolExecutor(own, names), names)]

  await sql(insert(1001, 3000))
  await writer.query('BEGIN')
  await writer.query(insert(1, 10))
  const waiting = first.run()
  t.equal(first.run(), waiting, 'who asks meanwhile joins in')
  await until(async () => (await sql(`SELECT boundary <> next_boundary AS announced FROM "${schema}".fastify_users_counting_state`))[0]?.['announced'] === true)
  await second.run()
  t.equal(await sealed(), '', 'the second leaves the round to the first')
  await waiting
  t.equal(await sealed(), '', 'the first has given up for now')
  t.equal(await total(), 2000)
  await writer.query('COMMIT')
  t.equal(await total(), 2010)
  await until(async () => {
    await second.run()
    return await sealed() !== ''
  })
  t.equal(await total(), 2010)
  t.strictSame(await storage.verifyCounts(), { users: 2010, counted: 2010, wrong: 0 })

  await sql(insert(5001, 7000))
  await writer.query('BEGIN')
  await writer.query(insert(11, 11))
  const broken = first.run()
  await until(async () => (await sql(`SELECT boundary <> next_boundary AS announced FROM "${schema}".fastify_users_counting_state`))[0]?.['announced'] === true)
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
    if (!('verifyCounts' in storage)) throw new Error('not a storage in SQL')
    const users = Array.from({ length: 1600 }, (_, n) => ({ id: `usr_${String(n).padStart(26, '0')}`, name: 'n', email: `${n}@example.com`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' }))
    await Promise.all(users.map((user) => storage.createUser(user, { emailKey: user.email, nameKey: 'n' }, null)))
    const total = async () => (await storage.listUsers({ emailKey: null, prefix: null, fields: {} }, { order: 'desc', limit: 1, from: { offset: 0 } })).total
    t.equal(await total(), 1600)
    for (const { id } of users.slice(0, 700)) await storage.deleteUser(id, { ifVersion: null, unlessVersion: [] })
    t.equal(await total(), 900)
    t.strictSame(await storage.listUsers({ emailKey: null, prefix: null, fields: {} }, { order: 'asc', limit: 2, from: { offset: 0 } }).then(({ items }) => items.map(({ email }) => email)), ['700@example.com', '701@example.com'])
    const { items } = await storage.listUsers({ emailKey: null, prefix: null, fields: {} }, { order: 'desc', limit: 2, from: { after: String(users[702]?.id) } })
    t.strictSame(items.map(({ email }) => email), ['701@example.com', '700@example.com'])
  })
}

test('what goes past the triggers is found, and counted again', async (t) => {
  const schema = temporarySchema(t)
  const filename = join(await temporaryDirectory(t), 'users.db')
  const other = sqliteHost(filename)
  t.teardown(() => other.destroy())
  const row = (id: string, email: string) => `('${id}', 'n', 'n', 'e', '${email}', 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '{}')`
  const rows = Array.from({ length: 3000 }, (_, n) => row(`u${String(n).padStart(6, '0')}`, String(n))).join(', ')
  const both = [
    { storage: postgres({ connection: pgUrl(), schema }), run: (statement: string) => sql(statement.replace('TABLE', `"${schema}".fastify_users_users`)), past: 'SET session_replication_role = replica; DELETE FROM TABLE WHERE id < \'u000010\'' },
    { storage: sqlite({ filename }), run: (statement: string) => other.raw(statement.replace('TABLE', 'fastify_users_users')), past: `INSERT OR REPLACE INTO TABLE VALUES ${Array.from({ length: 10 }, (_, n) => row(`u00000${n}`, String(n))).join(', ')}` }
  ]
  for (const { storage, run, past } of both) {
    t.teardown(() => storage.close())
    await storage.migrate()
    t.strictSame(await storage.verifyCounts(), { users: 0, counted: 0, wrong: 0 })
    await run(`INSERT INTO TABLE VALUES ${rows}`)
    await storage.rebuildCounts()
    t.strictSame(await storage.verifyCounts(), { users: 3000, counted: 3000, wrong: 0 })
    await run(past)
    const { users, counted, wrong } = await storage.verifyCounts()
    t.strictSame({ off: counted - users, wrong }, { off: 10, wrong: 1 })
    await storage.rebuildCounts()
    t.strictSame(await storage.verifyCounts(), { users, counted: users, wrong: 0 })
    await storage.close()
  }
})

test('who may write users need not know the other tables', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const client = await connectAs(t, `${schema}_writer`, [`USAGE ON SCHEMA "${schema}"`, `INSERT, DELETE, TRUNCATE, SELECT ON "${schema}".fastify_users_users, "${schema}".fastify_users_idempotency_keys`])
  const insert = `INSERT INTO "${schema}".fastify_users_users SELECT 'u' || lpad(n::text, 9, '0'), 'n', 'n', 'e', n::text, 1, now(), now() FROM generate_series(1, 40000) AS n`
  await client.query(insert)
  // More than one round seals.
  await storage.rebuildCounts()
  await client.query(`DELETE FROM "${schema}".fastify_users_users WHERE id <= 'u000006000'`)
  const total = async () => (await storage.listUsers({ emailKey: null, prefix: null, fields: {} }, { order: 'asc', limit: 1, from: { offset: 0 } })).total
  await until(async () => {
    t.equal(await total(), 34_000)
    return (await sql(`SELECT count(*)::int AS n FROM "${schema}".fastify_users_counting_changes`))[0]?.['n'] === 0
  })
  t.strictSame(await storage.verifyCounts(), { users: 34_000, counted: 34_000, wrong: 0 })
  await client.query(`TRUNCATE "${schema}".fastify_users_users CASCADE`)
  await client.query(insert)
  t.strictSame(await storage.verifyCounts(), { users: 40_000, counted: 40_000, wrong: 0 })
})

test('what fails in the background harms nobody, and is not tried at once again', async (t) => {
  const own = knex({ client: 'pg', connection: pgUrl() })
  const names = namesOf({ schema: temporarySchema(t) }, true)
  const upkeep = createCompaction(createPoolExecutor(own, names), names)
  await own.destroy()
  upkeep.onPage(5000, 0)
  await t.rejects(upkeep.run(), { name: 'StorageError' })
  upkeep.onPage(5000, 0)
  await upkeep.close()
  upkeep.onPage(0, 5000)
  t.resolves(upkeep.run(), 'after the end nothing is done any more')
})

/** Users by plain SQL, with ids from one number to another. */
const usersFrom = (schema: string, from: number, to: number) => `INSERT INTO "${schema}".fastify_users_users SELECT 'u' || lpad(n::text, 9, '0'), 'n', 'n', 'e', n::text, 1, now(), now() FROM generate_series(${from}, ${to}) AS n`
const everybody = { emailKey: null, prefix: null, fields: {} }

test('a round that was taken for dead and is not moves nothing back', async (t) => {
  const schema = temporarySchema(t)
  const own = knex({ client: 'pg', connection: pgUrl() })
  t.teardown(() => own.destroy())
  const storage = knexStorage(own, { schema })
  await storage.migrate()
  const names = namesOf({ schema }, true)
  const session = createPoolExecutor(own, names)
  const signals = new EventEmitter()
  const [announced, goOn] = [once(signals, 'announced'), once(signals, 'go on')]
  await sql(usersFrom(schema, 1001, 3000))
  const first = createCompaction({
    ...session,
    async snapshot (work, options) {
      signals.emit('announced')
      await goOn
      return session.snapshot(work, options)
    }
  }, names)
  const done = first.run()
  await announced
  // Now the same number of blocks ends at a lower id.
  await sql(`DELETE FROM "${schema}".fastify_users_users WHERE id <= 'u000001400'`)
  let takenOver = false
  const second = createCompaction({
    ...session,
    async query (text, params) {
      if (/^UPDATE .* next_boundary =/.test(text)) {
        takenOver = true
        signals.emit('go on')
        await done
      }
      return session.query(text, params)
    }
  }, names)
  await until(async () => {
    await second.run()
    return takenOver
  })
  t.strictSame(await storage.verifyCounts(), { users: 1600, counted: 1600, wrong: 0 })
})

test('a tail that has gone while it was looked at is not sealed', async (t) => {
  const schema = temporarySchema(t)
  const own = knex({ client: 'pg', connection: pgUrl() })
  t.teardown(() => own.destroy())
  const storage = knexStorage(own, { schema })
  await storage.migrate()
  await sql(usersFrom(schema, 1, 2000))
  const names = namesOf({ schema }, true)
  const session = createPoolExecutor(own, names)
  const upkeep = createCompaction({
    ...session,
    async query (text, params) {
      if (/OFFSET/.test(text)) await sql(`DELETE FROM "${schema}".fastify_users_users`)
      return session.query(text, params)
    }
  }, names)
  await upkeep.run()
  t.strictSame(await sql(`SELECT boundary, next_boundary FROM "${schema}".fastify_users_counting_state`), [{ boundary: '', next_boundary: '' }])
  t.strictSame(await storage.verifyCounts(), { users: 0, counted: 0, wrong: 0 })
})

test('nobody but the owner of the tables can use what counts them', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const client = await connectAs(t, `${schema}_stranger`, [`USAGE, CREATE ON SCHEMA "${schema}"`])
  await client.query(`CREATE TABLE "${schema}".forged (id text)`)
  for (const name of ['insert', 'delete', 'id_update', 'truncate']) {
    await t.rejects(client.query(`CREATE TRIGGER forged AFTER INSERT ON "${schema}".forged FOR EACH ROW EXECUTE FUNCTION "${schema}".fastify_users_counting_${name}()`), { code: '42501' }, name)
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
  const { items, total } = await storage.joinTransaction(transaction).listUsers(everybody, { order: 'asc', limit: 3, from: { offset: 1 } })
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
  const blocks = async () => Number((await sql(`SELECT count(*) AS n FROM "${schema}".fastify_users_counting_blocks`))[0]?.['n'])
  await until(async () => {
    t.equal((await storage.listUsers(everybody, { order: 'asc', limit: 5, from: { offset: 0 } })).total, 1000)
    return await blocks() <= 6
  })
  t.strictSame(await storage.verifyCounts(), { users: 1000, counted: 1000, wrong: 0 })
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

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: a write that met another process leaves no old moment of the database behind`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'users.db')
    const storage = sqlite({ filename, driver, busyTimeout: 0 })
    t.teardown(() => storage.close())
    await storage.migrate()
    const other = sqliteHost(filename, { driver })
    t.teardown(() => other.destroy())
    const total = async () => (await storage.listUsers(everybody, { order: 'asc', limit: 1, from: { offset: 0 } })).total
    const user = (n: number) => ({ id: `usr_${n}`, name: 'n', email: `${n}@example.com`, fields: {}, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' })
    const create = (n: number) => storage.createUser(user(n), { emailKey: user(n).email, nameKey: 'n' }, null)
    await create(1)
    await other.raw('BEGIN IMMEDIATE')
    await t.rejects(create(2), { code: 'unavailable' })
    t.equal(await total(), 1)
    await other.raw("INSERT INTO fastify_users_users SELECT 'usr_9', name, name_key, email, '9', version, created_at, updated_at, fields FROM fastify_users_users")
    await other.raw('COMMIT')
    t.equal(await total(), 2)
    await create(3)
    t.equal(await total(), 3)
  })
}

test('whatever the boundary, and whatever the ids, a user below it is noted', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const client = new pg.Client({ connectionString: pgUrl() })
  await client.connect()
  t.teardown(() => client.end())
  const [table, changes, sealing, sequence] = ['users', 'counting_changes', 'counting_state', 'counting_watermark'].map((name) => `"${schema}".fastify_users_${name}`)
  // Around everything that the sequence says, and ids as no server makes them.
  const time = fc.integer({ min: 0, max: 40 }).map((n) => `usr_0${(n + 2 ** 29).toString(32).padStart(8, 'z')}0`)
  const id = fc.oneof({ weight: 3, arbitrary: time }, fc.constantFrom('', 'a', 'usr_', 'usr_0', 'usr_01m', 'usr_0zzzzzzzz', 'usr_0zzzzzzzzz', 'usr_0ZZZZZZZZZ', 'usr_0{', 'usr_0é', 'usr_0~~~~~~~~~', 'usr_0\\\\\\\\\\\\\\\\', 'usr_1', 'usr_7zzz', 'ÿ', '\u{10FFFF}'))
  const numbers: unknown[] = []
  const lowest = Buffer.from('00000000').readBigInt64BE()
  const quietly = (statement: string) => [`ALTER TABLE ${sealing} DISABLE TRIGGER fastify_users_counting_watermark_move`, statement, `ALTER TABLE ${sealing} ENABLE ALWAYS TRIGGER fastify_users_counting_watermark_move`].join(';')
  await fc.assert(fc.asyncProperty(id, fc.uniqueArray(id, { minLength: 1, maxLength: 6 }), fc.boolean(), fc.constantFrom('moved', 'copied', 'copied quietly'), id, async (boundary, ids, again, way, next) => {
    await client.query(`TRUNCATE ${table} CASCADE`)
    if (way === 'moved') {
      await client.query(`SELECT setval('${sequence}', ${lowest})`)
      await client.query(`UPDATE ${sealing} SET next_boundary = $1`, [boundary])
    } else {
      // Rows that come to where the schema alone was copied, past the trigger or not: the sequence was never set.
      const rows = `DELETE FROM ${sealing}; INSERT INTO ${sealing} (boundary, next_boundary, round, total) VALUES ('', '${boundary}', '', 0)`
      await client.query(`SELECT setval('${sequence}', 1, false); ${way === 'copied' ? rows : quietly(rows)}`)
      if (way === 'copied quietly') await client.query(`BEGIN; TRUNCATE ${table} CASCADE; ROLLBACK; BEGIN; UPDATE ${sealing} SET next_boundary = '${next}'; ROLLBACK`)
    }
    // One that goes back must not open a gap, since it may be taken back itself.
    if (again) await client.query(`BEGIN; UPDATE ${sealing} SET next_boundary = ''; ROLLBACK`)
    await client.query(`INSERT INTO ${table} (id, name, name_key, email, email_key, version, created_at, updated_at) SELECT id, 'n', 'n', 'e', id, 1, now(), now() FROM unnest($1::text[]) AS id`, [ids])
    const { rows } = await client.query(`SELECT user_id AS id FROM ${changes} ORDER BY user_id`)
    t.strictSame(rows.map(({ id }) => id), ids.filter((id) => Buffer.from(id).compare(Buffer.from(boundary)) < 0).sort((a, b) => Buffer.from(a).compare(Buffer.from(b))), `${boundary}: ${ids}`)
    numbers.push((await client.query(`SELECT last_value FROM ${sequence}`)).rows[0].last_value)
  }), { numRuns: 600 })
  t.ok(new Set(numbers).size > 20, 'the sequence followed')
})

test('a new user is not looked up where the boundary is older', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  const ids = Array.from({ length: 20 }, () => newId('usr'))
  // A boundary that only the sequence knows shows who has read which.
  const insert = (id: string) => sql(`INSERT INTO "${schema}".fastify_users_users VALUES ('${id}', 'n', 'n', 'e', '${id}', 1, now(), now())`)
  const noted = async () => (await sql(`SELECT user_id FROM "${schema}".fastify_users_counting_changes`)).length
  await sql(`ALTER TABLE "${schema}".fastify_users_counting_state DISABLE TRIGGER USER; UPDATE "${schema}".fastify_users_counting_state SET next_boundary = 'zzz'`)
  for (const id of ids) await insert(id)
  t.equal(await noted(), 0)
  await sql(`ALTER TABLE "${schema}".fastify_users_counting_state ENABLE TRIGGER USER; UPDATE "${schema}".fastify_users_counting_state SET next_boundary = 'zzz'`)
  await insert(newId('usr'))
  t.equal(await noted(), 1)
  // Enabled again as others are, it would not follow on a subscriber.
  t.strictSame((await storage.inspect()).missing, ['fastify_users_counting_watermark_move'])
  await sql(`ALTER TABLE "${schema}".fastify_users_counting_state ENABLE ALWAYS TRIGGER fastify_users_counting_watermark_move`)
  t.strictSame((await storage.inspect()).missing, [])
})

test('where the schema alone was copied, new users are looked up until the boundary moves, and no longer', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.migrate()
  await sql(`SELECT setval('"${schema}".fastify_users_counting_watermark', 1, false)`)
  // What a new user is held against.
  const from = async () => (await sql(`SELECT pg_sequence_last_value('"${schema}".fastify_users_counting_watermark') IS NOT NULL AS known`))[0]?.['known']
  t.equal(await from(), false)
  await sql(`INSERT INTO "${schema}".fastify_users_users SELECT 'usr_0' || lpad(n::text, 25, '0'), 'n', 'n', 'e', n::text, 1, now(), now() FROM generate_series(1, 2000) AS n`)
  await storage.rebuildCounts()
  t.equal(await from(), true)
  t.strictSame(await storage.verifyCounts(), { users: 2000, counted: 2000, wrong: 0 })
  t.ok(Number((await sql(`SELECT count(*) AS n FROM "${schema}".fastify_users_counting_blocks`))[0]?.['n']) > 1)
})
