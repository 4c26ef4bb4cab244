import swagger from '@fastify/swagger'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A schema of a description, as far as ours go. */
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

export interface DescribedAnswer { headers?: Record<string, { schema: JsonSchema }>, content?: Record<string, { schema: JsonSchema }> }

export interface DescribedOperation {
  operationId: string
  tags: string[]
  security: unknown[]
  deprecated?: boolean
  parameters?: Array<{ name: string, in: string, schema: JsonSchema }>
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, DescribedAnswer>
}

/** A description, as far as ours go. */
export interface Description {
  paths: Record<string, Record<string, DescribedOperation>>
  tags: Array<{ name: string }>
  components: { schemas: Record<string, JsonSchema>, securitySchemes: Record<string, object> }
}

const DECORATOR = 'descriptionOfTest'

/** Whether `watchAnswers` looks after the answers of a host. */
export function isWatched (app: FastifyInstance): boolean {
  return app.hasDecorator(DECORATOR)
}

/** What the host of a test says of itself, once it is ready. */
export function descriptionOf (app: FastifyInstance): Description {
  return Object(Reflect.apply(Object(Reflect.get(app, DECORATOR)), app, []))
}

// Headers of an answer that a description need not tell of.
const TRANSPORT = new Set(['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding'])
const OURS = new Set(['cache-control', 'x-content-type-options', 'etag', 'location', 'link', 'idempotency-replayed', 'www-authenticate', 'allow', 'retry-after', 'ratelimit', 'ratelimit-policy', 'deprecation', 'sunset', 'accept', 'accept-patch', 'accept-encoding'])
// Described, and not on every answer that they are described for.
const SOMETIMES = new Set(['link', 'idempotency-replayed', 'ratelimit', 'ratelimit-policy', 'sunset', '409 retry-after', '412 etag', '415 accept', '415 accept-patch', '415 accept-encoding'])

const validators = new Map<string, ValidateFunction>()

/** The check of values against a schema of a description; the same text is compiled once. */
function validatorOf (schema: object, components: object): ValidateFunction {
  const text = JSON.stringify({ ...schema, components })
  const known = validators.get(text)
  if (known !== undefined) return known
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, ownProperties: true, allErrors: true })
  addFormats.default(ajv)
  for (const word of ['components', 'example']) ajv.addKeyword(word)
  const validate = ajv.compile(JSON.parse(text))
  validators.set(text, validate)
  return validate
}

/** What is wrong with an answer, held against its description. */
export function faultsOf (description: Description, operation: DescribedOperation, { status, headers, type, body, head }: { status: number, headers: Record<string, unknown>, type: string, body: string, head: boolean }): string[] {
  const answer = operation.responses[status]
  if (answer === undefined) return [`status ${status} is not described`]
  const faults: string[] = []
  const told = new Map(Object.entries(answer.headers ?? {}).map(([name, { schema }]) => [name.toLowerCase(), schema]))
  for (const [name, value] of Object.entries(headers)) {
    if (TRANSPORT.has(name) || !OURS.has(name)) continue
    const schema = told.get(name)
    if (schema === undefined) faults.push(`header ${name} is not described for ${status}`)
    else if (!validatorOf(schema, {})(value)) faults.push(`header ${name} of ${status} is not as described: ${String(value)}`)
  }
  for (const name of told.keys()) if (headers[name] === undefined && !SOMETIMES.has(name) && !SOMETIMES.has(`${status} ${name}`)) faults.push(`header ${name} of ${status} is missing`)
  if (head) return faults
  if (answer.content === undefined) return body === '' ? faults : [...faults, `${status} has a body`]
  const media = answer.content[type]
  if (media === undefined) return [...faults, `type ${type} of ${status} is not described`]
  const validate = validatorOf(media.schema, description.components)
  return validate(JSON.parse(body)) ? faults : [...faults, `body of ${status} is not as described: ${JSON.stringify(validate.errors)} ${body}`]
}

/**
 * Has every answer of our routes held against the description of its operation. Called before the plugin is registered; gives the list that faults are
 * added to. Answers of hooks of the host's are its own.
 */
export async function watchAnswers (app: FastifyInstance): Promise<string[]> {
  const faults: string[] = []
  const bodies = new WeakMap<FastifyRequest, string>()
  let description: Description | undefined
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'test', version: '1' } }, decorator: DECORATOR })
  app.addHook('onSend', async (request, _reply, payload) => { bodies.set(request, typeof payload === 'string' ? payload : '') })
  app.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const { url = '', config } = request.routeOptions
    if (config.fastifyUsers === undefined || 'refuse' in config.fastifyUsers) return
    description ??= descriptionOf(app)
    const path = url.replace(/:([A-Za-z0-9_]+)/g, '{$1}')
    const operation = description.paths[path]?.[request.method === 'HEAD' ? 'get' : request.method.toLowerCase()]
    if (operation === undefined) {
      faults.push(`${request.method} ${path} is not described`)
      return
    }
    const headers = reply.getHeaders()
    const [type = ''] = String(headers['content-type'] ?? '').split(';')
    faults.push(...faultsOf(description, operation, { status: reply.statusCode, headers, type, body: bodies.get(request) ?? '', head: request.method === 'HEAD' })
      .map((fault) => `${request.method} ${path}: ${fault}`))
  })
  return faults
}
