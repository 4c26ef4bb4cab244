import { type ErrorCode, errorTable } from '../core/error-table.ts'
import type { PageSize } from '../core/paging.ts'
import type { Parameters } from '../core/parameters.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { known, type Schema } from './component-parts.ts'
import { ERROR_HEADERS, type HeaderName, HEADERS, REQUEST_HEADERS } from './headers.ts'

/** What descriptions say of an operation. `schemaOf` adds what all operations have in common. */
export interface OperationDescription {
  /** GET is routed with HEAD. */
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  operationId: string
  tag: 'users' | 'api-keys' | 'events' | 'webhooks' | 'groups' | 'scim' | 'tenants' | 'capabilities'
  summary: string
  description?: string
  /** The parameter `id` of the path, if there is one. */
  id?: Schema
  /** Other parameters of the path. */
  pathParameters?: Readonly<Record<string, Schema>>
  query?: Parameters
  /** The request headers that the operation reads. */
  reads?: ReadonlyArray<keyof typeof REQUEST_HEADERS>
  /** Media types of the body, and the name of its component, or its schema if it is not JSON. */
  body?: { types: readonly string[] } & ({ is: string } | { schema: Schema })
  success: {
    status: 200 | 201 | 202 | 204 | 501
    description: string
    is?: string
    headers?: readonly HeaderName[]
    /** True if it can be 204 without content too. */
    orEmpty?: boolean
    /** True if it can be Server-Sent Events too. */
    stream?: boolean
    /** Schemas by media type, of an answer that is not in JSON. */
    media?: Readonly<Record<string, Schema>>
  }
  /** True if a read can be answered 304. */
  conditional?: boolean
  /** Which rate limit counts it, beside that of failures. Default: that of requests. */
  counted?: 'deletions' | 'never'
  /** Codes of the operation's own errors. */
  codes: readonly ErrorCode[]
}

/** The settings of a mount that its description depends on. */
export interface DescriptionSettings {
  /** True if errors are problem details. The host makes other bodies, and nothing is known of them. */
  problemDetails: boolean
  /** The media type of the error bodies of another format. Default: JSON. */
  errorType?: string
  /** Names the mount among others in one description. */
  decoratorName: string
  /** What responses of a deprecated version announce; null: it is not deprecated. */
  deprecated: { sunset: boolean, link: boolean } | null
  pageSize: PageSize
  /** The scopes that keys can have. */
  scopes: readonly string[]
  /** The host's own fields. */
  fields: FieldsSchema
  /** Which rate limits there are: they add an error and headers. */
  limited: { requests: boolean, failures: boolean, deletions: boolean }
  /** True with the option `tenants`. */
  tenants: boolean
  /** True with the option `trash`. */
  trash: boolean
  /** True if users are read on standbys too. */
  standbys: boolean
}

const ALWAYS: readonly HeaderName[] = ['Cache-Control', 'X-Content-Type-Options']
const COMMON_CODES: readonly ErrorCode[] = [
  'unauthorized', 'invalid_api_key', 'insufficient_scope', 'method_not_allowed', 'internal', 'storage_unavailable'
]

function headersFor (
  own: readonly HeaderName[],
  { counted }: OperationDescription,
  { deprecated, limited, standbys }: DescriptionSettings
): Readonly<Record<string, Schema>> {
  const isCounted = limited.requests && counted !== 'never'
  const rateLimit: readonly HeaderName[] = isCounted ? ['RateLimit', 'RateLimit-Policy'] : []
  const names = [...ALWAYS, ...own, ...rateLimit]
  if (standbys) names.push('Consistency-Token')
  if (deprecated !== null) names.push('Deprecation')
  if (deprecated?.sunset === true) names.push('Sunset')
  if (deprecated?.link === true) names.push('Link')
  return Object.fromEntries(names.map((name) => [name, HEADERS[name]]))
}

/** True if a rate limit can refuse the operation. */
function isLimited ({ counted }: OperationDescription, limited: DescriptionSettings['limited']): boolean {
  const { requests, failures, deletions } = limited
  return failures || (requests && counted !== 'never') || (deletions && counted === 'deletions')
}

function problemContent (status: number, codes: readonly ErrorCode[]): Schema {
  const narrowed = { status: { type: 'integer', enum: [status] }, code: known(codes) }
  return {
    'application/problem+json': { schema: { allOf: [{ $ref: 'Problem' }, { type: 'object', properties: narrowed }] } }
  }
}

function errorResponses (operation: OperationDescription, settings: DescriptionSettings): Record<string, Schema> {
  const limitCodes: readonly ErrorCode[] = isLimited(operation, settings.limited) ? ['rate_limited'] : []
  const tenantCodes: readonly ErrorCode[] = settings.tenants ? ['tenant_forbidden', 'not_found'] : []
  const codes = [...new Set([...COMMON_CODES, ...tenantCodes, ...limitCodes, ...operation.codes])]
  const later = operation.codes.filter((code) => !limitCodes.includes(code))
  const statuses = [...new Set(codes.map((code) => errorTable[code].status))]
  return Object.fromEntries(statuses.map((status) => {
    const own = codes.filter((code) => errorTable[code].status === status)
    const named = own.includes('idempotency_in_progress') ? ['Retry-After'] as const : ERROR_HEADERS.get(status) ?? []
    // The others may be thrown before it is set.
    const varies = operation.success.stream === true && own.every((code) => later.includes(code))
    const names = varies ? [...named, 'Vary'] as const : named
    return [status, {
      description: `${own.map((code) => `\`${code}\`: ${errorTable[code].title}`).join('; ')}.`,
      headers: headersFor(names, operation, settings),
      content: settings.problemDetails
        ? problemContent(status, own)
        : { [settings.errorType ?? 'application/json']: { schema: { type: 'object', additionalProperties: true } } }
    }]
  }))
}

function successResponse (operation: OperationDescription, settings: DescriptionSettings): Schema {
  const { description, is, media, headers = [] } = operation.success
  const described = { description, headers: headersFor(headers, operation, settings) }
  if (media !== undefined) {
    const content = Object.entries(media).map(([type, schema]) => [type, { schema }] as const)
    return { ...described, content: Object.fromEntries(content) }
  }
  if (is === undefined) return { ...described, type: 'null' }
  const content = { 'application/json': { schema: { $ref: is } } }
  const asStream = { 'text/event-stream': { schema: { type: 'string' } } }
  return { ...described, content: operation.success.stream === true ? { ...content, ...asStream } : content }
}

function pathSchema ({ id, pathParameters }: OperationDescription, names: readonly string[]): Schema {
  const other = { type: 'string', description: 'A part of this API’s path prefix.' }
  const known: Readonly<Record<string, Schema>> = { ...(id !== undefined && { id }), ...pathParameters }
  const properties = Object.fromEntries(names.map((name) => [name, known[name] ?? other]))
  return { type: 'object', properties, required: names }
}

/**
 * The schema of an operation in Fastify's form, from which `@fastify/swagger` makes a description. `parameters`: the
 * names in the path.
 */
export function schemaOf (
  operation: OperationDescription,
  parameters: readonly string[],
  settings: DescriptionSettings
): Schema {
  const { operationId, tag, summary, description, query = {}, body, success, conditional } = operation
  const reads = [...operation.reads ?? []]
  if (settings.standbys && operation.method === 'GET') reads.push('Consistency-Token')
  const queryProperties = Object.fromEntries(Object.entries(query).map(([name, { schema }]) => [name, schema]))
  const headerProperties = Object.fromEntries(reads.map((name) => [name, REQUEST_HEADERS[name]]))
  const bodySchema = body === undefined ? {} : 'is' in body ? { $ref: body.is } : body.schema
  const bodyContent = body?.types.map((type) => [type, { schema: bodySchema }] as const)
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(settings.deprecated !== null && { deprecated: true }),
    ...(parameters.length > 0 && { params: pathSchema(operation, parameters) }),
    ...(operation.query !== undefined && { querystring: { type: 'object', properties: queryProperties } }),
    ...(reads.length > 0 && { headers: { type: 'object', properties: headerProperties } }),
    ...(bodyContent !== undefined && { body: { content: Object.fromEntries(bodyContent) } }),
    response: {
      [success.status]: successResponse(operation, settings),
      ...(success.orEmpty === true && {
        204: { description: 'It is done.', headers: headersFor(['ETag'], operation, settings), type: 'null' }
      }),
      ...(conditional === true && {
        304: {
          description: 'The client already has this version.',
          headers: headersFor(['ETag'], operation, settings),
          type: 'null'
        }
      }),
      ...errorResponses(operation, settings)
    }
  }
}
