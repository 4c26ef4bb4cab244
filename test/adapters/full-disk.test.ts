// A database without room answers reads, and says that it accepts no writes.
import { test } from 'tap'
import { createReadiness } from '../../examples/standalone/readiness.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import type { Storage } from '../../lib/index.ts'
import { keysOf, userOf } from '../helpers/records.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { addUser } from '../helpers/writes.ts'

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
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await storage.open({ migrate: true })
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
