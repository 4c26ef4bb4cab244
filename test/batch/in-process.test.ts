// app.users.batch: what it is given wrongly, and how long it takes. What it makes: client/contract.test.ts, and inside
// of transactions of the host's transactions/both-ways.test.ts.
import knex from 'knex'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { testApp } from '../helpers/app.ts'
import { ann } from '../helpers/batches.ts'
import { pgUrl, temporarySchema } from '../helpers/stores.ts'
import { startProxy } from '../helpers/tcp-proxy.ts'
import { untyped } from '../helpers/untyped.ts'

test('refuses wrong options and operations', async (t) => {
  const { app } = await testApp(t)
  await t.rejects(app.users.batch(untyped(5)), { errors: [{ pointer: '/operations', code: 'type' }] })
  await t.rejects(app.users.batch([{ op: 'create', body: ann }], untyped({ other: 1 })), {
    errors: [{ parameter: 'other', code: 'unknown' }]
  })
  await t.rejects(app.users.batch([{ op: 'create', body: ann }], untyped({ atomic: 'yes' })), {
    errors: [{ pointer: '/atomic', code: 'type' }]
  })
  await t.rejects(app.users.batch([{ op: 'delete', id: 'usr_1', ifMatch: untyped('"1"') }]), {
    errors: [{ pointer: '/operations/0/ifMatch', code: 'format' }]
  })
  t.equal((await app.users.list()).meta.total, 0)
})

test('in an open transaction of the host’s it holds up no batch of other addresses', async (t) => {
  const host = knex({ client: 'pg', connection: pgUrl(), pool: { min: 0, max: 4 } })
  t.teardown(() => host.destroy())
  const schema = temporarySchema(t)
  const { app } = await testApp(t, { storage: knexStorage(host, { schema }) })
  const { app: service } = await testApp(t, { storage: postgres({ connection: pgUrl(), schema }) })
  const many = (word: string) => Array.from({ length: 200 }, (_, n) =>
    ({ op: 'create', body: { name: 'x', email: `${word}${n}@y.de` } } as const))
  await host.transaction(async (transaction) => {
    await app.users.using(transaction).batch(many('inside'))
    const { data: results } = await service.users.batch(many('beside'))
    t.ok(results.every(({ status }) => status === 201))
  })
  t.equal((await app.users.list()).meta.total, 400)
})

test('over a slow network a batch has more time than a single write', async (t) => {
  const proxy = await startProxy(Number(new URL(pgUrl()).port))
  t.teardown(() => proxy.close())
  const connection = new URL(pgUrl())
  connection.port = String(proxy.port)
  const storage = postgres({ connection: String(connection), schema: temporarySchema(t), statementTimeoutMs: 1000 })
  const { app } = await testApp(t, { storage })
  proxy.slow(15)
  const operations = Array.from({ length: 120 }, (_, n) =>
    ({ op: 'create', body: { name: 'x', email: `${n}@y.de` } } as const))
  const { data: results } = await app.users.batch(operations)
  t.ok(results.every(({ status }) => status === 201), 'at least 3.6 seconds, and a single write has 1.5')
})
