// What we use beyond the documented interfaces of Fastify and its packages. If one of these tests fails, read
// lib/http/fastify-internals.ts again with the new version.
import dns from 'node:dns'
import { METHODS } from 'node:http'
import Fastify from 'fastify'
import * as rateLimit from '@fastify/rate-limit'
import { test } from 'tap'
import {
  furtherServers, isSilent, type RateLimitPackage, routeEveryMethod, SERIALIZERS
} from '../../lib/http/fastify-internals.ts'
import { continueWhenRead } from '../../lib/http/admission/late-continue.ts'
import { captureLog } from '../helpers/log.ts'

test('pino keeps its serialisers under a symbol, also on the logger of a request', async (t) => {
  const req = () => ({ shown: true })
  const app = Fastify({ logger: { stream: captureLog().stream, serializers: { req } } })
  t.teardown(() => app.close())
  t.equal(
    Object(app.log)[SERIALIZERS].req,
    req,
    'otherwise a host with its own serialisers logs queries and credentials: find where pino keeps them now'
  )
  app.get('/', async ({ log }) => ({ known: SERIALIZERS in log }))
  t.strictSame(
    (await app.inject('/')).json(),
    { known: true },
    'otherwise loggers of requests are wrapped although they have serialisers: find where pino keeps them now'
  )
})

const ABSTRACT_LOGGING_CHANGED =
  'Fastify no longer uses abstract-logging without a logger: find its new silent logger, and change isSilent to that'

test('a host with `logger: false` is silent, and so is the logger of each request', async (t) => {
  for (const options of [{ logger: false }, {}]) {
    const app = Fastify(options)
    t.teardown(() => app.close())
    app.get('/', async ({ log }) => ({ silent: isSilent(log) }))
    t.equal(isSilent(app.log), true, ABSTRACT_LOGGING_CHANGED)
    t.strictSame((await app.inject('/')).json(), { silent: true }, ABSTRACT_LOGGING_CHANGED)
  }
})

test('a logger that prints every level by one function is not silent', async (t) => {
  const print = () => {}
  const levels = { fatal: print, error: print, warn: print, info: print, debug: print, trace: print, silent: print }
  const logger: object = { ...levels, level: 'info', child: () => logger }
  const app = Fastify({ loggerInstance: Object(logger) })
  t.teardown(() => app.close())
  app.get('/', async ({ log }) => ({ silent: isSilent(log) }))
  t.equal(isSilent(app.log), false, 'otherwise a host with such a logger loses our log lines')
  t.strictSame((await app.inject('/')).json(), { silent: false })
})

test('a logger is not silent if only some of its levels are', async (t) => {
  const silent = Object(Fastify().log)
  for (const level of ['fatal', 'error', 'warn', 'info', 'debug', 'trace']) {
    t.equal(isSilent({ ...silent, [level]: () => {} }), false, `it may print queries and credentials at ${level}`)
    t.equal(isSilent({ ...silent, [level]: undefined }), false)
  }
})

test('a logger of pino is not silent', async (t) => {
  const app = Fastify({ logger: { stream: captureLog().stream } })
  t.teardown(() => app.close())
  t.equal(isSilent(app.log), false)
})

test('@fastify/rate-limit exports how it counts addresses', async (t) => {
  const { normalizeIP }: RateLimitPackage = Object(rateLimit)
  t.equal(normalizeIP('192.0.2.1'), '192.0.2.1', 'otherwise authFailures must reduce an IPv6 address to its network')
  t.equal(normalizeIP('2001:db8::1'), normalizeIP('2001:db8::2'), 'addresses of one network are one caller')
})

test('a scope can route every method that Node.js parses, and its host does not', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const before = app.supportedMethods
  await app.register(async (scope) => {
    routeEveryMethod(scope)
    const others = METHODS.filter((method) => method !== 'CONNECT')
    t.strictSame(
      others.filter((method) => !scope.supportedMethods.some((each) => each === method)),
      [],
      'otherwise an unusual method is answered with 404: find where Fastify keeps what a server accepts now'
    )
  })
  t.strictSame(app.supportedMethods, before)
})

test('a host that listens on several addresses has a server for each', async (t) => {
  t.intercept(dns, 'lookup', {
    value: (host: string, ...[options, done = options]: unknown[]) => {
      const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
      const one = [host === 'localhost' ? '127.0.0.1' : host, 4]
      Reflect.apply(Object(done), null, [null, ...Object(options).all === true ? [addresses] : one])
    }
  })
  const app = Fastify()
  t.teardown(() => app.close())
  continueWhenRead(app)
  await app.listen({ port: 0, host: 'localhost' })
  t.strictSame(
    furtherServers(app).map((server) => [Object(server.address()).address, server.listenerCount('checkContinue')]),
    [['127.0.0.2', 1]],
    'otherwise clients with Expect: 100-continue send bodies to it before their keys were checked'
  )
  t.strictSame(furtherServers(Object({})), [])
})

test('a server without a list of methods stays as it is', (t) => {
  const server = { supportedMethods: ['GET'] }
  routeEveryMethod(Object(server))
  t.strictSame(server, { supportedMethods: ['GET'] })
  t.end()
})

test('the plugin registers with a Fastify version of the declared range', async (t) => {
  const { default: users } = await import('../../lib/index.ts')
  const { memory } = await import('../../adapters/memory/index.ts')
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(users, { storage: memory() })
  t.match(
    app.version,
    /^[56]\./,
    'otherwise change the range in lib/plugin.ts and in peerDependencies.fastify together'
  )
})
