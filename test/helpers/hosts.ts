import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'
import './watch-all.ts'

/** Fastify takes this router option; its types have it at the top level alone. */
export const SEMICOLONS: object = { useSemicolonDelimiter: true }

/** A host with the plugin under /v1, on a memory store; closed with the test. Request ids are always `r`. */
export async function plainHost (
  t: Test,
  options: FastifyServerOptions = {},
  prepare: (app: FastifyInstance) => void = () => {}
): Promise<FastifyInstance> {
  const app = Fastify({ genReqId: () => 'r', ...options })
  t.teardown(() => app.close())
  prepare(app)
  await app.register(users, { prefix: '/v1', storage: memory() })
  return app
}

/** Replaces everything that Fastify lets a host replace. */
function replaceEverything (app: FastifyInstance): void {
  // As fastify-type-provider-zod does: a schema that is no Zod schema is an error at start.
  app.setValidatorCompiler(() => { throw new Error('not a Zod schema') })
  app.setSerializerCompiler(() => { throw new Error('not a Zod schema') })
  app.setReplySerializer(() => 'the host serialises')
  app.setSchemaErrorFormatter(() => new Error('the host formats'))
  app.setErrorHandler((_error, _request, reply) => reply.code(418).send('the host handles'))
  app.setNotFoundHandler((_request, reply) => reply.code(418).send('the host finds nothing'))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, _body, done) => {
    done(null, { parsed: 'by the host' })
  })
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, { parsed: 'by the host' }))
  app.addHook('preSerialization', async () => ({ wrapped: 'by the host' }))
  app.addSchema({ $id: 'User', type: 'string' })
}

const coercingAjv = { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true, allErrors: true } as const
const throwingCompilers = {
  buildValidator: () => () => { throw new Error('no validator') },
  buildSerializer: () => () => { throw new Error('no serializer') }
}
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
const longParameterHandler = {
  onMaxParamLength: (_path: string, _request: unknown, response: { end: (text: string) => void }) =>
    response.end('long'),
  maxParamLength: 40
}

/** Hosts whose settings must change no answer of ours. */
export const difficultHosts: Array<{
  name: string
  options?: FastifyServerOptions
  prepare?: (app: FastifyInstance) => void
}> = [
  { name: 'Ajv that coerces, removes and defaults', options: { ajv: { customOptions: coercingAjv } } },
  { name: 'compilers, serialisers, parsers and handlers of its own', prepare: replaceEverything },
  { name: 'a tiny body limit', options: { bodyLimit: 10 } },
  { name: 'a huge body limit', options: { bodyLimit: 2 ** 30 } },
  { name: 'no HEAD routes', options: { exposeHeadRoutes: false } },
  {
    name: 'prototype poisoning ignored',
    options: { onProtoPoisoning: 'ignore', onConstructorPoisoning: 'ignore' }
  },
  { name: 'a schema controller', options: { schemaController: { compilersFactory: throwingCompilers } } },
  { name: 'routes without case', options: { routerOptions: { caseSensitive: false } } },
  { name: 'trailing slashes ignored', options: { routerOptions: { ignoreTrailingSlash: true } } },
  { name: 'duplicate slashes ignored', options: { routerOptions: { ignoreDuplicateSlashes: true } } },
  { name: 'semicolons in the query', options: { routerOptions: SEMICOLONS } },
  {
    name: 'a query parser that nests',
    options: { routerOptions: { querystringParser: () => ({ page: { $gt: 0 }, admin: true }) } }
  },
  { name: 'short parameters', options: { routerOptions: { maxParamLength: 30 } } },
  { name: 'unsafe regular expressions', options: { routerOptions: { allowUnsafeRegex: true } } },
  {
    name: 'its own handler of bad URLs',
    options: { routerOptions: { onBadUrl: (_path, _request, response) => response.end('bad') } }
  },
  { name: 'its own handler of long parameters', options: { routerOptions: Object(longParameterHandler) } },
  { name: 'compiled routes', options: { routerOptions: Object({ compile: true }) } },
  {
    name: 'a constraint of its own',
    options: { routerOptions: Object({ constraints: { tenant: tenantConstraint } }) }
  },
  {
    name: 'old names of router options',
    options: { maxParamLength: 50, caseSensitive: false, ignoreTrailingSlash: true }
  },
  { name: 'a rewritten URL', options: { rewriteUrl: ({ url = '' }) => url } },
  { name: 'no 503 while closing', options: { return503OnClosing: false } }
]
