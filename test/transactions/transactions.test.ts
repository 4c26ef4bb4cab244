// app.users.using(trx): users inside a transaction of the host's Knex, on every driver.
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { testApp } from '../helpers/app.ts'
import { knexHosts, postgresKnex, shop } from '../helpers/knex-hosts.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { temporarySchema } from '../helpers/stores.ts'

for (const { driver, skip, connect } of knexHosts) {
  test(`users commit with the transaction of the host on ${driver}, and events follow`, { skip }, async (t) => {
    const { host, users, events, order } = await shop(t, connect)
    const ann = await host.transaction(async (trx) => {
      const joined = users.using(trx)
      const ann = await joined.create({ name: 'Ann', email: 'ann@example.org' })
      await order(trx, ann.id)
      await joined.update(ann.id, { name: 'Anna' }, { ifMatch: 1 })
      t.match(await joined.get(ann.id), { name: 'Anna', version: 2 }, 'reads see the transaction’s own writes')
      t.equal((await joined.list({ q: 'ann' })).meta.total, 1)
      for await (const { id } of joined.iterate()) t.equal(id, ann.id)
      t.strictSame(await events(), [], 'no event before the commit')
      return ann
    })
    t.strictSame(await events(), ['user.created Ann', 'user.updated Anna'])
    t.equal((await users.get(ann.id)).version, 2)

    await t.rejects(host.transaction(async (trx) => {
      await users.using(trx).create({ name: 'Bob', email: 'bob@example.org' }, { idempotencyKey: 'k' })
      await users.using(trx).delete(ann.id)
      throw new Error('the host changed its mind')
    }), /changed its mind/)
    t.strictSame(await events(), [], 'no event after a rollback')
    t.equal((await users.list()).meta.total, 1)

    await host.transaction(async (trx) => {
      const joined = users.using(trx)
      await t.rejects(joined.create({ name: 'Other', email: 'ANN@example.org' }), { code: 'email_taken' })
      await t.rejects(joined.update(ann.id, { name: 'X' }, { ifMatch: 1 }), { code: 'precondition_failed' })
      const cora = await joined.create({ name: 'Cora', email: 'cora@example.org' })
      await t.rejects(joined.update(cora.id, { email: 'ann@example.org' }), { code: 'email_taken' })
      await order(trx, cora.id)
    })
    t.strictSame(await events(), ['user.created Cora'], 'a refused write leaves the transaction usable')
    t.equal((await host('orders').select()).length, 2)
  })

  test(`an import in a transaction of the host on ${driver} is a part of it`, { skip }, async (t) => {
    const { host, users, events } = await shop(t, connect)
    await users.create({ name: 'User 3', email: 'user3@example.org' })
    await events()
    const rows = Array.from({ length: 40 }, (_, n) => ({ name: `U${n}`, email: `user${n % 30}@example.org` }))
    for (const onConflict of ['skip', 'update'] as const) {
      await t.rejects(host.transaction(async (trx) => {
        const summary = await users.using(trx).import(rows, { onConflict })
        t.match(summary, { created: 29, updated: onConflict === 'update' ? 11 : 0, refused: 0 })
        throw new Error('the host changed its mind')
      }), /changed its mind/)
      t.equal((await users.list()).meta.total, 1)
      t.strictSame(await events(), [])
    }
    await host.transaction((trx) => users.using(trx).import(rows))
    t.equal((await users.list()).meta.total, 30)
    t.equal((await events()).length, 29)
  })

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
