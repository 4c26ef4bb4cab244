import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, type Fault, isStorageError, UsersError } from '../errors.ts'

/** Problem details (RFC 9457) as answers show them. */
export interface Problem {
  /** `urn:problem:fastify-users:<code>` */
  type: string
  title: string
  status: number
  code: ErrorCode
  detail: string
  requestId: string
  errors?: readonly Fault[]
}

/** Makes the body of an error answer: an object, at once or as a promise. Where it fails, problem details are answered. */
export type FormatError = (problem: Problem, request: FastifyRequest) => object | Promise<object>

/** How errors are answered: problem details, the host's own error handler, or a body that the host makes of the problem. */
export type ErrorFormat = 'problem' | 'fastify' | FormatError

// Fastify's own refusals while it reads a body, in our words.
const FASTIFY_CODES = new Map<string, ErrorCode>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'body_too_large'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported_media_type'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'malformed_json']
])

/** The problem details of an error. */
export function toProblem (error: UsersError, requestId: string): Problem {
  const { code, title, statusCode, message, errors } = error
  return { type: `urn:problem:fastify-users:${code}`, title, status: statusCode, code, detail: message, requestId, ...(errors !== undefined && { errors }) }
}

function ourError (thrown: FastifyError): UsersError | null {
  if (thrown instanceof UsersError) return thrown
  const code = FASTIFY_CODES.get(thrown.code)
  return code === undefined ? null : new UsersError(code)
}

function log (error: UsersError, request: FastifyRequest): void {
  const { cause } = error
  if (isStorageError(cause)) {
    const fields = { code: cause.code, driverCode: cause.driverCode }
    if (error.statusCode === 503) request.log.warn(fields, 'the storage is unavailable')
    else request.log.error({ ...fields, stack: cause.stack }, 'the storage failed')
  } else {
    request.log.error({ err: cause ?? error }, 'an unexpected error occurred')
  }
}

/**
 * Builds the error handler of the plugin's own scope. It answers our errors, and Fastify's about the body, in the host's format. An error that comes from
 * elsewhere, a hook of the host for one, goes on to the host's own handler as it is. `onError` is told of ours.
 */
export function createErrorHandler (format: ErrorFormat, onError: (error: UsersError, request: FastifyRequest) => void) {
  function sendProblem (problem: Problem, reply: FastifyReply): FastifyReply {
    return reply.type('application/problem+json').send(JSON.stringify(problem))
  }

  async function sendFormatted (make: FormatError, problem: Problem, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    try {
      const body: unknown = await make(problem, request)
      if (typeof body !== 'object' || body === null) throw new TypeError('errorFormat must give an object')
      return reply.type('application/json').send(JSON.stringify(body))
    } catch (err) {
      request.log.error({ err }, 'errorFormat failed')
      return sendProblem(problem, reply)
    }
  }

  return function handleError (thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
    const error = ourError(thrown)
    if (error === null) throw thrown
    if (error.statusCode >= 500) log(error, request)
    onError(error, request)
    if (error.headers !== undefined) reply.headers(error.headers)
    if (format === 'fastify') throw error
    const problem = toProblem(error, request.id)
    reply.code(error.statusCode)
    return format === 'problem' ? sendProblem(problem, reply) : sendFormatted(format, problem, request, reply)
  }
}
