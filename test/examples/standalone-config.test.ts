// The settings of the standalone service: every variable, and the first key.
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'tap'
import { buildApp } from '../../examples/standalone/app.ts'
import { readConfig } from '../../examples/standalone/config.ts'
import { createFirstKey } from '../../examples/standalone/first-key.ts'
import { get, KEY, startService } from '../helpers/service.ts'
import { temporaryDirectory } from '../helpers/stores.ts'

const SECRET = 's'.repeat(32)

test('hands every setting on to the plugin', async (t) => {
  const directory = await temporaryDirectory(t)
  const fields = join(directory, 'fields.json')
  await writeFile(fields, JSON.stringify({
    type: 'object',
    properties: { plan: { type: 'string', enum: ['free', 'pro'] }, badge: { type: 'string' } },
    required: []
  }))
  const config = readConfig({
    DATABASE_URL: 'memory:',
    API_KEYS: `${SECRET},${'k'.repeat(32)}`,
    FASTIFY_USERS_PEPPER: 'p'.repeat(32),
    RATE_LIMIT: '12',
    DELETES_PER_HOUR: '1',
    REQUIRE_IF_MATCH: 'true',
    EVENT_LOG: 'true',
    TRASH_DAYS: '7',
    FIELDS_FILE: fields,
    FILTERABLE_FIELDS: 'plan',
    UNIQUE_FIELDS: 'badge',
    CORS_ORIGINS: 'https://app.example.org, https://other.example.org',
    ADMIN_PAGE: 'false'
  })
  const app = await buildApp(config, false)
  t.teardown(() => app.close())
  t.equal(await createFirstKey(app, config), null, 'nobody needs a first key')
  const headers = { authorization: `Bearer ${SECRET}` }
  for (const [key, status] of [['k', 200], ['x', 401]] as const) {
    const given = { authorization: `Bearer ${key.repeat(32)}` }
    t.equal((await app.inject({ url: '/v1/users', headers: given })).statusCode, status)
  }
  const user = await app.inject({
    method: 'POST', url: '/v1/users', headers, payload: { name: 'A', email: 'a@example.org', plan: 'pro' }
  })
  t.equal(user.json().plan, 'pro')
  const list = await app.inject({
    url: '/v1/users?plan=pro', headers: { ...headers, origin: 'https://app.example.org' }
  })
  t.equal(list.json().meta.total, 1)
  t.equal(list.headers['access-control-allow-origin'], 'https://app.example.org')
  t.match(list.headers['access-control-expose-headers'], /ETag, Link, Location/)
  t.equal((await app.inject({ url: '/v1/users', headers: { ...headers, origin: 'https://evil.example.org' } }))
    .headers['access-control-allow-origin'], undefined)
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/v1/users',
    headers: { origin: 'https://app.example.org', 'access-control-request-method': 'POST' }
  })
  t.match([preflight.statusCode, preflight.headers['access-control-allow-origin']], [204, 'https://app.example.org'])
  const url = `/v1/users/${user.json().id}`
  t.equal((await app.inject({ method: 'DELETE', url, headers })).statusCode, 428)
  t.equal((await app.inject({ method: 'DELETE', url, headers: { ...headers, 'if-match': '*' } })).statusCode, 429)
  t.equal((await app.inject({ url: '/v1/events', headers })).json().data.length, 1)
  t.equal((await app.inject({ url: '/v1/users/deleted', headers })).json().meta.total, 0)
  t.equal((await app.inject('/admin/')).statusCode, 404)
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) statuses.push((await app.inject({ url: '/v1/users', headers })).statusCode)
  t.ok(statuses.includes(429), 'more than 12 requests in a minute')
})

test('limits, page and description without any setting', async (t) => {
  const app = await buildApp(readConfig({ DATABASE_URL: 'memory:', API_KEYS: SECRET }), false)
  t.teardown(() => app.close())
  const { headers } = await app.inject({ url: '/v1/users', headers: { authorization: `Bearer ${SECRET}` } })
  t.equal(headers['ratelimit-policy'], '"key";q=6000;w=60')
  t.equal((await app.inject('/admin/')).statusCode, 200)
  t.equal((await app.inject('/metrics')).statusCode, 404)
  const { payload } = await app.inject('/openapi.json')
  const { info, servers, paths } = JSON.parse(payload)
  t.match(info.description, /\| `email_taken` \| 409 \|/)
  t.strictSame(servers, [{ url: '/' }])
  t.ok(Object.values(paths['/v1/users']).every((operation) => '429' in Object(operation).responses))
})

test('metrics tell of requests, keys, the storage and the pool, and of nobody', async (t) => {
  const url = `sqlite:${join(await temporaryDirectory(t), 'users.db')}`
  const app = await buildApp(readConfig({ DATABASE_URL: url, METRICS_ENABLED: 'true' }), false)
  t.teardown(() => app.close())
  const { key } = await app.users.apiKeys.create({ name: 'prometheus-name' })
  const headers = { authorization: `Bearer ${key}` }
  await app.inject({ method: 'POST', url: '/v1/users', headers, payload: { name: 'Ada', email: 'ada@example.org' } })
  await app.inject({ url: '/v1/users', headers })
  await app.inject({ url: '/v1/users' })
  await app.inject({ url: '/v1/users', headers: { authorization: 'Bearer x' } })
  const { payload, headers: { 'content-type': type } } = await app.inject('/metrics')
  t.match(type, /^text\/plain/)
  for (const line of [
    'users_request_duration_seconds_count{operation="createUser",status="201"} 1',
    'users_request_duration_seconds_count{operation="listUsers",status="200"} 1',
    'users_request_duration_seconds_count{operation="listUsers",status="401"} 2',
    'users_key_checks_total{outcome="accepted"} 2',
    'users_key_checks_total{outcome="unrecognized"} 1',
    'users_connections{state="waiting"} 0'
  ]) t.ok(payload.includes(line), line)
  // Of the key, its use, and the user.
  t.match(payload, /users_storage_duration_seconds_count\{method="commit",outcome="success"\} [1-9]/)
  t.match(payload, /nodejs_eventloop_lag_seconds/)
  t.notMatch(payload, /Ada|example\.org|uk_|usr_|key_0|prometheus-name/)
})

test('the first key goes to a file for its owner alone, and so does the database', async (t) => {
  const cwd = await temporaryDirectory(t)
  const service = startService(t, cwd, { FIRST_KEY_FILE: 'first.key' })
  await service.printed(/ {2}Key {5}in first\.key \(the first of this store\)\n/)
  t.notMatch(service.stdout() + service.stderr(), KEY)
  t.match(await readFile(join(cwd, 'first.key'), 'utf8'), new RegExp(`^${KEY.source}\n$`))
  const modeOf = async (...path: string[]) => ((await stat(join(cwd, ...path))).mode & 0o777).toString(8)
  t.equal(await modeOf('first.key'), '600')
  for (const name of ['users.db', 'users.db-wal', 'users.db-shm']) t.equal(await modeOf('data', name), '600', name)
  t.equal(await service.stop(), 0)
})

test('a first key overwrites no file, and one that could not be made leaves none', async (t) => {
  const directory = await temporaryDirectory(t)
  const file = join(directory, 'first.key')
  const config = readConfig({ DATABASE_URL: 'memory:', FIRST_KEY_FILE: file })
  const app = await buildApp(config, false)
  t.teardown(() => app.close())
  const apiKeys = {
    list: async () => ({ meta: { total: 0 } }),
    createFirst: async () => { throw new Error('the database is gone') }
  }
  await t.rejects(createFirstKey(Object({ users: { apiKeys } }), config), { message: 'the database is gone' })
  await writeFile(file, 'mine')
  await t.rejects(createFirstKey(app, config),
    { message: /FIRST_KEY_FILE must be the path of a file that does not exist yet/ })
  t.equal(await readFile(file, 'utf8'), 'mine')
  await t.rejects(createFirstKey(app, { ...config, FIRST_KEY_FILE: join(directory, 'none', 'key') }),
    { message: /FIRST_KEY_FILE must be a path in a directory that exists: create the directory first/ })
  await t.rejects(createFirstKey(app, { ...config, FIRST_KEY_FILE: join(directory, 'first.key', 'key') }),
    { message: /FIRST_KEY_FILE must be a path in a directory that can be written to \(ENOTDIR\)/ })
  await rm(file)
  const first = await createFirstKey(app, config)
  t.equal(await readFile(file, 'utf8'), `${first?.key}\n`)
  t.equal(await createFirstKey(app, config), null, 'a store that has keys needs no file')
})

test('a first key that could not be printed is revoked, and the next start prints another', async (t) => {
  for (const [code, redirection] of [['ENOSPC', '>/dev/full'], ['EPIPE', '']] as const) {
    if (code === 'ENOSPC' && !existsSync('/dev/full')) continue
    const cwd = await temporaryDirectory(t)
    const service = startService(t, cwd, { API_KEY_ROUTES: 'true' }, redirection)
    if (code === 'EPIPE') service.process.stdout.destroy()
    const line = await service.printed(/.*the first key could not be printed.*/)
    t.match(JSON.parse(line), {
      level: 50,
      msg: `the first key could not be printed (${code}), so it was revoked. Start the service again with a standard ` +
        'output that can be written, or with FIRST_KEY_FILE: it makes another key'
    })
    const address = await service.printed(/listening at (http:\/\/[^"]+)/)
    t.equal((await get(`${address}/health`)).status, 200, 'the service goes on')
    t.equal(await service.stop(), 0)
    const again = startService(t, cwd, { API_KEY_ROUTES: 'true' })
    const url = await again.printed(/curl .* (\S+)\n/)
    const { body } = await get(url.replace(/users$/, 'api-keys'), KEY.exec(again.stdout())?.[0])
    const keys: unknown[] = Object(body).data
    t.strictSame(keys.map((key) => [Object(key).name, 'revokedAt' in Object(key)]), [
      ['first key', true], ['first key', false]
    ])
    t.equal(await again.stop(), 0)
    const third = startService(t, cwd, {}, redirection)
    await third.printed(code === 'EPIPE' ? /is ready/ : /could not be written \(ENOSPC\), and the service runs/)
    t.notMatch(third.stdout() + third.stderr(), KEY)
  }
})

test('no first key is made where nobody could see it, and none again once it was revoked by a person', async (t) => {
  const cwd = await temporaryDirectory(t)
  for (const redirection of ['>&-', '>/dev/null']) {
    const service = startService(t, cwd, {}, redirection)
    const line = await service.printed(/.*no first key was made.*/)
    t.match(JSON.parse(line), {
      level: 40,
      msg: 'no first key was made, because standard output is closed or /dev/null: start the service with one that ' +
        'you can read, or set FIRST_KEY_FILE'
    })
    await service.printed(/listening at/)
    t.equal(await service.stop(), 0)
  }
  const config = readConfig({ DATABASE_URL: `sqlite:${join(cwd, 'data', 'users.db')}` })
  const app = await buildApp(config, false)
  t.teardown(() => app.close())
  const first = await createFirstKey(app, config)
  const [key] = (await app.users.apiKeys.list()).data
  t.equal(key?.id, first?.id)
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const seen = { ...key, revokedAt: later }
  for (const [keys, isMade] of [
    [[seen], false], [[{ ...seen, revokedAt: key?.createdAt }], true],
    [[{ ...seen, revokedAt: key?.createdAt, lastUsedAt: later }], false],
    [[{ ...seen, revokedAt: key?.createdAt, name: 'mine' }], false], [[key], false]
  ] as const) {
    const apiKeys = { list: async () => ({ data: keys, meta: { total: keys.length } }), create: async () => first }
    t.equal(await createFirstKey(Object({ users: { apiKeys } }), config) !== null, isMade)
  }
})

test('a port that is taken costs no first key', async (t) => {
  const cwd = await temporaryDirectory(t)
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const service = startService(t, cwd, { PORT: String(Object(taken.address()).port) })
  t.equal(await service.exitCode(), 1)
  t.match(service.stderr(), /^The service could not start: PORT: .*EADDRINUSE/m)
  t.equal(service.stdout(), '')
  t.strictSame(await readdir(cwd), [], 'it has not opened a database yet')
})
