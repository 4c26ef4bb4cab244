// Contract §10: problem details, the host's own formats, and what happens when something underneath fails.
import { createServer, connect, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { test } from 'tap'
import { memory } from '../adapters/memory/index.ts'
import { postgres } from '../adapters/postgres.ts'
import { sqlite } from '../adapters/sqlite.ts'
import { UsersError } from '../lib/core/errors.ts'
import { StorageError } from '../lib/core/storage-error.ts'
import { errorTable } from '../lib/core/error-table.ts'
import type { Storage } from '../lib/index.ts'
import { inject, testApp } from './helpers/app.ts'
import { captureLog } from './helpers/log.ts'
import { pgUrl, temporaryDirectory, temporarySchema } from './helpers/stores.ts'
import { sqliteDrivers } from './helpers/sqlite.ts'

const CANARY = 'canary-4711@example.org'

test('problem details have the members of RFC 9457, and the request\'s id', async (t) => {
  const { call } = await testApp(t, { server: { genReqId: () => 'req-of-the-host' } })
  const response = await call('GET', '/users/x')
  t.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
  t.strictSame(response.json(), {
    type: 'urn:problem:fastify-users:user_not_found',
    title: 'User not found',
    status: 404,
    code: 'user_not_found',
    detail: 'There is no user with this id.',
    requestId: 'req-of-the-host'
  })
})

test('errorFormat fastify throws our errors on to the host\'s handlers', async (t) => {
  const { call, app } = await testApp(t, { errorFormat: 'fastify' })
  t.strictSame((await call('GET', '/users/x')).json(), { statusCode: 404, code: 'user_not_found', error: 'Not Found', message: 'There is no user with this id.' })
  t.match((await call('GET', '/nothing')).json(), { statusCode: 404, message: 'Route GET:/v1/nothing not found' }, 'unknown paths are the host\'s too')
  t.equal((await call('PUT', '/users')).headers.allow, 'GET, HEAD, POST', 'headers are kept')
  t.equal((await inject(app, 'GET', '/v1/users')).headers['www-authenticate'], 'Bearer realm="users"')

  const seen: unknown[] = []
  const { call: other } = await testApp(t, { errorFormat: 'fastify', before: (app) => { app.setErrorHandler((error, _request, reply) => { seen.push(error); return reply.code(400).send({ mine: true }) }) } })
  const response = await other('POST', '/users', { payload: {} })
  t.strictSame([response.statusCode, response.json()], [400, { mine: true }])
  t.ok(seen[0] instanceof UsersError)
  t.match(seen[0], { code: 'validation_failed', statusCode: 400, errors: [{ pointer: '/name' }, { pointer: '/email' }] })
})

test('errorFormat as a function makes the body', async (t) => {
  const { call } = await testApp(t, { errorFormat: ({ code, status }, request) => ({ error: code, status, path: request.url }) })
  const response = await call('GET', '/nothing')
  t.strictSame([response.statusCode, response.headers['content-type'], response.json()], [404, 'application/json; charset=utf-8', { error: 'not_found', status: 404, path: '/v1/nothing' }])
})

test('errorFormat that fails or gives nothing falls back to the problem, and its words stay in the log', async (t) => {
  for (const errorFormat of [() => { throw new Error('secret of the host') }, async () => { throw new Error('secret of the host') }, () => JSON.parse('null'), async () => JSON.parse('5')]) {
    const log = captureLog()
    const { call } = await testApp(t, { errorFormat, server: { logger: { stream: log.stream } } })
    const response = await call('GET', '/nothing')
    t.match([response.statusCode, response.headers['content-type'], response.json().code], [404, 'application/problem+json; charset=utf-8', 'not_found'])
    t.notMatch(response.body, 'secret')
    t.match(log.text(), 'errorFormat failed')
  }
  const { call } = await testApp(t, { errorFormat: async ({ code }) => ({ later: code }) })
  t.strictSame((await call('GET', '/nothing')).json(), { later: 'not_found' })
})

test('requests are logged without their query, whatever the host\'s serialiser', async (t) => {
  const logged = async (options: Parameters<typeof testApp>[1]) => {
    const log = captureLog()
    const { call } = await testApp(t, { ...options, server: { logger: Object({ stream: log.stream, ...options?.server }) } })
    await call('GET', `/users?email=${CANARY}`)
    await call('GET', '/users')
    return log
  }
  const plain = await logged({})
  t.match(plain.entries().filter(({ req }) => req !== undefined), [{ req: { method: 'GET', url: '/v1/users', host: 'localhost:80' } }, { req: { url: '/v1/users' } }])
  t.notMatch(plain.text(), CANARY)
  const custom = await logged({ server: Object({ serializers: { req: ({ method, id }: { method: string, id: string }) => ({ method, trace: id }) } }) })
  t.match(custom.text(), '"req":{"method":"GET","trace":"req-1"}')
  const given = await logged({ logSerializers: { req: () => 'ours' } })
  t.match(given.text(), '"req":"ours"')
})

test('errors are made anew each time, and constants are frozen', async (t) => {
  t.ok(Object.isFrozen(errorTable))
  const [a, b] = [new UsersError('internal', { cause: new Error('x') }), new UsersError('internal')]
  t.equal(b.cause, undefined)
  t.strictSame(Object.keys(a), ['code', 'name', 'statusCode', 'message', 'title'], 'what lies underneath is not enumerable')
})

const failures: Array<[name: string, thrown: unknown, status: number, code: string, logged: RegExp]> = [
  ['an error with a value in its message', Object.assign(new Error(`insert into users values ('${CANARY}')`), { code: 'E1', detail: CANARY }), 500, 'internal', /"code":"fault","driverCode":"E1".*the storage threw an unexpected Error/],
  ['something that is no error', CANARY, 500, 'internal', /the storage threw an unexpected string/],
  ['nothing', undefined, 500, 'internal', /the storage threw an unexpected undefined/],
  ['a fault', new StorageError('fault', 'the database refused a statement', '42601'), 500, 'internal', /"driverCode":"42601"/],
  ['a schema that is behind', new StorageError('schema_behind', 'call storage.migrate()'), 500, 'internal', /schema_behind/],
  ['unavailable', new StorageError('unavailable', 'busy', 'SQLITE_BUSY'), 503, 'storage_unavailable', /"code":"unavailable","driverCode":"SQLITE_BUSY"/],
  ['a storage error of another copy of the package', Object.assign(new Error('busy'), { name: 'StorageError', code: 'unavailable' }), 503, 'storage_unavailable', /"code":"unavailable"/]
]

for (const [name, thrown, status, code, logged] of failures) {
  test(`a storage that throws ${name}`, async (t) => {
    const log = captureLog()
    const storage = memory()
    const { call, app } = await testApp(t, { storage, server: { logger: { stream: log.stream } } })
    const fail = async () => { throw thrown }
    Object.assign(storage, { findUser: fail, listUsers: fail, createUser: fail, updateUser: fail, deleteUser: fail })
    const id = 'usr_01h455vb4pex5vsknk084sn02q'
    for (const [method, path, payload] of [['GET', '/users'], ['GET', `/users/${id}`], ['POST', '/users', { name: 'A', email: CANARY }], ['PATCH', `/users/${id}`, { email: CANARY }], ['DELETE', `/users/${id}`]] as const) {
      const response = await call(method, path, { ...(payload !== undefined && { payload }) })
      t.match(response.json(), { status, code }, `${method} ${path}`)
      t.equal(response.headers['retry-after'], status === 503 ? '5' : undefined)
      t.notMatch(response.body, CANARY)
    }
    t.match(log.text(), logged)
    t.match(log.text(), /"reqId":"req-1"/)
    t.notMatch(log.text(), CANARY)
    await t.rejects(app.users.get(id), { name: 'UsersError', code, statusCode: status })
  })
}

test('a storage that answers nonsense is a 500, and the process lives', async (t) => {
  const log = captureLog()
  const storage = memory()
  const { call } = await testApp(t, { storage, server: { logger: { stream: log.stream } } })
  for (const nonsense of [undefined, 5, 'x', []]) {
    Object.assign(storage, { findUser: async () => nonsense, listUsers: async () => nonsense, updateUser: async () => nonsense })
    for (const [method, path] of [['GET', '/users'], ['PATCH', '/users/usr_01h455vb4pex5vsknk084sn02q']] as const) {
      const response = await call(method, path, method === 'PATCH' ? { payload: {} } : {})
      t.ok([200, 500].includes(response.statusCode), `${method} ${String(nonsense)} ${response.statusCode}`)
    }
  }
})

test('what a store returns beside a user never reaches an answer', async (t) => {
  const storage = memory()
  const { call, app } = await testApp(t, { storage })
  const { id } = await app.users.create({ name: 'A', email: 'a@b.co' })
  const { findUser, listUsers } = storage
  const secret = { secret: CANARY, toJSON: () => CANARY }
  storage.findUser = async (id) => Object.assign(Object(await findUser(id)), secret)
  storage.listUsers = async (filter, page) => {
    const { items, total } = await listUsers(filter, page)
    return { items: items.map((item) => Object.assign(item, secret)), total }
  }
  for (const path of ['/users', `/users/${id}`]) t.notMatch((await call('GET', path)).body, CANARY)
})

/** A door to PostgreSQL that a test can close. */
async function proxy (port: number): Promise<{ port: number, close: () => void, open: () => Promise<void>, freeze: () => void, thaw: () => void }> {
  const sockets = new Set<Socket>()
  let frozen = false
  const server: Server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.on('data', (chunk) => { if (!frozen) upstream.write(chunk) }).on('end', () => upstream.end())
    upstream.on('data', (chunk) => { if (!frozen) client.write(chunk) }).on('end', () => client.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const own = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port: own,
    close () {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
    freeze () { frozen = true },
    thaw () { frozen = false },
    async open () {
      server.listen(own, '127.0.0.1')
      await once(server, 'listening')
    }
  }
}

test('PostgreSQL that goes away is 503, and the service recovers by itself', async (t) => {
  const url = new URL(pgUrl())
  const door = await proxy(Number(url.port))
  t.teardown(() => door.close())
  url.port = String(door.port)
  const log = captureLog()
  const { call, app } = await testApp(t, { storage: postgres({ connection: url.href, schema: temporarySchema(t) }), keyCache: 0, server: { logger: { stream: log.stream } } })
  t.equal((await call('GET', '/users')).statusCode, 200)
  door.close()
  for (let i = 0; i < 3; i++) {
    const response = await call('GET', '/users')
    t.strictSame([response.statusCode, response.headers['retry-after'], response.json().code], [503, '5', 'storage_unavailable'])
  }
  t.match(log.text(), /the storage is unavailable/)
  await door.open()
  t.equal((await call('POST', '/users', { payload: { name: 'A', email: 'a@b.co' } })).statusCode, 201)
  t.equal((await app.users.list()).meta.total, 1)
})

test('a database that falls silent is 503 in time, and closing does not wait for it', async (t) => {
  const url = new URL(pgUrl())
  const door = await proxy(Number(url.port))
  t.teardown(() => door.close())
  url.port = String(door.port)
  const { call, app } = await testApp(t, { storage: postgres({ connection: url.href, schema: temporarySchema(t), statementTimeout: 100 }) })
  // Not over HTTP: the note of the key's use would still be opening a connection of its own, for which a later call would wait.
  t.equal((await app.users.list()).meta.total, 0)
  door.freeze()
  t.match(await Promise.all([call('GET', '/users'), call('GET', '/users')]), [{ statusCode: 503 }, { statusCode: 503 }])
  door.thaw()
  t.equal((await call('GET', '/users')).statusCode, 200, 'the silent connections were thrown away')
  door.freeze()
  const hanging = call('GET', '/users')
  await app.close()
  t.equal((await hanging).statusCode, 503)
})

test('a storage that throws at once tells no more than one that rejects', async (t) => {
  const log = captureLog()
  const storage = memory()
  const { call, app } = await testApp(t, { storage, server: { logger: { stream: log.stream } } })
  storage.listUsers = () => { throw new Error(`select * from users where email = '${CANARY}'`) }
  t.equal((await call('GET', '/users')).statusCode, 500)
  await t.rejects(app.users.list(), { name: 'UsersError', code: 'internal' })
  t.notMatch(log.text(), CANARY)
})

test('a lock held for too long, and a pool with nothing left, are 503', async (t) => {
  const schema = temporarySchema(t)
  const { call, app } = await testApp(t, { storage: postgres({ connection: pgUrl(), schema, pool: { max: 1 }, statementTimeout: 200 }) })
  const blocker = new pg.Client({ connectionString: pgUrl() })
  await blocker.connect()
  t.teardown(() => blocker.end())
  const { id } = await app.users.create({ name: 'A', email: 'a@b.co' })
  const rename = () => call('PATCH', `/users/${id}`, { payload: { name: 'B' } })
  await blocker.query('begin')
  await blocker.query(`select 1 from "${schema}".fastify_users_users for update`)
  t.strictSame((await Promise.all([rename(), rename(), rename()])).map(({ statusCode }) => statusCode), [503, 503, 503], 'the server ends a statement that waits too long')
  await blocker.query('rollback')
  t.equal((await rename()).statusCode, 200)
})

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: an SQLite file whose directory is gone is a clear error`, { skip }, async (t) => {
    const filename = join(await temporaryDirectory(t), 'sub', 'users.db')
    const storage: Storage = sqlite({ filename, driver })
    t.teardown(() => storage.close())
    await rm(dirname(filename), { recursive: true })
    await t.rejects(storage.check(), { name: 'StorageError', code: 'unavailable', driverCode: 'SQLITE_CANTOPEN' })
  })
}
