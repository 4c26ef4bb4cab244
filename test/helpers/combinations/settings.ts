// The settings of a Fastify server.
import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { inspect } from 'node:util'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { type Level, type Logged, onOff } from './level.ts'

type Log = (line: Logged) => void

/** A stream that pino writes to. */
const pinoStream = (log: Log): Writable => new Writable({
  write (chunk, _encoding, done) {
    const text = String(chunk)
    log({ level: String(Object({ 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' })[JSON.parse(text).level]), text })
    done()
  }
})

/** A logger that is not pino's, has no serialisers, and prints whatever it gets. */
function plainLogger (log: Log): object {
  const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'].map((level) =>
    [level, (...given: unknown[]) => log({ level, text: inspect(given, { getters: true }) })])
  const logger = { ...Object.fromEntries(levels), silent: () => {}, level: 'trace', child: () => Object.freeze(logger) }
  return logger
}

const serializers = {
  req: ({ method, url, ip, ips, host, protocol, headers, socket }: Record<string, unknown>) =>
    ({ method, url, ip, ips, host, protocol, headers, port: Object(socket).remotePort }),
  res: ({ statusCode, elapsedTime, raw }: Record<string, unknown>) => ({
    statusCode, elapsedTime, sent: Object(raw).headersSent
  })
}

const childLoggerFactory = (
  logger: FastifyBaseLogger, bindings: object, options: object, raw: { headers: object }
): FastifyBaseLogger => logger.child({ ...bindings, ofHost: Object.keys(raw.headers).length }, options)

const logger: Record<string, Level> = {
  pino: { server: (log) => ({ logger: { level: 'trace', stream: pinoStream(log) } }) },
  'a logger without serialisers': { server: (log) => ({ loggerInstance: plainLogger(log) }) },
  'a factory of child loggers': {
    server: (log) => ({ logger: { level: 'trace', stream: pinoStream(log), serializers }, childLoggerFactory })
  }
}

/** Replaces everything that Fastify lets a host replace. */
function replaceEverything (app: FastifyInstance): void {
  app.setValidatorCompiler(() => { throw new Error('the host has no validators') })
  app.setSerializerCompiler(() => { throw new Error('the host has no serialisers') })
  app.setReplySerializer(() => 'the host serialises')
  app.setSchemaErrorFormatter(() => new Error('the host formats'))
  app.setErrorHandler((_error, _request, reply) => reply.code(418).send('the host handles'))
  app.setNotFoundHandler((_request, reply) => reply.code(418).send('the host finds nothing'))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, _body, done) => {
    done(null, { parsed: 'by the host' })
  })
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, { parsed: 'by the host' }))
  app.addSchema({ $id: 'User', type: 'string' })
}

const throwingCompilers = {
  buildValidator: () => () => { throw new Error('the host builds no validators') },
  buildSerializer: () => () => { throw new Error('the host builds no serialisers') }
}

const compilers: Record<string, Level> = {
  ajv: {
    server: () => ({ ajv: { customOptions: { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true } } })
  },
  zod: {
    prepare (app) {
      app.setValidatorCompiler(validatorCompiler)
      app.setSerializerCompiler(serializerCompiler)
    }
  },
  'everything replaced': {
    server: () => ({ schemaController: { compilersFactory: throwingCompilers } }),
    prepare: replaceEverything
  }
}

// Longer than any test, but watched.
const LONG_MS = 60_000

const tenantConstraint = {
  name: 'tenant',
  storage () {
    const handlers = new Map()
    return {
      get: (key: unknown) => handlers.get(key) ?? null,
      set: (key: unknown, value: unknown) => handlers.set(key, value)
    }
  },
  deriveConstraint: () => 'x',
  validate () {},
  mustMatchWhenDerived: false
}

const lax = {
  caseSensitive: false,
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
  allowUnsafeRegex: true,
  maxParamLength: 30,
  compile: true,
  constraints: { tenant: tenantConstraint },
  onBadUrl: (_path: string, _request: unknown, response: ServerResponse) => response.end('bad'),
  onMaxParamLength: (_path: string, _request: unknown, response: ServerResponse) => response.end('long'),
  querystringParser: () => ({ page: { $gt: 0 }, admin: true }),
  useSemicolonDelimiter: true
}

export const settings: Record<string, Record<string, Level>> = {
  logger,
  compilers,
  http2: onOff({ server: () => ({ http2: true }) }),
  trustProxy: onOff({ server: () => ({ trustProxy: true }) }, { logs: /the server trusts no proxy/ }),
  bodyLimit: {
    'of 100 bytes': { server: () => ({ bodyLimit: 100 }) },
    'of a gigabyte': { server: () => ({ bodyLimit: 2 ** 30 }) }
  },
  timeouts: onOff({
    server: () => ({
      connectionTimeout: LONG_MS,
      requestTimeout: LONG_MS,
      handlerTimeout: LONG_MS,
      keepAliveTimeout: LONG_MS,
      maxRequestsPerSocket: 7
    })
  }),
  rewriteUrl: onOff({ server: () => ({ rewriteUrl: ({ url = '' }) => `/accounts${url}` }), base: '/accounts' }),
  forceCloseConnections: onOff({ server: () => ({ forceCloseConnections: true }) }),
  requestIds: onOff({
    server: () => ({ genReqId: () => 'an id of the host', requestIdHeader: 'x-request-id' })
  }),
  lenient: onOff({
    server: () => ({
      routerOptions: lax,
      exposeHeadRoutes: false,
      onProtoPoisoning: 'ignore',
      onConstructorPoisoning: 'ignore',
      return503OnClosing: false
    })
  })
}
