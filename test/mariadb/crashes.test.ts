// What is left of a migration that was cut after any statement, and of a server that was killed under load.
import Fastify from 'fastify'
import knex from 'knex'
import { test } from 'tap'
import { mariadb } from '../../adapters/mariadb.ts'
import { creation, removal, tablesOf } from '../../adapters/knex/mariadb/tables.ts'
import plugin from '../../lib/index.ts'
import { testApp } from '../helpers/app.ts'
import { from } from '../helpers/level.ts'
import { mariadbHost, mariadbUrl, temporaryDatabase, withoutMariadb } from '../helpers/mariadb.ts'
import { until } from '../helpers/until.ts'
import { startMariadb } from '../servers/mariadb.mjs'

const skip = from('ci') || withoutMariadb

test('a migration goes on where it was cut, also by several processes', { skip }, async (t) => {
  const database = await temporaryDatabase(t)
  const host = mariadbHost(database)
  t.teardown(() => host.destroy())
  const tables = tablesOf('fastify_users_')
  const statements = creation(tables)
  for (let made = 0; made <= statements.length; made++) {
    for (const statement of statements.slice(0, made)) await host.raw(statement)
    const open = () => mariadb({ connection: mariadbUrl(database), pool: { max: 2 } })
    const first = open()
    const stores = [first, open(), open()]
    if (made < statements.length) await t.rejects(first.open(), { code: 'schema_behind' }, `${made} statements`)
    const opened = await Promise.all(stores.map((each) => each.open({ migrate: true })))
    t.equal(opened.filter(({ created }) => created).length, made < statements.length ? 1 : 0, `${made} statements`)
    t.match(await first.inspect(), { version: 1, pending: [], missing: [] })
    await first.rollback(0)
    t.equal((await first.inspect()).version, 0)
    await Promise.all(stores.map((each) => each.close()))
    for (const statement of removal(tables)) await host.raw(statement)
  }
})

test('a server that is killed under load has all that was acknowledged, once', { skip }, async (t) => {
  const server = await startMariadb({ durable: true })
  if (server === undefined) return
  t.teardown(() => server.stop())
  const storage = mariadb({ connection: server.url, statementTimeoutMs: 2000 })
  const { app: { users } } = await testApp(t, { storage, eventLog: true })
  const acknowledged: string[] = []
  const unknown = new Set<string>()
  const over = new AbortController()
  let n = 0
  const writers = Array.from({ length: 16 }, async () => {
    while (!over.signal.aborted) {
      const email = `user${n++}@example.org`
      await users.create({ name: 'Ann', email }).then(() => acknowledged.push(email), () => unknown.add(email))
    }
  })
  for (let kills = 0; kills < 3; kills++) {
    const before = acknowledged.length
    await until('users are created', async () => acknowledged.length > before + 200)
    await server.kill()
    await server.start()
  }
  const last = acknowledged.length
  await until('it answers again', async () => acknowledged.length > last + 50)
  over.abort()
  await Promise.all(writers)
  const found: string[] = []
  for await (const { email } of users.iterate()) found.push(email)
  t.strictSame(acknowledged.filter((email) => !found.includes(email)), [], 'nothing acknowledged is lost')
  t.equal(new Set(found).size, found.length, 'nobody is there twice')
  t.strictSame(found.filter((email) => !acknowledged.includes(email) && !unknown.has(email)), [])
  t.equal((await users.list()).meta.total, found.length)
  t.match(await storage.verifyCounts(), { users: found.length, counted: found.length, wrong: 0 })
  const told: string[] = []
  for await (const { type, data } of users.events.after()) {
    if (type === 'user.created') told.push(Object(data).email)
    if (told.length === found.length) break
  }
  t.strictSame(told.sort(), found.sort(), 'each has one event')
})

test('of a server that is read-only users are read, also by who comes then', { skip }, async (t) => {
  const server = await startMariadb()
  if (server === undefined) return
  t.teardown(() => server.stop())
  const operator = knex({ client: 'mysql2', connection: { uri: server.url } })
  t.teardown(() => operator.destroy())
  await operator.raw('CREATE DATABASE app')
  // Who administers the server may write then.
  await operator.raw("GRANT ALL ON app.* TO 'app'@'localhost' IDENTIFIED BY 'secret'")
  const url = new URL(server.url)
  Object.assign(url, { username: 'app', password: 'secret', pathname: 'app' })
  const { app: { users: before } } = await testApp(t, { storage: mariadb({ connection: url.href }) })
  await before.create({ name: 'Ann', email: 'ann@example.org' })
  await operator.raw('SET GLOBAL read_only = 1')
  const storage = mariadb({ connection: url.href })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(plugin, { storage, migrate: true })
  const { users } = app
  t.ok(await storage.server.isReadOnly())
  t.equal((await users.list()).meta.total, 1)
  const ben = { name: 'Ben', email: 'ben@example.org' }
  await t.rejects(users.create(ben), { code: 'storage_unavailable', cause: { message: /it is set to be read-only/ } })
  await operator.raw('SET GLOBAL read_only = 0')
  await users.create(ben)
  t.notOk(await storage.server.isReadOnly())
})
