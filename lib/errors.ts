import createError, { type FastifyErrorConstructor } from '@fastify/error'

/**
 * Every error a client or a caller in process can meet: its stable code, its HTTP status, its title and the default detail.
 * The README lists the same codes; a test keeps the two in step. A code is never renamed and never reused.
 */
export const errorTable = Object.freeze({
  validation_failed: { status: 400, title: 'Validation failed', detail: 'The request has one or more faults; each is named in errors.' },
  malformed_json: { status: 400, title: 'Malformed JSON', detail: 'The request body is not well-formed JSON in UTF-8.' },
  unauthorized: { status: 401, title: 'Authentication required', detail: 'Send an API key: Authorization: Bearer <API_KEY>.' },
  invalid_api_key: { status: 401, title: 'Invalid API key', detail: 'The API key is malformed, unknown, expired or revoked.' },
  insufficient_scope: { status: 403, title: 'Insufficient scope', detail: 'The API key lacks the scope that this operation needs.' },
  not_found: { status: 404, title: 'Not found', detail: 'There is nothing at this path.' },
  user_not_found: { status: 404, title: 'User not found', detail: 'There is no user with this id.' },
  api_key_not_found: { status: 404, title: 'API key not found', detail: 'There is no API key with this id.' },
  method_not_allowed: { status: 405, title: 'Method not allowed', detail: 'The Allow header names the methods of this path.' },
  email_taken: { status: 409, title: 'E-mail address already in use', detail: 'Another user has this e-mail address.' },
  idempotency_in_progress: { status: 409, title: 'Request in progress', detail: 'The first request with this Idempotency-Key is still running.' },
  api_key_inactive: { status: 409, title: 'API key not active', detail: 'The API key is expired or revoked.' },
  last_admin_key: { status: 409, title: 'Last administrative key', detail: 'No other active key could manage keys after this.' },
  precondition_failed: { status: 412, title: 'Precondition failed', detail: 'The user has another version than the request asks for.' },
  body_too_large: { status: 413, title: 'Body too large', detail: 'The request body is larger than 16 KiB.' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type', detail: 'The request body must be JSON in UTF-8, without a content coding.' },
  idempotency_key_reused: { status: 422, title: 'Idempotency key reused', detail: 'This Idempotency-Key came with another request body before.' },
  precondition_required: { status: 428, title: 'Precondition required', detail: 'This operation needs an If-Match header.' },
  rate_limited: { status: 429, title: 'Too many requests', detail: 'The limit of requests is reached; Retry-After says when to come again.' },
  internal: { status: 500, title: 'Internal error', detail: 'An unexpected error occurred. The log has it under the request id.' },
  storage_unavailable: { status: 503, title: 'Storage unavailable', detail: 'The storage cannot be reached at the moment. Try again later.' }
} as const)

/** The stable codes of {@link UsersError}. */
export type ErrorCode = keyof typeof errorTable

/** One fault of a request: where it is (exactly one of `pointer`, `parameter`, `header`) and what is wrong. Never holds a value that was sent. */
export interface Fault {
  /** JSON Pointer (RFC 6901) into the body. */
  pointer?: string
  /** Name of the query parameter, or of the option in process. */
  parameter?: string
  /** Name of the request header, lower case. */
  header?: string
  /** Stable word for the kind of fault, such as `required`, `type`, `unknown`, `too_long`, `format`, `taken`. */
  code: string
  /** One sentence for people. */
  detail: string
}

/** What an error can carry beside its code. */
export interface UsersErrorDetails {
  detail?: string
  errors?: readonly Fault[]
  /** Response headers that belong to the error: WWW-Authenticate, Allow, Retry-After, ETag, … */
  headers?: Readonly<Record<string, string>>
  /** The error underneath, for the log of the host. Never shown to a client. */
  cause?: unknown
}

// The code of the base class only names the family, for instanceof across copies of this package; every instance has its own.
const FAMILY: string = 'FASTIFY_USERS'
// The annotation keeps the published types free of the package's namespace, which bundlers' resolution does not find.
const BaseError: FastifyErrorConstructor = createError(FAMILY, '%s')

/**
 * The one error class of this package: thrown by `app.users` and, with `errorFormat: 'fastify'`, handed to the host's own error handler.
 * Match on `code`, which is stable; `message` is for people.
 */
export class UsersError extends BaseError {
  declare readonly code: ErrorCode
  declare readonly statusCode: number
  declare readonly title: string
  declare readonly errors?: readonly Fault[]
  declare readonly headers?: Readonly<Record<string, string>>

  constructor (code: ErrorCode, details: UsersErrorDetails = {}) {
    const row = errorTable[code]
    super(details.detail ?? row.detail)
    this.name = 'UsersError'
    this.code = code
    this.statusCode = row.status
    this.title = row.title
    if (details.errors !== undefined) this.errors = details.errors
    if (details.headers !== undefined) this.headers = details.headers
    if (details.cause !== undefined) {
      // Not enumerable, as in Error itself: a logger that copies properties must not print what lies underneath.
      Object.defineProperty(this, 'cause', { value: details.cause, enumerable: false, configurable: true, writable: true })
    }
  }
}

/** A {@link UsersError} `validation_failed` with these faults. */
export function validationFailed (errors: readonly Fault[]): UsersError {
  return new UsersError('validation_failed', { errors })
}

/**
 * What a storage may throw on purpose:
 * - `email_taken`: another user holds the e-mail key (decided by the storage's unique index)
 * - `version_mismatch`: the version guard of a write did not hold
 * - `idempotency_key_reused`: the idempotency key came with another fingerprint before
 * - `idempotency_in_progress`: the first creation with the idempotency key is still running
 * - `api_key_inactive`: the key to rotate is revoked or expired
 * - `last_admin_key`: no other active key has the scope that must not run out
 * - `unavailable`: the storage can't be reached, is busy, full, or out of connections; a later try may succeed
 * - `schema_behind`, `schema_newer`: the tables don't fit this version of the code
 * - `fault`: anything else that went wrong underneath, stripped of SQL and values
 */
export type StorageErrorCode = 'email_taken' | 'version_mismatch' | 'idempotency_key_reused' | 'idempotency_in_progress' | 'api_key_inactive' |
  'last_admin_key' | 'unavailable' | 'schema_behind' | 'schema_newer' | 'fault'

/** Thrown by adapters. The message must hold neither values nor SQL: it can reach a log. */
export class StorageError extends Error {
  readonly code: StorageErrorCode
  /** The driver's own code, such as an SQLSTATE or `ECONNREFUSED`, where there is one. */
  readonly driverCode: string | undefined

  constructor (code: StorageErrorCode, message: string, driverCode?: string) {
    super(message)
    this.name = 'StorageError'
    this.code = code
    this.driverCode = driverCode
  }
}

/** Adapters may come from another copy of this package, so the name decides, not the class. */
export function isStorageError (error: unknown): error is StorageError {
  return error instanceof Error && error.name === 'StorageError' && 'code' in error
}
