// A start may wait for a database longer than Fastify lets a plugin start. Then the plugin goes on without it.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { postgres } from '../../adapters/postgres.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import users, { type UsersOptions } from '../../lib/index.ts'
import { captureLog } from '../helpers/log.ts'
import { plainNode } from '../helpers/plain-node.ts'
import { connectPg } from '../helpers/postgres.ts'
import { sqliteHost } from '../helpers/sqlite.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

const run = promisify(execFile)
const KEY = 'a static key of more than 32 characters'.replaceAll(' ', '-')
const headers = { authorization: `Bearer ${KEY}` }
const fields = {
  schema: { type: 'object', properties: { nickname: { type: 'string' } } },
  unique: ['nickname']
} satisfies UsersOptions['fields']

/** A host whose plugins must start within three seconds. Closed with the test. */
function hostOf (t: Test) {
  const log = captureLog()
  const app = Fastify({ pluginTimeout: 3000, logger: { level: 'info', stream: log.stream } })
  t.teardown(() => app.close())
  const lines = () => log.entries().map(({ msg }) => String(msg)).filter((line) => line.startsWith('fastify-users'))
  return { app, lines }
}

/** A schema with tables and these nicknames, and the work of a migration that waits for a lock. */
async function lockedSchema (t: Test) {
  const schema = temporarySchema(t)
  const storage = () => postgres({ connection: pgUrl(), schema })
  const first = Fastify()
  await first.register(users, { storage: storage(), migrate: true, fields: { schema: fields.schema } })
  for (const name of ['ann', 'bob']) await first.users.create({ name, email: `${name}@example.org` })
  await first.close()
  const locking = await connectPg(t)
  await locking.query(`BEGIN; LOCK TABLE "${schema}".fastify_users_users`)
  return { schema, storage, locking }
}

const status = async (app: FastifyInstance) => {
  const { statusCode, headers: { 'retry-after': after } } = await app.inject({ url: '/v1/users', headers })
  return [statusCode, after]
}

test('a migration that waits for a lock does not end the start, and requests get 503 until it is done', async (t) => {
  const { storage, locking } = await lockedSchema(t)
  const { app, lines } = hostOf(t)
  await app.register(users, { storage: storage(), migrate: true, fields, apiKeys: { static: [KEY] }, eventLog: true })
  await app.ready()
  t.strictSame(await status(app), [503, '5'])
  const refused = { code: 'storage_unavailable' }
  await t.rejects(app.users.create({ name: 'Ann', email: 'ann@example.org' }), refused)
  await t.rejects(app.users.events.list(), refused)
  const opened = app.users.ready()
  await locking.query('COMMIT')
  await opened
  t.strictSame(await status(app), [200, undefined])
  await app.users.create({ name: 'Cat', email: 'cat@example.org' })
  t.match(lines()[0], /^fastify-users: postgres: the storage takes long to open/)
  t.match(lines().at(-1), /^fastify-users: app.users keeps its users in postgres/)
})

test('mounts that one plugin registers wait together, in the time of that plugin', async (t) => {
  const { storage, locking } = await lockedSchema(t)
  const { app } = hostOf(t)
  await app.register(async (scope) => {
    for (const n of [1, 2]) {
      await scope.register(users, {
        storage: storage(), migrate: true, fields, prefix: `/v${n}`, decoratorName: `users${n}`
      })
    }
    scope.get('/named', async () => scope.getDecorator<typeof scope.users>('users2').ready())
  })
  await app.ready()
  await locking.query('COMMIT')
  t.equal((await app.inject('/named')).statusCode, 200)
})

test('says why a migration fails that went on in the background, and requests get 503 from then on', async (t) => {
  const { schema, storage, locking } = await lockedSchema(t)
  const { app, lines } = hostOf(t)
  await app.register(users, { storage: storage(), migrate: true, fields, apiKeys: { static: [KEY] } })
  await app.ready()
  const rejected = t.rejects(app.users.ready(), { code: 'field_taken', field: 'nickname' })
  await locking.query(`UPDATE "${schema}".fastify_users_users SET fields = '{"nickname":"same"}'`)
  await locking.query('COMMIT')
  await rejected
  t.strictSame(await status(app), [503, '5'])
  t.match(lines(), [/takes long to open/, /could not be opened, .* several users have the same value in .* nickname/])
})

test('goes on with a locked file once it is free, and names the file and the lock meanwhile', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const first = sqlite({ filename })
  await first.open({ migrate: true })
  await first.close()
  const locking = sqliteHost(filename)
  t.teardown(() => locking.destroy())
  const transaction = await locking.transaction()
  await transaction('fastify_users_users').delete()
  const { app, lines } = hostOf(t)
  const storage = sqlite({ filename, busyTimeoutMs: 2500 })
  await app.register(users, { storage, migrate: true, fields, apiKeys: { static: [KEY] } })
  await app.ready()
  t.strictSame(await status(app), [503, '5'])
  const lock = `another process has locked the database file ${filename} (SQLITE_BUSY): stop what holds the lock`
  await until('a line about the lock', () => lines().some((line) => line.includes(lock)))
  await transaction.commit()
  await app.users.ready()
  t.strictSame(await status(app), [200, undefined])
})

test('a host that is closed meanwhile ends', async (t) => {
  const { storage } = await lockedSchema(t)
  const { app } = hostOf(t)
  await app.register(users, { storage: storage(), migrate: true, fields })
  await app.ready()
  const rejected = t.rejects(app.users.ready(), { code: 'unavailable' })
  await app.close()
  await rejected
})

test('a process whose mount could not be opened ends by itself, as one without it does', async (t) => {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const storeOf = (adapter: string, options: object) =>
    `(await import('fastify-users/adapters/${adapter}')).${adapter}(${JSON.stringify(options)})`
  const stores = [storeOf('sqlite', { filename }), storeOf('postgres', { connection: pgUrl(), schema: 'no' })]
  for (const storage of stores) {
    const script = `import Fastify from 'fastify'
      import users from 'fastify-users'
      try {
        await Fastify().register(users, { storage: ${storage} })
      } catch ({ code }) {
        console.log(code)
      }`
    const command = plainNode('--input-type=module', '-e', script)
    const { stdout } = await run(...command, { cwd: join(import.meta.dirname, '..', '..'), timeout: 20_000 })
    t.equal(stdout, 'schema_behind\n')
  }
})
