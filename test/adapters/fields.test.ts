// The column and the indexes of the host's own fields in SQL: made, found missing, taken back, and no trouble to neighbours.
import { join } from 'node:path'
import knex from 'knex'
import { test } from 'tap'
import { knexStorage, migrationsSql } from '../../adapters/knex/index.ts'
import { storageOnOwnKnex } from '../../adapters/knex/storage.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { everyone, keysOf, userOf } from '../../adapters/testing/values.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { sqliteHost } from '../helpers/sqlite.ts'

const page = { order: 'asc', limit: 10, from: { offset: 0 } } as const

test('indexes of fields come with migrate, go with a rollback, and leave neighbours alone', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const [schemaA, schemaB] = [temporarySchema(t), temporarySchema(t)]
  const pairs = [
    [sqlite({ filename, tablePrefix: 'x_' }), sqlite({ filename, tablePrefix: 'x_field_' })],
    [postgres({ connection: pgUrl(), schema: schemaA }), postgres({ connection: pgUrl(), schema: schemaB })]
  ] as const
  for (const [storage, neighbour] of pairs) {
    t.teardown(() => Promise.all([storage.close(), neighbour.close()]))
    const needs = { filterable: ['plan', 'Plan', 'a_very_long_name_of_a_field_that_goes_on_and_on_to_63_characters'.slice(0, 63)] }
    await neighbour.migrate(needs)
    await storage.migrate()
    t.strictSame((await storage.inspect(needs)).unindexed, needs.filterable)
    await t.rejects(storage.check(needs), { code: 'schema_behind' })
    await Promise.all([storage.migrate({ filterable: ['plan'] }), storage.migrate(needs), storage.migrate(needs)])
    await storage.check(needs)
    t.strictSame((await storage.inspect(needs)).unindexed, [])
    await storage.rollback(1)
    await storage.check(needs)
    await storage.rollback(0)
    t.strictSame((await neighbour.inspect(needs)), { version: 1, latest: 1, pending: [], missing: [], unindexed: [] })
    await storage.migrate()
    t.strictSame((await storage.inspect(needs)).unindexed, needs.filterable, 'they are gone with the table')
    for (const call of [async () => { await storage.listUsers({ ...everyone, fields: { "a'": 1 } }, page) }, () => storage.migrate({ filterable: ['a"; DROP'] }), () => storage.check({ filterable: ["a'"] })]) await t.rejects(call, { name: 'TypeError' })
  }
})

test('two installations on one search path have indexes of their own', async (t) => {
  const [first, second] = [temporarySchema(t), temporarySchema(t)]
  await sql(`CREATE SCHEMA "${first}"`)
  await sql(`CREATE SCHEMA "${second}"`)
  const hostOn = (searchPath: string[]) => {
    const host = knex({ client: 'pg', connection: pgUrl(), searchPath, pool: { min: 0, max: 2 } })
    t.teardown(() => host.destroy())
    return knexStorage(host)
  }
  const [behind, front] = [hostOn([second]), hostOn([first, second])]
  const needs = { filterable: ['plan'] }
  await behind.migrate(needs)
  await front.migrate()
  await front.migrate(needs)
  await Promise.all([behind.check(needs), front.check(needs)])
})

test('the printed SQL makes the indexes of fields, and takes them away', async (t) => {
  const schema = temporarySchema(t)
  const filterable = ['plan']
  const file = sqliteHost(':memory:')
  t.teardown(() => file.destroy())
  const script = async (text: string) => { for (const statement of text.split(/;\n(?!\s)/)) if (statement.trim() !== '') await file.raw(statement.replaceAll('?', '\\?')) }
  const onFile = knexStorage(file)
  await script(migrationsSql('better-sqlite3', { filterable }))
  await onFile.check({ filterable })
  await script(migrationsSql('better-sqlite3', { from: 1, to: 0, filterable }))
  t.equal((await onFile.inspect()).version, 0)
  const storage = postgres({ connection: pgUrl(), schema })
  t.teardown(() => storage.close())
  await sql(migrationsSql('pg', { schema }))
  await sql(migrationsSql('pg', { schema, from: 1, filterable }))
  await storage.check({ filterable })
  await sql(migrationsSql('pg', { schema, from: 1, to: 0, filterable }))
  t.equal((await storage.inspect()).version, 0)
  for (const from of [0, 1]) t.throws(() => migrationsSql('pg', { from, filterable: ['a"; DROP'] }), { name: 'TypeError' })
})

test('plain SQL can put nothing but an object into the column', async (t) => {
  const schema = temporarySchema(t)
  const filename = join(await temporaryDirectory(t), 'users.db')
  const file = sqliteHost(filename)
  t.teardown(() => file.destroy())
  const both = [
    { storage: sqlite({ filename }), plain: (text: string) => file.raw(text.replace('@', '')) },
    { storage: postgres({ connection: pgUrl(), schema }), plain: (text: string) => sql(text.replace('@', `"${schema}".`)) }
  ]
  for (const { storage, plain } of both) {
    t.teardown(() => storage.close())
    await storage.migrate({ filterable: ['plan'] })
    await storage.createUser(userOf(1), keysOf(userOf(1)), null)
    for (const wrong of ['"abc"', '[]', '5', 'null', '', '{']) await t.rejects(async () => { await plain(`UPDATE @fastify_users_users SET fields = '${wrong}'`) }, { name: /rror/ }, wrong)
    await plain('UPDATE @fastify_users_users SET fields = \'{ "plan" : "pro" }\'')
    t.strictSame((await storage.listUsers({ ...everyone, fields: { plan: 'pro' } }, page)).items.map(({ fields }) => fields), [{ plan: 'pro' }])
    t.strictSame((await storage.findUser(userOf(1).id))?.fields, { plan: 'pro' })
  }
})

test('lists of many different filters leave nothing behind on the connection', async (t) => {
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 1, max: 1 } })
  t.teardown(() => host.destroy())
  const storage = storageOnOwnKnex(host, { schema: temporarySchema(t) }, { prepare: true })
  await storage.migrate()
  const prepared = async () => (await host.raw('SELECT name FROM pg_prepared_statements')).rows.length
  await storage.findUser(userOf(1).id)
  const before = await prepared()
  t.ok(before > 0, 'others are kept')
  for (let n = 1; n < 64; n++) await storage.listUsers({ ...everyone, fields: { [`f${n}`]: n } }, page)
  t.equal(await prepared(), before)
})
