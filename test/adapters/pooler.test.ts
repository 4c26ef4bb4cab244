// postgres({ pooler: true }): nothing depends on a session, since a pooler lends another one each time.
import { test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { migrated } from '../helpers/migrated.ts'
import { pgHost, pgUrlWith } from '../helpers/postgres.ts'
import { startPgBouncer } from '../servers/pgbouncer.mjs'
import { timeOf, userOf } from '../helpers/records.ts'
import { pgBouncerUrl, pgUrl, pooled, sql, temporarySchema, withoutPgBouncer } from '../helpers/stores.ts'
import { addUserOnce } from '../helpers/writes.ts'

const idempotency = { key: 'k', fingerprint: 'f', now: timeOf(0), expiresAt: '2027-01-01T00:00:00.000Z', note: null }

const create = (storage: Storage, n: number) => addUserOnce(storage, userOf(n), idempotency)

test('nothing is set on a session, and the tables are in public whatever the search path is', async (t) => {
  const bystander = temporarySchema(t)
  await sql(`create schema "${bystander}"`)
  const tablePrefix = `${bystander}_`
  const connection = pgUrlWith({ options: `-c search_path=pg_temp,${bystander} -c statement_timeout=0` })
  const storage = await migrated(t, postgres({ connection, pooler: true, tablePrefix, pool: { max: 2 } }))
  const schemas = await sql('select distinct schemaname from pg_tables where tablename like $1', [`${tablePrefix}%`])
  t.strictSame(schemas, [{ schemaname: 'public' }])
  t.equal((await create(storage, 1)).replayed, false)
  t.equal((await create(storage, 1)).user?.id, userOf(1).id)
  await storage.rollback(0)
  t.strictSame(await sql("select tablename from pg_tables where tablename like $1 || '%'", [tablePrefix]), [])
  const unlimited = postgres({ connection, pooler: true, statementTimeoutMs: 0, schema: 'public', tablePrefix })
  t.teardown(() => unlimited.close())
  await t.rejects(unlimited.open(), { code: 'schema_behind' })
})

test('without the option, the error of PgBouncer names it', { skip: pooled.skip }, async (t) => {
  const storage = postgres({ connection: pgBouncerUrl() })
  t.teardown(() => storage.close())
  await t.rejects(storage.open(), {
    code: 'unavailable',
    message: 'the server or a pooler refuses the connection; a pooler that refuses session settings needs the ' +
      'option pooler of postgres() (08P01)'
  })
})

test('without the option, a PgBouncer that ignores settings is refused', { skip: pooled.skip }, async (t) => {
  const pooler = await startPgBouncer(pgUrl(), 'ignore_startup_parameters = statement_timeout, lock_timeout')
  t.teardown(() => pooler?.stop())
  const schema = temporarySchema(t)
  const connection = String(pooler?.url)
  // It may already have lent a session that has a statement of the same name.
  const refused = { code: 'fault', message: /^a pooler (?:ignores|lends) .* set the option pooler of postgres\(\)/ }
  const storage = postgres({ connection, schema })
  t.teardown(() => storage.close())
  await t.rejects(storage.open({ migrate: true }), refused)
  await t.rejects(storage.open(), refused)
  const fit = await migrated(t, postgres({ connection, schema, pooler: true }))
  t.equal((await create(fit, 1)).replayed, false)
})

test('a statement that is not answered is given up on this side', async (t) => {
  const schema = temporarySchema(t)
  const connection = withoutPgBouncer === false ? pgBouncerUrl() : pgUrl()
  const storage = await migrated(t, postgres({ connection, schema, pooler: true, statementTimeoutMs: 1000 }))
  await pgHost(t).transaction(async (trx) => {
    await trx.raw(`lock table "${schema}".fastify_users_users`)
    const expected = { code: 'unavailable', driverCode: 'ETIMEDOUT' }
    await t.rejects(storage.users.find('usr_1'), expected, 'the server has no limit')
  })
  t.equal(await storage.users.find('usr_1'), null)
})
