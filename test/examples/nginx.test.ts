// deploy/nginx.conf before the standalone service, as a real nginx reads it.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer as createHttpServer, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type Test } from 'tap'
import { rawRequest } from '../helpers/raw.ts'
import { freePort, KEY, startService } from '../helpers/service.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { until } from '../helpers/until.ts'

const CONFIG = join(import.meta.dirname, '..', '..', 'deploy', 'nginx.conf')
const NGINX = ['/usr/sbin/nginx', 'nginx'].find((path) => spawnSync(path, ['-v']).status === 0)
const skip = NGINX === undefined && 'nginx is not installed'

/** Starts nginx with the file, on free ports, with a certificate of its own; `around`: settings of the machine's. */
async function startNginx (
  t: Test,
  service: URL,
  around = ''
): Promise<{ http: number, https: number, log: string }> {
  const directory = await temporaryDirectory(t)
  const [http, https] = [await freePort(), await freePort()]
  const [cert, key, log] = ['cert.pem', 'key.pem', 'access.log'].map((name) => join(directory, name))
  execFileSync('openssl', [
    'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key ?? '', '-out', cert ?? '', '-days', '1',
    '-subj', '/CN=users.example.org'
  ], { stdio: 'ignore' })
  const replacements: Array<[RegExp, string]> = [
    [/server 127\.0\.0\.1:3000;/, `server ${service.host};`], [/listen 80;/, `listen 127.0.0.1:${http};`],
    [/listen 443 ssl http2;/, `listen 127.0.0.1:${https} ssl http2;`], [/ {2}listen \[::\]:.*\n/g, ''],
    [/ssl_certificate \S+;/, `ssl_certificate ${cert};`], [/ssl_certificate_key \S+;/, `ssl_certificate_key ${key};`],
    [/access_log \S+ /g, `access_log ${log} `]
  ]
  let settings = await readFile(CONFIG, 'utf8')
  for (const [pattern, replacement] of replacements) {
    t.match(settings, pattern)
    settings = settings.replace(pattern, replacement)
  }
  await mkdir(join(directory, 'temp'))
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(directory, 'temp', name)};`).join('\n')
  const config = join(directory, 'nginx.conf')
  await writeFile(config, `daemon off;\nmaster_process off;\npid ${join(directory, 'pid')};\nerror_log stderr;\n` +
    `events {}\nhttp {\naccess_log off;\n${around}\n${paths}\n${settings}\n}\n`)
  const args = ['-p', directory, '-c', config, '-e', 'stderr']
  const child = spawn(NGINX ?? '', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => { stderr += String(chunk) })
  const answers = () => new Promise<boolean>((resolve) => {
    httpRequest({ port: http, host: '127.0.0.1' }, (response) => resolve(response.resume() !== null))
      .on('error', () => resolve(false)).end()
  })
  await until('nginx answers', async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${stderr}`)
    return answers()
  })
  return { http, https, log: log ?? '' }
}

/** Sends a request and waits for the head of its answer. */
async function open (options: RequestOptions, body?: string) {
  const target = { host: '127.0.0.1', rejectUnauthorized: false, servername: 'users.example.org' }
  const request = httpsRequest({ ...target, ...options })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  if (options.method === 'POST' && body === undefined) request.flushHeaders()
  else request.end(body)
  return { request, response }
}

test('nginx with deploy/nginx.conf tells the service its own name, whatever a client claims', { skip }, async (t) => {
  const service = createHttpServer((request, response) => { response.end(JSON.stringify(request.headers)) })
  await once(service.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => service.close())
  const { port }: AddressInfo = Object(service.address())
  const { https } = await startNginx(t, new URL(`http://127.0.0.1:${port}`))
  for (const path of ['/v1/users', '/v1/events']) {
    const headers = {
      host: 'evil.example',
      forwarded: 'for=192.0.2.1;host=evil.example',
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http'
    }
    const { response } = await open({ port: https, path, headers }, '')
    t.strictSame(JSON.parse(await text(await response)), {
      host: 'users.example.org', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https'
    }, path)
  }
})

test('nginx with deploy/nginx.conf before the service', { skip }, async (t) => {
  const service = startService(t, await temporaryDirectory(t), {
    DATABASE_URL: 'memory:', EVENT_LOG: 'true', METRICS_ENABLED: 'true', TRUST_PROXY: '127.0.0.1'
  })
  const url = new URL(await service.printed(/curl .* (\S+)\n/))
  const authorization = `Bearer ${KEY.exec(service.stdout())?.[0]}`
  // The machine compresses what it may.
  const compressing = 'gzip on; gzip_proxied any; gzip_min_length 1; gzip_types *;'
  const { http, https, log } = await startNginx(t, url, compressing)
  const sent = (method: string, path: string, more = {}, body?: string) =>
    open({ port: https, path, method, headers: { authorization, ...more } }, body)
  const answerTo = async (method: string, path: string, more = {}, body = '') => {
    const { response } = await sent(method, path, more, body)
    const { statusCode, headers } = await response
    return { status: statusCode, headers, text: await text(await response) }
  }
  const json = { 'content-type': 'application/json' }
  const accept = { accept: 'text/event-stream' }

  await t.test('leads to its own name, and splits no response', async (t) => {
    for (const [path, host] of [
      ['/admin%0d%0aSet-Cookie:%20own=1', 'users.example.org'],
      ['/docs/%0aX-Own:1?q=%0d%0aX-Own:1', 'users.example.org'],
      ['/admin/', 'evil.example'], ['//evil.example/../admin', 'users.example.org']
    ]) {
      const answer = await rawRequest(http, [`GET ${path} HTTP/1.0`, `Host: ${host}`])
      const [head = ''] = answer.split('\r\n\r\n')
      const [status, ...fields] = head.split('\r\n')
      t.equal(status, 'HTTP/1.1 301 Moved Permanently')
      t.ok(fields.includes(`Location: https://users.example.org${path}`), head)
      t.strictSame(fields.map((field) => field.split(':')[0]),
        ['Server', 'Date', 'Content-Type', 'Content-Length', 'Connection', 'Location'], 'and nothing else')
    }
    t.equal((await fetch(`http://127.0.0.1:${http}/v1/users`, { redirect: 'manual' })).status, 403, 'keys need TLS')
    const logged = await readFile(log, 'utf8')
    t.match(logged, '"GET /admin%0d%0aSet-Cookie:%20own=1" 301', 'as it was sent')
    t.match(logged, '"GET /docs/%0aX-Own:1" 301', 'without its query')
  })

  await t.test('serves over TLS, in bounds, and shows no metrics', async (t) => {
    t.equal((await fetch(new URL('/metrics', url))).status, 200, 'the service has them')
    for (const [path, status] of [
      ['/v1/users?q=canary', 200], ['/admin/', 200], ['/metrics', 404], ['//metrics', 404], ['/%6detrics', 404]
    ] as const) t.equal((await answerTo('GET', path)).status, status, path)
    for (const [mib, status] of [[1, 400], [3, 413]] as const) {
      const { status: is } = await answerTo('POST', '/v1/users/batch', json, 'x'.repeat(mib * 1024 * 1024))
      t.equal(is, status, `a batch of ${mib} MiB`)
    }
    const logged = await readFile(log, 'utf8')
    t.match(logged, /"GET \/v1\/users" 200/)
    t.notMatch(logged, 'canary')
  })

  await t.test('keeps ETags strong', async (t) => {
    const zipped = { ...json, 'accept-encoding': 'gzip' }
    const made = await answerTo('POST', '/v1/users', zipped, '{"name":"Ann","email":"ann@example.org"}')
    const path = `/v1/users/${JSON.parse(made.text).id}`
    const got = await answerTo('GET', path, zipped)
    const changed = await answerTo('PATCH', path, { ...zipped, 'if-match': String(got.headers.etag) }, '{"name":"A"}')
    t.strictSame([got.headers.etag, changed.status], ['"1"', 200])
    for (const { headers } of [made, got, changed]) t.equal(headers['content-encoding'], undefined)
  })

  await t.test('gives an event while the stream is open, and answers an import while it is sent', async (t) => {
    const stream = await sent('GET', '/v1/events?after=now', accept, '')
    let events = ''
    const streaming = await stream.response
    streaming.on('data', (chunk) => { events += String(chunk) }).on('error', () => {})
    const imported = await sent('POST', '/v1/users/import?report=all', { 'content-type': 'application/x-ndjson' })
    imported.request.write('{"name":"Bob","email":"bob@example.org"}\n')
    let lines = ''
    const importing = await imported.response
    importing.on('data', (chunk) => { lines += String(chunk) })
    await until('the first line is answered', () => lines.includes('"created"'))
    await until('the event came', () => events.includes('user.created'))
    imported.request.end()
    await once(importing, 'end')
    t.match(lines, /"summary"/)
    stream.request.destroy()
    t.match((await answerTo('GET', '/v1/users/export')).text, /bob@example\.org/)
  })
})
