// Transactions that PostgreSQL, or SQL of the host, ends: events say what was committed, and nothing else.
import type { Knex } from 'knex'
import { test, type Test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { testApp } from '../helpers/app.ts'
import { postgresKnex, recordEvents } from '../helpers/knex-hosts.ts'
import { temporarySchema } from '../helpers/stores.ts'

async function hostOn (t: Test) {
  const host = postgresKnex(t)
  const { app: { users } } = await testApp(t, { storage: knexStorage(host, { schema: temporarySchema(t) }) })
  return { host, users, events: recordEvents(users) }
}

test('a transaction that the host rolls back by its own SQL has no events', async (t) => {
  const { host, users, events } = await hostOn(t)
  for (const statement of ['rollback', 'ROLLBACK WORK', 'abort']) {
    const trx = await host.transaction()
    await users.using(trx).create({ name: 'Ann', email: 'ann@example.org' })
    await trx.raw(statement)
    await trx.commit()
    t.strictSame(await events(), [], statement)
  }
  const trx = await host.transaction()
  await trx.raw('/* the host */ savepoint early')
  await users.using(trx).create({ name: 'Bob', email: 'bob@example.org' })
  await trx.raw('rollback transaction to early')
  await trx.raw('release early')
  await trx.commit()
  t.strictSame(await events(), [])
  t.equal((await users.list()).meta.total, 0)
})

test('a rollback behind another statement is seen, and one in a text or comment is none', async (t) => {
  const { host, users, events } = await hostOn(t)
  await host.transaction(async (trx) => {
    await trx.raw('savepoint mine')
    await users.using(trx).create({ name: 'Ann', email: 'ann@example.org' })
    await trx.raw('select 1; /* the host */ rollback to savepoint mine; select 2')
    await users.using(trx).create({ name: 'Bob', email: 'bob@example.org' })
    const quoted = ["'; rollback to mine'", '$a$; rollback to mine$a$', '/* ; rollback to mine */ 1']
    await trx.raw(`select ${quoted.join(', ')}; -- ; rollback to mine`)
  })
  t.strictSame(await events(), ['user.created Bob'])
  t.strictSame((await users.list()).data.map(({ name }) => name), ['Bob'])
})

test('events match what is stored if PostgreSQL aborts the transaction around the COMMIT', async (t) => {
  const { host, users, events } = await hostOn(t)
  const failures = [
    // The error is known before the COMMIT is sent.
    async (trx: Knex.Transaction) => { await trx.raw('select 1/0').catch(() => {}) },
    // The error is not known yet.
    async (trx: Knex.Transaction) => { trx.raw('select 1/0').catch(() => {}) }
  ]
  for (const fail of failures) {
    const trx = await host.transaction()
    users.using(trx)
    await users.using(trx).create({ name: 'Cid', email: 'cid@example.org' })
    await fail(trx)
    await trx.commit()
    const created = await events()
    t.equal(created.length, (await users.list()).meta.total)
    for await (const { id } of users.iterate()) await users.delete(id)
    await events()
  }
})
