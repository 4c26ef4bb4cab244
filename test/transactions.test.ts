// app.users.using(trx): users inside a transaction of the host's Knex, on every driver.
import { join } from 'node:path'
import knex, { type Knex } from 'knex'
import { test, type Test } from 'tap'
import { knexStorage } from '../adapters/knex/index.ts'
import type { TransactionLike } from '../lib/index.ts'
import { testApp } from './helpers/app.ts'
import { pgUrl, sql, temporaryDirectory, temporarySchema } from './helpers/stores.ts'
import { sqliteDrivers, sqliteHost } from './helpers/sqlite.ts'

interface Host { driver: string, make: (t: Test) => Promise<Knex>, skip: string | false }
const hosts: Host[] = [
  ...sqliteDrivers.map(({ driver, skip }) => ({ driver, make: async (t: Test) => sqliteHost(join(await temporaryDirectory(t), 'host.db'), { driver }), skip })),
  {
    driver: 'pg',
    make: async (t) => {
      const schema = temporarySchema(t)
      await sql(`create schema "${schema}"`)
      return knex({ client: 'pg', connection: pgUrl(), searchPath: [schema], pool: { min: 0, max: 4 } })
    },
    skip: false
  }
]

for (const { driver, make, skip } of hosts) {
  test(`a transaction of the host on ${driver}`, { skip }, async (t) => {
    const host = await make(t)
    t.teardown(() => host.destroy())
    const { app: { users } } = await testApp(t, { storage: knexStorage(host) })
    await host.schema.createTable('orders', (columns) => { columns.string('user_id') })
    const order = (trx: Knex.Transaction, id: string) => trx('orders').insert({ user_id: id })
    const seen: string[] = []
    for (const type of ['user.created', 'user.updated', 'user.deleted'] as const) users.events.on(type, ({ data }) => { seen.push(`${type} ${data.name}`) })
    const told = async () => {
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
      return seen.splice(0)
    }

    const ann = await host.transaction(async (trx) => {
      const joined = users.using(trx)
      const ann = await joined.create({ name: 'Ann', email: 'ann@example.org' })
      await order(trx, ann.id)
      await joined.update(ann.id, { name: 'Anna' }, { ifMatch: 1 })
      t.match(await joined.get(ann.id), { name: 'Anna', version: 2 }, 'reads see the transaction\'s own writes')
      t.equal((await joined.list({ q: 'ann' })).meta.total, 1)
      for await (const { id } of joined) t.equal(id, ann.id)
      t.strictSame(await told(), [], 'nothing is told before the commit')
      return ann
    })
    t.strictSame(await told(), ['user.created Ann', 'user.updated Anna'])
    t.equal((await users.get(ann.id)).version, 2)

    await t.rejects(host.transaction(async (trx) => {
      await users.using(trx).create({ name: 'Bob', email: 'bob@example.org' }, { idempotencyKey: 'k' })
      await users.using(trx).delete(ann.id)
      throw new Error('the host changed its mind')
    }), /changed its mind/)
    t.strictSame(await told(), [], 'nor ever, after a rollback')
    t.equal((await users.list()).meta.total, 1)

    await host.transaction(async (trx) => {
      const joined = users.using(trx)
      await t.rejects(joined.create({ name: 'Other', email: 'ANN@example.org' }), { code: 'email_taken' })
      await t.rejects(joined.update(ann.id, { name: 'X' }, { ifMatch: 1 }), { code: 'precondition_failed' })
      const cora = await joined.create({ name: 'Cora', email: 'cora@example.org' })
      await t.rejects(joined.update(cora.id, { email: 'ann@example.org' }), { code: 'email_taken' })
      await order(trx, cora.id)
    })
    t.strictSame(await told(), ['user.created Cora'], 'refusals leave the transaction usable')
    t.equal((await host('orders').select()).length, 2)

    const outer = await host.transaction()
    const inner = await outer.transaction()
    await users.using(inner).create({ name: 'Dora', email: 'dora@example.org' })
    await inner.commit()
    const undone = await outer.transaction()
    await users.using(undone).create({ name: 'Emma', email: 'emma@example.org' })
    await undone.rollback()
    t.strictSame(await told(), [], 'a nested transaction is not committed before the outer one')
    await outer.commit()
    t.strictSame(await told(), ['user.created Dora'])
    t.equal((await users.list({ q: 'emma' })).meta.total, 0)

    // A commit that is not awaited, and a savepoint of the host's own.
    const parent = await host.transaction()
    const child = await parent.transaction()
    await users.using(child).create({ name: 'Fay', email: 'fay@example.org' })
    const committing = child.commit()
    const joined = users.using(parent)
    await joined.create({ name: 'Ned', email: 'ned@example.org' })
    await parent.raw('SAVEPOINT mine')
    await joined.create({ name: 'Gus', email: 'gus@example.org' })
    await parent.raw('rollback to savepoint mine')
    await joined.create({ name: 'Hal', email: 'hal@example.org' })
    await parent.raw('release savepoint mine')
    await Promise.all([committing, parent.commit()])
    t.strictSame(await told(), ['user.created Fay', 'user.created Ned', 'user.created Hal'])
    t.strictSame((await users.list({ sort: '-createdAt', limit: 2 })).data.map(({ name }) => name), ['Hal', 'Ned'])

    const refused = await host.transaction(async (trx) => Promise.allSettled(['ida@example.org', 'ANN@example.org', 'jo@example.org'].map((email) => users.using(trx).create({ name: email, email }, { idempotencyKey: email }))))
    t.strictSame(refused.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled'], 'calls at once, each with its own using()')
    t.strictSame(await told(), ['user.created ida@example.org', 'user.created jo@example.org'])
    t.equal((await users.list({ email: 'jo@example.org' })).meta.total, 1)

    // A nested transaction that is rolled back, and an outer one that is committed, at every moment of a creation.
    for (let i = 0; i < 40; i++) {
      const email = `near${i}@example.org`
      const outer = await host.transaction()
      const nested = await outer.transaction()
      const creating = users.using(nested).create({ name: email, email }, i % 2 === 0 ? {} : { idempotencyKey: email }).then(() => true, () => false)
      for (let k = 0; k < i; k++) await null
      await nested.rollback().catch(() => {})
      await creating
      await outer.commit()
      t.strictSame(await told(), [], 'what was rolled back is not told')
      const other = await host.transaction()
      const writing = users.using(other).create({ name: email, email }, i % 2 === 0 ? {} : { idempotencyKey: email }).then(() => true, () => false)
      for (let k = 0; k < i; k++) await null
      await other.commit()
      const answered = await writing
      const stored = (await users.list({ email })).meta.total
      if (answered) t.strictSame([stored, await told()], [1, [`user.created ${email}`]], 'what was answered is there, and told')
      else await told()
    }

    // The host gives its transaction up while a creation is under way.
    for (let i = 0; i < 40; i++) {
      const email = `away${i}@example.org`
      let creating: Promise<unknown> = Promise.resolve()
      await t.rejects(host.transaction(async (trx) => {
        creating = users.using(trx).create({ name: 'Away', email }, i % 2 === 0 ? {} : { idempotencyKey: email })
        await Promise.all([creating, (async () => {
          for (let k = 0; k < i; k++) await null
          if (i > 30) await trx.raw('select 1')
          throw new Error('the host failed')
        })()])
      }), /the host failed/)
      await creating.catch(() => {})
      await host.transaction(async (trx) => { await order(trx, `order ${i}`) })
    }
    t.strictSame(await told(), [])
    t.equal((await users.list({ q: 'away' })).meta.total, 0)
    t.equal((await host('orders').where('user_id', 'like', 'order%')).length, 40, 'whoever has the connection next is not disturbed')

    const over = await host.transaction()
    const late = users.using(over)
    await over.rollback()
    await t.rejects(late.create({ name: 'Late', email: 'late@example.org' }), { code: 'internal' })
    t.throws(() => users.using(over), { name: 'TypeError', message: /is over/ })
    const nothing: TransactionLike = JSON.parse('{}')
    t.throws(() => users.using(nothing), { name: 'TypeError', message: /not a transaction of Knex/ })
  })
}

test('a transaction that PostgreSQL has given up tells nobody, though its commit is answered', async (t) => {
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 4 } })
  t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(host, { schema: temporarySchema(t) }) })
  const seen: string[] = []
  users.events.on('user.created', ({ data }) => { seen.push(data.name) })
  const trx = await host.transaction()
  await users.using(trx).create({ name: 'Ann', email: 'ann@example.org' })
  await t.rejects(Promise.resolve(trx.raw('select nonsense')))
  await trx.commit()
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(seen, [])
  t.equal((await users.list()).meta.total, 0)
})

test('a transaction that the host ended in its own words tells nobody', async (t) => {
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 4 } })
  t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(host, { schema: temporarySchema(t) }) })
  const seen: string[] = []
  users.events.on('user.created', ({ data }) => { seen.push(data.name) })
  for (const words of ['rollback', 'ROLLBACK WORK', 'abort']) {
    const trx = await host.transaction()
    await users.using(trx).create({ name: 'Ann', email: 'ann@example.org' })
    await trx.raw(words)
    await trx.commit()
  }
  // Given up by PostgreSQL: known before the COMMIT is sent or not, and whichever call of using() was the first.
  for (const fail of [async (trx: Knex.Transaction) => { await trx.raw('select 1/0').catch(() => {}) }, async (trx: Knex.Transaction) => { trx.raw('select 1/0').catch(() => {}) }]) {
    const trx = await host.transaction()
    users.using(trx)
    await users.using(trx).create({ name: 'Cid', email: 'cid@example.org' })
    await fail(trx)
    await trx.commit()
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
    t.equal(seen.length, (await users.list()).meta.total, 'what is told is what is there')
    for await (const { id } of users) await users.delete(id)
    seen.length = 0
  }
  const trx = await host.transaction()
  await trx.raw('/* the host */ savepoint early')
  await users.using(trx).create({ name: 'Bob', email: 'bob@example.org' })
  await trx.raw('rollback transaction to early')
  await trx.raw('release early')
  await trx.commit()
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(seen, [])
  t.equal((await users.list()).meta.total, 0)
})

test('a transaction of another database, or on a store without any', async (t) => {
  const file = sqliteHost(':memory:')
  const server = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 1 } })
  for (const host of [file, server]) t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(server, { schema: temporarySchema(t) }) })
  const { app: { users: inMemory } } = await testApp(t)
  await file.transaction(async (trx) => {
    t.throws(() => users.using(trx), { name: 'TypeError', message: 'fastify-users: the transaction is not one on postgres' })
    t.throws(() => inMemory.using(trx), { name: 'TypeError', message: 'fastify-users: the memory store has no transactions' })
  })
})

test('a transaction whose connection dies rejects, and tells nobody', async (t) => {
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 1 } })
  t.teardown(() => host.destroy())
  const { app: { users } } = await testApp(t, { storage: knexStorage(host, { schema: temporarySchema(t) }) })
  const seen: string[] = []
  users.events.on('user.created', ({ data }) => { seen.push(data.name) })
  await t.rejects(host.transaction(async (trx) => {
    await users.using(trx).create({ name: 'Ann', email: 'ann@example.org' })
    await trx.raw('select pg_terminate_backend(pg_backend_pid())').catch(() => {})
    await users.using(trx).create({ name: 'Bob', email: 'bob@example.org' })
  }))
  t.strictSame(seen, [])
  t.equal((await users.list()).meta.total, 0)
})
