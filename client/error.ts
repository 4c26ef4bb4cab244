import type { ErrorCode } from '../lib/core/error-table.ts'
import type { Fault } from '../lib/core/fault.ts'

/**
 * A stable code of the API, or `network` (no whole answer came), `timeout` (none came in time), `unreadable` (somebody
 * else has answered, such as a proxy). Later versions of the API may add codes.
 */
export type ClientErrorCode = ErrorCode | 'network' | 'timeout' | 'unreadable'

const textOf = (value: unknown): string | null => typeof value === 'string' ? value : null

/** What every method throws for an answer that is no success, or for none. Match on `code`; `message` is for people. */
export class ClientError extends Error {
  readonly code: ClientErrorCode
  /** The HTTP status; 0 without an answer. */
  readonly statusCode: number
  /** Each fault of the request. */
  readonly errors: readonly Fault[]
  /** Finds the request in the server’s log. */
  readonly requestId: string | null
  /** Seconds until the server wants to be asked again; null: it did not say. */
  readonly retryAfter: number | null

  /** `cause`: the answer as it was, mostly problem details (RFC 9457); without one, the error of `fetch`. */
  constructor (code: ClientErrorCode, statusCode = 0, cause?: unknown, retryAfter: number | null = null) {
    const { detail, errors, requestId } = Object(cause)
    super(textOf(detail) ?? code, { cause })
    this.name = 'ClientError'
    this.code = code
    this.statusCode = statusCode
    this.errors = Array.isArray(errors) ? errors.filter((each) => typeof each === 'object' && each !== null) : []
    this.requestId = textOf(requestId)
    this.retryAfter = retryAfter
  }
}

/** The error that an answer is. Only the API’s own have a code. */
export function errorOf (status: number, body: unknown, retryAfter?: number | null): ClientError {
  const { code } = Object(body)
  return new ClientError(textOf(code) === null ? 'unreadable' : code, status, body, retryAfter)
}
