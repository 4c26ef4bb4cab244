// Imported for its effect by tests that create their own servers. It compares every answer of our routes with the
// description of the route. A difference makes the process fail.
import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerOf, type DescribedAnswer, faultsOf, isWatched, noteBodies } from './described.ts'

const faults: string[] = []

/** The responses that a route describes, in the form of an OpenAPI operation. */
function responsesOf (
  response: Record<string, { headers: Record<string, object>; content?: object }>
): Record<string, DescribedAnswer> {
  return Object.fromEntries(
    Object.entries(response).map(([status, { headers, content }]) => [
      status,
      {
        headers: Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, { schema }])),
        ...(content !== undefined && { content: Object(content) })
      }
    ])
  )
}

/** The status with which a test's host answers instead of our route. */
const ANSWERED_BY_HOST = 418

function compare (openapiObject: object, request: FastifyRequest, reply: FastifyReply, body: string | null): void {
  const { url, config } = request.routeOptions
  const transform: unknown = Object(config).swaggerTransform
  if (
    config.fastifyUsers === undefined ||
    'refuse' in config.fastifyUsers ||
    typeof transform !== 'function' ||
    reply.statusCode === ANSWERED_BY_HOST
  ) { return }
  const described =
    request.method === 'HEAD' ? null : Reflect.apply(transform, null, [{ url, openapiObject }]).schema
  // Hidden routes describe nothing. The description mentions HEAD only in its text.
  if (described === null || described.hide === true) return
  const operation = { ...described, responses: responsesOf(described.response) }
  const differences = faultsOf(Object(openapiObject), operation, answerOf(request, reply, body))
  faults.push(...differences.map((fault) => `${request.method} ${url}: ${fault}`))
}

subscribe('fastify.initialization', (message) => {
  const { fastify }: { fastify: FastifyInstance } = Object(message)
  const openapiObject = { openapi: '3.1.0' }
  const bodyOf = noteBodies(fastify)
  fastify.addHook('onResponse', async (request, reply) => {
    if (!isWatched(fastify)) compare(openapiObject, request, reply, bodyOf(request))
  })
})

process.on('exit', () => {
  if (faults.length === 0) return
  process.stderr.write(`answers are not as described:\n${faults.join('\n')}\n`)
  process.exitCode = 1
})
