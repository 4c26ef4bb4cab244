// The log of our routes shows no credentials and no query, with pino and any serialiser of the host.
import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'
import pino from 'pino'
import { test } from 'tap'
import { maskedPath, withoutMasked } from '../../lib/http/logging/masked-path.ts'
import { webhooks } from '../../lib/webhooks.ts'
import { testApp } from '../helpers/app.ts'
import { captureLog } from '../helpers/log.ts'
import { listen } from '../helpers/raw.ts'
import { until } from '../helpers/until.ts'
import '../helpers/watch-all.ts'

test('logs no credentials, whatever the serialiser of the host shows', async (t) => {
  const rows: Array<[name: string, serialize: (request: FastifyRequest) => unknown, shown: unknown]> = [
    [
      'headers',
      ({ url, headers }) => ({ url, headers }),
      {
        url: '/v1/users',
        headers: { authorization: '[redacted]', 'proxy-authorization': '[redacted]', 'x-other': 'shown' }
      }
    ],
    [
      'of pino',
      (request) => pino.stdSerializers.req(Object(request)),
      { method: 'GET', url: '/v1/users', headers: { authorization: '[redacted]' } }
    ],
    // More forms of what is redacted: log-serializers.test.ts.
    ['a text', ({ method, url }) => `${method} ${url}`, 'GET /v1/users']
  ]
  for (const [name, serialize, shown] of rows) {
    // What is shown is the same wherever the serialiser is given, and whoever makes the loggers of requests.
    const childLoggerFactory: FastifyServerOptions['childLoggerFactory'] = (logger, bindings) =>
      logger.child({ ...bindings, traced: 'yes' })
    for (const place of ['server', ...name === 'headers' ? ['plugin', 'factory'] : []]) {
      const log = captureLog()
      const req = (request: FastifyRequest) => Object(serialize(request)).valueOf()
      const serializers = { req, res: ({ request }: FastifyReply) => req(request) }
      const { call, key } = await testApp(t, {
        ...(place === 'plugin' && { logSerializers: serializers }),
        server: {
          logger: Object({ stream: log.stream, ...(place !== 'plugin' && { serializers }) }),
          ...(place === 'factory' && { childLoggerFactory })
        }
      })
      await call('GET', '/users?q=canary', {
        headers: { 'x-other': 'shown', 'proxy-authorization': 'Basic canary' }
      })
      t.notMatch(log.text(), key.slice(16), name)
      t.notMatch(log.text(), 'canary', name)
      t.match(log.entries().find(({ req }) => req !== undefined), {
        req: shown, ...(place === 'factory' && { traced: 'yes' })
      }, name)
    }
  }
})

test('of the path of a request, logs the words that are ours and ids', async (t) => {
  const id = 'usr_01h455vb4pex5vsknk084sn02q'
  const deliveries = '/webhooks/whk_01h455vb4pex5vsknk084sn02q/deliveries'
  const delivery = 'dlv_01h455vb4pex5vsknk084sn02q'
  const text = 'uk_00000000000a_' + '0'.repeat(49)
  const rows: Array<[method: string, path: string, shown: string]> = [
    ['GET', '/users', '/v1/users'],
    ['GET', `/users/${id}`, `/v1/users/${id}`],
    ['GET', '/users/ann%40example.org?q=x', '/v1/users/:id'],
    ['PROPFIND', '/users/ann%20lee%2Fann@example.org', '/v1/users/:id'],
    ['POST', `/api-keys/${text}/rotate`, '/v1/api-keys/:id/rotate'],
    ['POST', `/webhooks/${text}/test`, '/v1/webhooks/:id/test'],
    ['POST', `${deliveries}/ann@example.org/retry`, `/v1${deliveries}/:delivery/retry`],
    ['POST', `${deliveries}/${delivery}/retry`, `/v1${deliveries}/${delivery}/retry`],
    ['GET', '/users/ann@example.org/plan', '/v1/users/*/*'],
    ['GET', `/users/${id}/ann%40example.org`, `/v1/users/${id}/*`],
    ['GET', '/user/ann@example.org', '/v1/*/*'],
    ['GET', '/users;email=ann%40example.org', '/v1/users'],
    ['GET', '/users/a;ann%40example.org', '/v1/users/:id'],
    ['GET', `/user/ann@example.org${'/ann'.repeat(3000)}`, '/v1/*'],
    ['GET', `/ann@example.org/${'x'.repeat(200)};ann`, '/v1/*'],
    ['GET', `/${'x'.repeat(200)}?q=ann`, '/v1/*']
  ]
  const whole = ({ url, originalUrl, params, raw, ip }: FastifyRequest) => ({
    url,
    full: `https://example.org${originalUrl}`,
    params,
    pathParams: params,
    id: Object(params).id,
    ip,
    line: `${raw.method} ${raw.url} HTTP/1.1`,
    json: JSON.stringify({ url, params })
  })
  const everything = { req: whole, res: ({ request }: FastifyReply) => whole(request) }
  for (const [serializers, useSemicolonDelimiter] of [[{}, false], [everything, false], [everything, true]] as const) {
    const log = captureLog()
    const { app, call } = await testApp(t, {
      apiKeys: { routes: true },
      eventLog: true,
      server: { logger: Object({ stream: log.stream, serializers }), routerOptions: Object({ useSemicolonDelimiter }) }
    })
    await app.register(webhooks, { deliver: false })
    for (const [method, path, shown] of rows) {
      const before = log.entries().length
      await call(method, path)
      const lines = log.entries().slice(before)
      t.match(lines.find(({ req }) => req !== undefined)?.['req'], { url: shown }, `${method} ${shown}`)
      t.notMatch(JSON.stringify(lines), /ann|uk_0/, `${method} ${shown}`)
    }
  }
})

test('a request that has lost its connection is logged all the same', async (t) => {
  const unreadable = { res: ({ request }: FastifyReply) => Object({ address: request.ip }) }
  const plain = (log: (...args: unknown[]) => void): object => ({
    fatal: log, error: log, warn: log, info: log, debug: log, trace: log, child: () => plain(log)
  })
  for (const [name, shown, logger] of [
    ['with the serialisers of Fastify', { statusCode: 500 }, (stream: object) => ({ logger: { stream } })],
    ['with one that can read nothing', '[unreadable]', (stream: object) => (
      { logger: { stream, serializers: unreadable } })],
    ['without serialisers', { statusCode: 500, request: { method: 'POST', url: '/v1/users/import' } },
      (stream: NodeJS.WritableStream) => ({
        loggerInstance: plain((line, msg) => {
          if (Object(line).res !== undefined) stream.write(`${JSON.stringify({ ...Object(line), msg })}\n`)
        })
      })]
  ] as const) {
    const log = captureLog()
    const { app, key } = await testApp(t, {
      server: Object({ trustProxy: true, ...logger(log.stream) }),
      // To leave such a loop destroys the request, and takes its socket from it.
      before: (app) => {
        app.addHook('preHandler', async ({ raw }) => {
          const parts = raw[Symbol.asyncIterator]()
          await parts.next()
          await parts.return?.()
        })
      }
    })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' }
    const url = `http://127.0.0.1:${await listen(app)}/v1/users/import`
    const response = await fetch(url, { method: 'POST', headers, body: 'name,email\n' })
    t.equal(response.status, 500, name)
    await until('its end is logged', () => log.text().includes('request completed'))
    t.match(log.entries().find(({ msg }) => msg === 'request completed')?.['res'], shown, name)
  }
})

test('of a long unknown path only its beginning is masked part by part', async (t) => {
  const rest = Array.from({ length: 5000 }, (_, n) => n).join('/')
  const request = { is404: true, url: `/v1/${rest}`, server: { prefix: '/v1' } }
  const path = maskedPath(request)
  t.ok(path.labels.size < 128, 'whoever sends 16 KiB would have the log work for 40 ms')
  const shown = (text: string) => withoutMasked(text, path)
  t.equal(shown(`GET /v1/${rest} and http://x/v1/${rest}?q "/v1/${rest}"`), 'GET /v1/* and http://x/v1/* "/v1/*"')
  t.equal(shown(rest), '*')
  t.equal(shown('application/json'), 'application/json')
  t.equal(shown('1'), '*')
})

test('a path hides nothing else of a request from the log', async (t) => {
  for (const [method, path, shown] of [
    ['GET', '/users/127.0.0.1', '/v1/users/127.0.0.1'],
    ['GET', '/unknown/127.0.0.1/localhost:80', '/v1/*/127.0.0.1/localhost:80'],
    ['DELETE', '/users/DELETE', '/v1/users/DELETE']
  ] as const) {
    const log = captureLog()
    const { call } = await testApp(t, { server: { logger: Object({ stream: log.stream }) } })
    await call(method, path)
    t.strictSame(log.entries().find(({ req }) => req !== undefined)?.['req'], {
      method, url: shown, host: 'localhost:80', remoteAddress: '127.0.0.1'
    }, path)
  }
})
