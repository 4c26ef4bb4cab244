// Ids of another form than ours: the database refuses them, and check finds those that came past its constraint.
import { test } from 'tap'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import type { KnexStorage } from '../../adapters/knex/knex-storage.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { newId } from '../../lib/core/ids.ts'
import { migrated } from '../helpers/migrated.ts'
import { USER_COLUMN_LIST } from '../helpers/plain-users.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const MOMENT = "'2026-01-01T00:00:00.000Z'"
const good = newId('usr')
const malformed = [
  '', 'x', 'usr_', good.slice(0, -1), `${good}0`, ` ${good}`, `${good}\n`, good.toUpperCase(), `usr_8${good.slice(5)}`,
  `usr-${good.slice(4)}`, `key_${good.slice(4)}`, `${good.slice(0, -1)}u`, `${good.slice(0, -1)}é`, '42',
  'c0ffee00-0000-4000-8000-000000000000'
]
const misfits = (users: number) =>
  ({ constraint: 'fastify_users_users_id_form', users, asks: 'an id is usr_ and 26 characters of base32' })
let number = 0
const insertion = (table: string, id: string) =>
  `INSERT INTO ${table} ${USER_COLUMN_LIST} VALUES (${id}, 'n', 'n', 'e', 'e${number++}', 1, ${MOMENT}, ${MOMENT})`
const quote = (text: string) => `'${text}'`

test('PostgreSQL refuses ids of another form, and check finds those that are there', async (t) => {
  const schema = temporarySchema(t)
  const storage: KnexStorage = await migrated(t, postgres({ connection: pgUrl(), schema }))
  const { users } = namesOf({ schema }, true)
  for (const id of malformed) {
    const constraint = { code: '23514', constraint: 'fastify_users_users_id_form' }
    await t.rejects(sql(insertion(users, quote(id))), constraint, JSON.stringify(id))
  }
  const key = `INSERT INTO "${schema}".fastify_users_api_keys (id, name, scopes, start, digest, created_at)`
  await t.rejects(sql(`${key} VALUES ('${good}', 'n', 'x', 'x', 'x', now())`), { code: '23514' })
  await sql(insertion(users, quote(good)))
  t.match(await storage.verifyCounts(), { users: 1, malformed: [] })
  await sql(`ALTER TABLE ${users} DROP CONSTRAINT fastify_users_users_id_form`)
  for (const id of malformed) await sql(insertion(users, quote(id)))
  t.match(await storage.verifyCounts(), { users: 1 + malformed.length, malformed: [misfits(malformed.length)] })
  t.strictSame((await storage.inspect()).missing, ['fastify_users_users_id_form'])
  // It is added again without a look at what is there.
  await sql(`ALTER TABLE ${users} ADD CONSTRAINT fastify_users_users_id_form CHECK (id ~ '^usr_') NOT VALID`)
  t.strictSame((await storage.inspect()).missing, ['fastify_users_users_id_form'])
})

test('SQLite refuses ids of another form, and check finds those that are there', async (t) => {
  const filename = `${await temporaryDirectory(t)}/users.db`
  const storage: KnexStorage = await migrated(t, sqlite({ filename }))
  const host = sqliteHost(filename, { pool: { min: 1, max: 1 } })
  t.teardown(() => host.destroy())
  const table = 'fastify_users_users'
  const hidden = [`'${good}' || char(0)`, `'${good}' || char(0) || 'x'`, `CAST('${good}' AS BLOB)`]
  const literals = [...malformed.map(quote), ...hidden]
  for (const id of literals) {
    await t.rejects(host.raw(insertion(table, id)), /CHECK constraint failed: fastify_users_users_id_form/, id)
  }
  const key = 'INSERT INTO fastify_users_api_keys (id, name, scopes, start, digest, created_at)'
  await t.rejects(host.raw(`${key} VALUES ('${good}', 'n', 'x', 'x', 'x', ${MOMENT})`), /api_keys_id_form/)
  await host.raw(insertion(table, quote(good)))
  t.match(await storage.verifyCounts(), { users: 1, malformed: [] })
  t.strictSame((await storage.inspect()).missing, [])
  await host.raw('PRAGMA ignore_check_constraints = ON')
  for (const id of literals) await host.raw(insertion(table, id))
  t.match(await storage.verifyCounts(), { users: 1 + literals.length, malformed: [misfits(literals.length)] })
  // Whoever made the table again without it.
  await host.raw(`CREATE TABLE copy AS SELECT * FROM ${table}`)
  await host.raw(`DROP TABLE ${table}`)
  await host.raw(`ALTER TABLE copy RENAME TO ${table}`)
  t.ok((await storage.inspect()).missing.includes('fastify_users_users_id_form'))
})
