import type { ErrorCode } from './error-table.ts'
import type { UsersError } from './errors.ts'
import type { Fault } from './fault.ts'

/** Problem details (RFC 9457) of one thing among many that a request is about. */
export interface PartProblem {
  /** `urn:problem:fastify-users:<code>` */
  type: string
  title: string
  status: number
  code: ErrorCode
  detail: string
  errors?: readonly Fault[]
}

/** Problem details (RFC 9457), as responses have them. */
export interface Problem extends PartProblem {
  requestId: string
}

/** The problem details of an error that does not refuse all of a request. */
export function partProblem ({ code, title, statusCode, message, errors }: UsersError): PartProblem {
  const type = `urn:problem:fastify-users:${code}`
  return { type, title, status: statusCode, code, detail: message, ...(errors !== undefined && { errors }) }
}

/** The problem details of an error. */
export function toProblem (error: UsersError, requestId: string): Problem {
  const { errors, ...part } = partProblem(error)
  return { ...part, requestId, ...(errors !== undefined && { errors }) }
}
