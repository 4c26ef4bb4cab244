// The standalone service on every storage, as a process of its own.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'
import { get, KEY, startService } from '../helpers/service.ts'
import { pgBouncerUrl, pgUrl, pooled, sql, temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

test('on SQLite: the first start prints a key, a second start keeps it', async (t) => {
  const cwd = await temporaryDirectory(t)
  const service = startService(t, cwd)
  const url = await service.printed(/curl -H 'Authorization: Bearer uk_\w+' (\S+)\n/)
  const origin = new URL(url).origin
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1\/users$/)
  const key = KEY.exec(service.stdout())?.[0] ?? ''
  const places = `  API     ${origin}/v1\n  Page    ${origin}/admin/\n  Docs    ${origin}/docs\n` +
    `  Health  ${origin}/health\n\n`
  t.equal(service.stdout(), `fastify-users is ready.\n\n  Key     ${key}\n          (the first of this store, shown ` +
    `this once)\n\n  curl -H 'Authorization: Bearer ${key}' ${url}\n\n${places}`)
  t.strictSame(await get(url, key), { status: 200, body: { data: [], meta: { page: 1, limit: 20, total: 0 } } })
  t.strictSame(await get(`${origin}/health`), { status: 200, body: { status: 'alive' } })
  t.strictSame(await get(`${origin}/ready`), { status: 200, body: { status: 'ready' } })
  const description = await get(`${origin}/openapi.json`)
  const components = { securitySchemes: { usersApiKey: { type: 'http' } } }
  t.match(description, { status: 200, body: { openapi: '3.1.0', info: { title: 'Users' }, components } })
  t.strictSame(Object.keys(Object(description.body).paths), [
    '/v1/users', '/v1/users/{id}', '/v1/users/{id}/subject', '/v1/users/export', '/v1/users/batch', '/v1/users/import',
    '/v1/capabilities'
  ])
  t.equal((await get(`${url}?email=canary@example.org`, key)).status, 200)
  t.strictSame(await get(`${origin}/nowhere?email=canary@example.org`),
    { status: 404, body: { type: 'about:blank', title: 'Not found', status: 404 } })
  t.ok((await stat(join(cwd, 'data', 'users.db'))).isFile())

  t.equal(await service.stop(), 0)
  for (const secret of [key, key.slice(16), 'canary']) t.notMatch(service.stderr(), secret)
  const lines = service.stderr().trim().split('\n').map((line) => JSON.parse(line))
  t.ok(lines.some(({ req }) => req?.path === '/v1/users'), 'JSON lines where there is no terminal')
  t.ok(lines.some(({ res }) => res?.statusCode === 404))
  t.notMatch(service.stderr(), /no API key yet|\/health|\/ready/, 'a probe that succeeds has no line')

  const again = startService(t, cwd)
  const address = await again.printed(/listening at (http:\/\/[^"]+)/)
  again.process.stderr.destroy()
  for (let i = 0; i < 5; i++) {
    t.equal((await get(`${address}/v1/users`, key)).status, 200, 'the key is still good, also without a log')
  }
  again.process.kill('SIGINT')
  t.equal(await again.exitCode(), 0)
  t.equal(again.stdout(), 'fastify-users is ready.\n\n  curl -H "Authorization: Bearer $KEY" ' +
    `${address}/v1/users\n\n${places.replaceAll(origin, address)}`, 'and is not shown again')
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
    LOG_LEVEL: 'silent',
    KEY_CACHE: '5',
    KEY_CACHE_DIR: '/hunter2'
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
  t.equal(await service.stop(), 0)
  t.match(JSON.parse(service.stderr()),
    { level: 40, msg: 'KEY_CACHE_DIR is not a variable of this service: did you mean KEY_CACHE?' })
  t.notMatch(service.stderr(), 'hunter2')
})

test('on the LMDB adapter of the examples: keeps what it has answered', async (t) => {
  const cwd = await temporaryDirectory(t)
  const service = startService(t, cwd, { DATABASE_URL: 'lmdb:./data/users' })
  const url = await service.printed(/curl .* (\S+)\n/)
  const key = KEY.exec(service.stdout())?.[0] ?? ''
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Zoë', email: 'zoe@example.org' })
  const created = await fetch(url, { method: 'POST', headers, body })
  t.equal(created.status, 201)
  t.equal(await service.stop(), 0)
  const again = startService(t, cwd, { DATABASE_URL: 'lmdb:./data/users' })
  const address = await again.printed(/listening at (http:\/\/[^"]+)/)
  t.match(await get(`${address}${created.headers.get('location')}`, key), { status: 200, body: { name: 'Zoë' } })
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
  t.equal(await service.stop(), 0)
})

test('a wrong configuration: prints what is wrong and exits with 1', async (t) => {
  const cwd = await temporaryDirectory(t)
  const wrong = { HOST: '', DATABASE_URL: 'mysql://secret@x', DATABASE_POOLER: 'secret' }
  const service = startService(t, cwd, wrong)
  t.equal(await service.exitCode(), 1)
  t.equal(service.stderr(), `The configuration is wrong:
  HOST must be a host name or address to listen on
  DATABASE_URL must be sqlite:<path>, postgres://<user>:<password>@<host>/<database>, mariadb:// likewise, \
lmdb:<directory> or memory:
  DATABASE_POOLER must be true or false
`)
  const unreachable = startService(t, cwd, { DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/x' })
  t.equal(await unreachable.exitCode(), 1)
  t.equal(unreachable.stderr(), 'The service could not start: DATABASE_URL, which leads to 127.0.0.1:1: ' +
    'the database cannot be reached or is busy (ECONNREFUSED)\n')
  const unheard = startService(t, cwd, { HOST: 'nope.invalid' })
  t.equal(await unheard.exitCode(), 1)
  t.match(unheard.stderr(), /^The service could not start: HOST: getaddrinfo E\w+ nope\.invalid\n$/)
})
