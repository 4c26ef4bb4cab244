// app.users.batch: the same in process. Inside transactions of the host's: test/transactions/both-ways.test.ts.
import knex from 'knex'
import { test } from 'tap'
import { knexStorage } from '../../adapters/knex/index.ts'
import { postgres } from '../../adapters/postgres.ts'
import { UsersError } from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { ann, bob } from '../helpers/batches.ts'
import { pgUrl, temporarySchema } from '../helpers/stores.ts'
import { startProxy } from '../helpers/tcp-proxy.ts'
import { untyped } from '../helpers/untyped.ts'

test('gives the user or the error of each operation', async (t) => {
  const { app } = await testApp(t)
  const { data: [made, refused], replayed } =
    await app.users.batch([{ op: 'create', body: ann }, { op: 'create', body: ann }])
  t.equal(replayed, false)
  t.match(made, { status: 201, error: null, user: { ...ann, version: 1 } })
  t.match([refused?.status, refused?.user, refused?.error?.code], [409, null, 'email_taken'])
  t.ok(refused?.error instanceof UsersError)
  const id = made?.user?.id ?? ''
  const { data: results } = await app.users.batch([
    { op: 'update', id, body: { name: 'New' }, ifMatch: [1, 7] },
    { op: 'update', id, body: { name: 'Newer' }, ifMatch: 1 },
    { op: 'delete', id, ifMatch: '*' }
  ])
  t.strictSame(results.map(({ status, user }) => [status, user?.version ?? null]), [[200, 2], [412, null], [204, null]])
  await t.rejects(app.users.batch([{ op: 'create', body: bob }, { op: 'delete', id }], { atomic: true }), {
    code: 'batch_failed',
    errors: [{ pointer: '/operations/1', code: 'user_not_found', detail: 'There is no user with this id.' }]
  })
  t.equal((await app.users.list()).meta.total, 0)
})

test('an idempotency key makes it once, and what it returns is the caller’s own', async (t) => {
  const { app } = await testApp(t)
  const twice = [{ op: 'create', body: ann }, { op: 'create', body: ann }] as const
  const make = () => app.users.batch(twice, { idempotencyKey: 'k' })
  const { data: [first], replayed } = await make()
  Object.assign(first?.user ?? {}, { name: 'changed by the caller' })
  const again = await make()
  t.strictSame([replayed, again.replayed], [false, true])
  t.match(again.data, [
    { status: 201, user: { name: 'Ann' } },
    { status: 409, user: null, error: { code: 'email_taken' } }
  ])
  t.equal((await app.users.list()).meta.total, 1)
})

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
