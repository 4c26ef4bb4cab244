// What the SQL storages say of wrong options and of missing packages.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import knex from 'knex'
import { test } from 'tap'
import { dialectOf } from '../../adapters/knex/dialects/index.ts'
import { postgresDialect } from '../../adapters/knex/dialects/postgres/dialect.ts'
import { sqliteDialect } from '../../adapters/knex/dialects/sqlite/dialect.ts'
import { knexStorage } from '../../adapters/knex/index.ts'
import { namesOf } from '../../adapters/knex/tables/names.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { requireOptional } from '../../lib/core/optional-packages.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, temporaryDirectory } from '../helpers/stores.ts'

/** A value as JavaScript without types may pass it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value))

test('prefix and schema are plain identifiers', async (t) => {
  for (const tablePrefix of ['', 'Users_', '1x', 'a-b', 'a"b', 'x'.repeat(37)]) {
    const naming = () => namesOf({ tablePrefix }, sqliteDialect.hasSchemas)
    t.throws(naming, { name: 'TypeError', message: /tablePrefix must be/ })
  }
  const dotted = () => namesOf({ schema: 'a.b' }, postgresDialect.hasSchemas)
  t.throws(dotted, { name: 'TypeError', message: /schema must be/ })
  t.equal(namesOf({ schema: 's', tablePrefix: 't_' }, postgresDialect.hasSchemas).users, '"s"."t_users"')
})

test('sqlite() throws one error for all wrong options', async (t) => {
  t.throws(() => sqlite(untyped('users.db')), {
    name: 'TypeError', message: 'fastify-users: sqlite() takes an object of options, such as { filename }'
  })
  t.throws(() => sqlite(untyped({ filename: '', busyTimeoutMs: -1, file: 'x' })), {
    name: 'TypeError',
    message: `fastify-users: sqlite(): 3 wrong options:
- file is not a known option
- filename must be the path of a file (not a URI), or :memory:
- busyTimeoutMs must be a whole number of milliseconds, 0 or more`
  })
  for (const filename of ['sqlite:users.db', 'file:users.db', undefined]) {
    t.throws(() => sqlite(untyped({ filename })), { message: /- filename must be/ })
  }
  t.throws(() => sqlite(Object(undefined)[0]), { message: /- filename must be/ })
})

test('postgres() throws one error for all wrong options', async (t) => {
  const wrong = { statementTimeoutMs: '5s', pool: { max: 0 }, schema: 'X', tableprefix: 'x_' }
  const faults = ['tableprefix is not a known option', 'connection must be .*', 'pool must be .*',
    'statementTimeoutMs must be .*', 'schema must be ']
  t.throws(() => postgres(untyped(wrong)), {
    name: 'TypeError',
    message: new RegExp(`^fastify-users: postgres\\(\\): 5 wrong options:\\n- ${faults.join('\\n- ')}`)
  })
  for (const connection of ['', null, 5]) t.throws(() => postgres(untyped({ connection })), TypeError)
  t.throws(() => postgres({ connection: pgUrl(), statementTimeoutMs: -1 }), TypeError)
})

test('knexStorage() refuses wrong options and other databases', async (t) => {
  const host = sqliteHost(':memory:')
  t.teardown(() => host.destroy())
  for (const [options, message] of [
    [{ schema: 'x' }, 'fastify-users: the option schema is for PostgreSQL'],
    [{ profile: 'portable' }, 'fastify-users: the option profile is for PostgreSQL'],
    [{ prefix: 'x' }, /prefix is not a known option/]
  ] as const) t.throws(() => knexStorage(host, untyped(options)), { name: 'TypeError', message })
  for (const none of [null, {}]) {
    t.throws(() => knexStorage(untyped(none)), {
      name: 'TypeError',
      message: 'fastify-users: knexStorage() takes an instance of Knex, such as knex({ client: … }) returns'
    })
  }
  for (const client of ['mysql2', 'better-sqlite3']) {
    t.throws(() => knexStorage(knex({ client, useNullAsDefault: true })), {
      name: 'TypeError', message: /takes an open instance of Knex: this one is a transaction, was made without/
    }, client)
  }
  t.throws(() => Reflect.apply(knexStorage, null, [host, 'users_']), {
    name: 'TypeError', message: 'fastify-users: knexStorage() takes an object of options'
  })
  t.throws(() => dialectOf('mysql2'), {
    name: 'TypeError',
    message: 'fastify-users: knexStorage() works with the Knex clients pg, sqlite3, better-sqlite3, node:sqlite, ' +
      '@photostructure/sqlite, not with mysql2'
  })
})

test('a missing package is named with its install command, an unbuilt one with that of its build', async (t) => {
  t.throws(() => requireOptional('sqlite()', ['knex', 'sqlite9', 'knexx']), {
    message: 'fastify-users: sqlite() needs sqlite9 and knexx: npm install sqlite9 knexx'
  })
  t.type(requireOptional('sqlite()', ['knex']), 'function')
  const unbuilt = join(await temporaryDirectory(t), 'unbuilt.cjs')
  await writeFile(unbuilt, "throw new Error('no binary')")
  t.throws(() => requireOptional('sqlite()', ['knex', unbuilt]), {
    message: `fastify-users: sqlite() needs ${unbuilt}, which is installed but does not load: npm rebuild ${unbuilt}`,
    cause: { message: 'no binary' }
  })
})
