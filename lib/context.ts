import type { Principal } from './api-keys/authenticator.ts'
import type { Fault } from './errors.ts'

/** Who causes a change, and in which request. */
export interface Context {
  /** The caller over HTTP; null in process. */
  actor: Pick<Principal, 'type' | 'id'> | null
  /** Fastify's id of the request; null in process. */
  requestId: string | null
}

/** The context of a change that the host makes in process. */
export const IN_PROCESS: Context = Object.freeze({ actor: null, requestId: null })

/** Where a call of a service comes from, and the faults that its caller knows already, so that all are told at once. */
export interface Call {
  context: Context
  found: readonly Fault[]
}

export const FROM_PROCESS: Call = Object.freeze({ context: IN_PROCESS, found: [] })
