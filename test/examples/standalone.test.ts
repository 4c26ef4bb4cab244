// The standalone service as its operator meets it: a process with an environment, two streams and signals.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import autocannon from 'autocannon'
import { test, type Test } from 'tap'
import { pgBouncerUrl, pgUrl, pooled, sql, temporaryDirectory } from '../helpers/stores.ts'
import '../helpers/watch-fetch.ts'
import { plainNode } from '../helpers/plain-node.ts'

const SERVER = join(import.meta.dirname, '..', '..', '.build', 'examples', 'standalone', 'server.js')
const KEY = /uk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}/
const STATIC = 'a-static-key-of-more-than-32-characters!'

interface Service {
  process: ChildProcessByStdio<null, Readable, Readable>
  stdout: () => string
  stderr: () => string
  /** Resolves when the text has come. */
  seen: (pattern: RegExp) => Promise<string>
  /** Resolves to the exit code. */
  ended: Promise<number | null>
}

async function start (t: Test, cwd: string, env: Record<string, string> = {}): Promise<Service> {
  const child = spawn(...plainNode(SERVER), { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], PORT: '0', ...env } })
  t.teardown(() => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => { stdout += String(chunk) })
  child.stderr.on('data', (chunk) => { stderr += String(chunk) })
  const ended = once(child, 'close').then(([code]): number | null => code)
  const seen = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(stdout + stderr)
      if (match !== null) return match[1] ?? match[0]
      if (child.exitCode !== null) throw new Error(`the service ended: ${stderr}`)
      await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended])
    }
  }
  return { process: child, stdout: () => stdout, stderr: () => stderr, seen, ended }
}

async function get (url: string, key?: string): Promise<{ status: number, body: unknown }> {
  const response = await fetch(url, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: await response.json() }
}

test('a first start on SQLite, a second one, and an end', async (t) => {
  const cwd = await temporaryDirectory(t)
  const service = await start(t, cwd)
  const url = await service.seen(/curl -H 'Authorization: Bearer uk_\w+' (\S+)\n/)
  const origin = new URL(url).origin
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1\/users$/)
  const key = KEY.exec(service.stdout())?.[0] ?? ''
  t.match(service.stdout(), new RegExp(`^The first API key of this store, shown this once:\n\n  ${key}\n\nTry it:\n\n  curl -H 'Authorization: Bearer ${key}' ${url}\n\n$`))
  t.strictSame(await get(url, key), { status: 200, body: { data: [], meta: { page: 1, limit: 20, total: 0 } } })
  t.strictSame(await get(`${origin}/health`), { status: 200, body: { status: 'alive' } })
  t.strictSame(await get(`${origin}/ready`), { status: 200, body: { status: 'ready' } })
  const description = await get(`${origin}/openapi.json`)
  t.match(description, { status: 200, body: { openapi: '3.1.0', info: { title: 'Users' }, components: { securitySchemes: { usersApiKey: { type: 'http' } } } } })
  t.strictSame(Object.keys(Object(description.body).paths), ['/v1/users', '/v1/users/{id}'])
  t.equal((await fetch(`${url}?email=canary@example.org`, { headers: { authorization: `Bearer ${key}` } })).status, 200)
  t.ok((await stat(join(cwd, 'data', 'users.db'))).isFile())

  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
  for (const secret of [key, key.slice(16), 'canary']) t.notMatch(service.stderr(), secret)
  const lines = service.stderr().trim().split('\n').map((line) => JSON.parse(line))
  t.ok(lines.some(({ req }) => req?.path === '/v1/users'), 'JSON lines where there is no terminal')
  t.notMatch(service.stderr(), 'no API key yet')

  const again = await start(t, cwd)
  const address = await again.seen(/listening at (http:\/\/[^"]+)/)
  t.equal((await get(`${address}/v1/users`, key)).status, 200, 'the key is still good')
  again.process.kill('SIGINT')
  t.equal(await again.ended, 0)
  t.equal(again.stdout(), '', 'and is not shown again')
})

test('on PostgreSQL, under another prefix', async (t) => {
  const database = `standalone_${process.pid}`
  await sql(`create database ${database}`)
  t.teardown(() => sql(`drop database if exists ${database} with (force)`))
  const connection = new URL(pgUrl())
  connection.pathname = `/${database}`
  const service = await start(t, await temporaryDirectory(t), { DATABASE_URL: connection.href, PREFIX: '/api/', LOG_LEVEL: 'silent' })
  const url = await service.seen(/curl .* (\S+)\n/)
  t.match(url, /\d\/api\/users$/)
  t.equal((await get(url, KEY.exec(service.stdout())?.[0])).status, 200)
  t.equal((await get(`${new URL(url).origin}/ready`)).status, 200)
  // Gone for the service alone: the others of the suite share the server.
  await sql(`alter database ${database} allow_connections false`)
  await sql('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
  t.strictSame(await get(`${new URL(url).origin}/ready`), { status: 503, body: { status: 'unavailable' } })
  t.equal((await get(`${new URL(url).origin}/health`)).status, 200)
  await sql(`alter database ${database} allow_connections true`)
  t.equal((await get(`${new URL(url).origin}/ready`)).status, 200, 'it recovers by itself')
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
  t.equal(service.stderr(), '')
})

test('on an adapter of one\'s own, the LMDB of the examples', async (t) => {
  const cwd = await temporaryDirectory(t)
  const service = await start(t, cwd, { DATABASE_URL: 'lmdb:./data/users' })
  const url = await service.seen(/curl .* (\S+)\n/)
  const key = KEY.exec(service.stdout())?.[0] ?? ''
  const send = (method: string, path: string, body?: object, headers = {}) => fetch(url + path, {
    method, headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }, ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const created = await Promise.all(Array.from({ length: 20 }, (_, i) => send('POST', '', { name: `Zoë ${i}`, email: i % 2 === 0 ? 'zoe@example.org' : 'ZOE@example.org' })))
  t.strictSame(created.map(({ status }) => status).sort(), [201, ...Array.from({ length: 19 }, () => 409)])
  const location = created.find(({ status }) => status === 201)?.headers.get('location') ?? ''
  const path = location.slice('/v1/users'.length)
  const changed = await Promise.all(Array.from({ length: 20 }, (_, i) => send('PATCH', path, { name: `Ann ${i}` }, { 'if-match': '"1"' })))
  t.strictSame(changed.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 412)])
  t.match((await get(`${url}?q=ANN&limit=1`, key)).body, { meta: { total: 1 } })
  t.equal((await get(`${new URL(url).origin}/ready`)).status, 200)
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
  const again = await start(t, cwd, { DATABASE_URL: 'lmdb:./data/users' })
  const address = await again.seen(/listening at (http:\/\/[^"]+)/)
  t.match(await get(address + location, key), { status: 200, body: { email: /^zoe@example.org$/i } }, 'what was answered is there')
  t.equal((await fetch(address + location, { method: 'DELETE', headers: { authorization: `Bearer ${key}` } })).status, 204)
  t.equal(again.stdout(), '')
})

test('on PostgreSQL behind PgBouncer', { skip: pooled.skip }, async (t) => {
  const database = `pooled_${process.pid}`
  await sql(`create database ${database}`)
  t.teardown(() => sql(`drop database if exists ${database} with (force)`))
  const connection = new URL(String(pgBouncerUrl()))
  connection.pathname = `/${database}`
  const service = await start(t, await temporaryDirectory(t), { DATABASE_URL: connection.href, DATABASE_POOLER: 'true' })
  const url = await service.seen(/curl .* (\S+)\n/)
  t.equal((await get(url, KEY.exec(service.stdout())?.[0])).status, 200)
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
})

test('with static keys it makes none', async (t) => {
  const service = await start(t, await temporaryDirectory(t), { DATABASE_URL: 'memory:', API_KEYS: `${STATIC},${'k'.repeat(32)}` })
  const address = await service.seen(/listening at (http:\/\/[^"]+)/)
  for (const key of [STATIC, 'k'.repeat(32)]) t.equal((await get(`${address}/v1/users`, key)).status, 200)
  t.equal((await get(`${address}/v1/users`, 'x'.repeat(32))).status, 401)
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
  t.equal(service.stdout(), '')
})

test('a wrong configuration is a clear message and exit code 1', async (t) => {
  const cwd = await temporaryDirectory(t)
  const wrong = { HOST: '', PORT: '70000', DATABASE_URL: 'mysql://secret@x', DATABASE_POOLER: 'secret', PREFIX: 'v1', API_KEYS: 'secret', LOG_LEVEL: 'loud' }
  const service = await start(t, cwd, wrong)
  t.equal(await service.ended, 1)
  t.equal(service.stderr(), `The configuration is wrong:
  HOST must be a host name or address to listen on
  PORT must be a port number from 0 to 65535
  DATABASE_URL must be sqlite:<path>, postgres://<user>:<password>@<host>/<database>, lmdb:<directory> or memory:
  DATABASE_POOLER must be true or false
  PREFIX must be a path that begins with /, of letters, digits and . _ ~ - /
  API_KEYS must be keys of at least 32 visible ASCII characters each, separated by commas
  LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent
`)
  const unreachable = await start(t, cwd, { DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/x' })
  t.equal(await unreachable.ended, 1)
  t.equal(unreachable.stderr(), 'The service could not start: the database cannot be reached or is busy (ECONNREFUSED)\n')
})

test('SIGTERM under load with keep-alive clients: within 2 seconds, and nobody is cut off', async (t) => {
  const service = await start(t, await temporaryDirectory(t), { LOG_LEVEL: 'info' })
  const url = await service.seen(/curl .* (\S+)\n/)
  const key = KEY.exec(service.stdout())?.[0] ?? ''
  const load = autocannon({ url, connections: 20, duration: 20, timeout: 5, headers: { authorization: `Bearer ${key}` } }, () => {})
  const statuses = new Map<number, number>()
  load.on('response', (_client, status) => statuses.set(status, (statuses.get(status) ?? 0) + 1))
  while ((statuses.get(200) ?? 0) < 500) await once(load, 'response')
  const begun = performance.now()
  service.process.kill('SIGTERM')
  const code = await service.ended
  const took = performance.now() - begun
  load.stop()
  t.equal(code, 0)
  t.ok(took < 2000, `${took} ms`)
  t.strictSame([...statuses.keys()], [200])
  t.match(service.stderr(), '"msg":"closing"')
})

test('SIGTERM ends it in time though sockets say nothing, or half a request', async (t) => {
  for (const text of ['', 'GET /v1/us', 'POST /v1/users HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{']) {
    const service = await start(t, await temporaryDirectory(t), { DATABASE_URL: 'memory:' })
    const url = new URL(await service.seen(/curl .* (\S+)\n/))
    const socket = connect(Number(url.port), url.hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (text !== '') socket.write(text)
    // A whole request on another connection has gone its way, so the half one has been seen.
    await get(`${url.origin}/health`)
    const begun = performance.now()
    service.process.kill('SIGTERM')
    t.equal(await service.ended, 0)
    t.ok(performance.now() - begun < 2000)
    socket.destroy()
  }
})
