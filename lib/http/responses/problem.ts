import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../core/error-table.ts'
import { UsersError } from '../../core/errors.ts'
import { type Problem, toProblem } from '../../core/problem.ts'
import { isStorageError } from '../../storage/storage-error.ts'
import { CLOSING, endWithAnswer } from '../break-off.ts'
import { requestIdOf } from '../caller.ts'
import { OVERLOAD } from '../limits/concurrency-limit.ts'

/** Makes the body of an error response: an object, or a promise of one. If it fails, problem details are sent. */
export type FormatError = (problem: Problem, request: FastifyRequest) => object | Promise<object>

/** How errors are answered: problem details, the host's own error handler, or a body that the host makes. */
export type ErrorFormat = 'problem' | 'fastify' | FormatError

/** Fastify's own errors about a body, as ours. */
const FASTIFY_CODES = new Map<string, ErrorCode>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'body_too_large'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported_media_type'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'malformed_json']
])

function asUsersError (thrown: FastifyError, { routeOptions: { bodyLimit } }: FastifyRequest): UsersError | null {
  if (thrown instanceof UsersError) return thrown
  const code = FASTIFY_CODES.get(thrown.code)
  if (code === undefined) return null
  if (code !== 'body_too_large' || bodyLimit === undefined) return new UsersError(code)
  // A hook of the host's may have set another one.
  const size = bodyLimit % 1024 === 0 ? `${bodyLimit / 1024} KiB` : `${bodyLimit} bytes`
  return new UsersError(code, { detail: `The request body is larger than ${size}.` })
}

function logServerError (error: UsersError, request: FastifyRequest): void {
  const { cause } = error
  if (cause === OVERLOAD || cause === CLOSING) return
  if (isStorageError(cause)) {
    const fields = { code: cause.code, driverCode: cause.driverCode }
    if (error.statusCode === 503) request.log.warn(fields, `the storage is unavailable: ${cause.message}`)
    else request.log.error({ ...fields, stack: cause.stack }, 'the storage failed')
  } else {
    request.log.error({ err: cause ?? error }, 'an unexpected error occurred')
  }
}

function sendProblem (problem: Problem, reply: FastifyReply): FastifyReply {
  return reply.type('application/problem+json').send(JSON.stringify(problem))
}

async function sendFormatted (
  { format, type }: { format: FormatError, type: string },
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  try {
    const body: unknown = await format(problem, request)
    if (typeof body !== 'object' || body === null) throw new TypeError('errorFormat must return an object')
    return reply.type(type).send(JSON.stringify(body))
  } catch (err) {
    request.log.error({ err }, 'errorFormat failed')
    return sendProblem(problem, reply)
  }
}

/**
 * Makes the error handler of the plugin's own scope. It answers our errors, and Fastify's about the body, in the host's
 * format. Any other error, such as one of a host's hook, is rethrown to the host's own handler. `onError` gets ours.
 * `type`: the media type of a body that is made by a function.
 */
export function createErrorHandler (
  format: ErrorFormat,
  onError: (error: UsersError, request: FastifyRequest) => void,
  type = 'application/json'
) {
  return (thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
    const error = asUsersError(thrown, request)
    if (error === null) throw thrown
    if (error.statusCode >= 500) logServerError(error, request)
    onError(error, request)
    if (error.code === 'body_too_large') endWithAnswer(reply)
    if (error.headers !== undefined) reply.headers(error.headers)
    if (format === 'fastify') throw error
    const problem = toProblem(error, requestIdOf(request))
    reply.code(error.statusCode)
    return format === 'problem' ? sendProblem(problem, reply) : sendFormatted({ format, type }, problem, request, reply)
  }
}
