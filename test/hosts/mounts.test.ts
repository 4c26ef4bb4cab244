// Several mounts in one host, and hosts that cannot take one.
import { mock } from 'node:test'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { admin } from '../../lib/admin-plugin.ts'
import users, { type Users } from '../../lib/index.ts'
import { inject } from '../helpers/app.ts'
import '../helpers/watch-all.ts'

declare module 'fastify' {
  interface FastifyInstance { customers: Users }
}

test('two mounts, one under nested prefixes, share neither users nor keys', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { prefix: '/v1', storage: memory() })
  await app.register(async (child) => {
    await child.register(users, {
      prefix: '/customers/v1/', storage: memory(), decoratorName: 'customers', apiKeys: { prefix: 'cu' }
    })
    const made = await child.customers.apiKeys.create({ name: 'customers' })
    t.match(made.key, /^cu_/)
    child.get('/key', async () => made.key)
  }, { prefix: '/api' })
  const { key } = await app.users.apiKeys.create({ name: 'users' })
  const customerKey = (await app.inject('/api/key')).body
  const post = (url: string, token: string) => inject(app, 'POST', url, {
    headers: { authorization: `Bearer ${token}` },
    payload: { name: 'Ann', email: 'ann@example.org' }
  })
  t.match((await post('/v1/users', key)).headers.location, /^\/v1\/users\/usr_/)
  t.match((await post('/api/customers/v1/users', customerKey)).headers.location, /^\/api\/customers\/v1\/users\/usr_/)
  t.equal((await post('/v1/users', customerKey)).statusCode, 401, 'each mount refuses the keys of the other')
  t.equal((await post('/api/customers/v1/users', key)).statusCode, 401)
  t.equal((await app.users.list()).meta.total, 1)
})

test('a key revoked through one mount is revoked immediately in every mount on its storage', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const storage = memory()
  await app.register(users, { prefix: '/v1', storage })
  await app.register(users, { prefix: '/v2', storage, decoratorName: 'customers' })
  const { id, key } = await app.users.apiKeys.create({ name: 'x' })
  const statusOf = async (url: string) =>
    (await inject(app, 'GET', url, { headers: { authorization: `Bearer ${key}` } })).statusCode
  const statuses = () => Promise.all(['/v1/users', '/v2/users'].map(statusOf))
  t.strictSame(await statuses(), [200, 200])
  await app.customers.apiKeys.revoke(id)
  t.strictSame(await statuses(), [401, 401])
})

test('a storage of two servers is closed with the last of them', async (t) => {
  const storage = memory()
  const [first, second] = [Fastify(), Fastify()]
  t.teardown(() => Promise.all([first.close(), second.close()]))
  await first.register(users, { storage, migrate: true })
  await second.register(users, { storage })
  await second.register(users, { storage, prefix: '/v2', decoratorName: 'customers' })
  await Promise.all([first.ready(), second.ready()])
  await first.close()
  await second.users.create({ name: 'Ann', email: 'ann@example.org' })
  t.equal((await second.customers.list()).meta.total, 1)
  let isClosed = false
  const { close } = storage
  storage.close = async () => {
    isClosed = true
    await close()
  }
  await second.close()
  t.ok(isClosed)
})

test('a mount whose storage fails at its start does not keep it open for others', async (t) => {
  const storage = memory()
  let closed = 0
  storage.close = async () => { closed++ }
  const { open } = storage
  storage.open = async () => { throw new Error('it is gone') }
  const failing = Fastify()
  await t.rejects(async () => failing.register(users, { storage }), /it is gone/)
  storage.open = open
  const working = Fastify()
  await working.register(users, { storage })
  await working.close()
  t.equal(closed, 1, 'with the only one that uses it')
  await failing.close()
  t.equal(closed, 2, 'and again: that does no harm')
})

test('the mounts on one storage record the same, as long as they are open', async (t) => {
  const storage = memory()
  const app = Fastify()
  await app.register(users, { storage, eventLog: true })
  for (const eventLog of [false, { retention: 60 }]) {
    const other = Fastify()
    t.teardown(() => other.close())
    await t.rejects(async () => other.register(users, { storage, eventLog }), {
      message: 'fastify-users: eventLog must be the same for all mounts on one storage: another one has ' +
        '{ retention: 2592000 }'
    })
  }
  await app.close()
  const later = Fastify()
  t.teardown(() => later.close())
  await later.register(users, { storage })
  const v2 = { storage, prefix: '/v2', decoratorName: 'customers', eventLog: true }
  await t.rejects(async () => later.register(users, v2), {
    message: 'fastify-users: eventLog must be the same for all mounts on one storage: another one has false'
  })
})

test('who follows the log of one mount sees the changes of another one immediately', async (t) => {
  // Without it there is a look every second: here that never comes.
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const storage = memory()
  const [app, other] = [Fastify(), Fastify()]
  await app.register(users, { storage, eventLog: true })
  await other.register(users, { storage, eventLog: true })
  const seen = app.users.events.after(null, { type: 'user.*' })
  const first = seen.next()
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  await other.users.create({ name: 'Ann', email: 'ann@example.org' })
  t.match(await first, { value: { type: 'user.created', data: { name: 'Ann' } } })
  await app.close()
  await other.close()
})

test('refuses a decorator that exists, a prefix that is in use, and a router that cuts ids', async (t) => {
  const attempt = async (prepare: (app: FastifyInstance) => Promise<unknown>, options: FastifyServerOptions = {}) => {
    const app = Fastify(options)
    t.teardown(() => app.close())
    await prepare(app)
  }
  await t.rejects(attempt(async (app) => {
    app.decorate('users', JSON.parse('{}'))
    await app.register(users, { storage: memory() })
  }), { message: 'fastify-users: app.users already exists: set another name with the option decoratorName' })
  await t.rejects(attempt(async (app) => {
    await app.register(users, { storage: memory() })
    await app.register(users, { storage: memory(), decoratorName: 'customers' })
  }), {
    code: 'FST_ERR_DUPLICATED_ROUTE',
    message: "fastify-users: Method 'GET' already declared for route '/v1/users': set another prefix"
  })
  await t.rejects(attempt(async (app) => {
    await app.register(users, { storage: memory() })
    for (let i = 0; i < 2; i++) await app.register(admin, { prefix: '/admin' })
  }), { message: /^fastify-users\/admin: Method 'GET' already declared for route '\/admin\/?': set another prefix$/ })
  const register = (app: FastifyInstance) => Promise.resolve(app.register(users, { storage: memory() }))
  await t.rejects(
    attempt(register, { routerOptions: { maxParamLength: 29 } }),
    { message: "fastify-users: the router's maxParamLength is 29, but ids have 30 characters" }
  )
})
