// inspect(): what is missing in a schema, and what is not in force.
import { join } from 'node:path'
import { test } from 'tap'
import { LATEST, migrations } from '../../adapters/knex/schema/migrations.ts'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { inFile } from '../helpers/database-shape.ts'
import { migrated } from '../helpers/migrated.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'

const nothing = { pending: [], missing: [], unindexed: [], notUnique: [], searchable: '', searchesOthers: false }
const latest = { version: LATEST, latest: LATEST, profile: 'classic', compatibleFrom: 1, ...nothing }

test('reports the version, the migrations to apply, and what was dropped or disabled', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const schema = temporarySchema(t)
  const cases = [{
    storage: sqlite({ filename }),
    async damage () {
      await inFile(filename, 'drop index fastify_users_users_name_key')
      await inFile(filename, 'drop trigger fastify_users_counting_delete')
    },
    expected: ['fastify_users_counting_delete', 'fastify_users_users_name_key']
  }, {
    storage: postgres({ connection: pgUrl(), schema }),
    async damage () {
      await sql(`drop index "${schema}".fastify_users_users_name_key;
        alter table "${schema}".fastify_users_users disable trigger fastify_users_counting_delete;
        update pg_index set indisvalid = false
          where indexrelid = '"${schema}".fastify_users_users_email_unique'::regclass`)
    },
    // The last is the unique constraint, whose index is not valid.
    expected: [
      'fastify_users_counting_delete', 'fastify_users_users_email_unique', 'fastify_users_users_name_key'
    ]
  }]
  for (const { storage, damage, expected } of cases) {
    t.teardown(() => storage.close())
    const pending = migrations.map(({ name }) => name)
    t.strictSame(await storage.inspect({ filterable: ['plan'] }), {
      ...nothing, version: 0, latest: LATEST, profile: 'classic', compatibleFrom: 0, pending, unindexed: ['plan']
    })
    await storage.open({ migrate: true })
    t.strictSame(await storage.inspect(), latest)
    t.strictSame(await storage.inspect({ filterable: ['plan'] }), { ...latest, unindexed: ['plan'] })
    await damage()
    const { missing } = await storage.inspect()
    t.strictSame(missing.sort(), expected)
  }
})

test('SQLite: detects a table that was recreated without its constraints, or with them in another order', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const storage = await migrated(t, sqlite({ filename }))
  t.strictSame((await storage.inspect()).missing, [])
  const [table] = await inFile(filename, "SELECT sql FROM sqlite_master WHERE name = 'fastify_users_users'")
  const others = await inFile(filename, `SELECT sql FROM sqlite_master
    WHERE tbl_name = 'fastify_users_users' AND type <> 'table' AND sql IS NOT NULL`)
  const without = String(table?.['sql'])
    .replace(/,\s+CONSTRAINT "\w+" UNIQUE \([^)]+\)| CONSTRAINT "\w+" UNIQUE/g, '')
  const [pkey, emailUnique] = ['fastify_users_users_pkey', 'fastify_users_users_email_unique']
  for (const [constraints, missing] of [
    ['', [pkey, emailUnique]],
    [', UNIQUE (email_key, tenant), UNIQUE (id)', [pkey, emailUnique]],
    [', UNIQUE (id)', [emailUnique]],
    [', UNIQUE (id), UNIQUE (email_key, name)', [emailUnique]],
    [', UNIQUE (id), UNIQUE (email_key)', [emailUnique]],
    [', UNIQUE (id), UNIQUE (email_key, tenant)', []]
  ] as const) {
    const recreated = without.replace(/\)$/, () => `${constraints})`)
    const statements = ['DROP TABLE fastify_users_users', recreated, ...others.map(({ sql }) => String(sql))]
    for (const statement of statements) await inFile(filename, statement)
    t.strictSame((await storage.inspect()).missing, missing, constraints)
  }
})
