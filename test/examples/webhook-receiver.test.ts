// The example receiver keeps a right copy, however often and in whatever order deliveries come.
import { join } from 'node:path'
import Fastify from 'fastify'
import users from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'
import webhooks from 'fastify-users/webhooks'
import { Webhook } from 'standardwebhooks'
import { test } from 'tap'
import { buildReceiver } from '../../examples/webhook-receiver/receiver.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

test('the copy is that of the server', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: memory(), eventLog: true })
  await app.register(webhooks, { allowHttp: true, allowedNetworks: ['127.0.0.0/8'] })
  await app.ready()
  const knex = sqliteHost(join(await temporaryDirectory(t), 'copy.db'))
  t.teardown(() => knex.destroy())
  const { secret, ...webhook } = await app.webhooks.create({ url: 'http://127.0.0.1:1/hooks/users' })
  const receiver = await buildReceiver({ secret, knex })
  t.teardown(() => receiver.close())
  const url = `${await receiver.listen({ host: '127.0.0.1', port: 0 })}/hooks/users`
  await app.webhooks.update(webhook.id, { url })

  const [ann, bob] = await Promise.all(['Ann', 'Bob'].map((name) =>
    app.users.create({ name, email: `${name}@example.org` })))
  for (let n = 1; n <= 5; n++) await app.users.update(String(ann?.id), { name: `Ann ${n}` })
  await app.users.delete(String(bob?.id))
  const count = async () => (await app.webhooks.deliveries(webhook.id, { limit: 100 })).data
    .filter(({ status, attempts }) => status === 'succeeded' && attempts.length > 0).length
  await until('all were delivered', async () => await count() === 8)
  // Once more, in another order of arrival: nothing changes.
  await app.webhooks.replay(webhook.id, { since: '2026-01-01T00:00:00Z' })
  await until('all were delivered again', async () => await count() === 16)
  t.strictSame(await knex('user_copies').orderBy('id'), [
    { id: ann?.id, name: 'Ann 5', email: 'Ann@example.org', version: 6, deleted: 0 },
    { id: bob?.id, name: null, email: null, version: 1, deleted: 1 }
  ].sort((a, b) => String(a.id) < String(b.id) ? -1 : 1))
  t.strictSame(await knex('handled_events').count({ n: '*' }), [{ n: 8 }])

  // An import restores a user who was deleted, with a greater version.
  await app.users.import([{ id: bob?.id, name: 'Bob', email: 'bob@example.org', version: 2 }])
  await until('the restored user was delivered', async () => await count() === 17)
  t.strictSame(await knex('user_copies').where({ name: 'Bob' }),
    [{ id: bob?.id, name: 'Bob', email: 'bob@example.org', version: 2, deleted: 0 }])
})

test('what is not signed is refused', async (t) => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const knex = sqliteHost(join(await temporaryDirectory(t), 'copy.db'))
  t.teardown(() => knex.destroy())
  const receiver = await buildReceiver({ secret, knex })
  t.teardown(() => receiver.close())
  const payload = JSON.stringify({ id: 'evt_1', type: 'user.created', data: { id: 'usr_1', name: 'x', version: 1 } })
  const post = async (signature: string, now: Date) => (await receiver.inject({
    method: 'POST',
    url: '/hooks/users',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': signature
    },
    payload
  })).statusCode
  const now = new Date()
  const old = new Date(now.getTime() - 3_600_000)
  const sign = (at: Date) => new Webhook(secret).sign('evt_1', at, payload)
  t.equal(await post('v1,x', now), 401)
  t.equal(await post(sign(old), old), 401)
  t.equal(await post(sign(old), now), 401)
  t.equal(await post(sign(now), now), 204)
  t.equal(await post(sign(now), now), 204)
})
