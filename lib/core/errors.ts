import createError, { type FastifyErrorConstructor } from '@fastify/error'
import { type ErrorCode, errorTable } from './error-table.ts'
import type { Fault } from './fault.ts'
import { FAULTS_MAX } from './limits.ts'

/** What an error can carry besides its code. */
export interface UsersErrorDetails {
  detail?: string
  errors?: readonly Fault[]
  /** Response headers that belong to the error: WWW-Authenticate, Allow, Retry-After, ETag, … */
  headers?: Readonly<Record<string, string>>
  /** The underlying error, for the host's log. Never shown to a client. */
  cause?: unknown
}

// The base class carries the family's name, so that instanceof UsersError works across copies of this package.
const FAMILY: string = 'FASTIFY_USERS'
// The annotation keeps the base package's namespace, which bundler resolution does not find, out of the published
// types.
const BaseError: FastifyErrorConstructor = createError(FAMILY, '%s')

/**
 * The one error class of this package. `app.users` throws it, and with `errorFormat: 'fastify'` the host's own error
 * handler gets it. Match on `code`, which is stable; `message` is for people.
 */
export class UsersError extends BaseError {
  declare readonly code: ErrorCode
  declare readonly statusCode: number
  declare readonly title: string
  declare readonly errors?: readonly Fault[]
  declare readonly headers?: Readonly<Record<string, string>>

  // Subclasses would inherit the base class's method: every UsersError would be an instance of a host's subclass.
  static override [Symbol.hasInstance] (value: unknown): boolean {
    return this === UsersError
      ? value instanceof BaseError
      : Reflect.apply(Function.prototype[Symbol.hasInstance], this, [value])
  }

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
      // Not enumerable, as in Error itself: a logger that copies properties must not print the underlying error.
      Object.defineProperty(this, 'cause', {
        value: details.cause,
        enumerable: false,
        configurable: true,
        writable: true
      })
    }
  }
}

/** A {@link UsersError} `validation_failed` with these faults. If there are too many: the first, and their number. */
export function validationFailed (errors: readonly Fault[]): UsersError {
  if (errors.length <= FAULTS_MAX) return new UsersError('validation_failed', { errors })
  const detail = `The request has ${errors.length} problems; errors lists the first ${FAULTS_MAX}.`
  return new UsersError('validation_failed', { detail, errors: errors.slice(0, FAULTS_MAX) })
}
