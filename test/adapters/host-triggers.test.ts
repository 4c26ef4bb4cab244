// Triggers of the host's on our table: what they refuse is refused, with a reason, and what they leave out is not
// acknowledged.
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import type { UsersError } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { linesOf, ndjsonOf } from '../helpers/import-rows.ts'
import { pgHost } from '../helpers/postgres.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { temporarySchema } from '../helpers/stores.ts'

const onSqlite = (action: string, table: string, name: string) =>
  `CREATE TRIGGER "${name}" BEFORE INSERT ON ${table} WHEN NEW.name = '${name}' BEGIN SELECT RAISE(${action}); END`

const onPostgres = (body: string, table: string, name: string) =>
  `CREATE FUNCTION ${table}_${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     IF NEW.name = '${name}' THEN ${body}; END IF; RETURN NEW; END $$;
   CREATE TRIGGER ${name} BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_${name}()`

// `refuse`: users with this name are refused; `leaveOut`: they are left out, without an error.
const databases = [
  {
    name: 'sqlite',
    place: () => ({ host: sqliteHost(':memory:', { pool: { min: 1, max: 1 } }), schema: undefined }),
    triggers: (table: string) => ({
      refuse: onSqlite("ABORT, 'no such customer'", table, 'refused'),
      leaveOut: onSqlite('IGNORE', table, 'left_out')
    })
  },
  {
    name: 'postgres',
    place: (t: Test) => ({ host: pgHost(t), schema: temporarySchema(t) }),
    triggers: (table: string) => ({
      refuse: onPostgres("RAISE EXCEPTION 'no such customer'", table, 'refused'),
      leaveOut: onPostgres('RETURN NULL', table, 'left_out')
    })
  }
]

const user = (n: number, name = 'Ann') => ({ name, email: `user${n}@example.org` })

for (const { name, place, triggers } of databases) {
  async function mounted (t: Test, which: 'refuse' | 'leaveOut', eventLog: boolean) {
    const { host, schema } = place(t)
    t.teardown(() => host.destroy())
    const storage = knexStorage(host, { ...(schema !== undefined && { schema }) })
    const mount = await testApp(t, { storage, migrate: true, eventLog })
    await mount.app.ready()
    await host.raw(triggers(`${schema === undefined ? '' : `${schema}.`}fastify_users_users`)[which])
    return { ...mount, host, total: async () => (await mount.app.users.list()).meta.total }
  }

  for (const eventLog of [false, true]) {
    test(`${name}, event log ${eventLog}: a user whom a trigger leaves out is not acknowledged`, async (t) => {
      const { app, call, host, total } = await mounted(t, 'leaveOut', eventLog)
      const refused = { code: 'internal', cause: { message: /a trigger of the table suppresses it/ } }
      await t.rejects(app.users.create(user(1, 'left_out')), refused, 'alone')
      await t.rejects(host.transaction((trx) => app.users.using(trx).create(user(1, 'left_out'))), refused, 'joined')
      const keyed = { idempotencyKey: 'k' }
      await t.rejects(app.users.create(user(1, 'left_out'), keyed), { code: 'internal' }, 'with a key')
      const made = await Promise.all([user(2), user(3, 'left_out'), user(4)].map((payload) =>
        call('POST', '/users', { payload })))
      t.same(made.map(({ statusCode }) => statusCode), [201, 500, 201], 'concurrently')
      const operations = [user(5), user(6, 'left_out')].map((body) => ({ op: 'create', body }))
      t.equal((await call('POST', '/users/batch', { payload: { operations } })).statusCode, 500, 'in a batch')
      t.equal(await total(), 2)
      t.equal((await app.users.create(user(1), keyed)).name, 'Ann', 'the key is free')
    })
  }

  test(`${name}: an import names the line of a user whom a trigger refuses, and imports the others`, async (t) => {
    const { app, call, total } = await mounted(t, 'refuse', true)
    const rows = Array.from({ length: 600 }, (_, n) => user(n, n === 300 ? 'refused' : 'Ann'))
    const headers = { 'content-type': 'application/x-ndjson' }
    const { statusCode, body } = await call('POST', '/users/import', { headers, payload: ndjsonOf(rows) })
    t.equal(statusCode, 200)
    t.match(linesOf(body), [
      { line: 301, status: 'refused', problem: { status: 500, code: 'internal' } },
      { summary: { created: 599, updated: 0, skipped: 0, refused: 1, dryRun: false } }
    ])
    t.notMatch(body, /no such customer|"cause"/)
    t.equal(await total(), 599)
    const causes: unknown[] = []
    await app.users.import(rows, {
      onConflict: 'skip', onResult (result) { if (result.status === 'refused') causes.push(result.cause) }
    })
    t.match(causes, [{ name: 'StorageError', code: 'fault' }])
  })

  test(`${name}: an import ends where the database refuses the first users, or 100 in succession`, async (t) => {
    const { app, host, total } = await mounted(t, 'refuse', false)
    const refused = (error: UsersError) => error.code === 'internal'
    const bad = Array.from({ length: 101 }, (_, n) => user(n, 'refused'))
    t.ok(await app.users.import(bad.slice(0, 1)).catch(refused), 'nobody was taken')
    t.match(await app.users.import([user(1000), ...bad.slice(0, 100)]), { created: 1, refused: 100 })
    t.ok(await app.users.import([user(1001), ...bad]).catch(refused), 'one more')
    t.ok(await host.transaction((trx) => app.users.using(trx).import([user(1002), ...bad])).catch(refused), 'joined')
    t.equal(await total(), 2)
  })
}
