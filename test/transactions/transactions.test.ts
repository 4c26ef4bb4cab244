// app.users.using(trx): users inside a transaction of the host's Knex, on every driver.
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { testApp } from '../helpers/app.ts'
import { knexHosts, postgresKnex, shop } from '../helpers/knex-hosts.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { temporarySchema } from '../helpers/stores.ts'

for (const { driver, skip, connect } of knexHosts) {
  test(`nested transactions and savepoints on ${driver} commit with the outer one`, { skip }, async (t) => {
    const { host, users, events } = await shop(t, connect)
    const outer = await host.transaction()
    const inner = await outer.transaction()
    await users.using(inner).create({ name: 'Dora', email: 'dora@example.org' })
    await inner.commit()
    const undone = await outer.transaction()
    await users.using(undone).create({ name: 'Emma', email: 'emma@example.org' })
    await undone.rollback()
    t.strictSame(await events(), [], 'the outer transaction is still open')
    await outer.commit()
    t.strictSame(await events(), ['user.created Dora'])
    t.equal((await users.list({ q: 'emma' })).meta.total, 0)

    // A commit that is not awaited, and a savepoint that the host set itself.
    const parent = await host.transaction()
    const child = await parent.transaction()
    await users.using(child).create({ name: 'Fay', email: 'fay@example.org' })
    const committing = child.commit()
    const joined = users.using(parent)
    await joined.create({ name: 'Ned', email: 'ned@example.org' })
    await parent.raw('SAVEPOINT mine')
    await joined.create({ name: 'Gus', email: 'gus@example.org' })
    // Neither blanks nor comments before a statement take long to skip.
    await parent.raw(`${' '.repeat(60)}${'/* a route */ '.repeat(60)}rollback to savepoint mine`)
    await joined.create({ name: 'Hal', email: 'hal@example.org' })
    await parent.raw('release savepoint mine')
    await Promise.all([committing, parent.commit()])
    t.strictSame(await events(), ['user.created Fay', 'user.created Ned', 'user.created Hal'])
    const newest = await users.list({ sort: '-createdAt', limit: 2 })
    t.strictSame(newest.data.map(({ name }) => name), ['Hal', 'Ned'])
  })
}

test('refuses a transaction of another database, and any on a store that has none', async (t) => {
  const file = sqliteHost(':memory:')
  t.teardown(() => file.destroy())
  const storage = knexStorage(postgresKnex(t, 1), { schema: temporarySchema(t) })
  const { app: { users } } = await testApp(t, { storage })
  const { app: { users: inMemory } } = await testApp(t)
  await file.transaction(async (trx) => {
    t.throws(() => users.using(trx), {
      name: 'TypeError',
      message: 'fastify-users: the transaction is not one on postgres'
    })
    t.throws(() => inMemory.using(trx), {
      name: 'TypeError',
      message: 'fastify-users: the storage memory joins no transactions: use knexStorage(knex) on ' +
        "your Knex instance, which in tests may use SQLite with the filename ':memory:'"
    })
  })
})
