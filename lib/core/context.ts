import type { Fault } from './fault.ts'

/** Who a request comes from. */
export interface Principal {
  type: 'api_key' | 'static' | 'host'
  /** The API key record's id, the static key's name, or the id that the host's `authenticate` returned. */
  id: string
  /** What it is called: the name of a key, or the `name` that `authenticate` returned. */
  name: string | null
  scopes: readonly string[]
  /** The tenant that the caller is bound to. Absent: it is the platform's, and sees all. */
  tenant?: string
}

/** Who causes a change. `type`: of a principal, or a word of the host's. */
export interface ContextActor {
  type: string
  id: string
  name: string | null
}

/** What tells one caller from another. */
export type CallerId = Pick<ContextActor, 'type' | 'id'>

/** Who causes a change, and in which request. */
export interface Context {
  /** The caller over HTTP, or whom the host names in process; null: the host, in process. */
  actor: ContextActor | null
  /** Fastify's id of the request; null: there is none. */
  requestId: string | null
}

/** The context of a change that the host makes in process. */
export const IN_PROCESS: Context = Object.freeze({ actor: null, requestId: null })

/**
 * Where a call of a service comes from. `priorFaults` are those that the caller has found already: the service adds its
 * own, so that one answer names them all.
 */
export interface Call {
  context: Context
  priorFaults: readonly Fault[]
  /** The tenant that the caller is bound to: nothing of others is there, and what it makes belongs to it. */
  tenant?: string | undefined
}

/** The same of a call that only reads. */
export type ReadCall = Partial<Omit<Call, 'context'>>

export const FROM_PROCESS: Call = Object.freeze({ context: IN_PROCESS, priorFaults: [] })
