import { isUtf8 } from 'node:buffer'
import contentType from 'fast-content-type-parse'
import type { FastifyRequest } from 'fastify'
import secureJson from 'secure-json-parse'
import { compileShape } from '../core/body-shape.ts'
import { UsersError, validationFailed } from '../core/errors.ts'
import { Type } from '../core/typebox.ts'
import { header, headerLines } from './header-fields.ts'

/** The media type of bodies and responses. */
export const JSON_TYPE = 'application/json'
/** The media type of changes (RFC 7396). */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json'

/** The faults of a body that must have no members. */
export const emptyShape = compileShape(Type.Object({}, { additionalProperties: false }))

const UTF8 = ['utf-8', 'utf8']

function unsupported (headers: Record<string, string>): UsersError {
  return new UsersError('unsupported_media_type', { headers })
}

/** True if a body may follow the headers of an HTTP/2 request, which need not announce it. */
function hasOpenStream ({ raw }: FastifyRequest): boolean {
  if (!('stream' in raw)) return false
  const { endAfterHeaders } = Object(raw.stream)
  return endAfterHeaders === false
}

function mayHaveBody (request: FastifyRequest): boolean {
  const length = header(request, 'content-length')
  return header(request, 'transfer-encoding') !== undefined || (length !== undefined && length !== '0') ||
    hasOpenStream(request)
}

/**
 * Checks the media type, charset and content coding of a request that may have a body, by its headers alone.
 * @throws UsersError `unsupported_media_type`, with what is accepted (RFC 9110 section 15.5.16, RFC 5789 section 2.2)
 */
export function checkMediaType (request: FastifyRequest, accepted: readonly string[]): void {
  const lines = headerLines(request, 'content-type')
  if (!mayHaveBody(request) && lines.length === 0) return
  if (header(request, 'content-encoding') !== undefined) throw unsupported({ 'accept-encoding': 'identity' })
  const { type, parameters } = contentType.safeParse(lines.length === 1 ? lines.join('') : '')
  const charset = parameters['charset']?.toLowerCase()
  if (accepted.includes(type) && (charset === undefined || UTF8.includes(charset))) return
  throw unsupported({ [request.method === 'PATCH' ? 'accept-patch' : 'accept']: accepted.join(', ') })
}

/**
 * Parses a JSON body, whatever the host configured: UTF-8 only, no prototype poisoning, no member twice (RFC 7493
 * section 2.3). An empty body is `undefined`.
 * @throws UsersError `malformed_json`, or `validation_failed` for a member that is twice or would poison a prototype
 */
export function parseBody (bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new UsersError('malformed_json')
  const text = bytes.toString('utf8')
  const value = parseJson(text)
  if (memberCount(value) === writtenMembers(text)) return value
  throw validationFailed([{ pointer: '', code: 'duplicate', detail: 'must not have a member twice' }])
}

function parseJson (text: string): unknown {
  try {
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    if (!isJson(text)) throw new UsersError('malformed_json')
    const detail = 'must not have members named __proto__ or constructor.prototype'
    throw validationFailed([{ pointer: '', code: 'forbidden', detail }])
  }
}

/** How many members a JSON text has: outside of strings, a colon stands before the value of each. */
function writtenMembers (text: string): number {
  let count = 0
  let isString = false
  // On a small body 0.3 µs, where cutting out the strings by a pattern takes 2.5 µs.
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (character === '"') isString = !isString
    else if (isString && character === '\\') i++
    else if (!isString && character === ':') count++
  }
  return count
}

/** How many members a parsed value has. Of a name that is written twice the last one stays. */
function memberCount (value: unknown): number {
  let count = 0
  // No recursion: thousands of levels fit into a body.
  const left: unknown[] = [value]
  while (left.length > 0) {
    const each = left.pop()
    if (typeof each !== 'object' || each === null) continue
    const values = Object.values(each)
    if (!Array.isArray(each)) count += values.length
    for (const inner of values) left.push(inner)
  }
  return count
}

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
