import { isUtf8 } from 'node:buffer'
import contentType from 'fast-content-type-parse'
import type { FastifyRequest } from 'fastify'
import secureJson from 'secure-json-parse'
import { UsersError, validationFailed } from '../errors.ts'
import { compileShape } from '../faults.ts'
import { Type } from '../typebox.ts'
import { header, headerLines } from './request.ts'

/** Bytes that a request body may have. */
export const BODY_LIMIT = 16 * 1024

/** The faults of a body that must have no members. */
export const emptyShape = compileShape(Type.Object({}, { additionalProperties: false }))

const UTF8 = new Set(['utf-8', 'utf8'])

function unsupported (headers: Record<string, string>): UsersError {
  return new UsersError('unsupported_media_type', { headers })
}

/** Whether a body may follow the headers of an HTTP/2 request, which need not say so. */
function hasOpenStream ({ raw }: FastifyRequest): boolean {
  if (!('stream' in raw)) return false
  const { endAfterHeaders } = Object(raw.stream)
  return endAfterHeaders === false
}

/**
 * Judges the media type, charset and content coding of a request that may have a body, by its headers alone.
 * @throws UsersError `unsupported_media_type`, with what would be accepted (RFC 9110 section 15.5.16, RFC 5789 section 2.2)
 */
export function checkMediaType (request: FastifyRequest, accepted: readonly string[]): void {
  const lines = headerLines(request, 'content-type')
  const length = header(request, 'content-length')
  const hasBody = header(request, 'transfer-encoding') !== undefined || (length !== undefined && length !== '0') || hasOpenStream(request)
  if (!hasBody && lines.length === 0) return
  if (header(request, 'content-encoding') !== undefined) throw unsupported({ 'accept-encoding': 'identity' })
  const { type, parameters } = contentType.safeParse(lines.length === 1 ? lines.join('') : '')
  const charset = parameters['charset']?.toLowerCase()
  if (!accepted.includes(type) || (charset !== undefined && !UTF8.has(charset))) {
    throw unsupported({ [request.method === 'PATCH' ? 'accept-patch' : 'accept']: accepted.join(', ') })
  }
}

/**
 * Parses a JSON body, whatever the host has set: UTF-8 only, no prototype poisoning. An empty body is `undefined`.
 * @throws UsersError `malformed_json`, or `validation_failed` for a member that would poison a prototype
 */
export function parseBody (bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new UsersError('malformed_json')
  const text = bytes.toString('utf8')
  try {
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    throw isJson(text)
      ? validationFailed([{ pointer: '', code: 'forbidden', detail: 'must not have members named __proto__ or constructor.prototype' }])
      : new UsersError('malformed_json')
  }
}

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
