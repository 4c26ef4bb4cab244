import { Readable } from 'node:stream'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifyRequest } from 'fastify'
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

const ajv = new Ajv2020({
  strict: true, strictRequired: false, strictTypes: false, ownProperties: true, allErrors: true
})
addFormats.default(ajv)
for (const word of ['components', 'example']) ajv.addKeyword(word)

const byText = new Map<string, ValidateFunction>()
const byIdentity = new WeakMap<object, WeakMap<object, ValidateFunction>>()
const NONE = {}

/** The validator of a described schema, closed; each text is compiled once. */
function validatorOf (schema: object, components: object): ValidateFunction {
  const ofComponents = byIdentity.get(components) ?? new WeakMap<object, ValidateFunction>()
  byIdentity.set(components, ofComponents)
  const known = ofComponents.get(schema)
  if (known !== undefined) return known
  const text = JSON.stringify({ ...schema, components })
  const validate = byText.get(text) ?? ajv.compile(Object(closed(JSON.parse(text))))
  byText.set(text, validate)
  ofComponents.set(schema, validate)
  return validate
}

function headerFaults ({ headers: described = {} }: DescribedAnswer, { status, headers }: Answer): string[] {
  const faults: string[] = []
  const schemas = new Map(Object.entries(described).map(([name, { schema }]) => [name.toLowerCase(), schema]))
  for (const [name, value] of Object.entries(headers)) {
    if (!OURS.has(name)) continue
    const schema = schemas.get(name)
    if (schema === undefined) faults.push(`header ${name} is not described for ${status}`)
    else if (!validatorOf(schema, NONE)(value)) {
      faults.push(`header ${name} of ${status} is not as described: ${String(value)}`)
    }
  }
  const isMissing = (name: string) =>
    headers[name] === undefined && !OPTIONAL.has(name) && !OPTIONAL.has(`${status} ${name}`)
  return [...faults, ...[...schemas.keys()].filter(isMissing).map((name) => `header ${name} of ${status} is missing`)]
}

const withoutRequiredOf = new WeakMap<object, object>()

/** The same schemas, without what users must have. */
function withoutRequired (components: Description['components']): object {
  const known = withoutRequiredOf.get(components)
  if (known !== undefined) return known
  const made = {
    schemas: Object.fromEntries(Object.entries(components.schemas).map(([name, schema]) => {
      const { required, ...rest }: JsonSchema = schema
      return [name, /(?:^|\.)User$/.test(name) ? rest : schema]
    }))
  }
  withoutRequiredOf.set(components, made)
  return made
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

/** What a route of ours describes: its answers, and the components that they refer to. */
interface DescribedRoute extends Pick<DescribedOperation, 'responses'> {
  components: Description['components']
}

const routes = new WeakMap<object, DescribedRoute | null>()

/** What `@fastify/swagger` would make of a route; null for what is hidden, or not ours. */
function describedBy (transform: unknown, url: string): DescribedRoute | null {
  if (typeof transform !== 'function') return null
  const known = routes.get(transform)
  if (known !== undefined) return known
  const openapiObject = { openapi: '3.1.0' }
  const { hide, response } = Object(Reflect.apply(transform, null, [{ url, openapiObject }])).schema
  const answers: Array<[string, Omit<DescribedAnswer, 'headers'> & { headers: Record<string, JsonSchema> }]> =
    Object.entries(response ?? {})
  const responses = answers.map(([status, { headers, ...others }]): [string, DescribedAnswer] => [status, {
    ...others, headers: Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, { schema }]))
  }])
  const route = hide === true
    ? null
    : { responses: Object.fromEntries(responses), components: Object(openapiObject).components }
  routes.set(transform, route)
  return route
}

/** The status with which a test's host answers instead of our route. */
const ANSWERED_BY_HOST = 418

const watched = new WeakMap<FastifyInstance, string[]>()

/**
 * Compares every answer of our routes with the description of its operation; answers of the host's hooks are the
 * host's own. Called before the plugin is registered. Differences are added to the list that it returns.
 */
export function watchAnswers (app: FastifyInstance): readonly string[] {
  const known = watched.get(app)
  if (known !== undefined) return known
  const faults: string[] = []
  watched.set(app, faults)
  const bodies = new WeakMap<FastifyRequest, string | null>()
  const reads = new Map<string, unknown>()
  app.addHook('onRoute', ({ method, url, config }) => {
    if ([method].flat().includes('GET')) reads.set(url, Object(config).swaggerTransform)
  })
  app.addHook('onSend', async (request, _reply, payload) => {
    bodies.set(request, payload instanceof Readable ? null : typeof payload === 'string' ? payload : '')
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions: { url = '', config } } = request
    if (config.fastifyUsers === undefined || 'refuse' in config.fastifyUsers) return
    if (reply.statusCode === ANSWERED_BY_HOST) return
    const isHead = method === 'HEAD'
    const described = describedBy(isHead ? reads.get(url) : Object(config).swaggerTransform, url)
    if (described === null) return
    const headers = reply.getHeaders()
    const [type = ''] = String(headers['content-type'] ?? '').split(';')
    const body = bodies.has(request) ? bodies.get(request) ?? null : ''
    const selects = /[?&]select=/.test(request.url)
    const answer: Answer = { status: reply.statusCode, headers, type, body, head: isHead, selects }
    faults.push(...faultsOf(described, described, answer).map((fault) => `${method} ${url}: ${fault}`))
  })
  return faults
}

/** Has the process fail at its end if there are faults: what tests themselves can't see. */
export function failFor (faults: () => readonly string[]): void {
  process.on('exit', () => {
    if (faults().length === 0) return
    process.stderr.write(`answers are not as described:\n${faults().join('\n')}\n`)
    process.exitCode = 1
  })
}
