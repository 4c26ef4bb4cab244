// What we use beyond the documented interfaces of Fastify and its packages. If one of these tests fails, read
// lib/http/fastify-internals.ts again with the new version.
import dns from 'node:dns'
import Fastify from 'fastify'
import { test } from 'tap'
import { furtherServers, isSilent, routeEveryMethod } from '../../lib/http/fastify-internals.ts'
import { continueWhenRead } from '../../lib/http/admission/late-continue.ts'
import { captureLog } from '../helpers/log.ts'

test('a host without a logger is silent, and so are its requests; any other logger may print', async (t) => {
  const print = () => {}
  const levels = { fatal: print, error: print, warn: print, info: print, debug: print, trace: print, silent: print }
  const printing: object = { ...levels, level: 'info', child: () => printing }
  for (const [options, silent] of [
    [{ logger: false }, true],
    [{}, true],
    [{ logger: { stream: captureLog().stream } }, false],
    // It prints every level by one function.
    [{ loggerInstance: Object(printing) }, false]
  ] as const) {
    const app = Fastify(options)
    t.teardown(() => app.close())
    app.get('/', async ({ log }) => ({ silent: isSilent(log) }))
    t.strictSame([isSilent(app.log), (await app.inject('/')).json()], [silent, { silent }],
      'if Fastify no longer uses abstract-logging: find its new silent logger, and change isSilent to that')
  }
  const silent = Object(Fastify().log)
  for (const level of ['fatal', 'error', 'warn', 'info', 'debug', 'trace']) {
    t.equal(isSilent({ ...silent, [level]: () => {} }), false, `it may print queries and credentials at ${level}`)
    t.equal(isSilent({ ...silent, [level]: undefined }), false)
  }
})

test('a scope that routes every method leaves its host as it is', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const before = app.supportedMethods
  await app.register(async (scope) => {
    routeEveryMethod(scope)
    t.ok(scope.supportedMethods.length > before.length, 'find where Fastify keeps what a server accepts now')
  })
  t.strictSame(app.supportedMethods, before)
  const other = { supportedMethods: ['GET'] }
  routeEveryMethod(Object(other))
  t.strictSame(other, { supportedMethods: ['GET'] }, 'a server that keeps them elsewhere stays as it is')
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
