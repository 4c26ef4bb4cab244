// The standalone service on every storage, as a process of its own.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { get, KEY, startService } from '../helpers/service.ts'
import { pgBouncerUrl, pgUrl, pooled, sql, temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'
import '../helpers/watch-fetch.ts'

const STATIC = 'a-static-key-of-more-than-32-characters!'

test('on SQLite: the first start prints a key, a second start keeps it', async (t) => {
  const cwd = await temporaryDirectory(t)
  const service = startService(t, cwd)
  const url = await service.printed(/curl -H 'Authorization: Bearer uk_\w+' (\S+)\n/)
  const origin = new URL(url).origin
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1\/users$/)
  const key = KEY.exec(service.stdout())?.[0] ?? ''
  t.match(
    service.stdout(),
    new RegExp(
      `^fastify-users is ready\\.\n\n  Key {5}${key}\n {10}\\(the first of this store, shown this once\\)\n\n` +
        `  curl -H 'Authorization: Bearer ${key}' ${url}\n\n  API {5}${origin}/v1\n  Page {4}${origin}/admin/\n` +
        `  Docs {4}${origin}/docs\n  Health {2}${origin}/health\n\n$`
    )
  )
  t.strictSame(await get(url, key), { status: 200, body: { data: [], meta: { page: 1, limit: 20, total: 0 } } })
  t.strictSame(await get(`${origin}/health`), { status: 200, body: { status: 'alive' } })
  t.strictSame(await get(`${origin}/ready`), { status: 200, body: { status: 'ready' } })
  const description = await get(`${origin}/openapi.json`)
  t.match(description, {
    status: 200,
    body: {
      openapi: '3.1.0',
      info: { title: 'Users' },
      components: { securitySchemes: { usersApiKey: { type: 'http' } } }
    }
  })
  t.strictSame(Object.keys(Object(description.body).paths), [
    '/v1/users',
    '/v1/users/{id}',
    '/v1/users/{id}/subject',
    '/v1/users/export',
    '/v1/users/batch',
    '/v1/users/import',
    '/v1/capabilities'
  ])
  t.equal(
    (await fetch(`${url}?email=canary@example.org`, { headers: { authorization: `Bearer ${key}` } })).status,
    200
  )
  t.ok((await stat(join(cwd, 'data', 'users.db'))).isFile())

  service.process.kill('SIGTERM')
  t.equal(await service.exitCode(), 0)
  for (const secret of [key, key.slice(16), 'canary']) t.notMatch(service.stderr(), secret)
  const lines = service
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.ok(
    lines.some(({ req }) => req?.path === '/v1/users'),
    'JSON lines where there is no terminal'
  )
  t.notMatch(service.stderr(), 'no API key yet')

  const again = startService(t, cwd)
  const address = await again.printed(/listening at (http:\/\/[^"]+)/)
  t.equal((await get(`${address}/v1/users`, key)).status, 200, 'the key is still good')
  again.process.kill('SIGINT')
  t.equal(await again.exitCode(), 0)
  t.equal(
    again.stdout(),
    `fastify-users is ready.\n\n  curl -H "Authorization: Bearer $KEY" ${address}/v1/users\n\n` +
      `  API     ${address}/v1\n  Page    ${address}/admin/\n  Docs    ${address}/docs\n` +
      `  Health  ${address}/health\n\n`,
    'and is not shown again'
  )
})

test('on PostgreSQL, under another prefix: is ready again after the database was gone', async (t) => {
  const database = `standalone_${process.pid}`
  await sql(`create database ${database}`)
  t.teardown(() => sql(`drop database if exists ${database} with (force)`))
  const connection = new URL(pgUrl())
  connection.pathname = `/${database}`
  const service = startService(t, await temporaryDirectory(t), {
    DATABASE_URL: connection.href,
    PATH_PREFIX: '/api/',
    LOG_LEVEL: 'silent'
  })
  const url = await service.printed(/curl .* (\S+)\n/)
  t.match(url, /\d\/api\/users$/)
  t.equal((await get(url, KEY.exec(service.stdout())?.[0])).status, 200)
  t.equal((await get(`${new URL(url).origin}/ready`)).status, 200)
  // Gone for the service alone: the others of the suite share the server.
  await sql(`alter database ${database} allow_connections false`)
  await sql('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
  const ready = () => get(`${new URL(url).origin}/ready`)
  // The service asks once a second.
  await until('a 503', async () => (await ready()).status === 503)
  t.strictSame(await ready(), { status: 503, body: { status: 'unavailable' } })
  t.equal((await get(`${new URL(url).origin}/health`)).status, 200)
  await sql(`alter database ${database} allow_connections true`)
  await until('it recovers by itself', async () => (await ready()).status === 200)
  service.process.kill('SIGTERM')
  t.equal(await service.exitCode(), 0)
  t.equal(service.stderr(), '')
})

test('on the LMDB adapter of the examples: keeps every answered write', async (t) => {
  const cwd = await temporaryDirectory(t)
  const service = startService(t, cwd, { DATABASE_URL: 'lmdb:./data/users' })
  const url = await service.printed(/curl .* (\S+)\n/)
  const key = KEY.exec(service.stdout())?.[0] ?? ''
  const send = (method: string, path: string, body?: object, headers = {}) =>
    fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
  const created = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      send('POST', '', { name: `Zoë ${i}`, email: i % 2 === 0 ? 'zoe@example.org' : 'ZOE@example.org' })
    )
  )
  t.strictSame(created.map(({ status }) => status).sort(), [201, ...Array.from({ length: 19 }, () => 409)])
  const location = created.find(({ status }) => status === 201)?.headers.get('location') ?? ''
  const path = location.slice('/v1/users'.length)
  const changed = await Promise.all(
    Array.from({ length: 20 }, (_, i) => send('PATCH', path, { name: `Ann ${i}` }, { 'if-match': '"1"' }))
  )
  t.strictSame(changed.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 412)])
  t.match((await get(`${url}?q=ANN&limit=1`, key)).body, { meta: { total: 1 } })
  t.equal((await get(`${new URL(url).origin}/ready`)).status, 200)
  service.process.kill('SIGTERM')
  t.equal(await service.exitCode(), 0)
  const again = startService(t, cwd, { DATABASE_URL: 'lmdb:./data/users' })
  const address = await again.printed(/listening at (http:\/\/[^"]+)/)
  t.match(
    await get(address + location, key),
    { status: 200, body: { email: /^zoe@example.org$/i } },
    'what was answered is there'
  )
  t.equal(
    (await fetch(address + location, { method: 'DELETE', headers: { authorization: `Bearer ${key}` } })).status,
    204
  )
  t.notMatch(again.stdout(), KEY)
})

test('on PostgreSQL behind PgBouncer: answers a request', { skip: pooled.skip }, async (t) => {
  const database = `pooled_${process.pid}`
  await sql(`create database ${database}`)
  t.teardown(() => sql(`drop database if exists ${database} with (force)`))
  const connection = new URL(pgBouncerUrl())
  connection.pathname = `/${database}`
  const service = startService(t, await temporaryDirectory(t), {
    DATABASE_URL: connection.href,
    DATABASE_POOLER: 'true'
  })
  const url = await service.printed(/curl .* (\S+)\n/)
  t.equal((await get(url, KEY.exec(service.stdout())?.[0])).status, 200)
  service.process.kill('SIGTERM')
  t.equal(await service.exitCode(), 0)
})

test('with static keys: creates no key', async (t) => {
  const service = startService(t, await temporaryDirectory(t), {
    DATABASE_URL: 'memory:',
    API_KEYS: `${STATIC},${'k'.repeat(32)}`
  })
  const address = await service.printed(/listening at (http:\/\/[^"]+)/)
  for (const key of [STATIC, 'k'.repeat(32)]) t.equal((await get(`${address}/v1/users`, key)).status, 200)
  t.equal((await get(`${address}/v1/users`, 'x'.repeat(32))).status, 401)
  service.process.kill('SIGTERM')
  t.equal(await service.exitCode(), 0)
  t.notMatch(service.stdout(), KEY)
})

test('a wrong configuration: prints what is wrong and exits with 1', async (t) => {
  const cwd = await temporaryDirectory(t)
  const wrong = {
    HOST: '',
    PORT: '70000',
    DATABASE_URL: 'mysql://secret@x',
    DATABASE_POOLER: 'secret',
    PATH_PREFIX: 'v1',
    API_KEYS: 'secret',
    LOG_LEVEL: 'loud'
  }
  const service = startService(t, cwd, wrong)
  t.equal(await service.exitCode(), 1)
  t.equal(
    service.stderr(),
    `The configuration is wrong:
  HOST must be a host name or address to listen on
  PORT must be a port number from 0 to 65535
  PATH_PREFIX must be a path that begins with /, of letters, digits and . _ ~ - /
  DATABASE_URL must be sqlite:<path>, postgres://<user>:<password>@<host>/<database>, lmdb:<directory> or memory:
  DATABASE_POOLER must be true or false
  API_KEYS must be keys of at least 32 visible ASCII characters each, separated by commas
  LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent
`
  )
  const unreachable = startService(t, cwd, { DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/x' })
  t.equal(await unreachable.exitCode(), 1)
  t.equal(
    unreachable.stderr(),
    'The service could not start: the database cannot be reached or is busy (ECONNREFUSED)\n'
  )
})
