import { Readable } from 'node:stream'
import swagger from '@fastify/swagger'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closed } from './closed.ts'

/** A schema of a description, with the keywords that ours use. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  pattern?: string
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  anyOf?: JsonSchema[]
}

export interface DescribedAnswer {
  headers?: Record<string, { schema: JsonSchema }>
  content?: Record<string, { schema: JsonSchema }>
}

export interface DescribedOperation {
  operationId: string
  tags: string[]
  security: unknown[]
  deprecated?: boolean
  parameters?: Array<{ name: string, in: string, schema: JsonSchema }>
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, DescribedAnswer>
}

/** An OpenAPI description, with the members that ours have. */
export interface Description {
  paths: Record<string, Record<string, DescribedOperation>>
  tags: Array<{ name: string }>
  components: { schemas: Record<string, JsonSchema>, securitySchemes: Record<string, object> }
}

/** An answer to a request. `head`: to HEAD, so without a body. */
export interface Answer {
  status: number
  headers: Record<string, unknown>
  type: string
  body: string | null
  head: boolean
  /** True if the request has chosen members of users: then none is required, as the parameter `select` says. */
  selects?: boolean
}

const DECORATOR = 'descriptionOfTest'

/** True if `watchAnswers` compares the answers of this host with their descriptions. */
export function isWatched (app: FastifyInstance): boolean {
  return app.hasDecorator(DECORATOR)
}

/** The description of a test's host, once it is ready. */
export function descriptionOf (app: FastifyInstance): Description {
  return Object(Reflect.apply(Object(Reflect.get(app, DECORATOR)), app, []))
}

/** Headers of ours, which a description must name. Those of the transport and of the host's own hooks it need not. */
const OURS = new Set([
  'cache-control', 'x-content-type-options', 'etag', 'location', 'link', 'idempotency-replayed', 'www-authenticate',
  'allow', 'retry-after', 'ratelimit', 'ratelimit-policy', 'deprecation', 'sunset', 'accept', 'accept-patch',
  'accept-encoding', 'consistency-token'
])
/** Described headers that an answer may lack. */
const OPTIONAL = new Set([
  'link', 'idempotency-replayed', 'consistency-token', 'ratelimit', 'ratelimit-policy', 'sunset', '200 retry-after',
  '409 retry-after', '412 etag', '415 accept', '415 accept-patch', '415 accept-encoding'
])

const validators = new Map<string, ValidateFunction>()

/** The validator of a described schema, closed; each text is compiled once. */
function validatorOf (schema: object, components: object): ValidateFunction {
  const text = JSON.stringify({ ...schema, components })
  const known = validators.get(text)
  if (known !== undefined) return known
  const ajv = new Ajv2020({
    strict: true, strictRequired: false, strictTypes: false, ownProperties: true, allErrors: true
  })
  addFormats.default(ajv)
  for (const word of ['components', 'example']) ajv.addKeyword(word)
  const validate = ajv.compile(Object(closed(JSON.parse(text))))
  validators.set(text, validate)
  return validate
}

function headerFaults ({ headers: described = {} }: DescribedAnswer, { status, headers }: Answer): string[] {
  const faults: string[] = []
  const schemas = new Map(Object.entries(described).map(([name, { schema }]) => [name.toLowerCase(), schema]))
  for (const [name, value] of Object.entries(headers)) {
    if (!OURS.has(name)) continue
    const schema = schemas.get(name)
    if (schema === undefined) faults.push(`header ${name} is not described for ${status}`)
    else if (!validatorOf(schema, {})(value)) {
      faults.push(`header ${name} of ${status} is not as described: ${String(value)}`)
    }
  }
  const isMissing = (name: string) =>
    headers[name] === undefined && !OPTIONAL.has(name) && !OPTIONAL.has(`${status} ${name}`)
  return [...faults, ...[...schemas.keys()].filter(isMissing).map((name) => `header ${name} of ${status} is missing`)]
}

/** The same schemas, without what users must have. */
function withoutRequired ({ schemas }: Description['components']): object {
  return {
    schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => {
      const { required, ...rest }: JsonSchema = schema
      return [name, /(?:^|\.)User$/.test(name) ? rest : schema]
    }))
  }
}

function bodyFaults ({ content }: DescribedAnswer, answer: Answer, all: Description['components']): string[] {
  const { status, type, body } = answer
  const components = answer.selects === true ? withoutRequired(all) : all
  if (content === undefined) return body === '' ? [] : [`${status} has a body`]
  const media = content[type]
  if (media === undefined) return [`type ${type} of ${status} is not described`]
  const validate = validatorOf(media.schema, components)
  // What was streamed was not noted.
  if (body === null || validate(JSON.parse(body))) return []
  return [`body of ${status} is not as described: ${JSON.stringify(validate.errors)} ${body}`]
}

/** In what an answer differs from its description. */
export function faultsOf (
  { components }: Pick<Description, 'components'>,
  operation: Pick<DescribedOperation, 'responses'>,
  answer: Answer
): string[] {
  const described = operation.responses[answer.status]
  if (described === undefined) return [`status ${answer.status} is not described`]
  return [...headerFaults(described, answer), ...(answer.head ? [] : bodyFaults(described, answer, components))]
}

/** Notes the body of each answer of a host. null: it was streamed. */
export function noteBodies (app: FastifyInstance): (request: FastifyRequest) => string | null {
  const bodies = new WeakMap<FastifyRequest, string | null>()
  app.addHook('onSend', async (request, _reply, payload) => {
    bodies.set(request, payload instanceof Readable ? null : typeof payload === 'string' ? payload : '')
  })
  return (request) => bodies.get(request) ?? (bodies.has(request) ? null : '')
}

/** The answer to a request, after it was sent. */
export function answerOf (request: FastifyRequest, reply: FastifyReply, body: Answer['body']): Answer {
  const headers = reply.getHeaders()
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  const selects = /[?&]select=/.test(request.url)
  return { status: reply.statusCode, headers, type, body, head: request.method === 'HEAD', selects }
}

/**
 * Compares every answer of our routes with the description of its operation; answers of the host's hooks are the
 * host's own. Called before the plugin is registered. Differences are added to the list that it returns.
 */
export async function watchAnswers (app: FastifyInstance): Promise<string[]> {
  const faults: string[] = []
  let description: Description | undefined
  const openapi = { openapi: '3.1.0', info: { title: 'test', version: '1' } }
  await app.register(swagger, { openapi, decorator: DECORATOR })
  const bodyOf = noteBodies(app)
  app.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const { url = '', config } = request.routeOptions
    if (config.fastifyUsers === undefined || 'refuse' in config.fastifyUsers) return
    description ??= descriptionOf(app)
    const { method } = request
    const path = url.replace(/:([A-Za-z0-9_]+)/g, '{$1}')
    const operation = description.paths[path]?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
    const found = operation === undefined
      ? ['is not described']
      : faultsOf(description, operation, answerOf(request, reply, bodyOf(request)))
    faults.push(...found.map((fault) => `${method} ${path}: ${fault}`))
  })
  return faults
}
