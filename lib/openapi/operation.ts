import { type ErrorCode, errorTable } from '../errors.ts'
import type { FieldsSchema } from '../fields/schema.ts'
import type { ErrorFormat } from '../http/problem.ts'
import type { Limits } from '../paging.ts'
import { IDEMPOTENCY_KEY } from '../users/idempotency.ts'
import type { Schema } from './schemas.ts'

/** An operation as its routes know it; what all operations have in common, `describe` adds. */
export interface Operation {
  operationId: string
  tag: 'users' | 'api-keys'
  summary: string
  description?: string
  /** The parameter `id` of the path, where it has one. */
  id?: Schema
  query?: Readonly<Record<string, Schema>>
  /** Names of the headers that the operation reads. */
  reads?: ReadonlyArray<keyof typeof REQUEST_HEADERS>
  /** Media types of the body, and the component that it is. */
  body?: { types: readonly string[], is: string }
  success: { status: 200 | 201 | 204, description: string, is?: string, headers?: ReadonlyArray<keyof typeof HEADERS> }
  /** Whether a read can be answered 304. */
  conditional?: boolean
  /** Which limit counts it, beside that of failures. Default `requests`. */
  counted?: 'deletions' | 'never'
  /** Codes of its own errors. */
  codes: readonly ErrorCode[]
}

/** What of a mount its description depends on. */
export interface DescriptionSettings {
  errorFormat: ErrorFormat
  /** What names the mount among others in one description. */
  decoratorName: string
  /** What a deprecated version's answers tell; null: it is none. */
  deprecated: { sunset: boolean, link: boolean } | null
  limits: Limits
  /** The host's own. */
  fields: FieldsSchema
  /** Which limits there are: they have an answer, and headers, of their own. */
  limited: { requests: boolean, failures: boolean, deletions: boolean }
}

const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more })

// Their examples stand in words: pages that send requests would fill them in, into each.
const REQUEST_HEADERS = {
  'If-Match': text('The version that the user must have: its ETag, such as `"1"`, or `*` (RFC 9110 section 13.1.1).'),
  'If-None-Match': text('Versions that the user must not have, such as `"1", "2"` (RFC 9110 section 13.1.2).'),
  'Idempotency-Key': text('A creation repeated under the same key gives the first answer again; a random UUID serves.', { pattern: IDEMPOTENCY_KEY.source })
}

const HEADERS = {
  'Cache-Control': text('Users are personal data.', { enum: ['no-store'] }),
  'X-Content-Type-Options': text('The media type is as it says.', { enum: ['nosniff'] }),
  ETag: text('The user’s version, a strong entity tag.', { pattern: '^"[1-9][0-9]*"$' }),
  Location: text('The path of what was made.'),
  Link: text('Of a list, its `first`, `prev`, `next` and `last` page, and in a walk by `after` `next` alone (RFC 8288); of a deprecated version, where that is told.'),
  Accept: text('The media types that a body may have.'),
  'Accept-Patch': text('The media types that a body may have (RFC 5789 section 2.2).'),
  'Accept-Encoding': text('A body has no content coding.'),
  'Idempotency-Replayed': text('The answer is that of the first request with this key.', { enum: ['true'] }),
  'WWW-Authenticate': text('The challenge (RFC 6750 section 3).'),
  Allow: text('The methods of this path.'),
  'Retry-After': text('Seconds after which to come again.', { pattern: '^[1-9][0-9]*$' }),
  RateLimit: text('How many requests are left, and for how long (draft-ietf-httpapi-ratelimit-headers-10).'),
  'RateLimit-Policy': text('How many requests the key may send in how long.'),
  Deprecation: text('Since when this version is deprecated (RFC 9745).'),
  Sunset: text('When this version ends (RFC 8594).')
}
const EVERYWHERE = ['Cache-Control', 'X-Content-Type-Options'] as const
const COMMON: readonly ErrorCode[] = ['unauthorized', 'invalid_api_key', 'insufficient_scope', 'method_not_allowed', 'internal', 'storage_unavailable']
const OF_STATUS = new Map<number, ReadonlyArray<keyof typeof HEADERS>>([[401, ['WWW-Authenticate']], [403, ['WWW-Authenticate']], [405, ['Allow']], [412, ['ETag']], [415, ['Accept', 'Accept-Patch', 'Accept-Encoding']], [429, ['Retry-After']], [503, ['Retry-After']]])

function namesOf (more: ReadonlyArray<keyof typeof HEADERS>, { counted }: Operation, { deprecated, limited }: DescriptionSettings): Readonly<Record<string, Schema>> {
  const names = [
    ...EVERYWHERE,
    ...more,
    ...(limited.requests && counted !== 'never' ? ['RateLimit', 'RateLimit-Policy'] as const : []),
    ...(deprecated === null ? [] : ['Deprecation'] as const),
    ...(deprecated?.sunset === true ? ['Sunset'] as const : []),
    ...(deprecated?.link === true ? ['Link'] as const : [])
  ]
  return Object.fromEntries(names.map((name) => [name, HEADERS[name]]))
}

/** Whether some limit can refuse the operation. */
const isLimited = ({ counted }: Operation, { requests, failures, deletions }: DescriptionSettings['limited']): boolean =>
  failures || (requests && counted !== 'never') || (deletions && counted === 'deletions')

function errorAnswers (operation: Operation, settings: DescriptionSettings): Record<string, Schema> {
  const codes: ErrorCode[] = [...COMMON, ...(isLimited(operation, settings.limited) ? ['rate_limited'] as const : []), ...operation.codes]
  const statuses = [...new Set(codes.map((code) => errorTable[code].status))]
  return Object.fromEntries(statuses.map((status) => {
    const own = codes.filter((code) => errorTable[code].status === status)
    const content = settings.errorFormat === 'problem'
      ? { 'application/problem+json': { schema: { allOf: [{ $ref: 'Problem' }, { type: 'object', properties: { status: { type: 'integer', enum: [status] }, code: { type: 'string', enum: own } } }] } } }
      // The host makes it: nothing more is known.
      : { 'application/json': { schema: { type: 'object' } } }
    const headers = namesOf(own.includes('idempotency_in_progress') ? ['Retry-After'] : OF_STATUS.get(status) ?? [], operation, settings)
    return [status, { description: `${own.map((code) => `\`${code}\`: ${errorTable[code].title}`).join('; ')}.`, headers, content }]
  }))
}

/** The schema of an operation as Fastify has schemas, which `@fastify/swagger` makes a description of. `parameters`: the names in the path. */
export function schemaOf (operation: Operation, parameters: readonly string[], settings: DescriptionSettings): Schema {
  const { operationId, tag, summary, description, id, query, reads = [], body, success, conditional = false } = operation
  const headers = namesOf(success.headers ?? [], operation, settings)
  const params = Object.fromEntries(parameters.map((name) => [name, name === 'id' && id !== undefined ? id : { type: 'string', description: 'A part of the path that this API lives under.' }]))
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(settings.deprecated !== null && { deprecated: true }),
    ...(parameters.length > 0 && { params: { type: 'object', properties: params, required: parameters } }),
    ...(query !== undefined && { querystring: { type: 'object', properties: query } }),
    ...(reads.length > 0 && { headers: { type: 'object', properties: Object.fromEntries(reads.map((name) => [name, REQUEST_HEADERS[name]])) } }),
    ...(body !== undefined && { body: { content: Object.fromEntries(body.types.map((type) => [type, { schema: { $ref: body.is } }])) } }),
    response: {
      [success.status]: success.is === undefined
        ? { description: success.description, headers, type: 'null' }
        : { description: success.description, headers, content: { 'application/json': { schema: { $ref: success.is } } } },
      ...(conditional && { 304: { description: 'The client has this version.', headers: namesOf(['ETag'], operation, settings), type: 'null' } }),
      ...errorAnswers(operation, settings)
    }
  }
}
