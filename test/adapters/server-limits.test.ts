// Databases that have no room, give few connections, can't keep every text, or do not wait for the disk.
import Fastify from 'fastify'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { createReadiness } from '../../examples/standalone/readiness.ts'
import users, { type Storage } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { run } from '../helpers/cli.ts'
import { captureLog } from '../helpers/log.ts'
import { migrated } from '../helpers/migrated.ts'
import { pgUrlWith, urlOfRole } from '../helpers/postgres.ts'
import { idOf, keysOf, rename, timeOf, userOf } from '../helpers/records.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { addUser, changeUser } from '../helpers/writes.ts'

const add = (storage: Storage, n: number) =>
  addUser(storage, { ...userOf(n), fields: { note: 'x'.repeat(10_000) } }, { keys: keysOf(userOf(n)) })

async function addAll (storage: Storage): Promise<void> {
  for (let n = 1; n < 1000; n++) await add(storage, n)
}

test('a full disk is read-only until a write finds room, on sqlite', async (t) => {
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  const storage = knexStorage(host)
  await storage.open({ migrate: true })
  t.equal(await createReadiness(storage)(), 'ready')
  await host.raw('PRAGMA max_page_count = 300')
  await t.rejects(addAll(storage), { code: 'unavailable', driverCode: 'SQLITE_FULL' })
  t.equal(await createReadiness(storage)(), 'read-only')
  await host.raw('PRAGMA max_page_count = 100000')
  await add(storage, 1000)
  t.equal(await createReadiness(storage)(), 'ready')
})

test('a full disk is read-only until a write finds room, on postgres', async (t) => {
  const schema = temporarySchema(t)
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema }))
  // As the server says it where it can't extend a file.
  await sql(`CREATE FUNCTION "${schema}".full () RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
  await sql(`CREATE TRIGGER full_disk BEFORE INSERT ON "${schema}".fastify_users_users
    EXECUTE FUNCTION "${schema}".full ()`)
  t.equal(await createReadiness(storage)(), 'ready')
  await t.rejects(add(storage, 1), { code: 'unavailable', driverCode: '53100' })
  t.equal(await createReadiness(storage)(), 'read-only')
  await sql(`DROP TRIGGER full_disk ON "${schema}".fastify_users_users`)
  await add(storage, 2)
  t.equal(await createReadiness(storage)(), 'ready')
})

test('a pool that is larger than the server\'s limit does with the connections that it gets', async (t) => {
  const schema = temporarySchema(t)
  const role = `limited_${schema}`
  await sql(`CREATE SCHEMA "${schema}"`)
  const url = await urlOfRole(t, role, [`ALL ON SCHEMA "${schema}"`])
  await sql(`ALTER ROLE "${role}" CONNECTION LIMIT 4`)
  const storage = postgres({ connection: url, schema, pool: { min: 0, max: 20 } })
  // All reach the pool, since three eighths of the places are open at first: whether they would do in time is another
  // question, and depends on the machine.
  const { app, call } = await testApp(t, { storage, limits: { inFlight: 600 } })
  const users = Array.from({ length: 60 }, (_, n) => userOf(n))
  // With a key of idempotency, each takes a connection of its own.
  const created = users.map(({ email }, n) => call('POST', '/users', {
    payload: { name: 'A', email }, headers: { 'idempotency-key': String(n) }
  }))
  const statuses = (await Promise.all(created)).map(({ statusCode }) => statusCode)
  t.strictSame(new Set(statuses), new Set([201]))
  t.equal((await app.users.list()).meta.total, 60)
})

test('a server that gives no connection at all is unavailable, and the pool grows again later', async (t) => {
  const schema = temporarySchema(t)
  const role = `limited_${schema}`
  await sql(`CREATE SCHEMA "${schema}"`)
  const url = await urlOfRole(t, role, [`ALL ON SCHEMA "${schema}"`])
  const storage = await migrated(t, postgres({ connection: url, schema, listen: false }))
  await addUser(storage, userOf(1))
  await sql(`ALTER ROLE "${role}" CONNECTION LIMIT 0`)
  await sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role])
  const refused = { name: 'StorageError', code: 'unavailable', driverCode: '53300' }
  const ask = () => changeUser(storage, idOf('usr', 1), rename('B'), { updatedAt: timeOf(1) })
  for (const result of await Promise.allSettled(Array.from({ length: 20 }, ask))) {
    t.match(result, { status: 'rejected', reason: { name: 'StorageError', code: 'unavailable' } })
  }
  await t.rejects(ask(), refused)
  await sql(`ALTER ROLE "${role}" CONNECTION LIMIT -1`)
  t.equal((await ask())?.user.name, 'B')
})

/** A new database with an encoding; returns its URL. */
async function databaseIn (t: Test, encoding: string): Promise<string> {
  const name = `encoding_${randomBytes(6).toString('hex')}`
  await sql(`CREATE DATABASE ${name} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
  t.teardown(() => sql(`DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(pgUrl())
  url.pathname = name
  return url.href
}

for (const encoding of ['LATIN1', 'SQL_ASCII']) {
  test(`a database in ${encoding} is refused, and the message says what to do`, async (t) => {
    const connection = await databaseIn(t, encoding)
    const message = `the database has the encoding ${encoding}, which cannot store every name: ` +
      'use one with UTF8, made with ' +
      "CREATE DATABASE users ENCODING 'UTF8' TEMPLATE template0"
    const refusal = { name: 'StorageError', code: 'fault', message }
    const storage = postgres({ connection })
    t.teardown(() => storage.close())
    await t.rejects(storage.open({ migrate: true }), refusal)
    await t.rejects(storage.open(), refusal)
    await t.rejects(testApp(t, { storage: postgres({ connection }) }), refusal)
    t.strictSame(await run(['migrate'], { DATABASE_URL: connection }), { code: 1, out: '', err: `${message}\n` })
  })
}

const END = 'so a crash or a loss of power can lose writes that were acknowledged'

/** The warnings in the log of a host that registers the plugin with a store. */
async function warned (t: Test, storage: Storage): Promise<unknown[]> {
  const log = captureLog()
  const app = Fastify({ logger: { stream: log.stream } })
  t.teardown(() => app.close())
  await app.register(users, { storage, migrate: true, apiKeys: { static: ['s'.repeat(32)] } })
  return log.entries().filter(({ level }) => level === 40).map(({ msg }) => msg)
}

/** A store whose sessions wait for the disk, or not. */
const onPostgres = (t: Test, setting: string) => {
  const connection = pgUrlWith({ options: `-c synchronous_commit=${setting}` })
  return postgres({ connection, schema: temporarySchema(t) })
}

test('warns if PostgreSQL does not wait for the disk', async (t) => {
  const about = (messages: unknown[]) => messages.filter((each) => String(each).includes('synchronous_commit'))
  t.strictSame(about(await warned(t, onPostgres(t, 'off'))), [
    `fastify-users: postgres: synchronous_commit is off, ${END}`
  ])
  t.strictSame(about(await warned(t, onPostgres(t, 'on'))), [])
})

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: a host's SQLite that does not wait for its disk is warned of`, { skip }, async (t) => {
    const directory = await temporaryDirectory(t)
    const warnedOn = async (filename: string, setting: string) => {
      const host = sqliteHost(filename, { driver })
      t.teardown(() => host.destroy())
      await host.raw(`PRAGMA synchronous = ${setting}`)
      return warned(t, knexStorage(host))
    }
    for (const setting of ['OFF', 'NORMAL']) {
      t.strictSame(await warnedOn(join(directory, `${setting}.db`), setting), [
        `fastify-users: sqlite: synchronous is ${setting}, ${END}`
      ])
    }
    t.strictSame(await warnedOn(join(directory, 'full.db'), 'FULL'), [])
    t.strictSame(await warnedOn(':memory:', 'OFF'), [], 'a database in memory ends with its process anyway')
    t.strictSame(await warned(t, sqlite({ filename: join(directory, 'own.db'), driver })), [])
  })
}
