// What is logged about keys: ids and reasons, at a bounded rate, and never a secret.
import { mock } from 'node:test'
import { inspect } from 'node:util'
import Fastify, { type FastifyBaseLogger, type FastifyReply, type FastifyRequest } from 'fastify'
import pino from 'pino'
import { test } from 'tap'
import { generateKey, keyText } from '../lib/api-keys/key-text.ts'
import { guardLoggers } from '../lib/http/guarded-logger.ts'
import { createSecurityLog } from '../lib/http/security-log.ts'
import { inject, leaksIn, testApp } from './helpers/app.ts'
import { captureLog } from './helpers/log.ts'
import './helpers/watch-all.ts'

const JSON_BODY = { 'content-type': 'application/json' }

test('every refusal of a key is logged with its reason, and tells no secret', async (t) => {
  const log = captureLog()
  const { app } = await testApp(t, { server: { logger: Object({ stream: log.stream }) } })
  const { key, id, start } = await app.users.apiKeys.create({ name: 'watched', expiresIn: 60 })
  const ended = await app.users.apiKeys.create({ name: 'ended' })
  await app.users.apiKeys.revoke(ended.id)
  const unknown = generateKey('uk')
  const malformed = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  // The public beginning of one key before the secret of another.
  const mismatch = keyText({ start, secret: generateKey('uk').secret })
  const send = (token: string) => inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${token}` } })
  const rows: Array<[token: string, logged: object]> = [
    [ended.key, { reason: 'revoked', keyId: ended.id, start: ended.start }],
    [unknown.text, { reason: 'unknown', start: unknown.start }],
    [mismatch, { reason: 'mismatch', keyId: id, start }],
    [malformed, { reason: 'malformed' }],
    [`${key} ${key}`, { reason: 'malformed' }],
    ['nonsense-of-a-stranger', { reason: 'unrecognized' }]
  ]
  for (const [token, logged] of rows) {
    t.equal((await send(token)).statusCode, 401)
    const entry = log.entries().findLast(({ event }) => event === 'api_key.refused')
    t.match(entry, { level: 40, msg: 'an API key was refused', ...logged })
    t.type(entry?.['reqId'], 'string')
    t.equal('keyId' in Object(entry), 'keyId' in logged)
  }
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
  await send(key)
  mock.timers.reset()
  t.match(log.entries().findLast(({ event }) => event === 'api_key.refused'), { reason: 'expired', keyId: id })
  t.equal((await inject(app, 'GET', '/v1/users')).statusCode, 401)
  t.equal(log.entries().filter(({ event }) => event === 'api_key.refused').length, rows.length + 1, 'who sends none is no refusal of a key')
  for (const text of [key, ended.key, unknown.text, mismatch, malformed, 'nonsense-of-a-stranger', 'watched']) t.notMatch(log.text(), text.slice(16))
})

test('a lack of scope and every change of a key are logged', async (t) => {
  const log = captureLog()
  const { app, call } = await testApp(t, { apiKeyRoutes: true, server: { logger: Object({ stream: log.stream }) } })
  const [admin] = (await app.users.apiKeys.list()).data
  const reader = await app.users.apiKeys.create({ name: 'reader', scopes: ['users:read'] })
  t.match(log.entries().at(-1), { level: 30, event: 'api_key.created', keyId: reader.id, start: reader.start, actor: null, msg: 'an API key was changed' })
  await inject(app, 'DELETE', '/v1/users/x', { headers: { authorization: `Bearer ${reader.key}` } })
  t.match(log.entries().find(({ event }) => event === 'api_key.scope_denied'), { level: 40, actor: { type: 'api_key', id: reader.id }, scope: 'users:delete' })
  const made = (await call('POST', '/api-keys', { headers: JSON_BODY, payload: '{"name":"x"}' })).json()
  const turned = (await call('POST', `/api-keys/${made.id}/rotate`)).json()
  await call('DELETE', `/api-keys/${turned.id}`)
  await call('DELETE', `/api-keys/${turned.id}`)
  const actor = { type: 'api_key', id: admin?.id }
  const entries = log.entries().filter(({ event, actor }) => String(event).startsWith('api_key.') && actor !== null && event !== 'api_key.scope_denied')
  t.match(entries, [{ event: 'api_key.created', keyId: made.id, actor }, { event: 'api_key.rotated', keyId: turned.id, rotatedFrom: made.id, actor }, { event: 'api_key.revoked', keyId: turned.id, actor }])
  t.equal(entries.length, 3, 'a revocation that changes nothing is none')
  for (const { reqId } of entries) t.ok(log.entries().some((entry) => entry['reqId'] === reqId && entry['req'] !== undefined), 'it has the id of its request')
})

test('refusals are logged at a bounded rate, and the others are counted', async (t) => {
  const log = captureLog()
  const { app } = await testApp(t, { server: { logger: Object({ stream: log.stream }) } })
  for (let i = 0; i < 50; i++) await inject(app, 'GET', '/v1/users', { headers: { authorization: `Bearer ${generateKey('uk').text}` } })
  for (let i = 0; i < 3; i++) await inject(app, 'GET', '/v1/users', { headers: { authorization: 'Bearer x' } })
  const of = (reason: string) => log.entries().filter((entry) => entry['event'] === 'api_key.refused' && entry['reason'] === reason).length
  t.strictSame([of('unknown'), of('unrecognized')], [20, 3])
  await app.close()
  t.match(log.entries().filter(({ more }) => more !== undefined), [{ level: 40, reason: 'unknown', more: 30, msg: 'more requests were refused for the same reason' }])
})

test('each window begins anew', async (t) => {
  const log = captureLog()
  const securityLog = createSecurityLog(pino(log.stream), 10)
  const request = Object({ log: pino(log.stream) })
  const refuse = () => securityLog.refused(request, { reason: 'unknown', keyId: null, start: null })
  for (let i = 0; i < 25; i++) refuse()
  while (!log.text().includes('"more":5')) await new Promise((resolve) => setImmediate(resolve))
  refuse()
  t.equal(log.entries().filter(({ event }) => event === 'api_key.refused').length, 21)
  securityLog.close()
  t.equal(log.entries().filter(({ more }) => more !== undefined).length, 1, 'nothing is left to say')
})

test('no credentials are logged, whatever the serialiser of the host shows', async (t) => {
  const rows: Array<[name: string, serialize: (request: FastifyRequest) => unknown, shown: object]> = [
    ['headers', ({ url, headers }) => ({ url, headers }), { url: '/v1/users', headers: { authorization: '[redacted]', 'proxy-authorization': '[redacted]', 'x-other': 'shown' } }],
    ['pino’s own', (request) => pino.stdSerializers.req(Object(request)), { method: 'GET', url: '/v1/users', headers: { authorization: '[redacted]' } }],
    ['nested, as ECS has it', ({ headers, originalUrl }) => ({ http: { request: { headers }, url: { original: originalUrl, full: `https://example.org${originalUrl}` } } }), { http: { request: { headers: { authorization: '[redacted]' } }, url: { original: '/v1/users', full: 'https://example.org/v1/users' } } }],
    ['raw lines', ({ raw }) => ({ lines: raw.rawHeaders, age: 5, none: null, at: new Date(0) }), { age: 5, none: null, at: '1970-01-01T00:00:00.000Z' }],
    ['a text', ({ method, url }) => `${method} ${url}`, Object('GET /v1/users')],
    ['too deep', ({ headers }) => ({ a: { b: { c: { d: { e: { f: { headers } } } } } } }), { a: { b: { c: { d: { e: { f: '[redacted]' } } } } } }]
  ]
  for (const [name, serialize, shown] of rows) {
    for (const place of ['server', 'plugin']) {
      const log = captureLog()
      const serializers = { req: (request: FastifyRequest) => Object(serialize(request)).valueOf() }
      const { call, key } = await testApp(t, { ...(place === 'plugin' && { logSerializers: serializers }), server: { logger: Object({ stream: log.stream, ...(place === 'server' && { serializers }) }) } })
      await call('GET', '/users?q=canary', { headers: { 'x-other': 'shown', 'proxy-authorization': 'Basic canary' } })
      t.notMatch(log.text(), key.slice(16), name)
      if (name !== 'raw lines') t.notMatch(log.text(), 'canary', name)
      const logged = log.entries().find(({ req }) => req !== undefined)?.['req']
      t.match(typeof logged === 'string' ? { logged } : logged, typeof logged === 'string' ? { logged: 'GET /v1/users' } : shown, name)
    }
  }
})

test('a logger that knows no serialisers is handed no request and no reply', async (t) => {
  const lines: unknown[] = []
  // As loggers other than pino print what they are given: whole.
  class Printer {
    level = 'info'
    #bindings: unknown[] = []
    child (...bindings: unknown[]): Printer {
      const child = new Printer()
      child.#bindings = [...this.#bindings, ...bindings]
      return child
    }

    #print (...given: unknown[]): void { lines.push(inspect([this.#bindings, ...given], { depth: 9 })) }
    fatal = this.#print
    error = this.#print
    warn = this.#print
    info = this.#print
    debug = this.#print
    trace = this.#print
  }
  // Such a logger asks no serialisers, ours neither.
  const logSerializers = { req: ({ headers, url }: FastifyRequest) => Object({ headers, url, own: true }) }
  for (const childLoggerFactory of [undefined, (logger: FastifyBaseLogger, bindings: object) => logger.child({ ...bindings, traced: 'yes' })]) {
    lines.length = 0
    const { app, call, key } = await testApp(t, { logSerializers, server: { loggerInstance: Object(new Printer()), ...(childLoggerFactory && { childLoggerFactory }) } })
    app.get('/own', { onRequest: async (request) => request.log.child({ req: request }).info('the host’s own') }, async () => 'x')
    await call('GET', '/users?q=canary')
    const text = lines.join('\n')
    t.notMatch(text, key.slice(16))
    t.notMatch(text, 'canary')
    t.match(text, /incoming request/)
    t.match(text, /request completed/)
    t.match(text, /statusCode: 200/)
    t.match(text, /method: 'GET'/)
    t.match(text, "url: '/v1/users'")
    t.equal(text.includes("traced: 'yes'"), childLoggerFactory !== undefined, 'the host’s own factory makes the child')
    await inject(app, 'GET', '/own', { headers: { authorization: 'Bearer shown' } })
    t.match(lines.join('\n'), 'Bearer shown', 'routes of the host are its own affair')
  }
})

test('what a route of ours gives a child of such a logger is guarded as well', async (t) => {
  const given: unknown[] = []
  const logger = Object({ level: 'info' })
  for (const name of ['fatal', 'error', 'warn', 'info', 'debug', 'trace']) logger[name] = (...args: unknown[]) => given.push(args)
  logger.child = () => logger
  const app = Fastify({ loggerInstance: logger })
  await app.register(async (scope) => {
    guardLoggers(scope)
    scope.get('/x', async (request) => {
      request.log.child({}).child({}).info({ req: request, n: 1 }, 'x')
      request.log.info({ req: {}, res: { request: {} } }, 'neither')
      request.log.info('text', undefined, { res: { statusCode: 204, secret: 1 } })
      t.equal(Object(request.log).level, 'info')
      return ''
    })
  })
  await app.inject({ url: '/x?q=canary', headers: { authorization: 'Bearer canary' } })
  t.match(given, [[{ req: { method: 'GET', url: '/x' } }, 'incoming request'], [{ n: 1, req: { url: '/x', headers: { authorization: '[redacted]' } } }, 'x'], [{ req: { method: undefined, headers: {} }, res: { statusCode: undefined, request: {} } }, 'neither'], ['text', undefined, { res: { statusCode: 204, secret: undefined } }], [{ res: { statusCode: 200 } }, 'request completed']])
  t.notMatch(inspect(given, { depth: 9 }), 'canary')
  await app.close()
})

test('a logger may look into what it is handed, be frozen, a function, or take settings', async (t) => {
  const lines: string[] = []
  const level = (object: unknown) => {
    const { req, res } = Object(object)
    if (req !== undefined) lines.push(`${req.method} ${req.raw.url} ${req.headers['user-agent']} ${req.headers.authorization} ${req.headers.cookie} ${req.id} ${req.ip} ${JSON.stringify(req.query)}`)
    if (res !== undefined) lines.push(`${res.statusCode} ${res.raw.statusCode} ${res.getHeader('content-type')} ${res.hasHeader('etag')} ${typeof res.getHeaders()} ${res.elapsedTime >= 0} ${res.request.url}`)
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
        app.addHook('onRequest', async ({ log }) => { if ('shown' in log) Object(log).shown = 'debug' })
      }
    })
    await app.ready()
    t.equal((await call('GET', '/users?q=canary', { headers: { 'user-agent': 'curl', cookie: 'canary' } })).statusCode, 200)
    t.strictSame(lines, ['GET /v1/users curl [redacted] undefined req-1 127.0.0.1 {}', '200 200 application/json; charset=utf-8 false object true /v1/users'])
  }
  t.equal(settable.shown, 'debug')
})

test('a factory of the host’s that drops the serialisers opens no gap', async (t) => {
  for (const [name, serializers] of [['its own', { req: ({ headers, url }: FastifyRequest) => Object({ headers, url }), res: ({ request }: FastifyReply) => Object({ headers: request.headers, url: request.url }) }], ['Fastify’s', {}]] as const) {
    const log = captureLog()
    const { call, key } = await testApp(t, { server: { logger: Object({ stream: log.stream, serializers }), childLoggerFactory: (logger, bindings) => logger.child({ ...bindings, traced: 'yes' }) } })
    await call('GET', '/users?q=canary')
    t.notMatch(log.text(), key.slice(16), name)
    t.notMatch(log.text(), 'canary', name)
    t.match(log.entries().filter(({ req, res }) => (req ?? res) !== undefined), [{ traced: 'yes', req: { url: '/v1/users' } }, { traced: 'yes' }])
  }
})

test('where there is no logger, none is made', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async (scope) => {
    guardLoggers(scope)
    scope.get('/x', async ({ log }) => String(log === app.log))
  })
  t.equal((await app.inject('/x')).body, 'true')
})

test('what a good key may not give, and whoever comes too often, is logged', async (t) => {
  const log = captureLog()
  const { app } = await testApp(t, { apiKeyRoutes: true, rateLimit: { max: 1, window: 60 }, server: { logger: Object({ stream: log.stream }) } })
  const { id, key } = await app.users.apiKeys.create({ name: 'x', scopes: ['keys:write'] })
  const send = () => inject(app, 'POST', '/v1/api-keys', { headers: { authorization: `Bearer ${key}`, ...JSON_BODY }, payload: '{"name":"x","scopes":["users:delete"]}' })
  t.strictSame([(await send()).statusCode, (await send()).statusCode], [403, 429])
  const actor = { type: 'api_key', id }
  t.match(log.entries().filter(({ level }) => level === 40), [{ event: 'api_key.grant_denied', actor }, { event: 'api_key.rate_limited', actor }])
})

test('the search that every other test ends with finds what it is there for', (t) => {
  const { text } = generateKey('uk')
  t.strictSame(leaksIn(`{"msg":"${text}"}`, []), [text])
  t.strictSame(leaksIn('an error at Ann.B+x@example.org: no', []), ['Ann.B+x@example.org:'.slice(0, -1)])
  t.strictSame(leaksIn('{"name":"Grace Hopper"}', ['Grace Hopper', 'Ada']), ['Grace Hopper'])
  t.strictSame(leaksIn('at node_modules/@fastify/error/index.js uk_ABCDEFGHIJKL', ['Grace Hopper']), [])
  t.end()
})
