// PostgreSQL: who may create functions and operators in a schema of the search path has none of them executed by the
// service, by our triggers, or by `adopt`; and nobody may call what runs with the rights of our tables' owner.
import { test } from 'tap'
import { migrationsSql } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { NEEDS } from '../../adapters/testing/subjects.ts'
import { readMapping } from '../../cli/adopt-mapping.ts'
import { from } from '../helpers/level.ts'
import { migrated } from '../helpers/migrated.ts'
import { insertUsers } from '../helpers/plain-users.ts'
import { callsOf, plantBetterFitting, plantForAnyType, plantSameOperators } from '../helpers/planted-sql.ts'
import { connectPg, pgUrlWith } from '../helpers/postgres.ts'
import { pgSourceOf, usersOf } from '../helpers/sources.ts'
import { pgUrl, sql, temporarySchema } from '../helpers/stores.ts'
import { emptying, ownAndHost, runInTurn, WAYS_IN_TURN } from './each-kind-in-turn.ts'

const withPath = (path: string): string => pgUrlWith({ options: `-c search_path=${path}` })
test('no function or operator is executed that fits better than one of PostgreSQL', async (t) => {
  const [evil, named, found] = [temporarySchema(t), temporarySchema(t), temporarySchema(t)]
  const admin = await connectPg(t)
  await plantBetterFitting(admin, evil)
  // Where the path finds the tables, statements differ in nothing but their names.
  for (const schema of from('nightly') === false ? [named, undefined] : [undefined]) {
    await sql(`CREATE SCHEMA IF NOT EXISTS "${found}"`)
    const path = schema === undefined ? `${found},${evil}` : `${evil},public`
    const { own, subjectsWith } = ownAndHost(t, withPath(path), schema)
    await own.open({ migrate: true })
    await runInTurn(t, subjectsWith(), () => admin.query(emptying(schema ?? found)))
    await admin.query(insertUsers(`"${schema ?? found}".fastify_users_users`, 1, 500))
    await own.rebuildCounts()
    for (const order of ['asc', 'desc'] as const) {
      const { items } = await own.users.list({ emailKey: null, words: null, fields: {} },
        { order, limit: 3, from: { offset: 300 } })
      t.equal(items.length, 3)
    }
    t.match(await own.verifyCounts(), { users: 500, counted: 500, wrong: 0, malformed: [] })
    t.strictSame((await own.inspect()).missing, [])
    await own.server.warnings?.()
    await own.rollback(0)
  }
  t.equal(await callsOf(admin, evil), 0)
})

test('no function for arguments of any type is called without its schema', async (t) => {
  const [evil, schema] = [temporarySchema(t), temporarySchema(t)]
  const admin = await connectPg(t)
  await plantForAnyType(admin, evil)
  // Before PostgreSQL's own, so that each is taken whose schema is not named.
  const path = `${evil},pg_catalog`
  const { filterable = [], unique = [] } = NEEDS
  await (await connectPg(t, withPath(path))).query(migrationsSql('pg', { schema, filterable, unique }))
  const { own, subjectsWith } = ownAndHost(t, withPath(path), schema)
  // They refuse such a search path.
  const open = async () => ({ created: false })
  await runInTurn(t, subjectsWith({ open }), () => admin.query(emptying(schema)), WAYS_IN_TURN)
  await own.server.warnings?.()
  t.match(await own.verifyCounts(), { users: 0, counted: 0, wrong: 0, malformed: [] })
})

test('adopt calls no function of a schema of the search path', async (t) => {
  const evil = temporarySchema(t)
  const admin = await connectPg(t)
  await plantForAnyType(admin, evil)
  const { schema, source } = await pgSourceOf(t, withPath(`${evil},pg_catalog`),
    'CREATE TABLE @people AS SELECT n AS id, \'Ann\' AS name, n || \'@example.org\' AS email, now() AS made ' +
    'FROM generate_series(1, 3) AS n')
  const mapping = readMapping('name=name,email=email,createdAt=made', { properties: {} })
  const found = await usersOf(source, { table: `${schema}.people`, key: 'id', mapping })
  t.equal(found.length, 3)
})

test('the triggers execute no function and no operator of the search path of whoever writes', async (t) => {
  const [evil, schema] = [temporarySchema(t), temporarySchema(t)]
  const storage = await migrated(t, postgres({ connection: pgUrl(), schema }))
  const admin = await connectPg(t)
  await plantSameOperators(admin, evil)
  await plantForAnyType(admin, `${evil}_any`)
  t.teardown(() => sql(`DROP SCHEMA "${evil}_any" CASCADE`))
  await admin.query(insertUsers(`"${schema}".fastify_users_users`, 1, 2000))
  await storage.rebuildCounts()
  const writer = await connectPg(t, withPath(`${evil},${evil}_any,pg_catalog`))
  for (const statement of [
    `INSERT INTO "${schema}".fastify_users_users (id, name, name_key, email, email_key, version, created_at, updated_at)
      VALUES ('usr_00000000000000000000009999', 'n', 'n', 'e', 'e', 1, '2026-01-01', '2026-01-01')`,
    `UPDATE "${schema}".fastify_users_counting_state SET next_boundary = 'usr_00000000000000000000000500'`,
    `INSERT INTO "${schema}".fastify_users_api_keys (id, name, scopes, start, digest, created_at)
      VALUES ('key_00000000000000000000000001', 'n', 's', 's', 'd', '2026-01-01')`,
    `DELETE FROM "${schema}".fastify_users_users`,
    `TRUNCATE "${schema}".fastify_users_users CASCADE`
  ]) await t.resolves(writer.query(statement), statement)
  t.equal(await callsOf(admin, evil), 0)
})

test('every function says who may call it', async (t) => {
  const schema = temporarySchema(t)
  await migrated(t, postgres({ connection: pgUrl(), schema }))
  const functions = await sql(`SELECT proname AS name, prosecdef AS "asOwner",
      EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee <> proowner) AS others
    FROM pg_proc WHERE pronamespace = to_regnamespace($1) ORDER BY 1`, [schema])
  const trigger = (name: string) => ({ name: `fastify_users_counting_${name}`, asOwner: true, others: false })
  t.strictSame(functions, [
    // Of a trigger.
    { name: 'fastify_users_api_keys_changed', asOwner: false, others: false },
    ...['delete', 'id_update', 'insert', 'truncate', 'watermark_move'].map(trigger),
    // With the rights of whoever calls it.
    { name: 'fastify_users_list_pages', asOwner: false, others: true },
    { name: 'fastify_users_list_tenant_pages', asOwner: false, others: true },
    { name: 'fastify_users_number_events', asOwner: true, others: false }
  ])
})
