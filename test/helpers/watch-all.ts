// Imported for its effect, by tests that make servers of their own: has every answer of our routes held against what the route says of itself, whatever the host is
// like, and ends the process as failed where one is not as described.
import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type DescribedAnswer, faultsOf, isWatched } from './described.ts'

const faults: string[] = []
const bodies = new WeakMap<FastifyRequest, string>()

/** The answers that a route describes, in the form that descriptions have. */
function responsesOf (response: Record<string, { headers: Record<string, object>, content?: object }>): Record<string, DescribedAnswer> {
  return Object.fromEntries(Object.entries(response).map(([status, { headers, content }]) => [status, {
    headers: Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, { schema }])),
    ...(content !== undefined && { content: Object(content) })
  }]))
}

/** What hosts of tests answer by themselves where a route of ours was meant. */
const THEIRS = 418

function judge (openapiObject: object, request: FastifyRequest, reply: FastifyReply): void {
  const { url, config } = request.routeOptions
  const transform: unknown = Object(config).swaggerTransform
  if (config.fastifyUsers === undefined || 'refuse' in config.fastifyUsers || typeof transform !== 'function' || reply.statusCode === THEIRS) return
  const described = request.method === 'HEAD' ? null : Reflect.apply(transform, null, [{ url, openapiObject }]).schema
  // Who hides us describes nothing; HEAD is told of in words.
  if (described === null || described.hide === true) return
  const headers = reply.getHeaders()
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  const answer = { status: reply.statusCode, headers, type, body: bodies.get(request) ?? '', head: false }
  faults.push(...faultsOf(Object(openapiObject), { ...described, responses: responsesOf(described.response) }, answer).map((fault) => `${request.method} ${url}: ${fault}`))
}

subscribe('fastify.initialization', (message) => {
  const { fastify }: { fastify: FastifyInstance } = Object(message)
  const openapiObject = { openapi: '3.1.0' }
  fastify.addHook('onSend', async (request, _reply, payload) => { bodies.set(request, typeof payload === 'string' ? payload : '') })
  fastify.addHook('onResponse', async (request, reply) => { if (!isWatched(fastify)) judge(openapiObject, request, reply) })
})

process.on('exit', () => {
  if (faults.length === 0) return
  process.stderr.write(`answers are not as described:\n${faults.join('\n')}\n`)
  process.exitCode = 1
})
