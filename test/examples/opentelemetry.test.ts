// The spans of examples/opentelemetry, beside @fastify/otel.
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor
} from '@opentelemetry/sdk-trace-base'
import Fastify from 'fastify'
import { test } from 'tap'
import { traceUsers } from '../../examples/opentelemetry/spans.ts'
import { memory } from '../../adapters/memory/index.ts'
import users from '../../lib/index.ts'

test('spans of operations stand under that of their request, and the storage under the operation', async (t) => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  const instrumentation = new FastifyOtelInstrumentation()
  instrumentation.setTracerProvider(provider)
  const stop = traceUsers(provider.getTracer('users'))
  t.teardown(stop)

  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(instrumentation.plugin())
  await app.register(users, { prefix: '/v1', storage: memory() })
  const { key } = await app.users.apiKeys.create({ name: 'test', scopes: ['users:read', 'users:write'] })
  exporter.reset()

  const send = (payload: object) =>
    app.inject({ method: 'POST', url: '/v1/users', headers: { authorization: `Bearer ${key}` }, payload })
  const answers = await Promise.all([
    send({ name: 'Ann', email: 'ann@example.org' }), send({ name: 'Bob', email: 'bob@example.org' })
  ])
  t.strictSame(answers.map(({ statusCode }) => statusCode), [201, 201])
  const spans = exporter.getFinishedSpans()
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]))
  /** A span's name behind those of its parents. */
  const pathOf = (span: ReadableSpan): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '')
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`
  }
  const hook = (name: string) => `request > ${name} - fastifyUsersRoutes`
  const paths = spans.map(pathOf)
  const both = (path: string) => t.equal(paths.filter((each) => each === path).length, 2, path)
  both(`${hook('onRequest')} > users key check`)
  both(hook('preHandler'))
  both(`${hook('handler')} > users createUser > users storage commit`)
  // Both requests came concurrently: the key was looked up once.
  t.strictSame(paths.filter((path) => path.endsWith('users key check > users storage find')),
    [`${hook('onRequest')} > users key check > users storage find`])
  t.equal(new Set(spans.filter(({ name }) => name === 'request').map((span) => span.spanContext().traceId)).size, 2)

  const operations = spans.filter(({ name }) => name === 'users createUser')
  t.strictSame(operations.map(({ attributes }) => attributes['fastify_users.status']), ['201', '201'])
  t.strictSame(spans.filter(({ status }) => status.code === SpanStatusCode.ERROR), [])
  t.notMatch(JSON.stringify(spans.map(({ name, attributes, events }) => [name, attributes, events])),
    new RegExp(`Ann|Bob|example\\.org|${key}`))

  exporter.reset()
  t.equal((await send({ name: 'Ann', email: 'ANN@example.org' })).statusCode, 409)
  t.strictSame(exporter.getFinishedSpans().filter(({ status }) => status.code === SpanStatusCode.ERROR)
    .map(({ name }) => name), [
    'users createUser', 'handler - fastifyUsersRoutes', 'request'
  ])
  stop()
  exporter.reset()
  t.equal((await send({ name: 'Cy', email: 'cy@example.org' })).statusCode, 201)
  t.notOk(exporter.getFinishedSpans().some(({ name }) => name.startsWith('users')))
})
