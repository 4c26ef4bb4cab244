// The host's own fields in SQL: their column, and the indexes of those that lists are filtered by.
import { join } from 'node:path'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { LATEST } from '../../adapters/knex/schema/migrations.ts'
import { storageOnKnex } from '../../adapters/knex/storage.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { migrated } from '../helpers/migrated.ts'
import { limitedConnection, pgHost } from '../helpers/postgres.ts'
import { everyone, userOf } from '../helpers/records.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const page = { order: 'asc', limit: 10, from: { offset: 0 } } as const
const LONG_NAME = 'a_very_long_name_of_a_field_that_goes_on_and_on_to_63_characters'.slice(0, 63)

test('indexes of fields come with a migration, go with a rollback, and leave neighbours alone', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const [schemaA, schemaB] = [temporarySchema(t), temporarySchema(t)]
  const pairs = [
    [sqlite({ filename, tablePrefix: 'x_' }), sqlite({ filename, tablePrefix: 'x_field_' })],
    [postgres({ connection: pgUrl(), schema: schemaA }), postgres({ connection: pgUrl(), schema: schemaB })]
  ] as const
  for (const [storage, neighbour] of pairs) {
    t.teardown(() => Promise.all([storage.close(), neighbour.close()]))
    const requirements = { filterable: ['plan', 'Plan', LONG_NAME] }
    await neighbour.open({ migrate: true, ...requirements })
    await storage.open({ migrate: true })
    t.strictSame((await storage.inspect(requirements)).unindexed, requirements.filterable)
    await t.rejects(storage.open(requirements), { code: 'schema_behind' })
    await Promise.all([{ filterable: ['plan'] }, requirements, requirements].map((each) =>
      storage.open({ migrate: true, ...each })))
    await t.resolves(storage.open(requirements))
    t.strictSame((await storage.inspect(requirements)).unindexed, [])
    await storage.rollback(LATEST)
    await t.resolves(storage.open(requirements))
    await storage.rollback(0)
    t.match(await neighbour.inspect(requirements), { version: LATEST, missing: [], unindexed: [], notUnique: [] })
    await storage.open({ migrate: true })
    t.strictSame((await storage.inspect(requirements)).unindexed, requirements.filterable, 'they went with the table')
  }
})

test('a field whose name could change the SQL is refused', async (t) => {
  const storage = await migrated(t, sqlite({ filename: join(await temporaryDirectory(t), 'users.db') }))
  const filtering = async () => { await storage.users.list({ ...everyone, fields: { "a'": 1 } }, page) }
  await t.rejects(filtering, { name: 'TypeError' })
  await t.rejects(storage.open({ migrate: true, filterable: ['a"; DROP'] }), { name: 'TypeError' })
  await t.rejects(storage.open({ filterable: ["a'"] }), { name: 'TypeError' })
})

test('two installations on one search path have indexes of their own', async (t) => {
  const [first, second] = [temporarySchema(t), temporarySchema(t)]
  await sql(`CREATE SCHEMA "${first}"; CREATE SCHEMA "${second}"`)
  const behind = knexStorage(pgHost(t, { searchPath: [second] }))
  const front = knexStorage(pgHost(t, { searchPath: [first, second] }))
  const requirements = { filterable: ['plan'] }
  await front.open({ migrate: true })
  await behind.open({ migrate: true, ...requirements })
  t.strictSame((await front.inspect(requirements)).unindexed, ['plan'])
  await front.open({ migrate: true, ...requirements })
  await t.resolves(behind.open(requirements))
  await t.resolves(front.open(requirements))
})

test('lists of many different filters leave nothing behind on the connection', async (t) => {
  const host = pgHost(t, { connection: limitedConnection(), pool: { min: 1, max: 1 } })
  const storage = await migrated(t, storageOnKnex(host, { schema: temporarySchema(t) }, { prepare: true }))
  const prepared = async () => (await host.raw('SELECT name FROM pg_prepared_statements')).rows.length
  await storage.users.find(userOf(1).id)
  const before = await prepared()
  t.ok(before > 0, 'other statements are kept')
  for (let n = 1; n < 64; n++) await storage.users.list({ ...everyone, fields: { [`f${n}`]: n } }, page)
  t.equal(await prepared(), before)
  const words = Array.from({ length: 20 }, (_, n) => `word${n}`)
  for (let n = 1; n < 20; n++) {
    await storage.users.list({ ...everyone, words: [words.slice(0, n)] }, page)
    await storage.users.list({ ...everyone, words: words.slice(0, n + 1).map((word) => [word]) }, page)
  }
  t.equal(await prepared(), before + 4, 'searches for one to four words are kept')
})
