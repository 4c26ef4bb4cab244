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

test('a full disk is read-only until a write finds room', async (t) => {
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  const schema = temporarySchema(t)
  const users = `"${schema}".fastify_users_users`
  for (const { storage, fill, makeRoom, driverCode } of [{
    storage: knexStorage(host),
    fill: () => host.raw('PRAGMA max_page_count = 300'),
    makeRoom: () => host.raw('PRAGMA max_page_count = 100000'),
    driverCode: 'SQLITE_FULL'
  }, {
    storage: postgres({ connection: pgUrl(), schema }),
    // As the server says it where it can't extend a file.
    fill: () => sql(`CREATE FUNCTION "${schema}".full () RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON ${users} EXECUTE FUNCTION "${schema}".full ()`),
    makeRoom: () => sql(`DROP TRIGGER full_disk ON ${users}`),
    driverCode: '53100'
  }]) {
    await migrated(t, storage)
    t.equal(await createReadiness(storage)(), 'ready')
    await fill()
    const addMany = async () => { for (let n = 1; n < 1000; n++) await add(storage, n) }
    await t.rejects(addMany, { code: 'unavailable', driverCode })
    t.equal(await createReadiness(storage)(), 'read-only')
    await makeRoom()
    await add(storage, 1000)
    t.equal(await createReadiness(storage)(), 'ready')
  }
})

/** A role of its own, whose connections can be limited, and the URL for it. */
async function limitedRole (t: Test) {
  const schema = temporarySchema(t)
  const role = `limited_${schema}`
  await sql(`CREATE SCHEMA "${schema}"`)
  const url = await urlOfRole(t, role, [`ALL ON SCHEMA "${schema}"`])
  return { schema, role, url, limit: (count: number) => sql(`ALTER ROLE "${role}" CONNECTION LIMIT ${count}`) }
}

test('a pool that is larger than the server\'s limit does with the connections that it gets', async (t) => {
  const { schema, url, limit } = await limitedRole(t)
  await limit(4)
  const storage = postgres({ connection: url, schema, pool: { min: 0, max: 20 } })
  // All reach the pool, since three eighths of the places are open at first: whether they would do in time is another
  // question, and depends on the machine.
  const { app, call } = await testApp(t, { storage, limits: { inFlight: 600 } })
  // With a key of idempotency, each takes a connection of its own.
  const created = Array.from({ length: 60 }, (_, n) => call('POST', '/users', {
    payload: { name: 'A', email: `user${n}@example.org` }, headers: { 'idempotency-key': String(n) }
  }))
  const statuses = (await Promise.all(created)).map(({ statusCode }) => statusCode)
  t.strictSame(new Set(statuses), new Set([201]))
  t.equal((await app.users.list()).meta.total, 60)
})

test('a server that gives no connection at all is unavailable, and the pool grows again later', async (t) => {
  const { schema, role, url, limit } = await limitedRole(t)
  const storage = await migrated(t, postgres({ connection: url, schema, listen: false }))
  await addUser(storage, userOf(1))
  await limit(0)
  await sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role])
  const refused = { name: 'StorageError', code: 'unavailable', driverCode: '53300' }
  const ask = () => changeUser(storage, idOf('usr', 1), rename('B'), { updatedAt: timeOf(1) })
  for (const result of await Promise.allSettled(Array.from({ length: 20 }, ask))) {
    t.match(result, { status: 'rejected', reason: { name: 'StorageError', code: 'unavailable' } })
  }
  await t.rejects(ask(), refused)
  await limit(-1)
  t.equal((await ask())?.user.name, 'B')
})

for (const encoding of ['LATIN1', 'SQL_ASCII']) {
  test(`a database in ${encoding} is refused, and the message says what to do`, async (t) => {
    const name = `encoding_${randomBytes(6).toString('hex')}`
    await sql(`CREATE DATABASE ${name} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
    t.teardown(() => sql(`DROP DATABASE ${name} WITH (FORCE)`))
    const connection = Object.assign(new URL(pgUrl()), { pathname: name }).href
    const message = `the database has the encoding ${encoding}, which cannot store every name: ` +
      'use one with UTF8, made with ' +
      "CREATE DATABASE users ENCODING 'UTF8' TEMPLATE template0"
    const refusal = { name: 'StorageError', code: 'fault', message }
    const storage = postgres({ connection })
    t.teardown(() => storage.close())
    await t.rejects(storage.open({ migrate: true }), refusal)
    await t.rejects(storage.open(), refusal)
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

test('warns if PostgreSQL does not wait for the disk', async (t) => {
  for (const setting of ['off', 'on']) {
    const connection = pgUrlWith({ options: `-c synchronous_commit=${setting}` })
    const warnings = await warned(t, postgres({ connection, schema: temporarySchema(t) }))
    t.strictSame(warnings.filter((each) => String(each).includes('synchronous_commit')),
      setting === 'on' ? [] : [`fastify-users: postgres: synchronous_commit is off, ${END}`])
  }
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
