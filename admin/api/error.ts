import { type Fault, isObject, type Json } from './types.ts'

/** An answer that is no success, or none at all: then `status` is 0. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | null
  /** What the server said. */
  readonly problem: Json
  readonly faults: readonly Fault[]
  readonly requestId: string | null
  /** Seconds until the server wants to be asked again. */
  readonly retryAfter: number | null

  constructor (status: number, body: Json | undefined, retryAfter: number | null) {
    super(`the server answered with ${status}`)
    const problem = isObject(body) ? body : {}
    const { code, errors, requestId } = problem
    this.status = status
    this.problem = body ?? null
    this.code = typeof code === 'string' ? code : null
    this.requestId = typeof requestId === 'string' ? requestId : null
    this.retryAfter = retryAfter
    this.faults = Array.isArray(errors) ? errors.filter(isObject).map(faultOf) : []
  }

  /** True if signing in again may help. */
  get isUnauthorized (): boolean {
    return this.status === 401
  }
}

function faultOf ({ pointer, parameter, code, detail }: { [name: string]: Json }): Fault {
  return {
    ...(typeof pointer === 'string' && { pointer }),
    ...(typeof parameter === 'string' && { parameter }),
    code: String(code),
    detail: String(detail)
  }
}
