// Loggers without serialisers: what our routes hand to them shows no credentials and no query.
import { inspect } from 'node:util'
import Fastify, { type FastifyBaseLogger, type FastifyRequest } from 'fastify'
import { test } from 'tap'
import { guardLoggers } from '../../lib/http/logging/guarded-logger.ts'
import { inject, testApp } from '../helpers/app.ts'
import '../helpers/watch-all.ts'

test('a logger without serialisers gets no request and no reply', async (t) => {
  const lines: unknown[] = []
  // Unlike pino, other loggers print whole objects.
  class Printer {
    level = 'info'
    #bindings: unknown[] = []
    child (...bindings: unknown[]): Printer {
      const child = new Printer()
      child.#bindings = [...this.#bindings, ...bindings]
      return child
    }

    #print (...args: unknown[]): void {
      lines.push(inspect([this.#bindings, ...args], { depth: 9 }))
    }

    fatal = this.#print
    error = this.#print
    warn = this.#print
    info = this.#print
    debug = this.#print
    trace = this.#print
  }
  // Such a logger calls no serialisers, nor these.
  const logSerializers = { req: ({ headers, url }: FastifyRequest) => Object({ headers, url, own: true }) }
  const childLoggerFactory = (logger: FastifyBaseLogger, bindings: object) =>
    logger.child({ ...bindings, traced: 'yes' })
  const { app, call, key } = await testApp(t, {
    logSerializers,
    server: { loggerInstance: Object(new Printer()), childLoggerFactory }
  })
  const onRequest = async (request: FastifyRequest) => request.log.child({ req: request }).info('from the host')
  app.get('/own', { onRequest }, async () => 'x')
  await call('GET', '/users?q=canary')
  const text = lines.join('\n')
  t.notMatch(text, key.slice(16))
  t.notMatch(text, 'canary')
  t.match(text, /incoming request/)
  t.match(text, /request completed/)
  t.match(text, /statusCode: 200/)
  t.match(text, /method: 'GET'/)
  t.match(text, "url: '/v1/users'")
  t.match(text, "traced: 'yes'", 'the factory of the host makes the child')
  await inject(app, 'GET', '/own', { headers: { authorization: 'Bearer shown' } })
  t.match(lines.join('\n'), 'Bearer shown', 'routes of the host are not changed')
})

test('children of such a logger redact requests and replies too', async (t) => {
  const logged: unknown[] = []
  const logger = Object({ level: 'info' })
  for (const name of ['fatal', 'error', 'warn', 'info', 'debug', 'trace']) {
    logger[name] = (...args: unknown[]) => logged.push(args)
  }
  logger.child = () => logger
  const app = Fastify({ loggerInstance: logger })
  await app.register(async (scope) => {
    guardLoggers(scope, {})
    scope.get('/x', async (request) => {
      request.log.child({}).child({}).info({ req: request, n: 1 }, 'x')
      request.log.info({ req: {}, res: { request: {} } }, 'neither')
      request.log.info('text', undefined, { res: { statusCode: 204, secret: 1 } })
      t.equal(Object(request.log).level, 'info')
      return ''
    })
  })
  await app.inject({ url: '/x?q=canary', headers: { authorization: 'Bearer canary' } })
  t.match(logged, [
    [{ req: { method: 'GET', url: '/x' } }, 'incoming request'],
    [{ n: 1, req: { url: '/x', headers: { authorization: '[redacted]' } } }, 'x'],
    [{ req: { method: undefined, headers: {} }, res: { statusCode: undefined, request: {} } }, 'neither'],
    ['text', undefined, { res: { statusCode: 204, secret: undefined } }],
    [{ res: { statusCode: 200 } }, 'request completed']
  ])
  t.notMatch(inspect(logged, { depth: 9 }), 'canary')
  await app.close()
})

test('a logger may read the request and the reply, be frozen, be a function, or have setters', async (t) => {
  const lines: string[] = []
  const level = (object: unknown) => {
    const { req, res } = Object(object)
    if (req !== undefined) {
      lines.push(
        `${req.method} ${req.raw.url} ${req.headers['user-agent']} ${req.headers.authorization} ` +
          `${req.headers.cookie} ${req.id} ${req.ip} ${JSON.stringify(req.query)}`
      )
    }
    if (res !== undefined) {
      lines.push(
        `${res.statusCode} ${res.raw.statusCode} ${res.getHeader('content-type')} ` +
          `${res.hasHeader('etag')} ${typeof res.getHeaders()} ${res.elapsedTime >= 0} ` +
          `${res.request.url}`
      )
    }
  }
  const levels = { fatal: level, error: level, warn: level, info: level, debug: level, trace: level }
  class Settable {
    #shown = 'info'
    get shown (): string { return this.#shown }
    set shown (value: string) { this.#shown = value }
    child (): Settable { return this }
  }
  const settable = Object.assign(new Settable(), levels)
  const frozen: object = Object.freeze({ ...levels, child: () => frozen })
  const callable: object = Object.assign(() => {}, { ...levels, child: () => callable })
  for (const loggerInstance of [settable, frozen, callable]) {
    lines.length = 0
    const { app, call } = await testApp(t, {
      server: { loggerInstance: Object(loggerInstance) },
      before: (app) => {
        app.addHook('onRequest', async ({ log }) => {
          if ('shown' in log) Object(log).shown = 'debug'
        })
      }
    })
    await app.ready()
    const headers = { 'user-agent': 'curl', cookie: 'canary' }
    t.equal((await call('GET', '/users?q=canary', { headers })).statusCode, 200)
    t.strictSame(lines, [
      'GET /v1/users curl [redacted] undefined req-1 127.0.0.1 {}',
      '200 200 application/json; charset=utf-8 false object true /v1/users'
    ])
  }
  t.equal(settable.shown, 'debug')
})
