// The examples of a host run as they stand, importing the package by its name.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import Fastify from 'fastify'
import users from 'fastify-users'
import { memory } from 'fastify-users/adapters/memory'
import { test } from 'tap'
import { tour } from '../../examples/mount/in-process.ts'
import { buildApp as buildDescribed } from '../../examples/mount/describe.ts'
import { buildApp } from '../../examples/mount/transaction.ts'
import { freePort } from '../helpers/service.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { plainNode } from '../helpers/plain-node.ts'

const BUILT = join(import.meta.dirname, '..', '..', '.build', 'examples', 'mount')

test('a host serves users beside its own route, after migrations in a process of their own', async (t) => {
  const cwd = await temporaryDirectory(t)
  const migrated = spawn(...plainNode(join(BUILT, 'migrate.js')), { cwd, stdio: 'inherit' })
  t.strictSame(await once(migrated, 'exit'), [0, null])

  const port = await freePort()
  const host = spawn(...plainNode(join(BUILT, 'host.js')), {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, PORT: String(port) }
  })
  t.teardown(() => host.kill('SIGKILL'))
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null)
  await until('an answer of the host', async () => await get('/') !== null, 30_000)
  t.strictSame(await (await get('/'))?.json(), { users: 0 })
  t.equal((await get('/v1/users'))?.status, 401)
})

test('a host creates, changes, lists and deletes users in process', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: memory() })
  const seen = await tour(app)
  t.strictSame(
    seen.filter((line) => !line.includes(' by ')),
    ['1 of 1', 'ann@example.org', 'Another user has this e-mail address.', 'true']
  )
  await until('the event of the creation', () => seen.includes('ann@example.org by the host in process'))
  t.equal((await app.users.list()).meta.total, 0)
})

test('a host has fields of its own in TypeBox', async (t) => {
  // The built file, because its types are those of the package.
  const { buildApp: buildWithFields, tour: tourOfFields } = await import(join(BUILT, 'fields.js'))
  const app = await buildWithFields(memory())
  t.teardown(() => app.close())
  t.strictSame(await tourOfFields(app), ['pro', '{"city":"Bergen"}', '1 on it'])
})

test('a host writes a user and a row of its own in one transaction', async (t) => {
  const host = sqliteHost(join(await temporaryDirectory(t), 'host.db'))
  t.teardown(() => host.destroy())
  const app = await buildApp(host)
  t.teardown(() => app.close())
  t.equal((await app.inject({ method: 'POST', url: '/sign-up' })).statusCode, 500, 'the host has no orders yet')
  t.equal((await app.users.list()).meta.total, 0, 'so there is no user either')
  await host.schema.createTable('orders', (table) => {
    table.string('user_id')
    table.string('item')
  })
  t.equal((await app.inject({ method: 'POST', url: '/sign-up' })).statusCode, 204)
  const [user] = (await app.users.list()).data
  t.match(await host('orders').select(), [{ user_id: user?.id, item: 'welcome pack' }])
})

test('a host describes its routes and those of its users', async (t) => {
  const app = await buildDescribed(memory())
  t.teardown(() => app.close())
  const { paths } = (await app.inject('/openapi.json')).json()
  t.strictSame(Object.keys(paths).sort(), [
    '/openapi.json', '/v1/users', '/v1/users/batch', '/v1/users/export', '/v1/users/import', '/v1/users/{id}',
    '/v1/users/{id}/subject'
  ])
})
