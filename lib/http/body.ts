import contentType from 'fast-content-type-parse'
import type { FastifyRequest } from 'fastify'
import { shapeCheck } from '../core/body-shape.ts'
import { UsersError } from '../core/errors.ts'
import { Type } from '../core/typebox.ts'
import { http2Stream } from './break-off.ts'
import { header, headerLines } from './header-fields.ts'

/** The media type of bodies and responses. */
export const JSON_TYPE = 'application/json'
/** The media type of changes (RFC 7396). */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json'

/** The faults of a body that must have no members. */
export const emptyShape = shapeCheck(Type.Object({}, { additionalProperties: false }))

const UTF8 = ['utf-8', 'utf8']

function unsupported (headers: Record<string, string>, detail: string): UsersError {
  return new UsersError('unsupported_media_type', { headers, detail })
}

/** True if a body may follow the headers of an HTTP/2 request, which need not announce it. */
function hasOpenStream ({ raw }: FastifyRequest): boolean {
  return http2Stream(raw)?.endAfterHeaders === false
}

function mayHaveBody (request: FastifyRequest): boolean {
  const length = header(request, 'content-length')
  return header(request, 'transfer-encoding') !== undefined || (length !== undefined && length !== '0') ||
    hasOpenStream(request)
}

/** True for the codings of a body that is as it was made. `identity` should not be sent, and means nothing. */
function isIdentity (codings: string): boolean {
  return codings.split(',').every((coding) => ['', 'identity'].includes(coding.trim().toLowerCase()))
}

/**
 * Checks the media type, charset and content coding of a request that may have a body, by its headers alone. Without
 * content the type means nothing, and Fastify must not judge it either.
 * @throws UsersError `unsupported_media_type`, with what is accepted (RFC 9110 section 15.5.16, RFC 5789 section 2.2)
 */
export function checkMediaType (request: FastifyRequest, accepted: readonly string[]): void {
  const lines = headerLines(request, 'content-type')
  if (!mayHaveBody(request)) {
    if (lines.length > 0) request.headers = { 'content-type': undefined }
    return
  }
  if (!isIdentity(header(request, 'content-encoding') ?? '')) {
    throw unsupported({ 'accept-encoding': 'identity' }, 'Send the request body without a Content-Encoding.')
  }
  const { type, parameters } = contentType.safeParse(lines.length === 1 ? lines.join('') : '')
  const charset = parameters['charset']?.toLowerCase()
  if (accepted.includes(type) && (charset === undefined || UTF8.includes(charset))) return
  throw unsupported({ [request.method === 'PATCH' ? 'accept-patch' : 'accept']: accepted.join(', ') },
    `Send the request body in UTF-8, with Content-Type: ${accepted.join(' or ')}.`)
}
