// Totals are exact whoever writes users: through the storage, past it, without rights on our tables, or concurrently.
import { join } from 'node:path'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { migrated } from '../helpers/migrated.ts'
import { insertUsers, plainId, USER_COLUMN_LIST } from '../helpers/plain-users.ts'
import { connectPg, pgHost, urlOfRole } from '../helpers/postgres.ts'
import { everyone, userOf } from '../helpers/records.ts'
import { sqliteDrivers, sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { addUser, count } from '../helpers/writes.ts'

const COMPACTION_MS = 60_000
test('verifyCounts() detects what went past the triggers, and rebuildCounts() mends it', async (t) => {
  const schema = temporarySchema(t)
  const filename = join(await temporaryDirectory(t), 'users.db')
  const other = sqliteHost(filename)
  t.teardown(() => other.destroy())
  const now = "'2026-01-01T00:00:00.000Z'"
  const row = (n: number) => `('${plainId(n)}', 'n', 'n', 'e', '${n}', 1, ${now}, ${now})`
  const rows = (length: number) => Array.from({ length }, (_, n) => row(n)).join(', ')
  const cases = [{
    storage: postgres({ connection: pgUrl(), schema }),
    run: (statement: string) => sql(statement.replace('TABLE', `"${schema}".fastify_users_users`)),
    pastTriggers: `SET session_replication_role = replica; DELETE FROM TABLE WHERE id < '${plainId(10)}'`
  }, {
    storage: sqlite({ filename }),
    run: (statement: string) => other.raw(statement.replace('TABLE', 'fastify_users_users')),
    // It deletes the old rows without calling triggers.
    pastTriggers: `INSERT OR REPLACE INTO TABLE ${USER_COLUMN_LIST} VALUES ${rows(10)}`
  }]
  for (const { storage, run, pastTriggers } of cases) {
    await migrated(t, storage)
    t.strictSame(await storage.verifyCounts(), { users: 0, counted: 0, wrong: 0, malformed: [] })
    await run(`INSERT INTO TABLE ${USER_COLUMN_LIST} VALUES ${rows(3000)}`)
    await storage.rebuildCounts()
    t.strictSame(await storage.verifyCounts(), { users: 3000, counted: 3000, wrong: 0, malformed: [] })
    await run(pastTriggers)
    const { users, counted, wrong } = await storage.verifyCounts()
    t.strictSame({ excess: counted - users, wrong }, { excess: 10, wrong: 1 })
    await storage.rebuildCounts()
    t.strictSame(await storage.verifyCounts(), { users, counted: users, wrong: 0, malformed: [] })
    await storage.close()
  }
})

test('beside a publication of all tables, a role that writes users needs no rights on those that count', async (t) => {
  const schema = temporarySchema(t)
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema }))
  const { users, memberships, idempotencyKeys, changes, blocks } = namesOf({ schema }, true)
  await sql(`CREATE PUBLICATION "${schema}" FOR TABLES IN SCHEMA "${schema}"`)
  t.teardown(() => sql(`DROP PUBLICATION IF EXISTS "${schema}"`))
  const client = await connectPg(t, await urlOfRole(t, `${schema}_writer`, [
    `USAGE ON SCHEMA "${schema}"`, `INSERT, DELETE, TRUNCATE, SELECT ON ${users}, ${memberships}, ${idempotencyKeys}`
  ]))
  const rowsOf = async (table: string) => (await sql(`SELECT 1 FROM ${table}`)).length
  await client.query(insertUsers(users, 1, 40_000))
  // That takes more than one round of compaction.
  await storage.rebuildCounts()
  await client.query(`DELETE FROM ${users} WHERE id <= '${plainId(36_000)}'`)
  await until('the compaction of all changes, and the deletion of empty blocks', async () => {
    t.equal(await count(storage), 4000)
    return await rowsOf(changes) === 0 && await rowsOf(blocks) <= 24
  }, COMPACTION_MS)
  t.strictSame(await storage.verifyCounts(), { users: 4000, counted: 4000, wrong: 0, malformed: [] })
  await client.query(`TRUNCATE ${users} CASCADE`)
  await client.query(insertUsers(users, 1, 5000))
  t.strictSame(await storage.verifyCounts(), { users: 5000, counted: 5000, wrong: 0, malformed: [] })
})

test('a snapshot that is older than a TRUNCATE of the table sees its own users alone', async (t) => {
  const schema = temporarySchema(t)
  const host = pgHost(t)
  const storage = await migrated(t, knexStorage(host, { schema }))
  const { users } = namesOf({ schema }, true)
  await sql(insertUsers(users, 1, 10))
  const transaction = await host.transaction({ isolationLevel: 'repeatable read' })
  await transaction.raw('SELECT 1')
  await sql(`TRUNCATE ${users} CASCADE`)
  await transaction.raw(insertUsers(users, 11, 15))
  const page = { order: 'asc', limit: 3, from: { offset: 1 } } as const
  const { items, total } = await storage.join(transaction).users.list(everyone, page)
  t.strictSame({ ids: items.map(({ id }) => id), total }, { ids: [12, 13, 14].map(plainId), total: 5 })
  await transaction.commit()
})

test('a storage can be closed while another transaction locks what its compaction needs', async (t) => {
  const schema = temporarySchema(t)
  const storage = postgres({ connection: pgUrl(), schema })
  await storage.open({ migrate: true })
  const { users } = namesOf({ schema }, true)
  await sql(insertUsers(users, 1, 5000))
  const blocker = await connectPg(t)
  await blocker.query(`BEGIN; LOCK TABLE ${users}`)
  const rebuilt = t.rejects(storage.rebuildCounts(), { name: 'StorageError', code: 'unavailable' })
  await storage.close()
  await rebuilt
})

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: a write that another process kept waiting leaves no old snapshot behind`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'users.db')
    const storage = await migrated(t, sqlite({ filename, driver, busyTimeoutMs: 0 }))
    const other = sqliteHost(filename, { driver })
    t.teardown(() => other.destroy())
    const create = (n: number) => addUser(storage, userOf(n))
    await create(1)
    await other.raw('BEGIN IMMEDIATE')
    await t.rejects(create(2), { code: 'unavailable' })
    t.equal(await count(storage), 1)
    await other.raw(`INSERT INTO fastify_users_users ${USER_COLUMN_LIST}
      SELECT '${plainId(9)}', name, name_key, email, '9', version, created_at, updated_at FROM fastify_users_users`)
    await other.raw('COMMIT')
    t.equal(await count(storage), 2)
    await create(3)
    t.equal(await count(storage), 3)
  })
}
