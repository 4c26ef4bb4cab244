// Plugins that hosts register beside ours.
import { setImmediate } from 'node:timers'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import etag from '@fastify/etag'
import express from '@fastify/express'
import helmet from '@fastify/helmet'
import middie from '@fastify/middie'
import multipart from '@fastify/multipart'
import rateLimit from '@fastify/rate-limit'
import requestContext from '@fastify/request-context'
import responseValidation from '@fastify/response-validation'
import staticFiles from '@fastify/static'
import underPressure from '@fastify/under-pressure'
import rawBody from 'fastify-raw-body'
import { type Level, onOff } from './level.ts'

/** A middleware of Connect's kind, which takes its time. */
const middleware = (_request: unknown, _response: unknown, next: () => void): void => { setImmediate(next) }

const middlewares: Record<string, Level> = {
  none: {},
  middie: {
    async plug (app) {
      await app.register(middie)
      app.use(middleware)
    }
  },
  express: {
    async plug (app) {
      await app.register(express)
      app.use(middleware)
    },
    // It decodes the URL of a request once, before anybody parses the query.
    answers: ['a search for an%25%26'],
    // It says of every response that its headers are not sent, also when Fastify asks about a stream that has failed.
    logs: /Reply was already sent|Cannot write headers after they are sent/
  }
}

export const plugins: Record<string, Record<string, Level>> = {
  middlewares,
  compress: onOff({ plug: (app) => app.register(compress, { threshold: 0 }), adds: ['content-encoding', 'vary'] }),
  etag: onOff({ plug: (app) => app.register(etag), adds: ['etag'] }),
  helmet: onOff({
    plug: (app) => app.register(helmet),
    adds: [
      'content-security-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy', 'origin-agent-cluster',
      'referrer-policy', 'strict-transport-security', 'x-content-type-options', 'x-dns-prefetch-control',
      'x-download-options', 'x-frame-options', 'x-permitted-cross-domain-policies', 'x-xss-protection'
    ]
  }),
  cors: onOff({
    plug: (app) => app.register(cors, { origin: 'https://app.example', exposedHeaders: ['ETag'] }),
    adds: ['access-control-allow-origin', 'access-control-expose-headers', 'vary'],
    answers: ['OPTIONS']
  }),
  multipart: onOff({ plug: (app) => app.register(multipart, { attachFieldsToBody: true }) }),
  'raw-body': onOff({ plug: (app) => app.register(rawBody) }),
  'rate-limit': onOff({
    plug: (app) => app.register(rateLimit, { max: 100_000, timeWindow: 60_000 }),
    adds: ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
  }),
  'under-pressure': onOff({
    plug: (app) => app.register(underPressure, {
      maxHeapUsedBytes: 2 ** 40, healthCheck: async () => true, healthCheckInterval: 500
    })
  }),
  'request-context': onOff({ plug: (app) => app.register(requestContext, { defaultStoreValues: { of: 'the host' } }) }),
  static: onOff({
    plug: (app) => app.register(staticFiles, { root: import.meta.dirname, wildcard: true, etag: false })
  }),
  'response-validation': onOff({ plug: (app) => app.register(responseValidation) })
}
